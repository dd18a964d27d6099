// What a decoder of pictures has to bring for PictureDecoder: its jobs, and what is asked of it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>
#include <string>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/frame_workers.h"
#include "transform/device/status.h"

namespace cudatransform {

// What a decoder has to say about a picture.
struct PictureFindings {
  std::string damage;     // what is missing or contradicts itself first; empty: nothing
  std::string irregular;  // what else is odd about a picture without damage; empty: nothing
};

// One picture on its way. A codec derives from it, and finds there what it has put there.
class PictureJob : public FrameJob {
 public:
  ~PictureJob() override;

  // The file or packet, in one piece.
  const guint8* data() const { return map_.data; }
  gsize size() const { return map_.size; }
  // Whether what can be decoded of a damaged picture is wanted.
  bool conceals() const { return conceals_; }
  // Not 0 any more: nobody wants the picture, and decode() may return kCancelled.
  const std::atomic<unsigned>* interrupt() const { return interrupt_; }
  // For read_header(): decoding takes `bytes` of memory besides the picture's own. kInvalidArgument
  // where that is more than max-memory.
  Status claim(guint64 bytes, guint width, guint height);
  // The same for what decoding can do without: false, and nothing is claimed, where that is more.
  bool claim_if_possible(guint64 bytes);

  void run() final;
  Left look(bool wait) final;

 protected:
  PictureJob() = default;
  // By any thread, after begin(). Ok without damage: the picture is good. Ok otherwise, or
  // kInvalidArgument: it is damaged; if conceals(), it can be shown all the same.
  virtual Status decode(PictureFindings* found) = 0;
  // Behind a decode() that was ok, by whoever takes it: what is left of it, as look() says, and
  // what is known now of a picture that is good. With kRun decode() is called again.
  virtual Status settle(bool /*wait*/, Left* left, PictureFindings* /*found*/) {
    *left = Left::kNothing;
    return {};
  }

 private:
  friend class PictureDecoder;
  GstVideoCodecFrame* take_frame();
  bool is_good() const { return status_.ok() && damage_.empty(); }

  GstVideoCodecFrame* frame_ = nullptr;
  BufferPtr input_;  // the frame's input buffer, or its bytes in one piece
  bool mapped_ = false;
  GstMapInfo map_ = {};
  guint64 bytes_ = 0;  // of max-memory
  guint64 max_memory_ = 0;
  bool conceals_ = false;
  bool late_ = false;  // dropped without having been decoded
  const std::atomic<unsigned>* interrupt_ = nullptr;
  bool decoded_ = false;
  Status status_;       // of decode(), or of what came before it
  std::string damage_;  // of a picture that has been decoded
  std::string irregular_;
};

// What a PictureDecoder asks of a codec. Everything is called with the decoder's stream lock; every
// job is one of new_job().
class PictureCodec {
 public:
  virtual ~PictureCodec() = default;

  // As users know it, for messages.
  virtual const char* name() const = 0;
  virtual std::unique_ptr<PictureJob> new_job() = 0;
  // Everything that has to be known before the picture can be decoded. `input`: what the sink caps
  // say, or null. kInvalidArgument: the picture is damaged. kUnsupported: it is of a kind that
  // cannot be decoded, which may be damage, too.
  virtual Status read_header(PictureJob& job, const GstVideoCodecState* input) = 0;
  // Takes the memory that read_header() has claimed. Not if that has failed.
  virtual Status begin(PictureJob& job) = 0;
  // Whether the output state does not fit a picture that has been decoded.
  virtual bool needs_new_state(const PictureJob& job) = 0;
  // Sets the decoder's output state for such a picture.
  virtual void set_output_state(const PictureJob& job, GstVideoCodecState* input) = 0;
  // The same for a gap that comes before any picture. False: downstream takes nothing of ours.
  virtual bool set_gap_state(GstVideoCodecState* input) = 0;
  // The output buffer of a picture that has been decoded, without timestamps. kCancelled: flushing.
  virtual Status finish(PictureJob& job, GstBuffer** buffer) = 0;
  // Takes back from any job, at any stage, what the next picture can use.
  virtual void release(PictureJob& job) = 0;
  // The most bytes that may be kept for pictures to come, from now on.
  virtual void limit_kept(guint64 most) = 0;
  // How many of those that are kept begin() would use up for `job`.
  virtual guint64 reusable(const PictureJob& job) const = 0;
  // Gives up everything that is kept.
  virtual void stop() = 0;
};

}  // namespace cudatransform
