// The inputs and outputs of kernels' jobs: pictures, what the CPU engine outputs, and comparisons.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/kernel_jobs_making.h"
#include "transform/device/host_device.h"

namespace cudatransform::test {

std::vector<uint8_t> tiled_picture(int width, int height) {
  constexpr int kTileWidth = 960, kTileHeight = 540;
  static const std::vector<uint8_t> tile = [] {
    const Picture picture =
        make_picture(Sampling::kGray, kTileWidth, kTileHeight, 8, Content::kPhoto, 1);
    return std::vector<uint8_t>(picture[0].samples.begin(), picture[0].samples.end());
  }();
  std::vector<uint8_t> picture(area(width, height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; x += kTileWidth)
      std::copy_n(&tile[area(kTileWidth, y % kTileHeight)], std::min(kTileWidth, width - x),
                  &picture[area(width, y) + static_cast<size_t>(x)]);
  return picture;
}

std::vector<uint8_t> output_of(const KernelJob& job, const std::vector<uint8_t>& input,
                               PictureSums* sums) {
  static const Engine engine = host_engine(make_host_device(0));
  PictureSums unwanted;
  std::vector<uint8_t> output(job.out_size);
  const Status status = job.submit(
      engine,
      {const_cast<uint8_t*>(input.data()), output.data(), sums != nullptr ? sums : &unwanted},
      nullptr);
  if (!status.ok()) throw std::runtime_error(status.message);
  return output;
}

namespace {

// Numbers of a row that differ; -1 if one differs by more than it may.
template <typename T>
int64_t differences(const uint8_t* a, const uint8_t* b, size_t bytes, int tolerance) {
  int64_t different = 0;
  for (size_t i = 0; i < bytes; i += sizeof(T)) {
    T first, second;
    std::memcpy(&first, a + i, sizeof first);
    std::memcpy(&second, b + i, sizeof second);
    if (std::abs(int64_t{first} - int64_t{second}) > tolerance) return -1;
    different += first != second;
  }
  return different;
}

int64_t differences(const KernelJob& job, const uint8_t* a, const uint8_t* b, size_t bytes) {
  if (std::memcmp(a, b, bytes) == 0) return 0;
  switch (job.number) {
    case OutputNumber::kU8:
      return differences<uint8_t>(a, b, bytes, job.tolerance);
    case OutputNumber::kU16:
      return differences<uint16_t>(a, b, bytes, job.tolerance);
    case OutputNumber::kS16:
      return differences<int16_t>(a, b, bytes, job.tolerance);
    default:
      return differences<int32_t>(a, b, bytes, job.tolerance);
  }
}

}  // namespace

std::string compare_outputs(const KernelJob& job, const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& got) {
  constexpr int64_t kFew = 400;  // bytes for each number that differs
  int64_t different = 0, bytes = 0;
  for (const Region& region : job.written)
    for (size_t y = 0; y < region.rows; ++y) {
      const size_t row = region.offset + y * region.pitch;
      const int64_t of_row = differences(job, &expected[row], &got[row], region.row_bytes);
      if (of_row < 0)
        return "row " + std::to_string(y) + " of the region at " + std::to_string(region.offset);
      different += of_row;
      bytes += static_cast<int64_t>(region.row_bytes);
    }
  return different * kFew > bytes ? std::to_string(different) + " numbers" : "";
}

}  // namespace cudatransform::test
