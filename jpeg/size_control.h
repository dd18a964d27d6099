// The scale of a picture's quantization tables at which its JPEG file has a target size.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "jpeg/file_size.h"
#include "jpeg/writer.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/ratecontrol/size_search.h"

namespace cudatransform {

// The destination of a component's quantized coefficients: S16, blocks in natural order.
struct ScaledQcoefs {
  int16_t* data = nullptr;
  ptrdiff_t pitch = 0;  // bytes from one row of blocks to the next
};

// A picture whose quantized coefficients can be made at any scale of its tables. All work is for
// the device's compute queue.
class ScalablePicture {
 public:
  // Enqueues the coefficients at `scale`, and writes the tables there to `*tables`. `is_counted`:
  // their symbols are counted, and they need not be those of the file exactly.
  virtual Status make(uint32_t scale, bool is_counted, const ScaledQcoefs to[],
                      FrameTables* tables) = 0;
  // Enqueues counts of the symbols at all scales to file->counts(), if it can without make().
  // `*counted` stays null where it cannot.
  virtual Status count(const SizeCandidates& /*candidates*/, JpegFileSize* /*file*/,
                       FencePtr* /*counted*/) {
    return {};
  }

 protected:
  ~ScalablePicture() = default;
};

// The tables of a preset at any scale between those of two qualities.
struct ScaledPreset {
  QuantPreset preset = QuantPreset::kAnnexK;
  QuantComponent chroma = QuantComponent::kChroma;  // that the second table is for
  uint32_t finest = 0, coarsest = 0;                // of the qualities
  FrameTables tables;                               // how many, and whose

  // Sets the tables: at the ends to those of the qualities.
  void scale_to(uint32_t scale);
};

// One that the DCT has not transformed yet. Its tables are a preset's.
struct ScalableDct : ScalablePicture {
  Device* device = nullptr;
  const Dct8x8Ops* ops = nullptr;
  Dct8x8Job job;  // with samples; its coefficients' places and tables do not matter
  ScaledPreset scaled;
  Quantizer quantizer = Quantizer::kRound;

  // Sets the job's tables.
  void scale_to(uint32_t scale);
  Status make(uint32_t scale, bool is_counted, const ScaledQcoefs to[], FrameTables* made) override;
};
// Deciding by rate and distortion takes several times as long as counting the symbols. Its files
// are smaller than those of a dead zone by a fraction that is nearly the same at all scales.
inline constexpr int kCountedDeadZone = 600;
inline Quantizer counted_quantizer(Quantizer quantizer) {
  return quantizer == Quantizer::kRd ? Quantizer::kDeadZone : quantizer;
}

// Of one stream, in one thread. Every call waits for the device.
class SizeControl {
 public:
  struct Limits {
    uint32_t finest = 1, coarsest = 1;  // scales
    uint64_t target = 0;                // bytes of a file
    // Measures the finest scale first, which is the result if its file fits.
    bool begins_with_finest = false;
    // A file that is smaller by no more than this part of the target ends a search.
    double tolerance = 1.0 / 256;
  };
  struct Found {
    uint32_t scale = 0;
    uint64_t bytes = 0;  // above the target: no scale makes a file as small as that
    int rounds = 0;
  };

  ~SizeControl();

  // The next picture does not resemble those before it.
  void forget();
  // Nothing is in flight.
  void stop();

  // The next picture, of the same device. `file` has the numbers of blocks, but no quantized
  // coefficients and no tables; its metadata stay until the search ends. `tables`: any of the
  // picture's. `trailing`: bytes after the picture.
  Status begin(Device& device, const JpegEncodeOps& ops, const JpegPicture& file, uint64_t trailing,
               const JpegOptions& options, const FrameTables& tables);
  // The exact size of the file at a scale.
  Status measure(ScalablePicture& picture, uint32_t scale, uint64_t* bytes);
  // The finest scale whose file has at most the target's bytes, and little less.
  Status search(ScalablePicture& picture, const Limits& limits, Found* found);
  // Those of the last measure(); search() ends with the one that it has found.
  const FrameTables& tables() const { return tables_; }

 private:
  Status open(Device& device, const JpegEncodeOps& ops);
  Status take_memory();
  void point_to_tables();
  Status begin_file();
  Status make(ScalablePicture& picture, uint32_t scale, bool is_counted);
  Status count_at_once(ScalablePicture& picture, const SizeCandidates& candidates);
  Status narrow(ScalablePicture& picture, const SizeCandidates& candidates, SizeSearch* search);

  Device* device_ = nullptr;
  std::unique_ptr<JpegFileSize> file_;
  std::unique_ptr<Memory> memory_;
  ScaledQcoefs qcoefs_[kJpegMaxComponents];
  JpegPicture picture_;
  JpegOptions options_;
  uint64_t trailing_ = 0;
  FrameTables tables_;
  bool is_begun_ = false;      // file_, for the header that picture_ has
  unsigned begun_tables_ = 0;  // what its size depends on: see table_shape()
  uint32_t last_scale_ = 0;    // of the picture before; 0: none
  static constexpr double kFirstGrowth = 1.0035;
  double growth_ = kFirstGrowth;  // of a file over its symbols' bits, by stuffed bytes
};

}  // namespace cudatransform
