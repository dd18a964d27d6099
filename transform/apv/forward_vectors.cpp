// Rows of blocks of APV's forward transform in vectors, compiled for every instruction set that
// Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// As in vectors.cpp a vector has a row of each of its blocks, which are adjacent in the picture:
// each 128-bit block of the vector is eight values of one. For the rows each pair of neighbors is
// broadcast over the block's eight results; the columns are summed lane by lane.
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/apv/forward_vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/highway.h>

#include "transform/apv/rows.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// One lane gains nothing over the portable code.
ApvForwardFunction choose_apv_forward() { return portable_apv_forward; }

#else

#include "transform/apv/vectors-inl.h"

// For pair `p` of positions: the factors of frequencies 0 to 3 and 4 to 7.
struct ForwardBasis {
  alignas(16) int16_t pairs[4][2][8];
};
constexpr ForwardBasis make_forward_basis() {
  ForwardBasis basis = {};
  for (int p = 0; p < 4; ++p) {
    for (int j = 0; j < 8; ++j) {
      basis.pairs[p][j / 4][2 * (j % 4)] = apv_basis(j, 2 * p);
      basis.pairs[p][j / 4][2 * (j % 4) + 1] = apv_basis(j, 2 * p + 1);
    }
  }
  return basis;
}
constexpr ForwardBasis kForwardBasis = make_forward_basis();

template <int kPair>
HWY_INLINE Wide add_position_pair(Short row, Wide sum) {
  const Short pair = hn::BitCast(Shorts(), hn::Broadcast<kPair>(hn::BitCast(Longs(), row)));
  return {add_products(pair, hn::LoadDup128(Shorts(), kForwardBasis.pairs[kPair][0]), sum.low),
          add_products(pair, hn::LoadDup128(Shorts(), kForwardBasis.pairs[kPair][1]), sum.high)};
}

// Samples less half of their range.
HWY_INLINE Short load_samples(const ApvForwardRow& row, const uint8_t* from) {
  const UShorts d;
  const auto peak = hn::Set(d, static_cast<uint16_t>((1u << row.depth) - 1));
  const auto middle = hn::Set(d, static_cast<uint16_t>(1u << (row.depth - 1)));
  hn::Vec<UShorts> samples;
  if (row.type == SampleType::kU8) {
    const auto bytes = hn::LoadU(hn::Rebind<uint8_t, UShorts>(), from);
    samples = hn::ShiftLeftSame(hn::PromoteTo(d, bytes), row.depth - 8);
  } else {
    const auto containers = hn::LoadU(d, reinterpret_cast<const uint16_t*>(from));
    samples = hn::Min(hn::ShiftRightSame(containers, row.shift), peak);
  }
  return hn::BitCast(Shorts(), hn::Sub(samples, middle));
}

HWY_INLINE Long quantized(Long coef, const uint32_t* factors, Long round, int shift) {
  const hn::RebindToUnsigned<Longs> d;
  const auto size = hn::BitCast(d, hn::Abs(coef));
  const auto factor = hn::LoadDup128(d, factors);
  const auto sum = hn::Add(hn::Mul(size, factor), hn::BitCast(d, round));
  // A shift of at least 10: the result is not negative.
  const Long level = hn::BitCast(Longs(), hn::ShiftRightSame(sum, shift));
  return hn::IfNegativeThenElse(coef, hn::Neg(level), level);
}

// The columns of eight rows `v`; store(j, wide) gets row j of coefficients.
template <class Store>
HWY_INLINE void transform_columns(const Short* v, const Store& store) {
  const Wide round = both(hn::Set(Longs(), 1 << (kApvForwardColumnShift - 1)));
  const Pairs v07 = interleave(v[0], v[7]), v16 = interleave(v[1], v[6]);
  const Pairs v25 = interleave(v[2], v[5]), v34 = interleave(v[3], v[4]);
  for (int j = 0; j < 8; ++j) {
    const auto t = [j](int i) { return apv_basis(j, i); };
    Wide sum = add_scaled(v07, t(0), t(7), round);
    sum = add_scaled(v16, t(1), t(6), sum);
    sum = add_scaled(v25, t(2), t(5), sum);
    sum = add_scaled(v34, t(3), t(4), sum);
    store(j, Wide{hn::ShiftRight<kApvForwardColumnShift>(sum.low),
                  hn::ShiftRight<kApvForwardColumnShift>(sum.high)});
  }
}

void transform_blocks(const ApvForwardRow& row, const uint8_t* from, int16_t* to) {
  constexpr size_t kMaxBlocks = 4;
  static constexpr ApvScan kScan;
  const int shift = apv_forward_row_shift(row.depth);
  const Wide round = both(hn::Set(Longs(), 1 << (shift - 1)));
  Short v[8];
  for (int y = 0; y < 8; ++y, from += row.pitch) {
    const Short samples = load_samples(row, from);
    Wide sum = add_position_pair<0>(samples, round);
    sum = add_position_pair<1>(samples, sum);
    sum = add_position_pair<2>(samples, sum);
    sum = add_position_pair<3>(samples, sum);
    v[y] = narrow({hn::ShiftRightSame(sum.low, shift), hn::ShiftRightSame(sum.high, shift)});
  }
  const size_t lanes = hn::Lanes(Shorts());
  alignas(64) int16_t rows[64 * kMaxBlocks];
  const ApvQuantizer* const by = row.quantizer;
  const Long level_round =
      hn::Set(Longs(), by != nullptr ? static_cast<int32_t>(static_cast<uint32_t>(by->round)) : 0);
  transform_columns(v, [&](int j, Wide coefs) {
    if (by != nullptr) {
      coefs = {quantized(coefs.low, by->factor + 8 * j, level_round, by->shift),
               quantized(coefs.high, by->factor + 8 * j + 4, level_round, by->shift)};
    }
    hn::Store(narrow(coefs), Shorts(), rows + static_cast<size_t>(j) * lanes);
  });
  for (size_t b = 0; b < lanes / 8; ++b, to += 64) {
    const int16_t* const block = rows + 8 * b;
    for (int i = 0; i < 64; ++i) {
      const size_t place = kScan.place[i];
      to[i] = block[place / 8 * lanes + place % 8];
    }
  }
}

void run_forward(const ApvForwardRow& row) {
  const auto group = static_cast<int32_t>(hn::Lanes(Shorts()) / 8);
  if (row.count < group || (row.quantizer != nullptr && row.quantizer->is_wide))
    return portable_apv_forward(row);
  const int64_t block_bytes = row.type == SampleType::kU8 ? 8 : 16;
  for (int32_t b = 0; b < row.count; b += group) {
    // The last group may begin in the one before it.
    const int32_t first = b + group <= row.count ? b : row.count - group;
    transform_blocks(row, row.samples + block_bytes * first, row.coefs + int64_t{64} * first);
  }
}

ApvForwardFunction choose_apv_forward() { return run_forward; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_apv_forward);

ApvForwardFunction vector_apv_forward() { return HWY_DYNAMIC_DISPATCH(choose_apv_forward)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
