// Pipelines in which only our elements allocate, and how they end.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/app/gstappsrc.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/check/testing.h"

namespace testing {

// A pipeline's input, made before memory runs out.
struct Input {
  GstCaps* caps = nullptr;          // owned
  std::vector<GstBuffer*> buffers;  // owned

  Input() = default;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  Input(Input&& other) noexcept { *this = std::move(other); }
  Input& operator=(Input&& other) noexcept {
    std::swap(caps, other.caps);
    std::swap(buffers, other.buffers);
    return *this;
  }
  ~Input() {
    for (GstBuffer* buffer : buffers) gst_buffer_unref(buffer);
    gst_clear_caps(&caps);
  }
};

// appsrc would start, and so fill, a pool that is proposed to it.
inline GstPadProbeReturn drop_allocation(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  return GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

// "appsrc ! LINE ! fakesink". Ours are the elements in `line` whose names begin with "our".
inline GstElement* make_pipeline(const std::string& line, const Input& input,
                                 bool takes_proposals = false) {
  GstElement* pipeline = launch("appsrc name=src format=time ! " + line + " ! fakesink sync=false");
  g_autoptr(GstElement) src = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  g_object_set(src, "caps", input.caps, "max-bytes", G_GUINT64_CONSTANT(0), nullptr);
  if (!takes_proposals) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(src, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, drop_allocation, nullptr, nullptr);
  }
  return pipeline;
}

struct Ending {
  std::string error, source;  // "" at EOS
  bool is_no_space = false;   // RESOURCE/NO_SPACE_LEFT
};

// Plays it to its end, and leaves it in NULL.
inline Ending play_input(GstElement* pipeline, const Input& input) {
  g_autoptr(GstElement) src = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (GstBuffer* buffer : input.buffers)
    gst_app_src_push_buffer(GST_APP_SRC(src), gst_buffer_ref(buffer));
  gst_app_src_end_of_stream(GST_APP_SRC(src));
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, 30 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  fail_unless(message != nullptr, "nothing happened for 30 s");
  Ending ending;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    const Report reported = report_of(message);
    ending.error = reported.text;
    ending.source = GST_OBJECT_NAME(GST_MESSAGE_SRC(message));
    ending.is_no_space =
        reported.domain == GST_RESOURCE_ERROR && reported.code == GST_RESOURCE_ERROR_NO_SPACE_LEFT;
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_bus_set_flushing(bus, TRUE);
  gst_bus_set_flushing(bus, FALSE);
  return ending;
}

// The error names the element, the purpose and the size.
inline void check_no_space(const Ending& ending, const char* what) {
  fail_unless(ending.is_no_space, "%s: '%s' of %s", what, ending.error.c_str(),
              ending.source.c_str());
  fail_unless(ending.source.rfind("our", 0) == 0, "%s: '%s' of %s", what, ending.error.c_str(),
              ending.source.c_str());
  fail_unless(ending.error.find(" bytes") != std::string::npos, "%s: '%s'", what,
              ending.error.c_str());
}

}  // namespace testing
