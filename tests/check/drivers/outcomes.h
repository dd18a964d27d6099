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
  std::string info;        // the last info message
  std::string info_debug;  // and its debug text, all that gst-launch-1.0 prints of it
  int infos = 0;
  int warnings = 0;
};

inline Outcome run_to_end(GstElement* pipeline) {
  Outcome outcome;
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (bool done = false; !done;) {
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_INFO |
                                    GST_MESSAGE_WARNING));
    fail_unless(message != nullptr, "nothing happened for 20 s");
    GError* error = nullptr;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_INFO) {
      gchar* debug = nullptr;
      gst_message_parse_info(message, &error, &debug);
      outcome.info = error->message;
      outcome.info_debug = debug ? debug : "";
      g_free(debug);
      outcome.infos++;
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
      outcome.warnings++;
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

inline Outcome run_line(const std::string& line) {
  GstElement* pipeline = launch(line);
  const Outcome outcome = run_to_end(pipeline);
  gst_object_unref(pipeline);
  return outcome;
}

}  // namespace testing
