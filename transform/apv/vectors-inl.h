// Sums of products of 16-bit lanes, of which APV's transforms consist, for one instruction set.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included inside cudatransform::HWY_NAMESPACE, where vectors have several lanes.

namespace hn = hwy::HWY_NAMESPACE;

using Shorts = hn::CappedTag<int16_t, 32>;
using UShorts = hn::RebindToUnsigned<Shorts>;
using Longs = hn::Repartition<int32_t, Shorts>;
using Short = hn::Vec<Shorts>;
using Long = hn::Vec<Longs>;

struct Wide {
  Long low, high;
};
struct Pairs {
  Short low, high;
};
HWY_INLINE Pairs interleave(Short a, Short b) {
  return {hn::InterleaveLower(Shorts(), a, b), hn::InterleaveUpper(Shorts(), a, b)};
}

// sum + a[2i] b[2i] + a[2i+1] b[2i+1].
HWY_INLINE Long add_products(Short a, Short b, Long sum) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  Long unused = hn::Zero(Longs());  // on x86 there is one sum, of neighbors
  return hn::ReorderWidenMulAccumulate(Longs(), a, b, sum, unused);
#else
  const Long wide_a = hn::BitCast(Longs(), a), wide_b = hn::BitCast(Longs(), b);
  const Long even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_a)),
                            hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_b)));
  const Long odd = hn::Mul(hn::ShiftRight<16>(wide_a), hn::ShiftRight<16>(wide_b));
  return hn::Add(sum, hn::Add(even, odd));
#endif
}

HWY_INLINE Short factors_of(int16_t first, int16_t second) {
  const auto both =
      static_cast<int32_t>(uint32_t(uint16_t(second)) << 16 | uint32_t(uint16_t(first)));
  return hn::BitCast(Shorts(), hn::Set(Longs(), both));
}

// sum + a first + b second, of interleaved a and b.
HWY_INLINE Wide add_scaled(Pairs ab, int16_t first, int16_t second, Wide sum) {
  const Short factors = factors_of(first, second);
  return {add_products(ab.low, factors, sum.low), add_products(ab.high, factors, sum.high)};
}
HWY_INLINE Wide both(Long value) { return {value, value}; }

// Saturated to 16 bits. Highway's Reorder here keeps the order within 128-bit blocks, as the tests
// of every instruction set would notice.
HWY_INLINE Short narrow(Wide a) { return hn::ReorderDemote2To(Shorts(), a.low, a.high); }
