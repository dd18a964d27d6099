// Lines of elements that hold async-depth frames, and their output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/drivers/fakedriver.h"

namespace testing {

inline constexpr int kDepths = 5;  // a loop test's __i__ is async-depth - 1; the last one is 16

// The depths under test: two where everything is slow; under valgrind the second alone, as other
// tests have a depth of 1.
inline int first_depth() { return under_valgrind() ? 1 : 0; }
inline int end_of_depths() { return quick() ? 2 : kDepths; }

inline guint depth_of(int i) { return i == kDepths - 1 ? 16 : static_cast<guint>(i) + 1; }
inline std::string depth_property(int i) { return "async-depth=" + std::to_string(depth_of(i)); }

// An element or two between a source and a sink of system memory, and their output.
class AsyncRun {
 public:
  explicit AsyncRun(const std::string& line) : h_(gst_harness_new_parse(line.c_str())) {
    gst_pad_add_probe(h_->sinkpad,
                      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                   GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                      &AsyncRun::see, this, nullptr);
  }
  ~AsyncRun() { gst_harness_teardown(h_); }
  AsyncRun(const AsyncRun&) = delete;
  AsyncRun& operator=(const AsyncRun&) = delete;

  void caps(const GstVideoInfo& info) {
    info_ = info;
    gst_harness_set_src_caps(h_, video_caps(info));
  }
  GstFlowReturn push(guint number, GstBufferFlags flags = static_cast<GstBufferFlags>(0)) {
    GstBuffer* in = make_frame(info_, number);
    GST_BUFFER_PTS(in) = number * GST_SECOND / 25;
    GST_BUFFER_DURATION(in) = GST_SECOND / 25;
    GST_BUFFER_FLAG_SET(in, flags);
    return gst_harness_push(h_, in);
  }
  void push_many(guint from, guint to) {
    for (guint i = from; i < to; i++) fail_unless_equals_int(push(i), GST_FLOW_OK);
  }
  void event(GstEvent* event) { fail_unless(gst_harness_push_event(h_, event)); }
  GstBuffer* pull() {
    GstBuffer* buffer = gst_harness_try_pull(h_);
    fail_unless(buffer != nullptr, "a frame is missing");
    return buffer;
  }
  std::vector<guint8> samples(GstBuffer* buffer) const {
    g_autoptr(GstCaps) caps = current_caps(h_);
    return samples_of(buffer, caps);
  }
  guint received() const { return gst_harness_buffers_received(h_); }
  GstHarness* harness() const { return h_; }
  GstElement* element(const char* name) const {
    return gst_bin_get_by_name(GST_BIN(h_->element), name);
  }
  // "0 1 tag 2 eos": numbers are frames.
  std::string seen() const { return seen_; }
  void forget() { seen_.clear(); }

 private:
  static GstPadProbeReturn see(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<AsyncRun*>(data);
    std::string what;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
      what = std::to_string(gst_util_uint64_scale_round(
          GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)), 25, GST_SECOND));
    else
      what = GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info));
    self->seen_ += (self->seen_.empty() ? "" : " ") + what;
    return GST_PAD_PROBE_OK;
  }

  GstHarness* h_;
  GstVideoInfo info_;
  std::string seen_;
};

inline void expect_seen(const AsyncRun& run, const std::string& expected) {
  const std::string seen = run.seen();
  fail_unless(seen == expected, "\"%s\" instead of \"%s\"", seen.c_str(), expected.c_str());
}

inline GstVideoInfo small(int width = 40, int height = 24) {
  return video_info(GST_VIDEO_FORMAT_I420, width, height);
}

// Lines of most tests: each element alone, and both.
inline std::vector<std::string> make_lines(const std::string& depth) {
  return {forward(depth) + " ! capsfilter caps=video/x-dct",
          forward() + " ! video/x-dct ! " + inverse(depth) + " ! capsfilter caps=video/x-raw",
          forward(depth) + " ! " + inverse(depth) + " ! capsfilter caps=video/x-raw"};
}

// Calls `test` with a run of each of them, which has caps.
template <typename Test>
void for_each_line(int i, const Test& test) {
  for (const std::string& line : make_lines(depth_property(i))) {
    AsyncRun run(line);
    run.caps(small());
    test(run);
  }
}

}  // namespace testing
