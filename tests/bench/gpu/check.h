// Whether a benchmark wrote its output: checksums of outputs that were poisoned before.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/gpu/frames.h"

namespace cudatransform::bench {

// Checks one case's outputs, in every set of buffers.
class OutputCheck {
 public:
  // `regions` of the buffers' output are written; with `measures`, so are the sums.
  OutputCheck(const Gpu& gpu, Device& device, const Buffers& buffers, std::vector<Region> regions,
              bool measures);

  // Poisons outputs, calls `work`, which writes every set, and compares. Every call uses another
  // poison, so that untouched output differs too. After the first fault it reports only that.
  void run(const std::function<void()>& work);

  const std::string& fault() const { return fault_; }
  uint64_t checksum() const { return checksum_; }  // of the output of each set

 private:
  uint64_t checksum_of(size_t set) const;
  void compare(size_t set, uint64_t poisoned);
  void compare_sums(size_t set, uint8_t poison);

  const Gpu& gpu_;
  const Buffers& buffers_;
  std::vector<Region> regions_;
  bool measures_;
  int runs_ = 0;
  uint64_t checksum_ = 0;
  PictureSums sums_ = {};
  std::string fault_;
  std::unique_ptr<Memory> sum_;
  CUfunction kernel_;
};

// `bytes` consecutive ones.
std::vector<Region> plain_region(size_t bytes);

}  // namespace cudatransform::bench
