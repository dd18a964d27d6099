// The encoder of cudaapvenc: from frames to access units.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoencoder.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apv/frame_writer.h"
#include "gst/apv/device_frame.h"
#include "gst/apv/rate_control.h"
#include "gst/apv/video_format.h"
#include "gst/engine/block_pool.h"
#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/ordered_pictures.h"

namespace cudatransform {

// The properties, except those of the engine.
struct ApvEncodeSettings {
  guint qp = 32;
  gint qp_offset[kMaxApvComponents] = {};  // of component 0: not used
  std::string matrix[kMaxApvComponents];   // as users write them
  guint tile_width = 256, tile_height = 256;
  guint band = 2;
  guint bitrate = 0;           // kbit/s; 0: `qp`
  guint vbv_buf_capacity = 0;  // ms
  bool frame_hash = false;
};

// For an Engine.
Status probe_apv_encode_kernels(Device& device);

// Reads 64 weights, row by row; none: all are 16. kInvalidArgument otherwise.
Status read_apv_matrix(const std::string& text, uint8_t weights[64]);

// Since PAUSED.
struct ApvEncodeCounts {
  std::atomic<guint64> frames = 0, frames_by_device = 0, bytes = 0;
};

// The device encodes several frames, or workers do, all tiles of one at the same time; finish()
// pushes them in order.
//
// Called with the encoder's stream lock, except where a comment says otherwise.
class ApvEncoder final : private PictureCodec {
 public:
  // The properties are guarded by the object lock.
  ApvEncoder(GstVideoEncoder* encoder, Engine& engine, const ApvEncodeSettings& properties,
             const EngineSettings& engine_properties);
  ~ApvEncoder();

  void start();
  void stop();

  // sink_query. DRAIN reclaims the buffers of frames in flight, which are pushed, and those that
  // the device may still read.
  void take_query(GstQuery* query) {
    pictures_.take_query(query, [this] {
      const GstFlowReturn flow = drain();
      mover_.release_inputs();
      return flow;
    });
  }
  // GstVideoEncoder::set_format.
  bool set_format(GstVideoCodecState* input);
  // GstVideoEncoder::handle_frame: takes `frame` (transfer full).
  GstFlowReturn encode(GstVideoCodecFrame* frame);
  GstFlowReturn drain() { return pictures_.drain(); }
  OrderedPictures& loop() { return pictures_; }

  // Any thread.
  const ApvEncodeCounts& counts() const { return counts_; }
  const ApvRateResult& rate() const { return rate_.result(); }

 private:
  struct Job;

  // PictureCodec.
  GstFlowReturn finish(std::unique_ptr<FrameJob> picture) override;
  void discard(std::unique_ptr<FrameJob> picture) override;

  Status read_format(const GstVideoCodecState& input);
  bool has_size_prefix(GstCaps* caps);
  GstCaps* output_caps();
  void set_qp(const ApvEncodeSettings& settings, int qp, ApvFrameFormat* format) const;
  int max_in_flight(int threads) const;
  Status prepare(Job& job, GstVideoCodecFrame* frame);
  Status prepare_metadata(Job& job);
  Status prepare_on_host(Job& job, const ApvEncodeSettings& settings);
  Status prepare_on_device(Job& job, const ApvEncodeSettings& settings);
  using MeasureQps = std::function<Status(std::span<const ApvQps> qps, uint64_t* bytes)>;
  Status choose_qp(Job& job, const ApvEncodeSettings& settings, int at_a_time,
                   const MeasureQps& measure, ApvFrameFormat* format);
  Status transform_on_host(const ApvFrameFormat& format, const ApvSource& source);
  Status measure_on_host(const ApvFrameFormat& format, std::span<const ApvQps> qps,
                         uint64_t* bytes);
  ApvSource source_of(const Rects& rects) const;
  Status write_unit(Job& job);
  Status write_hash(uint8_t* unit, size_t size);
  Status open_host();
  std::unique_ptr<Job> take_idle();
  void keep_idle(std::unique_ptr<Job> job);

  GstVideoEncoder* const encoder_;
  Engine& engine_;
  const ApvEncodeSettings& properties_;
  const EngineSettings& engine_properties_;
  OrderedPictures pictures_;
  ApvDeviceCoder coder_;  // open where the engine is a device
  FrameMover mover_;
  BlockPool uploads_;
  ApvRateControl rate_;
  std::unique_ptr<Device> host_;            // where the CPU measures, and decodes for hashes
  std::unique_ptr<Memory> coefs_on_host_;   // of the frame that it measures
  std::vector<std::unique_ptr<Job>> idle_;  // with memory for later frames
  GstVideoInfo info_;
  ApvInput input_;
  double luma_rate_ = 0;     // samples a second, padding included
  ApvFrameFormat format_;    // of all frames of the caps, without quantization parameters
  ApvMetadata light_;        // by the caps
  ApvBytes metadata_;        // of frames without metas
  size_t hash_bytes_ = 0;    // at the end of the metadata
  bool has_warned_ = false;  // of metadata that was dropped
  bool has_size_ = true;     // au_size precedes each unit
  ApvEncodeCounts counts_;
};

}  // namespace cudatransform
