// Pipelines that play to their end, and the contents of the buffers that come out.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/app/gstappsink.h>

#include <utility>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

void play_with_changes(GstElement* pipeline, const std::function<void(int)>& change) {
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = nullptr;
  for (int i = 0; message == nullptr && i < 30000; i++) {
    change(i);
    message = gst_bus_timed_pop_filtered(
        bus, GST_MSECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless(message != nullptr, "no end");
  fail_unless_equals_int(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
  gst_message_unref(message);
}

void SeenFrames::watch(GstElement* pipeline) {
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(on_frame), this);
}

void SeenFrames::on_frame(GstElement*, GstBuffer* buffer, GstPad* pad, gpointer data) {
  auto* self = static_cast<SeenFrames*>(data);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  const gsize size = gst_buffer_get_size(buffer);
  gint width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
  GstDctInfo dct;
  GstVideoInfo raw;
  bool fits = false;
  if (gst_dct_info_from_caps(&dct, caps, nullptr)) {
    fits = gst_dct_meta_validate(gst_buffer_get_dct_meta(buffer), &dct, size, nullptr);
  } else if (gst_video_info_from_caps(&raw, caps)) {
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    fits = size >= raw.size && (meta == nullptr || (static_cast<int>(meta->width) == raw.width &&
                                                    static_cast<int>(meta->height) == raw.height));
  }
  self->wrong += !fits;
  self->frames++;
  self->sizes += width != std::exchange(self->last_width_, width);
}

std::string run_to_eos(GstElement* pipeline, int seconds) {
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, seconds * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  std::string text;
  if (message == nullptr) {
    text = "timeout";
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    const Report error = report_of(message);
    text = error.text + " | " + error.debug;
  }
  if (message != nullptr) gst_message_unref(message);
  return text;
}

std::string run_pipeline(const std::string& description) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(description.c_str(), &error);
  if (error != nullptr) {
    const std::string text = error->message;
    g_error_free(error);
    gst_clear_object(&pipeline);
    return text;
  }
  const std::string text = run_to_eos(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return text;
}

void run_well(GstElement* pipeline) {
  const std::string failure = run_to_eos(pipeline);
  fail_unless(failure.empty(), "%s", failure.c_str());
}

void run_well(const std::string& description) {
  const std::string failure = run_pipeline(description);
  fail_unless(failure.empty(), "%s: %s", description.c_str(), failure.c_str());
}

static void add_rows(const std::vector<guint8>& all, gsize begin, gsize stride, gsize row_bytes,
                     gsize rows, std::vector<guint8>* to) {
  for (gsize y = 0; y < rows; y++, begin += stride) {
    fail_unless(begin + row_bytes <= all.size());
    to->insert(to->end(), all.begin() + static_cast<gssize>(begin),
               all.begin() + static_cast<gssize>(begin + row_bytes));
  }
}

static std::vector<guint8> rows_of(GstBuffer* buffer, const GstDctInfo& info) {
  const std::vector<guint8> all = bytes_of(buffer);
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  std::vector<guint8> rows;
  for (guint c = 0; c < info.n_components; c++)
    add_rows(all, meta->components[c].offset, meta->components[c].stride,
             gst_dct_info_row_bytes(&info, c), gst_dct_info_rows(&info, c), &rows);
  return rows;
}

static std::vector<guint8> rows_of(GstBuffer* buffer, const GstDwtInfo& info) {
  const std::vector<guint8> all = bytes_of(buffer);
  const GstDwtMeta* meta = gst_buffer_get_dwt_meta(buffer);
  std::vector<guint8> rows;
  for (guint c = 0; c < info.n_components; c++)
    add_rows(all, meta->components[c].offset, meta->components[c].stride,
             gst_dwt_info_row_bytes(&info, c), meta->components[c].padded_height, &rows);
  return rows;
}

std::vector<guint8> samples_of(GstBuffer* buffer, GstCaps* caps) {
  GstDctInfo dct;
  GstVideoInfo info;
  GstVideoFrame frame;
  if (gst_dct_info_from_caps(&dct, caps, nullptr)) return rows_of(buffer, dct);
  GstDwtInfo dwt;
  if (gst_dwt_info_from_caps(&dwt, caps, nullptr)) return rows_of(buffer, dwt);
  if (!gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw"))
    return bytes_of(buffer);
  fail_unless(gst_video_info_from_caps(&info, caps));
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  std::vector<guint8> samples;
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&frame); c++)
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); y++) {
      const guint8* row = static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                          y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); x++)
        samples.push_back(row[x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)]);
    }
  gst_video_frame_unmap(&frame);
  return samples;
}

static GstFlowReturn collect(GstAppSink* sink, gpointer data) {
  g_autoptr(GstSample) sample = gst_app_sink_pull_sample(sink);
  static_cast<Frames*>(data)->push_back(
      samples_of(gst_sample_get_buffer(sample), gst_sample_get_caps(sample)));
  return GST_FLOW_OK;
}

Frames play(const std::string& line, int* warnings, const std::function<void(GstElement*)>& look) {
  return play_sinks(line, {"sink"}, warnings, look)["sink"];
}

// run_to_eos() drops them.
static GstBusSyncReply count_warning(GstBus*, GstMessage* message, gpointer count) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) g_atomic_int_inc(static_cast<gint*>(count));
  return GST_BUS_PASS;
}

std::map<std::string, Frames> play_sinks(const std::string& line,
                                         const std::vector<std::string>& sinks, int* warnings,
                                         const std::function<void(GstElement*)>& look) {
  g_autoptr(GstElement) pipeline = launch(line);
  std::map<std::string, Frames> frames;
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = collect;
  for (const std::string& name : sinks) {
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), name.c_str());
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &frames[name], nullptr);
  }
  gint count = 0;
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, count_warning, &count, nullptr);
  const std::string failure = run_to_eos(pipeline);
  if (look) look(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_bus_set_sync_handler(bus, nullptr, nullptr, nullptr);
  if (warnings) *warnings = g_atomic_int_get(&count);
  fail_unless(failure.empty(), "%s: %s", line.c_str(), failure.c_str());
  return frames;
}

void compare(const Frames& a, const Frames& b, const std::string& what) {
  fail_unless(a.size() == b.size() && !a.empty(), "%s: %d and %d frames", what.c_str(),
              static_cast<int>(a.size()), static_cast<int>(b.size()));
  for (size_t i = 0; i < a.size(); i++)
    fail_unless(a[i] == b[i], "%s: frame %d differs", what.c_str(), static_cast<int>(i));
}

}  // namespace testing
