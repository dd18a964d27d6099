// A clip's summary at its end: the message, its log line, and the properties that change together.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the fake driver kernels do nothing: the error of every frame is 0 there, and only a method
// that is timed by events has a time.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/check/dct8x8/measured.h"
#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

constexpr const char* kTimes[] = {"kernel-time", "upload-time", "download-time"};

// -1 for GST_CLOCK_TIME_NONE.
gint64 time_property(GstElement* element, const char* name) {
  guint64 value = 12345;
  g_object_get(element, name, &value, nullptr);
  return static_cast<gint64>(value);
}

// The only summary of the forward element on the bus; transfer full.
GstStructure* only_summary(Pair& pair) {
  const std::vector<GstStructure*> found = pair.messages(true);
  fail_unless_equals_uint64(found.size(), 1);
  return found[0];
}

GstBuffer* gray_frame(const GstVideoInfo& info) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 128, info.size);
  return buffer;
}

// Pushes a frame, sees to its end and returns its errors.
std::vector<double> push_measured(Pair& pair, GstBuffer* in) {
  g_autoptr(GstBuffer) out = pair.push(in);
  std::vector<double> mse = mean_squared_errors(pair.info, in, out);
  if (is_fake()) std::fill(mse.begin(), mse.end(), 0);
  gst_buffer_unref(in);
  return mse;
}

// PSNR fields of `s` against the errors of its frames.
void check_errors(const GstStructure* s, const std::vector<std::vector<double>>& errors) {
  for (size_t f = 0; f < 4; f++) {
    double mse = 0, psnrs = 0;
    guint64 equal = 0;
    for (const auto& frame : errors) {
      mse += frame[f] / double(errors.size());
      if (frame[f] == 0)
        equal++;
      else
        psnrs += psnr_of(frame[f], 8);
    }
    const double average =
        equal == errors.size() ? HUGE_VAL : psnrs / double(errors.size() - equal);
    const auto near = [&](const char* statistic, double expected) {
      const std::string name = std::string(kPsnrFields[f]) + statistic;
      const double found = number(s, name.c_str());
      fail_unless(found == expected || std::fabs(found - expected) < 1e-9, "%s: %f, expected %f",
                  name.c_str(), found, expected);
    };
    near("-global", psnr_of(mse, 8));
    near("-mean", average);
    const std::string name = std::string("equal-frames") + (kPsnrFields[f] + 4);
    fail_unless_equals_uint64(count(s, name.c_str()), equal);
  }
}

// The same figures as in stats, where stats has them.
void check_against_stats(const GstStructure* s, GstElement* element) {
  g_autoptr(GstStructure) stats = stats_of(element);
  fail_unless_equals_uint64(count(s, "frames"), count(stats, "measured-frames"));
  fail_unless(std::fabs(number(s, "zeros-global") - number(stats, "zeros-mean")) < 1e-12);
  const double global = number(s, "psnr-global"), pooled = number(stats, "psnr-global");
  fail_unless(global == pooled || std::fabs(global - pooled) < 1e-9);
  for (const char* time : kTimes) {
    for (const char* suffix : {"-mean", "-min", "-max"}) {
      const std::string field = std::string(time) + suffix;
      fail_unless_equals_int64(time_in(s, field), time_in(stats, field));
    }
  }
}

