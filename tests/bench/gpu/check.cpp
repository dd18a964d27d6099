// Poison, checksums and the meaning of their differences.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/check.h"

#include <algorithm>
#include <cstring>

namespace cudatransform::bench {
namespace {

constexpr uint8_t kPoison[] = {0xA5, 0x5A};
constexpr unsigned kThreads = 256;
constexpr size_t kMostCtas = 4096;

}  // namespace

std::vector<Region> plain_region(size_t bytes) {
  constexpr size_t kRow = 4096;  // CTAs take rows
  std::vector<Region> regions = {{0, kRow, kRow, bytes / kRow}};
  if (bytes % kRow != 0) regions.push_back({bytes / kRow * kRow, kRow, bytes % kRow, 1});
  return regions;
}

OutputCheck::OutputCheck(const Gpu& gpu, Device& device, const Buffers& buffers,
                         std::vector<Region> regions, bool measures)
    : gpu_(gpu),
      buffers_(buffers),
      regions_(std::move(regions)),
      measures_(measures),
      kernel_(gpu.kernel("bench_checksum")) {
  require(device.allocate(MemoryKind::kDevice, sizeof(uint64_t), &sum_));
}

uint64_t OutputCheck::checksum_of(size_t set) const {
  gpu_.fill(sum_->data(), 0, sizeof(uint64_t));
  uint64_t salt = 0;
  for (const Region& region : regions_) {
    if (region.rows == 0) continue;
    const uint8_t* data = static_cast<uint8_t*>(buffers_.output(set)) + region.offset;
    auto pitch = static_cast<int64_t>(region.pitch);
    auto row_bytes = static_cast<int64_t>(region.row_bytes);
    auto rows = static_cast<int64_t>(region.rows);
    void* sum = sum_->data();
    void* arguments[] = {&data, &pitch, &row_bytes, &rows, &salt, &sum};
    gpu_.launch(kernel_, static_cast<unsigned>(std::min(region.rows, kMostCtas)), kThreads,
                arguments);
    salt += region.rows * region.row_bytes;
  }
  uint64_t sum = 0;
  gpu_.read(&sum, sum_->data(), sizeof sum);
  return sum;
}

void OutputCheck::run(const std::function<void()>& work) {
  const uint8_t poison = kPoison[runs_ % 2];
  buffers_.poison(poison);
  const uint64_t poisoned = checksum_of(0);  // of every set
  work();
  gpu_.synchronize();
  ++runs_;
  for (size_t set = 0; set < buffers_.sets() && fault_.empty(); ++set) {
    compare(set, poisoned);
    if (measures_ && fault_.empty()) compare_sums(set, poison);
  }
}

void OutputCheck::compare(size_t set, uint64_t poisoned) {
  const uint64_t sum = checksum_of(set);
  if (runs_ == 1 && set == 0) checksum_ = sum;
  const std::string where = "set " + std::to_string(set) + " of buffers: ";
  if (sum == poisoned)
    fault_ = where + "wrote nothing";
  else if (sum != checksum_ && runs_ == 1)
    fault_ = where + "not the output of set 0, whose input is the same";
  else if (sum != checksum_)
    fault_ = where + "not the output of the first run, or not all of it was written";
}

void OutputCheck::compare_sums(size_t set, uint8_t poison) {
  const PictureSums& sums = *buffers_.sums(set);
  if (runs_ == 1 && set == 0) sums_ = sums;
  PictureSums poisoned;
  std::memset(&poisoned, poison, sizeof poisoned);
  const std::string where = "set " + std::to_string(set) + " of buffers: ";
  if (std::memcmp(&sums, &poisoned, sizeof sums) == 0)
    fault_ = where + "measured nothing";
  else if (std::memcmp(&sums, &sums_, sizeof sums) != 0)
    fault_ = where + "measured something else than before";
  else if (sums.sse[0] == 0)
    fault_ = where + "measured no error, but quantisation makes one";
}

}  // namespace cudatransform::bench
