// Rows of blocks of APV's inverse transform in vectors, compiled for every instruction set that
// Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A vector has a row of each of its blocks, which are adjacent in the picture: each 128-bit block
// of the vector is eight values of one. No pass needs a transposition: the columns are summed lane
// by lane, and for the rows each pair of neighbors is broadcast over the block's eight results.
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/apv/vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/apv/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
ApvBlocksFunction choose_apv_blocks() { return portable_apv_blocks; }

#else

#include "transform/apv/vectors-inl.h"

// Row `j` of the blocks at `coefs`.
template <class D>
HWY_INLINE hn::Vec<D> load_row(D d, const int16_t* coefs) {
  if constexpr (hn::MaxLanes(D()) <= 8) {
    return hn::Load(d, coefs);
  } else {
    const hn::Half<D> half;
    const size_t blocks = hn::Lanes(half) / 8;
    return hn::Combine(d, load_row(half, coefs + 64 * blocks), load_row(half, coefs));
  }
}

HWY_INLINE Short dequantized(const int16_t* coefs, const ApvFactors& by, int row, Long round,
                             int shift) {
  const Short low = hn::LoadDup128(Shorts(), by.low + 8 * row);
  const Short high = hn::LoadDup128(Shorts(), by.high + 8 * row);
  const Short coef = hn::Min(hn::Max(load_row(Shorts(), coefs + 8 * row), low), high);
  const Pairs twice = interleave(coef, coef);
  const Long factor_low = hn::LoadDup128(Longs(), by.factor + 8 * row);
  const Long factor_high = hn::LoadDup128(Longs(), by.factor + 8 * row + 4);
  const auto scaled = [&](Short pairs, Long factor) {
    const Long wide = hn::ShiftRight<16>(hn::BitCast(Longs(), pairs));
    return hn::ShiftRightSame(hn::Add(hn::Mul(wide, factor), round), shift);
  };
  return narrow({scaled(twice.low, factor_low), scaled(twice.high, factor_high)});
}

HWY_INLINE void invert_columns(Short* v) {
  const Wide zero = both(hn::Zero(Longs()));
  const Wide round = both(hn::Set(Longs(), 1 << (kApvColumnShift - 1)));
  const Pairs v04 = interleave(v[0], v[4]), v26 = interleave(v[2], v[6]);
  const Pairs v13 = interleave(v[1], v[3]), v57 = interleave(v[5], v[7]);
  const auto finished = [](Long sum) { return hn::ShiftRight<kApvColumnShift>(sum); };
  for (int i = 0; i < 4; ++i) {
    const auto t = [i](int j) { return apv_basis(j, i); };
    const Wide even = add_scaled(v26, t(2), t(6), add_scaled(v04, t(0), t(4), round));
    const Wide odd = add_scaled(v57, t(5), t(7), add_scaled(v13, t(1), t(3), zero));
    v[i] = narrow({finished(hn::Add(even.low, odd.low)), finished(hn::Add(even.high, odd.high))});
    v[7 - i] =
        narrow({finished(hn::Sub(even.low, odd.low)), finished(hn::Sub(even.high, odd.high))});
  }
}

// For pair `p` of frequencies: the factors of results 0 to 3 and 4 to 7.
struct RowBasis {
  alignas(16) int16_t pairs[4][2][8];
};
constexpr RowBasis make_row_basis() {
  RowBasis basis = {};
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 8; ++i) {
      basis.pairs[p][i / 4][2 * (i % 4)] = apv_basis(2 * p, i);
      basis.pairs[p][i / 4][2 * (i % 4) + 1] = apv_basis(2 * p + 1, i);
    }
  }
  return basis;
}
constexpr RowBasis kRowBasis = make_row_basis();

template <int kPair>
HWY_INLINE Wide add_row_pair(Short row, Wide sum) {
  const Short pair = hn::BitCast(Shorts(), hn::Broadcast<kPair>(hn::BitCast(Longs(), row)));
  return {add_products(pair, hn::LoadDup128(Shorts(), kRowBasis.pairs[kPair][0]), sum.low),
          add_products(pair, hn::LoadDup128(Shorts(), kRowBasis.pairs[kPair][1]), sum.high)};
}

void invert_blocks(const int16_t* coefs, const ApvBlocks& blocks, uint16_t* to) {
  const int depth = blocks.depth;
  const Long round = hn::Set(Longs(), 1 << (apv_dequantizer_shift(depth) - 1));
  Short v[8];
  for (int j = 0; j < 8; ++j)
    v[j] = dequantized(coefs, *blocks.factors, j, round, apv_dequantizer_shift(depth));
  invert_columns(v);

  const int shift = apv_row_shift(depth);
  const Wide row_round = both(hn::Set(Longs(), 1 << (shift - 1)));
  const int32_t middle = 1 << (depth - 1);
  const Short low = hn::Set(Shorts(), static_cast<int16_t>(-middle));
  const Short high = hn::Set(Shorts(), static_cast<int16_t>(middle - 1));
  const auto offset = hn::Set(UShorts(), static_cast<uint16_t>(middle));
  for (int y = 0; y < 8; ++y) {
    Wide sum = add_row_pair<0>(v[y], row_round);
    sum = add_row_pair<1>(v[y], sum);
    sum = add_row_pair<2>(v[y], sum);
    sum = add_row_pair<3>(v[y], sum);
    const Short signed_samples =
        narrow({hn::ShiftRightSame(sum.low, shift), hn::ShiftRightSame(sum.high, shift)});
    const Short clipped = hn::Min(hn::Max(signed_samples, low), high);
    const auto samples = hn::Add(hn::BitCast(UShorts(), clipped), offset);
    hn::StoreU(hn::ShiftLeftSame(samples, blocks.shift), UShorts(), to);
    to = reinterpret_cast<uint16_t*>(reinterpret_cast<uint8_t*>(to) + blocks.pitch);
  }
}

void run_blocks(const ApvBlocks& blocks) {
  const auto group = static_cast<int32_t>(hn::Lanes(Shorts()) / 8);
  if (blocks.count < group) return portable_apv_blocks(blocks);
  for (int32_t b = 0; b < blocks.count; b += group) {
    // The last group may begin in the one before it.
    const int32_t first = b + group <= blocks.count ? b : blocks.count - group;
    invert_blocks(blocks.coefs + int64_t{64} * first, blocks, blocks.samples + int64_t{8} * first);
  }
}

ApvBlocksFunction choose_apv_blocks() { return run_blocks; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_apv_blocks);

ApvBlocksFunction vector_apv_blocks() { return HWY_DYNAMIC_DISPATCH(choose_apv_blocks)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