// A clip in which one frame is lossless.
CHECK_TEST(test_values) {
  Pair pair("method=reference measure=psnr+time+zeros keep-reference=true quality=60",
            "method=reference measure=psnr+time+zeros", GST_VIDEO_FORMAT_I420, 64, 48,
            "video/x-dct");
  std::vector<std::vector<double>> errors;
  errors.push_back(push_measured(pair, make_frame(pair.info, 1)));
  errors.push_back(push_measured(pair, gray_frame(pair.info)));
  errors.push_back(push_measured(pair, make_frame(pair.info, 2)));
  fail_unless_equals_uint64(pair.messages(true).size(), 0);
  pair.drain();
  for (GstElement* element : {pair.fwd, pair.inv}) {
    // Both are on the bus: each call takes only its own.
    GstBus* bus = pair.bus;
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
    fail_unless(message != nullptr);
    fail_unless(GST_MESSAGE_SRC(message) == GST_OBJECT(element));
    const GstStructure* s = gst_message_get_structure(message);
    fail_unless(is_summary(message));
    fail_unless(gst_structure_has_name(s, element == pair.fwd ? "cudadct8x8" : "cudaidct8x8"));
    fail_unless_equals_uint64(count(s, "frames"), 3);
    fail_unless_equals_uint64(count(s, "psnr-frames"), 3);
    check_errors(s, errors);
    check_against_stats(s, element);
    fail_unless(time_in(s, "kernel-time-min") >= 0);
    fail_unless(time_in(s, "kernel-time-min") <= time_in(s, "kernel-time-mean"));
    fail_unless(time_in(s, "kernel-time-mean") <= time_in(s, "kernel-time-max"));
    fail_unless_equals_int(time_in(s, "upload-time-mean") >= 0, is_cuda());
    fail_unless_equals_int(time_in(s, "download-time-mean") >= 0, is_cuda());
  }
  fail_unless(gst_bus_pop_filtered(pair.bus, GST_MESSAGE_ELEMENT) == nullptr);
}

// Components that do not exist, and figures that were not requested.
CHECK_TEST(test_what_is_not_measured) {
  Pair pair("measure=zeros", "", GST_VIDEO_FORMAT_GRAY8, 32, 16);
  pair.pass();
  g_object_set(pair.fwd, "measure", 1 /* psnr */, nullptr);
  pair.pass();
  pair.drain();
  g_autoptr(GstStructure) s = only_summary(pair);
  fail_unless_equals_uint64(count(s, "frames"), 2);
  fail_unless_equals_uint64(count(s, "psnr-frames"), 1);
  fail_unless(number(s, "psnr-y-global") == number(s, "psnr-global"));
  fail_unless(number(s, "psnr-global") > 20);
  for (const char* field : {"psnr-u-global", "psnr-v-global", "psnr-u-mean"})
    fail_unless(number(s, field) == -1);
  fail_unless(number(s, "zeros-global") >= 0);
  for (const char* time : kTimes)
    for (const char* suffix : {"-mean", "-min", "-max"})
      fail_unless_equals_int64(time_in(s, std::string(time) + suffix), -1);
}

// No frame was measured: there is no message at any end.
CHECK_TEST(test_nothing_measured) {
  Pair pair("post-messages=true", "", GST_VIDEO_FORMAT_GRAY8, 32, 16);
  pair.pass();
  gst_harness_push_event(pair.h, gst_event_new_segment_done(GST_FORMAT_TIME, 0));
  pair.drain();
  fail_unless(gst_bus_pop_filtered(pair.bus, GST_MESSAGE_ELEMENT) == nullptr);
}

// Each end reports the frames since the end before it; a flush drops the figures that it cuts off.
CHECK_TEST(test_clips) {
  Pair pair("measure=psnr", "", GST_VIDEO_FORMAT_I420, 32, 16);
  const auto push = [&](guint frames) {
    for (guint i = 0; i < frames; i++) pair.pass(i);
  };
  const auto reported_frames = [&] {
    g_autoptr(GstStructure) s = only_summary(pair);
    return count(s, "frames");
  };
  push(2);
  gst_harness_push_event(pair.h, gst_event_new_segment_done(GST_FORMAT_TIME, 0));
  fail_unless_equals_uint64(reported_frames(), 2);
  push(3);
  push_flush(pair.h);
  push(1);
  pair.drain();
  fail_unless_equals_uint64(reported_frames(), 1);
  push_flush(pair.h);
  push(4);
  pair.drain();
  fail_unless_equals_uint64(reported_frames(), 4);
  // Figures since PAUSED are still in stats.
  g_autoptr(GstStructure) stats = stats_of(pair.fwd);
  fail_unless_equals_uint64(count(stats, "measured-frames"), 10);
}

