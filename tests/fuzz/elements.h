// Shared by the fuzz targets of elements: a GStreamer without other plugins, and an element's run.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>

#include <functional>

#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// Initializes GStreamer with this project's elements alone: nothing outside the process is read or
// written. A critical or a warning of GLib's log aborts.
void set_up_elements();

// Reads every byte of an output buffer.
void read_bytes(GstBuffer* buffer);

// A new element on the CPU engine between two pads, PLAYING, without an event so far. At the end
// all pushed memory must have been released, and no reference to the element may remain.
class ElementRun {
 public:
  // Called for each output buffer, with its caps (null without).
  using Look = std::function<void(GstBuffer* buffer, GstCaps* caps)>;
  // An element like "jpegcoefdec n-threads=2", which has a property "backend".
  ElementRun(const char* description, Look look);
  ~ElementRun();
  ElementRun(const ElementRun&) = delete;
  ElementRun& operator=(const ElementRun&) = delete;

  GstElement* element() const { return harness_->element; }
  // The caps that the peer after the element accepts; before begin(). By default any.
  void want_caps(const char* caps) { gst_harness_set_sink_caps_str(harness_, caps); }
  // What upstream answers when it is requested its length in bytes; by default nothing.
  void know_length(gint64 bytes);
  // STREAM_START, CAPS (takes them) and SEGMENT.
  void begin(GstCaps* caps, GstFormat format);
  // The same after a flush.
  void begin_again(GstCaps* caps, GstFormat format);
  bool push_caps(GstCaps* caps);
  bool push_event(GstEvent* event) { return gst_harness_push_event(harness_, event); }
  // A buffer of exactly these bytes, without timestamps.
  GstBuffer* make_buffer(const guint8* data, gsize size);
  GstFlowReturn push(GstBuffer* buffer) { return gst_harness_push(harness_, buffer); }

  guint buffers() const { return buffers_; }  // of the output
  bool at_eos() const { return at_eos_; }     // EOS came out, and nothing after it

 private:
  static GstPadProbeReturn answer(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static GstPadProbeReturn note(GstPad* pad, GstPadProbeInfo* info, gpointer self);

  GstHarness* harness_;
  Look look_;
  guint buffers_ = 0;
  bool at_eos_ = false;
  gint64 length_ = 0;
  int memories_ = 0;  // pushed and not given back; atomic
};

// Makes the frames that an input describes. Frames and caps that the element may refuse clear
// `*sound`.
struct FrameMaker {
  // Caps of the next frames; `how` is a byte of the input. Null: as before.
  std::function<GstCaps*(guint8 how, bool* sound)> other_caps;
  std::function<GstCaps*()> same_caps;  // the current ones, for the stream after a flush
  std::function<GstBuffer*(bool* sound)> frame;
};

// Pushes at most `most` frames, with changes of caps and flushes between them, until the input is
// used up or the element refuses one, and then EOS. The element must take and output sound frames,
// unless the peer after it accepts no such caps and `may_refuse`.
void push_frames(ElementRun* run, Input* input, const FrameMaker& maker, guint most, bool sound,
                 bool may_refuse);

}  // namespace fuzzing
