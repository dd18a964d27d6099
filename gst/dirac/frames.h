// The output of cudadiracdec: turns shown pictures into frames with timestamps and caps, and pushes
// them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <memory>
#include <string>

#include "dirac/renderer.h"
#include "dirac/sequence.h"
#include "gst/dirac/clock.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/decoded_frames.h"
#include "gst/stream/decoder_common.h"
#include "gst/stream/ordered_pictures.h"
#include "transform/device/status.h"

namespace cudatransform {

// One frame to be shown: a picture, or two fields, either of which may be missing. Both are missing
// where the frame was too late to be rendered.
struct DiracShown {
  std::shared_ptr<const DiracSequence> sequence;
  uint64_t sequence_count = 0;
  uint32_t number = 0;  // of the picture, or of the first of both fields
  DiracRenderedPtr pictures[2];
  GstVideoCodecFrame* frame = nullptr;  // the first codec frame that had a part of it
  bool is_damaged = false;
  std::string damage;
};

struct DiracFrameCounts {
  guint64 frames = 0, dropped = 0;
  guint64 outside = 0;            // of the segment
  GstClockTime picture_time = 0;  // how long each is shown; a field half a frame
};

// Called with the decoder's stream lock, except where a comment says otherwise.
class DiracFrames {
 public:
  // `properties` are guarded by the object lock.
  DiracFrames(GstVideoDecoder* decoder, Engine& engine, OrderedPictures& pictures,
              const PictureSettings& properties);

  void start();
  void stop();
  // After a flush the stream continues anywhere.
  void flush() { clock_.flush(); }
  // Whether frames were shown, but none since a flush.
  bool is_after_seek() const { return clock_.is_after_seek(); }
  // GstVideoDecoder::set_format.
  void set_input(GstVideoCodecState* state);
  // Whether buffers have times.
  void set_framed(bool framed);
  // Any thread.
  bool is_framed() const;
  // GstVideoDecoder::decide_allocation. Frames have their own pool.
  bool decide_allocation(GstQuery* query) { return frames_.decide_allocation(query); }

  // Whether frames have been negotiated.
  bool has_output() const { return output_ != nullptr; }
  // Whether a picture that no other refers to would be shown too late.
  bool is_late(GstVideoCodecFrame* frame, const DiracSequence& sequence, uint64_t sequence_count,
               uint32_t number) const;
  // Takes a frame in display order: pushes it now or, while the device writes it, later.
  GstFlowReturn push(const DiracShown& shown);
  // PictureCodec's: the frames that the device still writes.
  GstFlowReturn push_kept(bool all) { return frames_.push_kept(all); }
  void discard_kept() { frames_.discard_kept(); }
  // The flow after a push that ended with `flow`. Where that means refused caps, posts an error
  // that names them.
  GstFlowReturn explain(GstFlowReturn flow) const { return frames_.explain(flow); }

  // Any thread.
  DiracFrameCounts counts() const;

 private:
  bool discards(const DiracShown& shown, const Status& refused, GstFlowReturn* flow);
  static void describe(const DiracShown& shown, GstBuffer* buffer);
  Status write_pictures(const DiracShown& shown, const Rects& rects);

  bool set_times(const DiracShown& shown);
  void reorder_times(GstVideoCodecFrame* shown);
  bool leaves_out(GstVideoCodecFrame* frame, bool is_given);

  bool choose_memory(const GstVideoInfo& info, CapsPtr* caps) const;
  Status request_output(const DiracSequence& sequence) const;
  GstFlowReturn set_output(const std::shared_ptr<const DiracSequence>& sequence);
  void count(guint64 DiracFrameCounts::*counter);
  static GstPadProbeReturn count_pushed(GstPad* pad, GstPadProbeInfo* info, gpointer self);

  GstVideoDecoder* const decoder_;
  Engine& engine_;
  const PictureSettings& properties_;
  DecodedFrames frames_;
  DamagePolicy damage_;
  CodecStatePtr input_;
  std::shared_ptr<const DiracSequence> output_;  // the source of the caps
  DiracClock clock_;
  bool warned_of_outside_ = false;
  bool framed_ = false;      // changed with both locks
  DiracFrameCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
