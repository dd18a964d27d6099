// What the files of cudadiracdec share.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <deque>
#include <memory>

#include "gst/dirac/engine.h"
#include "gst/dirac/pictures.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/frame_source.h"
#include "gst/stream/picture_properties.h"

namespace cudatransform {

constexpr PictureSettings kDiracDefaults = {OnError::kConceal, 0, 0};

// When a picture is shown where nobody says so: its number counts from this one.
struct DiracAnchor {
  bool is_set = false;
  uint64_t sequence_count = 0;
  uint32_t number = 0;
  GstClockTime time = 0;
};

// The bytes of a codec frame, for as long as somebody needs them.
struct DiracInput {
  explicit DiracInput(GstBuffer* input) : buffer(gst_buffer_ref(input)) {
    is_mapped = gst_buffer_map(buffer, &map, GST_MAP_READ);
  }
  ~DiracInput() {
    if (is_mapped) gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  DiracInput(const DiracInput&) = delete;
  DiracInput& operator=(const DiracInput&) = delete;

  GstBuffer* const buffer;
  GstMapInfo map = {};
  bool is_mapped = false;
};

struct DiracState {
  explicit DiracState(GstVideoDecoder* decoder)
      : engine(GST_ELEMENT(decoder), probe_dirac_kernels),
        transport(engine),
        source(engine),
        pictures(decoder, engine) {}

  // Guarded by the object lock.
  PictureSettings settings = kDiracDefaults;  // but n_threads
  EngineSettings engine_settings;
  guint64 max_samples = DiracLimits().max_samples;
  DiracStats stats;
  guint64 frames = 0, dropped = 0;
  GstClockTime picture_time = 0;  // how long each is shown; a field half a frame
  bool framed = false;            // buffers have times
  guint64 seek_byte = 0;          // where the last seek in a raw stream went,
  GstClockTime seek_time = 0;     // and what it asked for

  Engine engine;
  Transport transport;
  FrameSource source;
  // Frames that the device still works on, and the codec frames that they are for.
  FramesInFlight in_flight;
  std::deque<GstVideoCodecFrame*> waiting;
  DiracPictures pictures;
  GstVideoCodecState* input = nullptr;
  std::shared_ptr<const DiracSequence> output;  // that caps were made of
  GstVideoInfo output_info = {};
  bool in_step = false;
  bool resumes = false;  // after a flush, until a frame is shown
  std::atomic<bool> ends_behind_seek =
      false;           // the stream ends, and nothing is shown since a flush
  DiracAnchor anchor;  // of the sequence
  DiracAnchor first;   // of the stream
  GstClockTime next_time = 0;
  bool has_time = false;  // since the start or a flush
  gint bad_in_row = 0;
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

// The pool of frames, from the answered ALLOCATION query.
bool decide_dirac_allocation(GstVideoDecoder* decoder, GstQuery* query);

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
// Pushes none of those, and waits for the device.
void drop_dirac_frames(GstVideoDecoder* decoder);
// From now on, those that are pushed.
void count_dirac_frames(GstVideoDecoder* decoder);

}  // namespace cudatransform
