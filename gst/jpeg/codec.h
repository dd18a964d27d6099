// JPEG pictures to buffers of coefficients: what a PictureDecoder asks of jpegcoefdec.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>
#include <vector>

#include "gst/dct8x8/coefficients.h"
#include "gst/engine/engine.h"
#include "gst/jpeg/decode_lane.h"
#include "gst/jpeg/entropy.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/picture_codec.h"
#include "jpeg/reader.h"

namespace cudatransform {

// Properties that are about JPEG.
struct JpegDecodeSettings {
  JpegEntropy entropy = JpegEntropy::kAuto;
  guint64 max_pixels = 0;  // 0: no limit
  bool keep_metadata = true;
  bool tables_in_caps = false;
};

// Pictures that were pushed, by who has decoded them.
struct JpegDecodeCounts {
  guint64 by_cuda = 0, by_cpu = 0;
};

struct JpegPictureJob;

// Pictures are decoded on several threads, each by a reader of its own. On the device each of them
// has one picture in flight; what that does not decode without a complaint is decoded again by the
// reader, so that damage is what libjpeg says.
class JpegCodec final : public PictureCodec {
 public:
  JpegCodec(GstVideoDecoder* decoder, Engine& engine)
      : decoder_(decoder), output_(engine, CoefMaker::kCpu), engine_(engine) {}

  // From the next picture on.
  void set(const JpegDecodeSettings& settings) { settings_ = settings; }
  // Whether caps say the tables, too; before the first picture.
  void set_tables_in_caps(bool in_caps) { tables_in_caps_ = in_caps; }
  // Before the first picture: whether `entropy` can be had.
  Status start(JpegEntropy entropy);
  // Any thread.
  JpegDecodeCounts counts() const { return {by_cuda_, by_cpu_}; }
  // The answered ALLOCATION query of the src pad. `*pool` is of system memory and stays ours.
  Status allocate(GstQuery* query, GstBufferPool** pool);

  const char* name() const override { return "JPEG"; }
  std::unique_ptr<PictureJob> new_job() override;
  Status read_header(PictureJob& job, const GstVideoCodecState* input) override;
  Status begin(PictureJob& job) override;
  bool needs_new_state(const PictureJob& job) override;
  void set_output_state(const PictureJob& job, GstVideoCodecState* input) override;
  bool set_gap_state(GstVideoCodecState* input) override;
  Status finish(PictureJob& job, GstBuffer** buffer) override;
  void release(PictureJob& job) override;
  void limit_kept(guint64 most) override { output_.limit_kept(most); }
  guint64 reusable(const PictureJob& job) const override;
  void stop() override;

 private:
  bool wants_device(const PictureJob& job, const GstDctInfo& info) const;
  void take_lane(JpegPictureJob* job);
  bool peer_takes_cuda(const GstDctInfo& info) const;
  void set_state(const GstDctInfo& info, const DctTables& tables, GstVideoCodecState* input);
  GstCaps* in_wanted_memory(GstCaps* caps, bool* in_cuda) const;

  GstVideoDecoder* decoder_;
  CoefOutput output_;
  Engine& engine_;
  JpegDecodeSettings settings_;
  std::vector<std::unique_ptr<JpegReader>> readers_;  // idle ones
  JpegDecodeLanes lanes_;
  std::atomic<guint64> by_cuda_ = 0, by_cpu_ = 0;
  GstDctInfo info_ = {};  // of the output state
  bool tables_in_caps_ = false;
  ToldTables told_;
};

}  // namespace cudatransform
