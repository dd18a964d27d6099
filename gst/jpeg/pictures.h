// The pictures of jpegcoefdec: decoded in parallel, pushed in order; and the handling of damage.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/frame_workers.h"
#include "gst/jpeg/codec.h"
#include "gst/jpeg/detached_pictures.h"
#include "gst/jpeg/picture_job.h"
#include "gst/stream/damage.h"
#include "gst/stream/latency.h"
#include "gst/stream/push_thread.h"
#include "transform/device/status.h"

namespace cudatransform {

struct JpegPictureCounts {
  guint64 frames = 0;     // pushed
  guint64 damaged = 0;    // of all received
  guint64 irregular = 0;  // of the undamaged ones
  guint64 dropped = 0;
  guint64 attachments = 0;  // other pictures of their files that were pushed with them
  guint64 detached = 0;     // other pictures that came by themselves, and were not pushed
};

// Used with the decoder's stream lock, except where a comment says otherwise. Jobs run on several
// threads. All other work happens here, in order: on the streaming thread or, while no data comes,
// on the source pad's.
class JpegPictures {
 public:
  // The properties are guarded by the object lock.
  JpegPictures(GstVideoDecoder* decoder, Engine& engine, const JpegDecodeSettings& properties,
               const EngineSettings& engine_properties);

  // An error: the properties ask for an unavailable feature.
  Status start();
  // Drops the pictures in flight.
  void stop();
  // GstVideoDecoder::set_format. Pushes the pictures in flight first, with the old caps.
  bool set_input(GstVideoCodecState* state);

  // Takes `frame` (transfer full). Pushes finished pictures; waits only if all threads are busy. A
  // picture that is too late to be shown is dropped when its turn comes. After an error nothing is
  // pushed: until flush() or start() the error is returned again. Failed pushes by the second
  // thread are returned once.
  GstFlowReturn decode(GstVideoCodecFrame* frame);
  // Takes a frame that cannot be decoded because of `status`, which is not damage: posts an error
  // after the pictures before it.
  GstFlowReturn refuse(GstVideoCodecFrame* frame, const Status& status);
  // Waits for all pictures in flight and pushes them.
  GstFlowReturn drain();
  // GstVideoDecoder::finish. If no picture of a stream could be shown, that is an error, whatever
  // on-error says.
  GstFlowReturn finish();
  void flush();

  // Called by any thread: decoding is given up soon, also of new pictures until a flush is over.
  void interrupt() { interrupts_ |= kFlushing; }
  // GstVideoDecoder::sink_event, without the stream lock; `parent_class` is that of the element.
  gboolean sink_event(GstEvent* event, GstVideoDecoderClass* parent_class);
  // Whether buffers have times, so that each is about one picture (TIME segments).
  bool framed() const { return framed_; }

  // The answered ALLOCATION query of the src pad; false: an error has been posted.
  bool decide_allocation(GstQuery* query);
  // Called by any thread. The stats property; transfer full.
  GstStructure* stats() const;

 private:
  // Bits of interrupts_.
  static constexpr unsigned kFlushing = 1, kFailed = 2;

  gboolean take_event(GstEvent* event, GstVideoDecoderClass* parent_class);
  using Job = std::unique_ptr<JpegPictureJob>;
  JpegDecodeSettings settings() const;
  GstFlowReturn decode_now(GstVideoCodecFrame* frame);
  GstFlowReturn decode_held();
  GstFlowReturn drain_in_flight();
  void start_workers();
  bool is_late(GstVideoCodecFrame* frame) const;
  Status prepare(JpegPictureJob& job);
  GstFlowReturn make_room(const JpegPictureJob& job);
  Job take(bool wait);
  GstFlowReturn push_done(bool all);
  GstFlowReturn push_oldest(bool wait, bool* found);
  GstFlowReturn push_or_reject(Job job);
  bool is_of_other_kind(const JpegPictureJob& job) const;
  Status ask_downstream(const JpegPictureJob& job);
  GstFlowReturn push(Job job);
  GstFlowReturn explain(GstFlowReturn flow);
  GstFlowReturn drop_refused();
  GstFlowReturn drop(Job job);
  GstFlowReturn reject(Job job, const Status& why);
  GstFlowReturn fail(GstFlowReturn flow);
  // Gives the base class its frame back, without output.
  void give_up(Job job);
  bool negotiate();
  bool negotiate_gap();
  void tell_latency();
  void note_irregular(const JpegPictureJob& job);
  void count(guint64 JpegPictureCounts::*counter, guint64 more = 1);
  JpegPictureCounts counts() const;

  GstVideoDecoder* decoder_;
  const JpegDecodeSettings& properties_;
  const EngineSettings& engine_properties_;
  JpegCodec codec_;
  DamagePolicy damage_;
  FrameWorkers workers_;
  PushThread pusher_;
  bool started_ = false;                  // workers_
  std::atomic<unsigned> interrupts_ = 0;  // not 0: decoding stops
  GstFlowReturn failed_ = GST_FLOW_OK;    // the error that ended the stream
  MeasuredLatency latency_;
  CodecStatePtr input_;
  CodecStatePtr held_input_;  // of a picture that is held, if other caps have come since
  bool negotiated_ = false;
  bool is_refused_ = false;  // the picture that was pushed last, for its caps
  // How many sizes of a sampling and depth downstream has accepted when it was asked.
  std::map<std::pair<GstCoefSampling, guint>, int> accepted_;
  bool framed_ = false;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;  // of the pictures that had a time
  bool told_irregular_ = false;
  DetachedPictures detached_;
  JpegPictureCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
