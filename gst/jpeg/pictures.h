// Pictures of jpegcoefdec: decoded in parallel, pushed in order, and what becomes of damaged ones.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>

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
  guint64 damaged = 0;    // of all that came
  guint64 irregular = 0;  // of those that were not damaged
  guint64 dropped = 0;
  guint64 attachments = 0;  // other pictures of their files that were pushed with them
  guint64 detached = 0;     // other pictures that came by themselves, and were not pushed
};

// Used with the decoder's stream lock, but for what says otherwise. Jobs run on several threads;
// everything else happens here, in order: on the streaming thread, or, while nothing comes, on the
// source pad's.
class JpegPictures {
 public:
  // The properties are guarded by the object lock.
  JpegPictures(GstVideoDecoder* decoder, Engine& engine, const JpegDecodeSettings& properties,
               const EngineSettings& engine_properties);

  // An error: the properties ask for what cannot be had.
  Status start();
  // Drops what is in flight.
  void stop();
  // GstVideoDecoder::set_format. What is in flight is pushed first, with the old caps.
  bool set_input(GstVideoCodecState* state);

  // Takes `frame` (transfer full). Pushes what is done; waits only if all threads are busy. A
  // picture that is too late to be shown is dropped when its turn comes. Behind an error nothing is
  // pushed any more: until flush() or start() it is returned again. What pushes by the thread
  // beside have returned is returned once.
  GstFlowReturn decode(GstVideoCodecFrame* frame);
  // Takes a frame that cannot be decoded because of `status`, which is no damage: an error behind
  // the pictures that came before it.
  GstFlowReturn refuse(GstVideoCodecFrame* frame, const Status& status);
  // Waits for everything in flight and pushes it.
  GstFlowReturn drain();
  // GstVideoDecoder::finish. A stream of which nothing could be shown is an error, whatever
  // on-error says.
  GstFlowReturn finish();
  void flush();

  // Any thread: what is being decoded is given up soon, as is what comes until a flush is over.
  void interrupt() { interrupts_ |= kFlushing; }
  // GstVideoDecoder::sink_event, without the stream lock; `parent_class` is that of the element.
  gboolean sink_event(GstEvent* event, GstVideoDecoderClass* parent_class);
  // Whether buffers have times, so that each is about one picture (TIME segments).
  bool framed() const { return framed_; }

  // The answered ALLOCATION query of the src pad; false: an error has been posted.
  bool decide_allocation(GstQuery* query);
  // Any thread. The stats property; transfer full.
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
  GstFlowReturn push(Job job);
  GstFlowReturn drop(Job job);
  GstFlowReturn reject(Job job, const Status& why);
  GstFlowReturn fail(GstFlowReturn flow);
  // Gives the base class its frame back, without output.
  void give_up(Job job);
  bool negotiate();
  bool negotiate_gap();
  void tell_latency();
  void note_good(const JpegPictureJob& job);
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
  bool negotiated_ = false;
  bool framed_ = false;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;  // of those that had one
  bool told_irregular_ = false;
  DetachedPictures detached_;
  JpegPictureCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
