// The parallel decoder's results for a JPEG file, judged by libjpeg-turbo.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jpeg/parallel_decode.h"
#include "jpeg/reader.h"

namespace cudatransform::test {

// The quantized coefficients of a picture, in memory with a margin that no decoder may write to.
class QcoefsMemory {
 public:
  explicit QcoefsMemory(const JpegHeader& header);
  const JpegQcoefs* qcoefs() const { return qcoefs_; }
  int components() const { return components_; }
  // Of a component, with its margins, which are as large as its quantized coefficients are aligned.
  std::vector<int16_t>& memory(int component) { return memory_[component]; }
  static constexpr size_t kMargin = 64;  // quantized coefficients
  bool margins_are_whole() const;
  // Empty, or the first difference's place.
  std::string difference(const QcoefsMemory& other) const;

 private:
  std::vector<int16_t> memory_[kJpegMaxComponents];
  JpegQcoefs qcoefs_[kJpegMaxComponents];
  int components_ = 0;
};

enum class ScansVerdict {
  kNoJpeg,   // libjpeg refuses the header
  kNo,       // JpegScanReader does not take it
  kDamaged,  // the parallel decoder reports something
  kSound,    // and here it does not
};

struct ScansOutcome {
  ScansVerdict verdict = ScansVerdict::kNoJpeg;
  bool judged_sound = false;  // nothing is missing, as JpegReader says with libjpeg
  uint32_t irregular = 0;     // and its oddities
  bool for_us = false;        // libjpeg says: sequential, Huffman-coded
  uint32_t reported = 0;      // as JpegDecodeResult has it
  bool is_whole = false;      // no segment is missing
  uint32_t subsequences = 0;
  bool was_fast = false;  // JpegReader has decoded it by JpegScanDecoder
  std::string wrong;      // the fault, or empty
};

// Decodes by an engine, in separate memory. Its result is unset if the work failed.
class ScansDecoder {
 public:
  ScansDecoder(Device& device, const JpegDecodeOps& ops) : device_(device), ops_(ops) {}
  // Fills quantized coefficients and margins with earlier data.
  JpegDecodeResult operator()(const JpegScans& scans, const uint8_t* block, QcoefsMemory* qcoefs);
  const std::string& failure() const { return failure_; }
  bool is_device() const { return !device_.is_host(); }
  bool is_alone = false;  // of jobs from now on

 private:
  Status run(const JpegScans& scans, const uint8_t* block, QcoefsMemory* qcoefs,
             JpegDecodeResult* result);

  Device& device_;
  const JpegDecodeOps& ops_;
  std::string failure_;
};

// The parallel decoder must be right where it reports nothing: libjpeg finds no damage, and every
// quantized coefficient and table is the same. And JpegReader must give the same results with and
// without JpegScanDecoder, for every file, and a verdict that agrees with libjpeg's warnings: some
// mean damage, some an irregular picture, and no warning means neither.
ScansOutcome judge_scans(const uint8_t* data, size_t size, ScansDecoder& decoder,
                         size_t max_qcoefs = size_t{1} << 30);

}  // namespace cudatransform::test
