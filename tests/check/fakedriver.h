// What the tests on the fake driver share: its counters, and pipelines that end somehow.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The first argument of these programs is the driver's mode (fakecuda/fakecuda.cpp): one process
// each, because a process loads a driver once.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "tests/check/fakecuda/fakecuda.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

inline const char* mode() { return g_getenv("FAKECUDA_MODE"); }

// Null where the process has another libcuda, or none.
inline void (*get_counts())(FakecudaCounts*) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return nullptr;
  return reinterpret_cast<void (*)(FakecudaCounts*)>(dlsym(driver, "fakecuda_get_counts"));
}

inline FakecudaCounts counts() {
  FakecudaCounts now = {};
  get_counts()(&now);
  return now;
}

inline bool is_anything_alive(const FakecudaCounts& c) {
  return c.memory || c.streams || c.events || c.modules || c.contexts;
}

// Everything that was made is gone, and no call was wrong. A thread of GStreamer that commits a
// state change may hold the pipeline, and so its context, a moment longer than we do.
inline void check_clean() {
  FakecudaCounts now = counts();
  for (int i = 0; i < 200 && is_anything_alive(now); i++) {
    g_usleep(10000);
    now = counts();
  }
  fail_unless_equals_int(now.memory, 0);
  fail_unless_equals_int(now.streams, 0);
  fail_unless_equals_int(now.events, 0);
  fail_unless_equals_int(now.modules, 0);
  fail_unless_equals_int(now.contexts, 0);
  fail_unless_equals_int(now.calls_without_context, 0);
  fail_unless_equals_int(now.bad_copies, 0);
}

struct Outcome {
  std::string error;  // "" at EOS
  GQuark domain = 0;
  int code = 0;
  std::string info;  // the last info message
  int infos = 0;
};

inline Outcome run_to_end(GstElement* pipeline) {
  Outcome outcome;
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (bool done = false; !done;) {
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_INFO));
    fail_unless(message != nullptr, "nothing happened for 20 s");
    GError* error = nullptr;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_INFO) {
      gst_message_parse_info(message, &error, nullptr);
      outcome.info = error->message;
      outcome.infos++;
    } else {
      done = true;
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, nullptr);
        outcome.error = error->message;
        outcome.domain = error->domain;
        outcome.code = error->code;
      }
    }
    g_clear_error(&error);
    gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_bus_set_flushing(bus, TRUE);
  gst_bus_set_flushing(bus, FALSE);
  gst_object_unref(bus);
  return outcome;
}

inline GstElement* launch(const std::string& line) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  fail_unless(error == nullptr, "%s", error ? error->message : "");
  return pipeline;
}

inline Outcome run_line(const std::string& line) {
  GstElement* pipeline = launch(line);
  const Outcome outcome = run_to_end(pipeline);
  gst_object_unref(pipeline);
  return outcome;
}

inline std::string both(const char* backend, int frames = 3) {
  return "videotestsrc num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=I420,width=64,height=48 ! cudadct8x8 name=f backend=" + backend +
         " ! cudaidct8x8 name=i backend=" + backend + " ! fakesink";
}

// Sets the mode and sees that the driver is the fake one; 0 when all is well.
inline int enter_mode(const char* mode) {
  g_setenv("FAKECUDA_MODE", mode, TRUE);
  if (g_str_equal(mode, "absent"))
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) ? skip("there is a driver") : 0;
  if (get_counts() != nullptr) return 0;
  std::fprintf(stderr, "libcuda.so.1 is not the fake driver\n");
  return 1;
}

}  // namespace testing
