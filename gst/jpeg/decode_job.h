// One picture of jpegcoefdec: its bytes, its destination, and its result.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "gst/dct8x8/coefficients.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/frame_workers.h"
#include "gst/jpeg/decode_lane.h"
#include "gst/stream/coef_output.h"
#include "jpeg/mpf.h"
#include "jpeg/reader.h"
#include "transform/device/status.h"

namespace cudatransform {

// JpegDecoder fills it, a worker decodes it on the CPU or on the device, which may still leave it
// to the CPU, and JpegDecoder takes the result.
struct DecodeJob final : FrameJob {
  explicit DecodeJob(GstVideoCodecFrame* frame);
  ~DecodeJob() override;

  // Maps the frame's bytes contiguously.
  Status map();
  // Finds where the first picture ends and others begin. Afterwards file() is the first alone if an
  // index says where the others are. kInvalidArgument: the first has run into another.
  Status find_trailing_data();
  // Defers that to run(), which takes a worker as long as reading the file from memory, if it looks
  // like one picture. False: call find_trailing_data().
  bool defer_trailing_data();
  std::span<const uint8_t> file() const { return whole().first(map_.size - others_size_); }
  // Bytes after the picture that stay with it.
  gsize trailing_size() const { return keep_metadata ? trailing_size_ : 0; }
  // Whether run() has found some in such a file. They count as memory, so it has not read them.
  bool lacks_trailing() const { return is_decoded && trailing_size() > 0 && !trailing; }
  Status read_trailing();
  // The other pictures of the file by its index, true or not, and whether they are where it says.
  // Empty without find_trailing_data().
  const FilePlaces& others() const { return others_; }
  bool has_others() const { return others_size_ > 0; }
  // The frame, unmapped, for the caller; null once it has been taken.
  GstVideoCodecFrame* take_frame();

  void run() override;
  bool is_small() const override;
  Remaining poll(bool wait) override;
  bool is_ready() override { return !is_on_device || lane->is_ready(); }

  bool is_good() const { return status.ok() && damage.empty(); }
  DctTables dct_tables() const { return {tables.tables, tables.count, tables.table_of}; }

  // The settings.
  guint64 bytes = 0;      // the share of max-memory
  bool conceals = false;  // whether the intact parts of a damaged picture are wanted
  bool keep_metadata = false;
  // Nonzero: the picture is no longer wanted, and decoding may end with kCancelled.
  const std::atomic<unsigned>* interrupts = nullptr;

  // The destination, once the header has been read.
  std::unique_ptr<JpegReader> reader;
  GstDctInfo info = {};
  std::unique_ptr<CoefFrame> coefs;
  // Or a destination on the device.
  std::unique_ptr<JpegDecodeLane> lane;
  gsize measured = 0;
  guint64 lane_bytes = 0;  // the lane's part of `bytes`
  DeviceCoefs device_coefs;

  // The result.
  Status status;         // of decoding, or of an earlier step
  bool is_late = false;  // dropped without decoding
  bool is_decoded = false;
  bool is_on_device = false;  // and not yet checked
  bool is_by_device = false;  // and decoded it
  JpegTables tables;
  uint32_t irregular = 0;  // bits of jpeg/errors.h; before decoding, the header's
  std::string damage;      // the first missing or contradictory part; empty: none
  BytesPtr metadata;       // of the file, for GstDctJpegMeta
  BytesPtr trailing;       // likewise: the last trailing_size() bytes of the file

 private:
  Status decode();
  Status decode_on_cpu();
  Status submit_to_device();
  Status settle(bool wait, Remaining* remaining);
  Status read_metadata();
  std::span<const uint8_t> whole() const { return {map_.data, map_.size}; }

  GstVideoCodecFrame* frame_;
  BufferPtr input_;  // the frame's input buffer, or its bytes, contiguous
  bool mapped_ = false;
  GstMapInfo map_ = {};
  FilePlaces others_;
  gsize trailing_size_ = 0, others_size_ = 0;  // the last bytes of the file
  bool defers_trailing_data_ = false;
  bool is_device_polled_ = false;
};

}  // namespace cudatransform
