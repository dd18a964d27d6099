// jpegcoefdec under test: an element between two pads of ours, its messages, and damaged pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace testing {

// An element between a source pad and a sink pad of ours, with the messages that it posts.
class Decoder {
 public:
  explicit Decoder(const std::string& properties = "",
                   const char* caps = "image/jpeg,framerate=25/1") {
    const std::string line = "jpegcoefdec n-threads=1 " + properties;
    harness_ = gst_harness_new_parse(line.c_str());
    element_ = gst_harness_find_element(harness_, "jpegcoefdec");
    bus_ = gst_bus_new();
    gst_element_set_bus(element_, bus_);
    gst_harness_set_src_caps_str(harness_, caps);
  }
  ~Decoder() {
    gst_element_set_bus(element_, nullptr);
    gst_object_unref(bus_);
    gst_object_unref(element_);
    gst_harness_teardown(harness_);
  }

  GstFlowReturn push(const Bytes& jpeg) {
    return gst_harness_push(harness_, buffer_of(jpeg, time_ += 40 * GST_MSECOND));
  }
  void finish() { gst_harness_push_event(harness_, gst_event_new_eos()); }
  int count() { return static_cast<int>(gst_harness_buffers_in_queue(harness_)); }
  GstBuffer* pull() { return gst_harness_pull(harness_); }

  // The next buffer has these coefficients.
  void expect(const Bytes& jpeg) {
    fail_unless(count() > 0, "a picture is missing");
    g_autoptr(GstBuffer) buffer = pull();
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(harness_->sinkpad);
    const std::string wrong = compare(jpeg, buffer, caps);
    fail_unless(wrong.empty(), "%s", wrong.c_str());
  }

  // The text of the first message of that kind since the last call, "" for none; drops others.
  std::string message(GstMessageType type) {
    std::string text;
    while (GstMessage* message = gst_bus_pop(bus_)) {
      if (GST_MESSAGE_TYPE(message) == type && text.empty()) text = report_of(message).text;
      gst_message_unref(message);
    }
    return text;
  }
  int messages(GstMessageType type) { return static_cast<int>(take_messages(bus_, type).size()); }
  guint64 stat(const char* field) { return stat_of(element_, field); }
  GstHarness* harness() { return harness_; }
  GstBus* bus() { return bus_; }

 private:
  GstHarness* harness_;
  GstElement* element_;
  GstBus* bus_;
  GstClockTime time_ = 0;
};

// The picture that all others here are made from.
inline const Bytes& good() {
  static const Bytes picture = make_jpeg(64, 48);
  return picture;
}

inline Bytes with_byte(Bytes jpeg, gsize at, guint8 value) {
  jpeg[at] = value;
  return jpeg;
}

}  // namespace testing
