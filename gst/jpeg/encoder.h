// The encoder of jpegcoefenc: from a buffer of coefficients to a JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideoencoder.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "gst/dct8x8/coefficients.h"
#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/encode_job.h"
#include "gst/stream/ordered_pictures.h"

namespace cudatransform {

// The properties, except those of the engine.
struct JpegEncodeSettings {
  JpegOptions options;
  JpegEntropy entropy = JpegEntropy::kAuto;
};

// Since PAUSED.
struct JpegEncodeCounts {
  std::atomic<guint64> frames = 0, frames_by_device = 0;
  std::atomic<guint64> xmp_length_mismatches = 0;  // files
};

// Called with the encoder's stream lock, except where a comment says otherwise.
class JpegEncoder final : private PictureCodec {
 public:
  // The properties are guarded by the object lock.
  JpegEncoder(GstVideoEncoder* encoder, Engine& engine, const JpegEncodeSettings& properties,
              const EngineSettings& engine_properties);

  // An error: the properties require what is not available.
  Status start();
  void stop();
  // Before the engine is closed.
  void close() { coder_.close(); }
  // GstVideoEncoder::set_format: all that `caps` decide; `reference` has the fields that files take
  // over.
  bool set_caps(GstCaps* caps, GstVideoCodecState* reference);
  // Call it after the base class has seen caps. That calls set_format() only for changes of raw
  // video, and coefficients of one size may differ in sampling.
  bool take_caps(GstCaps* caps);
  // GstVideoEncoder::handle_frame: takes `frame` (transfer full).
  GstFlowReturn encode(GstVideoCodecFrame* frame);
  GstFlowReturn finish() {
    return pictures_.finish([this] { return pictures_.drain(); });
  }
  void flush() { pictures_.flush(); }
  // GstVideoEncoder::sink_event, without the stream lock; `parent_class` is that of the element.
  gboolean sink_event(GstEvent* event, GstVideoEncoderClass* parent_class);
  // GstVideoEncoder::sink_query, likewise.
  void take_query(GstQuery* query) {
    pictures_.take_query(query, [this] { return pictures_.drain(); });
  }

  // Any thread.
  const JpegEncodeCounts& counts() const { return counts_; }

 private:
  // PictureCodec.
  GstFlowReturn finish(std::unique_ptr<FrameJob> picture) override;
  void discard(std::unique_ptr<FrameJob> picture) override;

  JpegEncodeSettings settings() const;
  gboolean take_event(GstEvent* event, GstVideoEncoderClass* parent_class);
  Status open_coder();
  bool start_workers();
  std::unique_ptr<EncodeJob> take_idle();
  void keep_idle(std::unique_ptr<EncodeJob> job);
  void warn_of_colorimetry(const GstDctInfo& info, GstCaps* caps);
  void warn_of_rtp();
  void warn_of_lengths(const std::string& mismatch);

  GstVideoEncoder* const encoder_;
  Engine& engine_;
  const JpegEncodeSettings& properties_;
  const EngineSettings& engine_properties_;
  OrderedPictures pictures_;
  DeviceCoder coder_;                             // open where the device may code
  std::vector<std::unique_ptr<EncodeJob>> idle_;  // with memory for later frames
  GstDctInfo info_ = {};
  CapsTables caps_tables_;
  bool warned_of_colorimetry_ = false, warned_of_rtp_ = false, warned_of_lengths_ = false;
  JpegEncodeCounts counts_;
};

}  // namespace cudatransform
