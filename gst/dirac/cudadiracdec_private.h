// The shared parts of cudadiracdec.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "gst/dirac/clock.h"
#include "gst/dirac/engine.h"
#include "gst/dirac/pictures.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/damage.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/latency.h"
#include "gst/stream/picture_properties.h"
#include "gst/stream/push_thread.h"

namespace cudatransform {

constexpr PictureSettings kDiracDefaults = {.on_error = OnError::kConceal};

// The splitter of the stream and its progress.
struct DiracSplit {
  DiracSplit() { reset(); }
  // The next bytes do not continue the earlier ones, which the base class has cleared.
  void reset();

  ContiguousAdapter bytes;  // of the base class
  DiracSplitter splitter;
  DiracUnitLimits limits;
  // The frame that is being put together.
  std::vector<DiracInput::Unit> units;
  gsize held = 0;
  gsize dropped = 0;  // since the last frame
};

struct DiracState {
  explicit DiracState(GstVideoDecoder* decoder);

  // Guarded by the object lock.
  PictureSettings settings = kDiracDefaults;
  EngineSettings engine_settings;
  guint64 max_samples = DiracLimits().max_samples;
  DiracStats stats;
  guint64 frames = 0, dropped = 0;
  guint64 outside = 0;            // of the segment
  GstClockTime picture_time = 0;  // how long each is shown; a field half a frame
  bool framed = false;            // buffers have times
  guint64 seek_byte = 0;          // the byte that the last seek in a raw
  GstClockTime seek_time = 0;     // stream went to, and the time that it asked for

  Engine engine;
  Transport transport;
  FrameOutput frame_output;
  // The frames that the device still works on, and their codec frames.
  FramesInFlight in_flight;
  std::deque<GstVideoCodecFrame*> waiting;
  DiracPictures pictures;
  PushThread pusher;
  DamagePolicy damage;
  MeasuredLatency latency;  // without the delay of the display order
  CodecStatePtr input;
  std::shared_ptr<const DiracSequence> output;  // the source of the caps
  GstVideoInfo output_info = {};
  DiracSplit split;
  DiracClock clock;
  // The stream ends, and no frame was shown since a flush.
  std::atomic<bool> ends_behind_seek = false;
  bool told_of_outside = false;
  GstFlowReturn failed = GST_FLOW_OK;  // the error that ended the stream
  GstFlowReturn last = GST_FLOW_OK;    // the last result of push_dirac_frames()
};

}  // namespace cudatransform

G_BEGIN_DECLS
G_DECLARE_FINAL_TYPE(GstCudaDiracDec, gst_cuda_dirac_dec, GST, CUDA_DIRAC_DEC, GstVideoDecoder)
struct _GstCudaDiracDec {
  GstVideoDecoder parent;
  cudatransform::DiracState* state;
};
G_END_DECLS

namespace cudatransform {

inline DiracState& state_of(gpointer instance) {
  return *reinterpret_cast<GstCudaDiracDec*>(instance)->state;
}

// GstVideoDecoder::parse.
GstFlowReturn parse_dirac_stream(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                 GstAdapter* adapter, bool at_eos);
// Whether what is being decoded is no longer wanted.
bool is_dirac_flushing(GstVideoDecoder* decoder);

// GstVideoDecoder::decide_allocation. Deliberately not chaining up: frames have their own pool.
gboolean decide_dirac_allocation(GstVideoDecoder* decoder, GstQuery* query);

// Whether frames of `sequence` can follow those that were pushed. kUnsupported: GStreamer has no
// such frames, or downstream does not accept them; the caps stay as they are.
Status ask_for_dirac_output(GstVideoDecoder* decoder, const DiracSequence& sequence);
// The flow return after a push that ended with `flow`. Where that means refused caps, posts an
// error that names them.
GstFlowReturn explain_dirac_refusal(GstVideoDecoder* decoder, GstFlowReturn flow);
// Caps and pool for the frames of `sequence`.
GstFlowReturn set_dirac_output(GstVideoDecoder* decoder,
                               const std::shared_ptr<const DiracSequence>& sequence);
// The most frames that the device may still work on when the next is made. None after a live
// source, which has one thread.
guint most_dirac_in_flight(const DiracState& state);
void tell_dirac_latency(GstVideoDecoder* decoder);

// Whether a picture that no other refers to would be shown too late.
bool is_dirac_picture_late(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                           const DiracSequence& sequence, uint64_t sequence_count, uint32_t number);
// Gives the next shown frame its time and duration. False: it is outside of the segment and was
// given up.
bool set_dirac_times(GstVideoDecoder* decoder, const DiracShown& shown);

// Seeks upstream, by bytes if upstream cannot seek otherwise.
gboolean dirac_seek(GstVideoDecoder* decoder, GstEvent* event);
// Answers a query about the times of a raw stream. FALSE: not answered.
gboolean dirac_raw_query(GstVideoDecoder* decoder, GstQuery* query);
// The time at which a segment of bytes begins.
GstClockTime dirac_time_of_byte(GstVideoDecoder* decoder, guint64 byte);
// Takes the event of segment `from`, in bytes, and gives one in time: the base class leaves it in
// bytes, though it gives the contents times.
GstEvent* dirac_segment_in_time(GstVideoDecoder* decoder, GstEvent* event, const GstSegment* from);
// Whether this is the base class's error that no frame came out before the end. After a seek past
// the last intra picture none can.
bool is_end_behind_dirac_seek(GstElement* element, GstMessage* message);

// Pushes the frames that are ready, after work that ended with `status`. `all`: also those that the
// device still works on.
GstFlowReturn push_dirac_frames(GstVideoDecoder* decoder, const Status& status, bool all);
// Gives up the work in progress: nothing is decoded or pushed before a flush or the next start.
// Returns `flow`.
GstFlowReturn fail_dirac(GstVideoDecoder* decoder, GstFlowReturn flow);
// Drops the frames in flight, and waits for the device.
void drop_dirac_frames(GstVideoDecoder* decoder);
// Counts the pushed frames from now on.
void count_dirac_frames(GstVideoDecoder* decoder);

}  // namespace cudatransform
