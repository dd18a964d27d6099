// A pair of elements in a harness, and their measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

inline constexpr const char* kPsnrFields[] = {"psnr-y", "psnr-u", "psnr-v", "psnr"};

// The formats that measuring is tested with.
inline constexpr GstVideoFormat kFormats[] = {
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_Y42B,      GST_VIDEO_FORMAT_Y444,
    GST_VIDEO_FORMAT_Y41B,      GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_GBR,
    GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_12LE,
    GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_YUV9,
};

// -1 for a negative error ("there is none"), infinity for 0.
inline double psnr_of(double mse, int depth) {
  if (mse < 0) return -1;
  const double peak = (1 << depth) - 1;
  return mse == 0 ? HUGE_VAL : 10 * std::log10(peak * peak / mse);
}

// Whether the message is about a clip, not about a frame.
inline bool is_summary(GstMessage* message) {
  const GstStructure* s = gst_message_get_structure(message);
  return g_strcmp0(gst_structure_get_string(s, "type"), "summary") == 0;
}

// A pair of elements in a harness, and the messages of both.
struct Pair {
  GstHarness* h;
  testing::Messages bus;
  GstElement *fwd, *inv;
  GstVideoInfo info;

  Pair(const std::string& fwd_properties, const std::string& inv_properties, GstVideoFormat format,
       int width, int height, const std::string& caps = "video/x-dct(ANY)")
      : h(gst_harness_new_parse((forward("name=fwd " + fwd_properties) + " ! " + caps + " ! " +
                                 inverse("name=inv " + inv_properties))
                                    .c_str())),
        bus(h->element) {
    fwd = gst_bin_get_by_name(GST_BIN(h->element), "fwd");
    inv = gst_bin_get_by_name(GST_BIN(h->element), "inv");
    info = testing::video_info(format, width, height);
    gst_harness_set_sink_caps(h, testing::video_caps(info));
    gst_harness_set_src_caps(h, testing::video_caps(info));
  }
  ~Pair() {
    gst_object_unref(fwd);
    gst_object_unref(inv);
    gst_harness_teardown(h);
  }

  GstBuffer* push(GstBuffer* in) {
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
    return gst_harness_pull(h);
  }
  // Pushes a made-up frame and keeps nothing of it.
  void pass(guint seed = 1) {
    g_autoptr(GstBuffer) in = testing::make_frame(info, seed);
    gst_buffer_unref(push(in));
  }

  // After EOS everything has been measured and posted.
  void drain() { gst_harness_push_event(h, gst_event_new_eos()); }

  // The forward element's messages so far, in order: of frames or summaries. Transfer full.
  std::vector<GstStructure*> messages(bool summaries = false) {
    std::vector<GstStructure*> found;
    while (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) {
      const GstStructure* s = gst_message_get_structure(message);
      if (GST_MESSAGE_SRC(message) == GST_OBJECT(fwd) && is_summary(message) == summaries)
        found.push_back(gst_structure_copy(s));
      gst_message_unref(message);
    }
    return found;
  }
};

inline double number(const GstStructure* s, const char* field) {
  double value = -12345;
  fail_unless(gst_structure_get_double(s, field, &value), "%s is missing or no double: %s", field,
              gst_structure_to_string(s));
  return value;
}

inline guint64 count(const GstStructure* s, const char* field) {
  guint64 value = 12345;
  fail_unless(gst_structure_get_uint64(s, field, &value), "%s is missing or no uint64: %s", field,
              gst_structure_to_string(s));
  return value;
}

// A time, -1 for GST_CLOCK_TIME_NONE.
inline gint64 time_in(const GstStructure* s, const std::string& field) {
  return static_cast<gint64>(count(s, field.c_str()));
}

inline double property(GstElement* element, const char* name) {
  double value = 0;
  g_object_get(element, name, &value, nullptr);
  return value;
}

}  // namespace testing
