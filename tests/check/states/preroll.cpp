// Pipelines whose branches wait for each other: a finished picture leaves, so that all of them
// preroll, play to their end, and stop at any point.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each pipeline 3 times, or CUDATRANSFORM_PREROLLS times.
#include <cstdlib>
#include <string>

#include "tests/check/frames.h"
#include "tests/check/states/watchdog.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// ONE: a queue of one buffer. DEC, ENC, DIRAC: the elements with eight pictures in flight.
constexpr const char* kShort = " queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 ";
constexpr const char* kTimeLapse =
    "videotestsrc num-buffers=6 ! video/x-raw,format=I420,width=320,height=240,framerate=1/2 ! ";
constexpr const char* kLarge =
    "videotestsrc num-buffers=8 ! video/x-raw,format=I420,width=3840,height=2160,framerate=30/1 ! ";
constexpr const char* kTee = "tee name=t  t. ! ONE ! fakesink  t. ! ONE ! ";

struct Line {
  const char* name;
  const char* source;
  std::string rest;
};

const Line kLines[] = {
    {"a time-lapse with queues as they are", kTimeLapse,
     "jpegenc ! tee name=t  t. ! queue ! fakesink  t. ! queue ! jpegcoefdec ! "
     "jpegcoefenc optimize=true ! fakesink"},
    {"coefficients of which a queue holds one", kLarge,
     "cudadct8x8 ! tee name=t  t. ! queue ! fakesink  t. ! queue ! jpegcoefenc ! jpegcoefdec ! "
     "fakesink"},
    {"decoder", kTimeLapse, std::string("jpegenc ! ") + kTee + "DEC ! fakesink"},
    {"encoder", kTimeLapse, std::string("cudadct8x8 ! ") + kTee + "ENC ! fakesink"},
    {"two of each in a row", kTimeLapse,
     std::string("jpegenc ! ") + kTee + "DEC ! ENC ! DEC ! ENC ! fakesink"},
    {"two decoders behind a tee", kTimeLapse,
     "jpegenc ! tee name=t  t. ! ONE ! DEC ! fakesink  t. ! ONE ! DEC ! cudaidct8x8 ! fakesink"},
    {"an encoder and a transform behind a tee", kTimeLapse,
     "cudadct8x8 ! tee name=t  t. ! ONE ! ENC ! fakesink  t. ! ONE ! cudaidct8x8 ! fakesink"},
    {"RTP", kTimeLapse,
     std::string("jpegenc ! ") + kTee + "DEC ! ENC ! rtpjpegpay ! rtpjpegdepay ! DEC ! fakesink"},
    {"intra pictures of VC-2", "filesrc location=DATA/v02_hq_legall_d3_420.drc ! diracparse ! ",
     std::string(kTee) + "DIRAC ! fakesink"},
    {"predicted pictures of Dirac",
     "filesrc location=DATA/p01_qpel_biref_8x8full_420.drc ! diracparse ! ",
     std::string(kTee) + "DIRAC ! ONE ! fakesink"},
};

void replace(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size()))
    text->replace(at, from.size(), to);
}

// "": a stream that is not available.
std::string line_of(const Line& line) {
  const std::string eight = std::string(" n-threads=8 backend=") + backend() + " ";
  std::string text = line.source + line.rest;
  replace(&text, "ONE", kShort);
  replace(&text, "DEC", "jpegcoefdec" + eight);
  replace(&text, "ENC", "jpegcoefenc" + eight);
  replace(&text, "DIRAC", "cudadiracdec" + eight);
  if (text.find("DATA") == std::string::npos) return text;
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  if (!data) return "";
  replace(&text, "DATA", std::string(data) + "/dirac");
  return text;
}

void preroll(GstElement* pipeline, const Line& line) {
  Watchdog::get().now(line.name, "prerolling");
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int(gst_element_get_state(pipeline, nullptr, nullptr, GST_CLOCK_TIME_NONE),
                         GST_STATE_CHANGE_SUCCESS);
}

CHECK_LOOP_TEST(test_preroll, 0, G_N_ELEMENTS(kLines)) {
  const Line& line = kLines[__i__];
  const std::string text = line_of(line);
  if (text.empty()) return;
  const char* wanted = g_getenv("CUDATRANSFORM_PREROLLS");
  const int runs = wanted ? std::atoi(wanted) : quick() ? 1 : 3;
  for (int run = 0; run < runs; run++) {
    g_autoptr(GstElement) pipeline = launch(text);
    preroll(pipeline, line);
    if (run % 3 == 2) {  // stopped right away
      Watchdog::get().now(line.name, "stopping");
      gst_element_set_state(pipeline, GST_STATE_NULL);
    } else {
      Watchdog::get().now(line.name, "playing");
      const std::string failure = run_to_eos(pipeline);
      fail_unless(failure.empty(), "%s: %s", line.name, failure.c_str());
      gst_element_set_state(pipeline, GST_STATE_NULL);
    }
  }
}

}  // namespace
