// The frames of jpegcoefdec: what is decoded where, in which order it is pushed, what is damaged.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <memory>
#include <string>
#include <vector>

#include "gst/coef_source.h"
#include "gst/engine.h"
#include "gst/frame_workers.h"
#include "jpeg/reader.h"

namespace cudatransform {

// What happens to a picture that is damaged.
enum class OnError { kDrop, kConceal, kFail };

// A snapshot of the properties for one call.
struct JpegSettings {
  OnError on_error = OnError::kDrop;
  guint64 max_pixels = 0;
  guint n_threads = 0;
};

struct JpegCounts {
  guint64 frames = 0;   // pushed
  guint64 damaged = 0;  // of all that came
  guint64 dropped = 0;
};

// Used by the streaming thread, with the decoder's stream lock. Pictures are decoded on several
// threads, each by a reader of its own; everything else happens here, in order.
class JpegFrames {
 public:
  JpegFrames(GstVideoDecoder* decoder, Engine& engine)
      : decoder_(decoder), source_(engine), engine_(engine) {}

  void start();
  // Drops what is in flight.
  void stop();
  // What the sink caps say, if there are any; null forgets them. What is in flight has been
  // drained.
  void set_input(GstVideoCodecState* state);
  // The answered ALLOCATION query of the src pad. `*pool` is of system memory and stays ours.
  Status allocate(GstQuery* query, GstBufferPool** pool);

  // Takes `frame` (transfer full). Pushes what is done; waits only if all threads are busy. A
  // picture that is too `late` to be shown is dropped when its turn comes.
  GstFlowReturn decode(GstVideoCodecFrame* frame, const JpegSettings& settings, bool late);
  // Waits for everything in flight and pushes it.
  GstFlowReturn drain(const JpegSettings& settings);
  void flush();
  // Whether buffers have times, so that each is about one picture (TIME segments).
  void set_framed(bool framed) { framed_ = framed; }
  bool framed() const { return framed_; }
  bool negotiated() const { return negotiated_; }

  JpegCounts counts() const;  // any thread

 private:
  struct Job;
  void start_workers(guint n_threads);
  Status prepare(GstVideoCodecFrame* frame, const JpegSettings& settings, Job* job);
  GstFlowReturn finish(std::unique_ptr<Job> job, const JpegSettings& settings);
  GstFlowReturn push(std::unique_ptr<Job> job);
  GstFlowReturn reject(std::unique_ptr<Job> job, const JpegSettings& settings);
  GstFlowReturn push_done(bool all, const JpegSettings& settings);
  bool negotiate(const GstDctInfo& info);
  void release(std::unique_ptr<Job> job);

  GstVideoDecoder* decoder_;
  CoefSource source_;
  Engine& engine_;
  FrameWorkers workers_;
  bool started_ = false;                              // workers_
  std::vector<std::unique_ptr<JpegReader>> readers_;  // idle ones
  GstVideoCodecState* input_ = nullptr;
  bool negotiated_ = false;
  bool framed_ = false;
  guint bad_in_row_ = 0;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;  // of those that had one
  bool seen_good_ = false;
  JpegCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