CHECK_TEST(test_time_properties) {
  Pair pair("method=reference measure=time", "method=reference measure=time", GST_VIDEO_FORMAT_I420,
            64, 48, "video/x-dct");
  for (GstElement* element : {pair.fwd, pair.inv})
    for (const char* name : kTimes) fail_unless_equals_int64(time_property(element, name), -1);
  pair.pass();
  pair.drain();
  for (GstElement* element : {pair.fwd, pair.inv}) {
    g_autoptr(GstStructure) stats = stats_of(element);
    for (const char* name : kTimes) {
      const bool exists = is_cuda() || g_str_equal(name, "kernel-time");
      fail_unless_equals_int(time_in(stats, name) >= 0, exists);
      fail_unless_equals_int64(time_property(element, name), time_in(stats, name));
    }
    g_object_set(element, "measure", 4 /* zeros */, nullptr);
  }
  // The last frame was measured, but not for this figure.
  push_flush(pair.h);
  pair.pass();
  pair.drain();
  for (GstElement* element : {pair.fwd, pair.inv})
    for (const char* name : kTimes) fail_unless_equals_int64(time_property(element, name), -1);
}

void note_name(GObject*, GParamSpec* spec, gpointer names) {
  static_cast<std::vector<std::string>*>(names)->push_back(spec->name);
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

// Reported with the first frame and at the end, each once; unmeasured figures are not reported.
CHECK_TEST(test_notifications) {
  Pair pair("method=reference measure=psnr+time", "", GST_VIDEO_FORMAT_I420, 64, 48, "video/x-dct");
  std::vector<std::string> names;
  const gulong id = g_signal_connect(pair.fwd, "notify", G_CALLBACK(note_name), &names);
  pair.pass();
  pair.drain();
  std::vector<std::string> expected = {"kernel-time", "psnr", "psnr-u", "psnr-v", "psnr-y"};
  if (is_cuda()) expected.insert(expected.begin() + 1, {"download-time"});
  if (is_cuda()) expected.push_back("upload-time");
  expected = sorted(expected);
  const size_t n = expected.size();
  // On the GPU the first frame may not be known at the first query.
  fail_unless(names.size() >= n && names.size() <= 2 * n);
  fail_unless(sorted({names.end() - static_cast<ptrdiff_t>(n), names.end()}) == expected);
  push_flush(pair.h);
  g_object_set(pair.fwd, "measure", 2 /* time */, nullptr);
  names.clear();
  pair.pass();
  pair.drain();
  // PSNR is no longer measured, which is news once.
  names = sorted(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  fail_unless(names == expected);
  names.clear();
  push_flush(pair.h);
  pair.pass();
  pair.drain();
  for (const std::string& name : names) fail_if(g_str_has_prefix(name.c_str(), "psnr"));
  fail_unless(!names.empty());
  g_signal_handler_disconnect(pair.fwd, id);
}

std::vector<std::string>& logged() {
  static std::vector<std::string> lines;
  return lines;
}

void note_line(GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*, gint,
               GObject*, GstDebugMessage* message, gpointer) {
  const std::string text = gst_debug_message_get(message);
  if (level == GST_LEVEL_INFO &&
      g_str_equal(gst_debug_category_get_name(category), "cudatransform") &&
      text.find("type=(string)summary") != std::string::npos)
    logged().push_back(text);
}

// One line of the plugin's category, with the message's contents.
CHECK_TEST(test_log) {
  Pair pair("measure=psnr+time", "", GST_VIDEO_FORMAT_I420, 32, 16);
  gst_debug_set_threshold_for_name("cudatransform", GST_LEVEL_INFO);
  gst_debug_add_log_function(note_line, nullptr, nullptr);
  logged().clear();
  pair.pass();
  pair.drain();
  gst_debug_remove_log_function(note_line);
  gst_debug_unset_threshold_for_name("cudatransform");
  g_autoptr(GstStructure) s = only_summary(pair);
  g_autofree gchar* text = gst_structure_to_string(s);
  fail_unless_equals_uint64(logged().size(), 1);
  fail_unless_equals_string(logged()[0].c_str(), text);
}

}  // namespace
