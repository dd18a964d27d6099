// Pictures that are decoded in parallel and pushed in order: the part of a decoder's element that
// does not depend on what is decoded.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>
#include <string>

#include "gst/engine/frame_workers.h"
#include "gst/stream/damage.h"
#include "gst/stream/latency.h"
#include "gst/stream/picture_codec.h"
#include "gst/stream/push_thread.h"
#include "transform/device/status.h"

namespace cudatransform {

// A snapshot of the element's properties for one call.
struct PictureSettings {
  OnError on_error = OnError::kDrop;
  guint64 max_memory = 0;     // 0: no limit
  guint n_threads = 0;        // as for picture_threads()
  int pictures_a_thread = 1;  // that may be in flight, where that means one thread per core
};

struct PictureCounts {
  guint64 frames = 0;     // pushed
  guint64 damaged = 0;    // of all that came
  guint64 irregular = 0;  // of those that were not damaged
  guint64 dropped = 0;
};

// Used with the decoder's stream lock, but for what says otherwise. Jobs run on several threads;
// everything else happens here, in order: on the streaming thread, or, while nothing comes, on the
// source pad's.
class PictureDecoder {
 public:
  // The properties as they are now.
  using Settings = PictureSettings (*)(GstVideoDecoder*);
  PictureDecoder(GstVideoDecoder* decoder, PictureCodec& codec, Settings settings);

  void start();
  // Drops what is in flight.
  void stop();
  // GstVideoDecoder::set_format. What is in flight is pushed first, with the old caps.
  bool set_input(GstVideoCodecState* state);

  // Takes `frame` (transfer full). Pushes what is done; waits only if all threads are busy. A
  // picture that is too late to be shown is dropped when its turn comes. Behind an error nothing is
  // pushed any more: until flush() or start() it is returned again. What pushes by
  // the thread beside have returned is returned once.
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

  // Any thread. The structure has a field for each of PictureCounts; transfer full.
  GstStructure* stats(const char* name) const;

 private:
  // Bits of interrupts_.
  static constexpr unsigned kFlushing = 1, kFailed = 2;

  gboolean take_event(GstEvent* event, GstVideoDecoderClass* parent_class);
  void start_workers(const PictureSettings& settings);
  bool is_late(GstVideoCodecFrame* frame) const;
  Status prepare(PictureJob& job, const PictureSettings& settings);
  GstFlowReturn make_room(const PictureJob& job);
  void submit(std::unique_ptr<PictureJob> job);
  std::unique_ptr<PictureJob> take(bool wait);
  GstFlowReturn push_done(bool all);
  GstFlowReturn push_oldest(bool wait, bool* found);
  GstFlowReturn push_or_reject(std::unique_ptr<PictureJob> job);
  GstFlowReturn push(std::unique_ptr<PictureJob> job);
  GstFlowReturn reject(std::unique_ptr<PictureJob> job, const Status& why);
  GstFlowReturn fail(GstFlowReturn flow);
  // Gives the base class its frame back, without output.
  void give_up(std::unique_ptr<PictureJob> job);
  bool negotiate();
  bool negotiate_gap();
  void tell_latency();
  void note_good(const PictureJob& job);
  void count(guint64 PictureCounts::*counter);
  PictureCounts counts() const;

  GstVideoDecoder* decoder_;
  PictureCodec& codec_;
  const Settings settings_;
  DamagePolicy damage_;
  FrameWorkers workers_;
  PushThread pusher_;
  bool started_ = false;                  // workers_
  std::atomic<unsigned> interrupts_ = 0;  // not 0: decoding stops
  GstFlowReturn failed_ = GST_FLOW_OK;    // the error that ended the stream
  MeasuredLatency latency_;
  guint64 most_bytes_ = 0;  // max-memory at the latest picture; 0: any
  guint64 used_bytes_ = 0;  // by the pictures in workers_
  GstVideoCodecState* input_ = nullptr;
  bool negotiated_ = false;
  bool framed_ = false;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;  // of those that had one
  bool told_irregular_ = false;
  PictureCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
