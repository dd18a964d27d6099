// The frames of jpegcoefdec: what is decoded where, in which order it is pushed, what is damaged.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "gst/dct8x8/caps_tables.h"
#include "gst/engine/engine.h"
#include "gst/engine/frame_workers.h"
#include "gst/stream/coef_source.h"
#include "jpeg/reader.h"

namespace cudatransform {

// What happens to a picture that is damaged.
enum class OnError { kDrop, kConceal, kFail };

// A snapshot of the properties for one call.
struct JpegSettings {
  OnError on_error = OnError::kDrop;
  guint64 max_pixels = 0;
  guint64 max_memory = 0;
  guint n_threads = 0;
  bool keep_metadata = true;
  bool tables_in_caps = false;
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
      : decoder_(decoder), source_(engine, CoefMaker::kCpu), engine_(engine) {}

  void start();
  // Drops what is in flight.
  void stop();
  // What the sink caps say, if there are any; null forgets them. What is in flight has been
  // drained.
  void set_input(GstVideoCodecState* state);
  // The answered ALLOCATION query of the src pad. `*pool` is of system memory and stays ours.
  Status allocate(GstQuery* query, GstBufferPool** pool);

  // Takes `frame` (transfer full). Pushes what is done; waits only if all threads are busy. A
  // picture that is too `late` to be shown is dropped when its turn comes. Behind an error nothing
  // is pushed any more: until flush() or start() it is returned again.
  GstFlowReturn decode(GstVideoCodecFrame* frame, const JpegSettings& settings, bool late);
  // Waits for everything in flight and pushes it.
  GstFlowReturn drain(const JpegSettings& settings);
  void flush();
  // Any thread: what is being decoded is given up soon, as is what comes until resume().
  void interrupt() { interrupts_ |= kFlushing; }
  void resume() { interrupts_ &= ~kFlushing; }
  // Ends the stream with an error that has been posted: drops what is in flight. Returns `flow`.
  GstFlowReturn fail(GstFlowReturn flow);
  // Whether an error has ended the stream.
  bool failed() const { return failed_ != GST_FLOW_OK; }
  // Caps for a gap that no picture has come before; a picture that differs changes them. False:
  // what is behind the element takes none.
  bool negotiate_gap(const JpegSettings& settings);
  // Whether buffers have times, so that each is about one picture (TIME segments).
  void set_framed(bool framed) { framed_ = framed; }
  bool framed() const { return framed_; }
  // Whether caps say the tables, too; before the first picture.
  void set_tables_in_caps(bool in_caps) { tables_in_caps_ = in_caps; }

  JpegCounts counts() const;  // any thread

 private:
  struct Job;
  // Bits of interrupts_.
  static constexpr unsigned kFlushing = 1, kFailed = 2;
  void start_workers(guint n_threads);
  Status prepare(GstVideoCodecFrame* frame, const JpegSettings& settings, Job* job);
  GstFlowReturn make_room(const Job& job, const JpegSettings& settings);
  void submit(std::unique_ptr<Job> job);
  std::unique_ptr<Job> take(bool wait);
  GstFlowReturn finish(std::unique_ptr<Job> job, const JpegSettings& settings);
  GstFlowReturn push(std::unique_ptr<Job> job);
  GstFlowReturn reject(std::unique_ptr<Job> job, const JpegSettings& settings);
  GstFlowReturn push_oldest(bool wait, const JpegSettings& settings, bool* found);
  GstFlowReturn push_done(bool all, const JpegSettings& settings);
  bool negotiate(const GstDctInfo& info, const DctTables& tables);
  void release(std::unique_ptr<Job> job);

  GstVideoDecoder* decoder_;
  CoefSource source_;
  Engine& engine_;
  FrameWorkers workers_;
  bool started_ = false;                              // workers_
  std::atomic<unsigned> interrupts_ = 0;              // not 0: decoding stops
  GstFlowReturn failed_ = GST_FLOW_OK;                // the error that ended the stream
  guint64 most_bytes_ = 0;                            // max-memory at the latest picture; 0: any
  guint64 used_bytes_ = 0;                            // by the pictures in workers_
  std::vector<std::unique_ptr<JpegReader>> readers_;  // idle ones
  GstVideoCodecState* input_ = nullptr;
  bool negotiated_ = false;
  GstDctInfo info_ = {};  // of the caps, where they are negotiated
  bool tables_in_caps_ = false;
  ToldTables told_;
  bool framed_ = false;
  guint bad_in_row_ = 0;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;  // of those that had one
  bool seen_good_ = false;
  JpegCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
