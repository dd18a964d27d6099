// The decoder of cudaapvdec: from access units of a stream to frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <functional>
#include <memory>

#include "apv/frame.h"
#include "apv/renderer.h"
#include "gst/apv/video_format.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/stream/decoded_frames.h"
#include "gst/stream/decoder_common.h"
#include "gst/stream/ordered_pictures.h"
#include "transform/device/device.h"

namespace cudatransform {

// For an Engine.
Status probe_apv_kernels(Device& device);

// Where codes are read.
enum class ApvEntropy { kAuto, kCpu, kCuda };

struct ApvSettings : PictureSettings {
  // As many frames of 3840x2160 as keep a GPU busy take some 3.6 GB.
  ApvSettings() {
    on_error = OnError::kConceal;
    max_memory = guint64{1} << 32;
  }

  ApvEntropy entropy = ApvEntropy::kAuto;
  guint64 max_samples = guint64{1} << 27;
};

struct ApvStats {
  guint64 frames = 0, on_cuda = 0, entropy_on_cuda = 0, bytes = 0;
  guint64 damaged = 0, damaged_chains = 0, dropped = 0, late = 0;
  guint64 skipped_bytes = 0, skipped_frames = 0, unknown_units = 0;
  guint64 t35 = 0, user = 0, unknown_metadata = 0;
  guint64 entropy_time = 0;  // ns
};

// Workers decode the codes of several frames, all chains of one at the same time; finish() renders
// and pushes them in order.
//
// Called with the decoder's stream lock, except where a comment says otherwise.
class ApvPictures final : private PictureCodec {
 public:
  // The properties are guarded by the object lock.
  ApvPictures(GstVideoDecoder* decoder, Engine& engine, const ApvSettings& properties);
  ~ApvPictures() { stop(); }

  // A new stream.
  void start();
  void stop();
  void flush();
  // GstVideoDecoder::set_format, and how long frames without times last.
  void set_input(GstVideoCodecState* state) { input_.reset(gst_video_codec_state_ref(state)); }
  bool decide_allocation(GstQuery* query) { return frames_.decide_allocation(query); }

  // Makes threads for the property n-threads, unless there are some. The engine is open, and stays
  // open until stop().
  void start_decoder(guint n_threads);
  // Takes a codec frame of one access unit (transfer full).
  GstFlowReturn decode(GstVideoCodecFrame* frame);
  // Makes room for bytes that the caller holds.
  GstFlowReturn hold(gsize bytes);
  GstFlowReturn drain() { return loop_.drain(); }
  void note_skipped(gsize bytes);

  OrderedPictures& loop() { return loop_; }
  // Any thread.
  ApvStats stats() const;

 private:
  struct Job;

  // PictureCodec.
  GstFlowReturn finish(std::unique_ptr<FrameJob> picture) override;
  void discard(std::unique_ptr<FrameJob> picture) override;
  GstFlowReturn push_kept(bool all) override { return frames_.push_kept(all); }
  void discard_kept() override { frames_.discard_kept(); }
  GstFlowReturn explain(GstFlowReturn flow) override { return frames_.explain(flow); }

  Status begin(Job& job);
  Status reserve(Job& job);
  uint32_t chains_on_device(const Job& job);
  Status have_room(const std::function<guint64()>& need_of, const std::function<bool()>& trim);
  Status make_room(const std::function<bool()>& trim, bool* made);
  GstFlowReturn flow_after(const Status& status);
  GstFlowReturn end_with(const Status& status);

  GstFlowReturn show(Job& job);
  GstFlowReturn drop_damaged(Job& job, const std::string& why);
  bool choose_memory(const GstVideoInfo& info, CapsPtr* caps) const;
  Status find_format(const ApvOutput& output, GstVideoFormat* format, int* shift) const;
  GstFlowReturn set_output(const ApvOutput& output, GstVideoFormat format);
  void count(const Job& job);

  GstVideoDecoder* const decoder_;
  Engine& engine_;
  const ApvSettings& properties_;
  OrderedPictures loop_;
  DecodedFrames frames_;
  DamagePolicy damage_;
  const MemoryBudgetPtr budget_ = std::make_shared<MemoryBudget>();
  std::unique_ptr<ApvRenderer> renderer_;
  CodecStatePtr input_;
  std::unique_ptr<ApvOutput> output_;  // of the caps
  size_t coef_count_ = 0;              // of the last frame
  bool is_busy_ = false;               // frames wait for each other
  GstFlowReturn last_ = GST_FLOW_OK;   // why a push that was to make room failed
  GstClockTime longest_ = 0;           // from a frame's bytes to its samples
  ApvStats stats_;                     // guarded by the object lock
};

}  // namespace cudatransform
