// AVDCT's transforms in whole jobs, and checks without which their times have no meaning.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/cases.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/avdct.h>
}

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

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

test::DctSpec islow(const FrameSize& size, Direction direction) {
  test::DctSpec spec;
  spec.width = size.width;
  spec.height = size.height;
  spec.direction = direction;
  spec.method = Method::kIslow;
  return spec;
}

const PlainTable& table(AvdctOrder order) {
  static const auto tables = [] {
    const Dct8x8Job job = test::place_dct({.width = 8, .height = 8}, {});
    uint16_t permuted[64];
    for (int i = 0; i < 64; ++i) permuted[context().idct_permutation[i]] = job.tables[0].q[i];
    return std::pair(make_plain_table(job.tables[0].q), make_plain_table(permuted));
  }();
  return order == AvdctOrder::kRaster ? tables.first : tables.second;
}

int16_t* qcoefs_in(const Buffer<uint8_t>& buffer) {
  return reinterpret_cast<int16_t*>(buffer.get());
}

void forward_row(const FrameSize& size, Frame& frame, int by) {
  const AVDCT& dct = context();
  const PlainTable& plain = table(AvdctOrder::kRaster);
  alignas(64) int16_t block[64];
  for (int bx = 0; bx < size.blocks_w(); ++bx) {
    const ptrdiff_t index = ptrdiff_t{by} * size.blocks_w() + bx;
    dct.get_pixels(block, frame.in.get() + ptrdiff_t{8} * by * size.width + 8 * bx, size.width);
    dct.fdct(block);
    block[0] = int16_t(block[0] - 128 * 64);  // the level shift: exact in DC, and all of it
    plain_quantize(block, plain, qcoefs_in(frame.out) + 64 * index);
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
      plain_dequantize(qcoefs_in(frame.spare) + 64 * index, plain, block);
    } else {
      plain_dequantize_permuted(qcoefs_in(frame.in) + 64 * index, plain, dct.idct_permutation,
                                block);
    }
    dct.idct(block);
    plain_clamp(block, frame.out.get() + ptrdiff_t{8} * by * size.width + 8 * bx, size.width);
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

std::string prepare_avdct(const FrameSize& size, Direction direction, Frame& frame) {
  const test::KernelJob job = dct_job(islow(size, direction));
  for (size_t k = 0; direction == Direction::kInverse && k < size.samples(); ++k)
    qcoefs_in(frame.spare)[k / 64 * 64 + context().idct_permutation[k % 64]] =
        qcoefs_in(frame.in)[k];
  const std::vector<uint8_t> expected =
      test::output_of(job, {frame.in.get(), frame.in.get() + job.in_size});
  for (const AvdctOrder order : {AvdctOrder::kRaster, AvdctOrder::kOwn}) {
    std::fill_n(frame.out.get(), job.out_size, uint8_t{0});
    run_avdct(Threads::kOne, size, direction, order, frame);
    const bool forward = direction == Direction::kForward;
    const int off = forward ? largest_difference(reinterpret_cast<const int16_t*>(expected.data()),
                                                 qcoefs_in(frame.out), size.samples())
                            : largest_difference(expected.data(), frame.out.get(), size.samples());
    if (off > (forward ? 1 : 2)) return "AVDCT's results are up to " + std::to_string(off) + " off";
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
