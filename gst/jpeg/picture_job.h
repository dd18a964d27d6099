// One picture of jpegcoefdec: its bytes, where it is decoded to, and what has become of it.
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

// JpegPictures makes it, JpegCodec gives it what it is decoded with and to, and a worker decodes
// it: on the CPU, or on the device, which may leave it to the CPU after all.
struct JpegPictureJob final : FrameJob {
  explicit JpegPictureJob(GstVideoCodecFrame* frame);
  ~JpegPictureJob() override;

  // Maps the frame's bytes, in one piece.
  Status map();
  // Where the first picture ends and others begin. Afterwards file() is the first alone where an
  // index says where the others are.
  void look_behind();
  std::span<const uint8_t> file() const { return whole().first(map_.size - others_size_); }
  // Bytes behind the picture that are kept with it.
  gsize behind_size() const { return keep_metadata ? behind_size_ : 0; }
  // The other pictures of the file by its index, and whether they are where it says. Empty without
  // look_behind().
  const FilePlaces& others() const { return others_; }
  bool has_others() const { return others_size_ > 0; }
  // The frame, unmapped and the caller's; null once it has been taken.
  GstVideoCodecFrame* take_frame();

  // Decoding takes `more` bytes of memory besides the picture's own. kInvalidArgument where that is
  // more than max-memory.
  Status claim(guint64 more, guint width, guint height);
  // The same for what decoding can do without: false, and nothing is claimed, where that is more.
  bool claim_if_possible(guint64 more);

  void run() override;
  Left look(bool wait) override;
  bool is_ready() override { return !is_on_device || lane->is_ready(); }

  bool is_good() const { return status.ok() && damage.empty(); }
  DctTables dct_tables() const { return {tables.tables, tables.count, tables.table_of}; }

  // What it may take and what is wanted of it.
  guint64 bytes = 0;       // of max-memory
  guint64 max_memory = 0;  // 0: no limit
  guint64 held = 0;        // of `bytes`, what JpegCodec counts as in use
  bool conceals = false;   // whether what can be decoded of a damaged picture is wanted
  bool keep_metadata = false;
  // Not 0 any more: nobody wants the picture, and decoding may end with kCancelled.
  const std::atomic<unsigned>* interrupt = nullptr;

  // Where it is decoded, once its header has been read.
  std::unique_ptr<JpegReader> reader;
  GstDctInfo info = {};
  std::unique_ptr<CoefFrame> coefs;
  // Or on the device.
  std::unique_ptr<JpegDecodeLane> lane;
  gsize measured = 0;
  DeviceCoefs device_coefs;

  // What has become of it.
  Status status;         // of decoding, or of what came before it
  bool is_late = false;  // dropped without having been decoded
  bool is_decoded = false;
  bool is_on_device = false;  // and has not been looked at
  bool is_by_device = false;  // and has decoded it
  JpegTables tables;
  uint32_t irregular = 0;  // bits of jpeg/irregular.h; before it is decoded those of the header
  std::string damage;      // what is missing or contradicts itself first; empty: nothing
  BytesPtr metadata;       // of the file, for GstDctJpegMeta
  BytesPtr behind;         // likewise: the last behind_size() bytes of the file

 private:
  Status decode();
  Status decode_on_cpu();
  Status submit_to_device();
  Status settle(bool wait, Left* left);
  Status read_metadata();
  Status read_behind();
  std::span<const uint8_t> whole() const { return {map_.data, map_.size}; }

  GstVideoCodecFrame* frame_;
  BufferPtr input_;  // the frame's input buffer, or its bytes in one piece
  bool mapped_ = false;
  GstMapInfo map_ = {};
  FilePlaces others_;
  gsize behind_size_ = 0, others_size_ = 0;  // the last bytes of the file
  bool is_device_asked_ = false;
};

}  // namespace cudatransform
