// Pipelines that end somehow, and how they ended.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/testing.h"

namespace testing {

struct Outcome {
  std::string error;  // "" at EOS
  GQuark domain = 0;
  int code = 0;
  Report info;  // the last info message; of it, gst-launch-1.0 prints the debug text alone
  int infos = 0;
  int warnings = 0;
};

inline Outcome run_to_end(GstElement* pipeline) {
  Outcome outcome;
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (bool done = false; !done;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_INFO |
                                    GST_MESSAGE_WARNING));
    fail_unless(message != nullptr, "nothing happened for 20 s");
    const GstMessageType type = GST_MESSAGE_TYPE(message);
    done = type == GST_MESSAGE_EOS || type == GST_MESSAGE_ERROR;
    if (type == GST_MESSAGE_WARNING) outcome.warnings++;
    if (type == GST_MESSAGE_INFO) {
      outcome.info = report_of(message);
      outcome.infos++;
    }
    if (type == GST_MESSAGE_ERROR) {
      const Report reported = report_of(message);
      outcome.error = reported.text;
      outcome.domain = reported.domain;
      outcome.code = reported.code;
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_bus_set_flushing(bus, TRUE);
  gst_bus_set_flushing(bus, FALSE);
  return outcome;
}

inline Outcome run_line(const std::string& line) {
  g_autoptr(GstElement) pipeline = launch(line);
  return run_to_end(pipeline);
}

}  // namespace testing
