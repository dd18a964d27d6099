// AVDCT's transforms in whole jobs, and checks without which their times mean nothing.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/cases.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/avdct.h>
}

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace cudatransform::bench {

namespace {

// One context for all threads: its functions are pure.
const AVDCT& context() {
  static AVDCT* const dct = [] {
    AVDCT* made = avcodec_dct_alloc();  // lives as long as the program
    if (made == nullptr || avcodec_dct_init(made) < 0 || made->fdct == nullptr ||
        made->idct == nullptr || made->get_pixels == nullptr) {
      throw std::runtime_error("libavcodec has no AVDCT for 8-bit samples");
    }
    return made;
  }();
  return *dct;
}

// AVDCT's order of a table of 64 entries in natural order.
PlainTable permuted_table() {
  uint16_t q[64];
  for (int i = 0; i < 64; ++i) q[context().idct_permutation[i]] = quality85().q[i];
  return make_plain_table(q);
}

const PlainTable& table(AvdctOrder order) {
  static const PlainTable raster = make_plain_table(quality85().q), own = permuted_table();
  return order == AvdctOrder::kRaster ? raster : own;
}

void forward_row(const FrameSize& size, Frame& frame, int by) {
  const AVDCT& dct = context();
  const PlainTable& plain = table(AvdctOrder::kRaster);
  alignas(64) int16_t block[64];
  for (int bx = 0; bx < size.blocks_w(); ++bx) {
    const ptrdiff_t index = ptrdiff_t{by} * size.blocks_w() + bx;
    dct.get_pixels(block, frame.source.get() + ptrdiff_t{8} * by * size.width + 8 * bx, size.width);
    dct.fdct(block);
    block[0] = int16_t(block[0] - 128 * 64);  // the level shift: exact in DC, and all of it
    plain_quantise(block, plain, frame.coefs.get() + 64 * index);
  }
}

template <AvdctOrder kOrder>
void inverse_row(const FrameSize& size, Frame& frame, int by) {
  const AVDCT& dct = context();
  const PlainTable& plain = table(kOrder);
  alignas(64) int16_t block[64];
  for (int bx = 0; bx < size.blocks_w(); ++bx) {
    const ptrdiff_t index = ptrdiff_t{by} * size.blocks_w() + bx;
    if constexpr (kOrder == AvdctOrder::kOwn) {
      plain_dequantise(frame.permuted.get() + 64 * index, plain, block);
    } else {
      plain_dequantise_permuted(frame.levels.get() + 64 * index, plain, dct.idct_permutation,
                                block);
    }
    dct.idct(block);
    plain_clamp(block, frame.decoded.get() + ptrdiff_t{8} * by * size.width + 8 * bx, size.width);
  }
}

template <typename T>
int largest_difference(const T* a, const T* b, size_t count) {
  int largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(int(a[i]) - int(b[i])));
  return largest;
}

}  // namespace

std::string avdct_version() {
  const unsigned version = avcodec_version();
  return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 255) + "." +
         std::to_string(version & 255);
}

const uint8_t* avdct_permutation() { return context().idct_permutation; }

std::string check_avdct(const FrameSize& size, Frame& frame) {
  run_avdct(Threads::kOne, size, Direction::kForward, AvdctOrder::kRaster, frame);
  const int levels = largest_difference(frame.levels.get(), frame.coefs.get(), size.samples());
  if (levels > 1) return "AVDCT's levels are up to " + std::to_string(levels) + " off";
  run_portable(size, Method::kIslow, Direction::kInverse, frame);
  const std::vector<uint8_t> expected(frame.decoded.get(), frame.decoded.get() + size.samples());
  for (const AvdctOrder order : {AvdctOrder::kRaster, AvdctOrder::kOwn}) {
    std::fill_n(frame.decoded.get(), size.samples(), uint8_t{0});
    run_avdct(Threads::kOne, size, Direction::kInverse, order, frame);
    const int samples = largest_difference(expected.data(), frame.decoded.get(), size.samples());
    if (samples > 2) return "AVDCT's samples are up to " + std::to_string(samples) + " off";
  }
  return "";
}

void run_avdct(Threads threads, const FrameSize& size, Direction direction, AvdctOrder order,
               Frame& frame) {
  for_block_rows(threads, size.blocks_h(), [&](int by) {
    if (direction == Direction::kForward) {
      forward_row(size, frame, by);
    } else if (order == AvdctOrder::kOwn) {
      inverse_row<AvdctOrder::kOwn>(size, frame, by);
    } else {
      inverse_row<AvdctOrder::kRaster>(size, frame, by);
    }
  });
}

}  // namespace cudatransform::bench
