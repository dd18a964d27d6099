// What the files of cudadiracdec share.
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
#include "gst/engine/engine_element.h"
#include "gst/stream/damage.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/latency.h"
#include "gst/stream/picture_properties.h"
#include "gst/stream/push_thread.h"

namespace cudatransform {

constexpr PictureSettings kDiracDefaults = {.on_error = OnError::kConceal};

// How far the stream has been split.
struct DiracSplit {
  DiracSplit();

  DiracSplitter splitter;
  DiracUnitLimits limits;
  // Of the frame that is being put together.
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
  guint64 seek_byte = 0;          // where the last seek in a raw stream went,
  GstClockTime seek_time = 0;     // and what it asked for

  Engine engine;
  Transport transport;
  FrameOutput frame_output;
  // Frames that the device still works on, and the codec frames that they are for.
  FramesInFlight in_flight;
  std::deque<GstVideoCodecFrame*> waiting;
  DiracPictures pictures;
  PushThread pusher;
  DamagePolicy damage;
  MeasuredLatency latency;  // beside that of the order in which pictures are shown
  CodecStatePtr input;
  std::shared_ptr<const DiracSequence> output;  // that caps were made of
  GstVideoInfo output_info = {};
  DiracSplit split;
  DiracClock clock;
  // The stream ends, and nothing is shown since a flush.
  std::atomic<bool> ends_behind_seek = false;
  bool told_of_outside = false;
  GstFlowReturn failed = GST_FLOW_OK;  // the error that ended the stream
  GstFlowReturn last = GST_FLOW_OK;    // of push_dirac_frames()
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
// Whether nobody wants what is being decoded.
bool is_dirac_flushing(GstVideoDecoder* decoder);

// GstVideoDecoder::decide_allocation. Deliberately not chaining up: frames have a pool of their
// own.
gboolean decide_dirac_allocation(GstVideoDecoder* decoder, GstQuery* query);

// Caps and pool for the frames of `sequence`.
GstFlowReturn set_dirac_output(GstVideoDecoder* decoder,
                               const std::shared_ptr<const DiracSequence>& sequence);
// Frames that may be under way on the device when the next is made. None behind a live source,
// which has one thread.
guint most_dirac_in_flight(const DiracState& state);
void tell_dirac_latency(GstVideoDecoder* decoder);

// Whether a picture, which nobody refers to, would be shown later than it should be.
bool is_dirac_picture_late(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                           const DiracSequence& sequence, uint64_t sequence_count, uint32_t number);
// Gives a frame, which is the next to be shown, its time and duration. False: it was given up,
// because it is outside of the segment.
bool set_dirac_times(GstVideoDecoder* decoder, const DiracShown& shown);

// Seeks upstream; where that has bytes alone, by bytes.
gboolean dirac_seek(GstVideoDecoder* decoder, GstEvent* event);
// Answers what is asked about time of a stream that has bytes alone. FALSE: not answered.
gboolean dirac_raw_query(GstVideoDecoder* decoder, GstQuery* query);
// The time at which a segment of bytes begins.
GstClockTime dirac_time_of_byte(GstVideoDecoder* decoder, guint64 byte);
// Takes the event of segment `from`, in bytes, and gives one in time: the base class leaves it in
// bytes, though it makes times of what is in it.
GstEvent* dirac_segment_in_time(GstVideoDecoder* decoder, GstEvent* event, const GstSegment* from);
// Whether that is the base class's error that nothing came out before the end. Behind a seek past
// the last intra picture nothing can.
bool is_end_behind_dirac_seek(GstElement* element, GstMessage* message);

// Pushes the frames that are ready, after work that ended with `status`. `all`: those as well that
// the device still works on.
GstFlowReturn push_dirac_frames(GstVideoDecoder* decoder, const Status& status, bool all);
// Gives up what is in work: nothing is decoded or pushed before a flush or the next start. Returns
// `flow`.
GstFlowReturn fail_dirac(GstVideoDecoder* decoder, GstFlowReturn flow);
// Pushes none of those, and waits for the device.
void drop_dirac_frames(GstVideoDecoder* decoder);
// From now on, those that are pushed.
void count_dirac_frames(GstVideoDecoder* decoder);

}  // namespace cudatransform
