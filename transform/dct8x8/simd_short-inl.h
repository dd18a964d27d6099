// Blocks in 16-bit lanes: the short way for quantized 16-bit coefficients of 8-bit pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, as simd-inl.h. Here every 128-bit block of a vector is
// one row of one 8x8 block, so that a vector holds as many blocks as it has such parts (1, 2 or 4),
// and neither transposes nor conversions ever move data between them. 32-bit values of a row take
// two vectors: columns 0 to 3, then columns 4 to 7 of each block.
//
// Results equal the portable ones to the bit.

// How many 128-bit blocks x86's own vectors have here; 0: not x86, or an emulation on x86.
#undef CT_X86_BLOCKS
#if !HWY_ARCH_X86 || HWY_TARGET == HWY_EMU128
#define CT_X86_BLOCKS 0
#elif HWY_TARGET <= HWY_AVX3
#define CT_X86_BLOCKS 4
#elif HWY_TARGET <= HWY_AVX2
#define CT_X86_BLOCKS 2
#else
#define CT_X86_BLOCKS 1
#endif

using DS = hn::CappedTag<int16_t, 32>;
using DSU = hn::RebindToUnsigned<DS>;
using DW = hn::RepartitionToWide<DS>;
using DWF = hn::Rebind<float, DW>;
using DB = hn::Repartition<uint8_t, DS>;
using Short = hn::Vec<DS>;
constexpr int kShortBlocks = int(hn::MaxLanes(DS())) / 8;
static_assert(CT_X86_BLOCKS == 0 || CT_X86_BLOCKS == kShortBlocks);

// A vector that 1d-inl.h can calculate with.
template <class D>
struct LaneRow {
  hn::Vec<D> lanes;
};
using ShortRow = LaneRow<DS>;
using FloatRow = LaneRow<DWF>;

template <class D>
CT_HD LaneRow<D> operator+(LaneRow<D> a, LaneRow<D> b) {
  return {hn::Add(a.lanes, b.lanes)};
}
template <class D>
CT_HD LaneRow<D> operator-(LaneRow<D> a, LaneRow<D> b) {
  return {hn::Sub(a.lanes, b.lanes)};
}
template <int kUnits256>
CT_HD ShortRow aan_scale(ShortRow a) {
  constexpr int kUnits = kUnits256 == -669 ? -413 : kUnits256;
  const auto scaled =
      hn::MulHigh(hn::ShiftLeft<2>(a.lanes), hn::Set(DS(), static_cast<int16_t>(kUnits * 64)));
  if constexpr (kUnits256 == -669) return {hn::Sub(scaled, a.lanes)};
  return {scaled};
}
template <int kUnits256>
CT_HD FloatRow aan_scale(FloatRow a) {
  return {hn::Mul(a.lanes, hn::Set(DWF(), AanFactor<kUnits256>::kFloat))};
}

// Eight 16-bit values of a table, for every block.
CT_HD Short load_table(const int16_t* row) { return hn::LoadDup128(DS(), row); }
CT_HD hn::Vec<DSU> load_table(const uint16_t* row) { return hn::LoadDup128(DSU(), row); }

// ---- 32-bit halves ----

struct Wide {
  hn::Vec<DW> low, high;
};
CT_HD Wide operator+(Wide a, Wide b) { return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)}; }
CT_HD Wide operator-(Wide a, Wide b) { return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)}; }
CT_HD Wide operator+(Wide a, int32_t constant) {
  const auto c = hn::Set(DW(), constant);
  return {hn::Add(a.low, c), hn::Add(a.high, c)};
}

// Two Shorts with their elements side by side.
struct Pairs {
  Short low, high;
};
CT_HD Pairs interleave(Short a, Short b) {
  return {hn::InterleaveLower(DS(), a, b), hn::InterleaveUpper(DS(), a, b)};
}

// a[2i] b[2i] + a[2i+1] b[2i+1], exact unless all four are -32768.
CT_HD hn::Vec<DW> multiply_pairs(Short a, Short b) {
#if CT_X86_BLOCKS
  auto unused = hn::Zero(DW());  // on x86 there is one sum, of neighbors
  return hn::ReorderWidenMulAccumulate(DW(), a, b, hn::Zero(DW()), unused);
#else
  const auto wide_a = hn::BitCast(DW(), a), wide_b = hn::BitCast(DW(), b);
  const auto even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_a)),
                            hn::ShiftRight<16>(hn::ShiftLeft<16>(wide_b)));
  return hn::Add(even, hn::Mul(hn::ShiftRight<16>(wide_a), hn::ShiftRight<16>(wide_b)));
#endif
}

// a kA + b kB of interleaved a and b.
template <int kA, int kB>
CT_HD Wide multiply(Pairs ab) {
  static_assert(kA >= -32767 && kA <= 32767 && kB >= -32767 && kB <= 32767);
  constexpr auto kBoth = static_cast<int32_t>(uint32_t(kB) << 16 | (uint32_t(kA) & 0xffff));
  const auto factors = hn::BitCast(DS(), hn::Set(DW(), kBoth));
  return {multiply_pairs(ab.low, factors), multiply_pairs(ab.high, factors)};
}

// Back to 16 bits, saturated. Highway's Reorder here keeps the order within 128-bit blocks, as the
// tests of every instruction set would notice.
CT_HD Short narrow(Wide a) { return hn::ReorderDemote2To(DS(), a.low, a.high); }
template <int kBits>
CT_HD Short narrow_shifted(Wide a) {
  return narrow({hn::ShiftRight<kBits>(a.low), hn::ShiftRight<kBits>(a.high)});
}

// Half to even, for values that are known to fit int32: Highway's NearestInt() spends four more
// instructions on x86 on values that do not.
CT_HD hn::Vec<DW> nearest_int(hn::Vec<DWF> a) {
#if CT_X86_BLOCKS == 4
  return hn::Vec<DW>{_mm512_cvtps_epi32(a.raw)};
#elif CT_X86_BLOCKS == 2
  return hn::Vec<DW>{_mm256_cvtps_epi32(a.raw)};
#elif CT_X86_BLOCKS == 1
  return hn::Vec<DW>{_mm_cvtps_epi32(a.raw)};
#else
  return hn::NearestInt(a);
#endif
}

CT_HD void transpose(Short* v) {
  for (int step = 0; step < 3; ++step) interleave_halves<DS, 8>(DS(), v);
}

// 16-bit rows to columns of floats, times 2^16: widened into the upper half of 32 bits, a value is
// multiplied by that, which the tables divide out again (powers of two change no rounding).
// columns[p][x] gets column x of the rows y = 2 j + p: two steps of a 16-bit transpose bring rows
// of one parity together, and widening is the third.
CT_HD void widen_transposed(const Short* rows, FloatRow (*columns)[8]) {
  Short v[8];
  for (int i = 0; i < 8; ++i) v[i] = rows[i];
  for (int step = 0; step < 2; ++step) interleave_halves<DS, 8>(DS(), v);
  for (int i = 0; i < 8; ++i) {
    const Pairs pairs = interleave(hn::Zero(DS()), v[i]);
    FloatRow* const even = &columns[i / 4][2 * (i % 4)];
    even[0].lanes = hn::ConvertTo(DWF(), hn::BitCast(DW(), pairs.low));
    even[1].lanes = hn::ConvertTo(DWF(), hn::BitCast(DW(), pairs.high));
  }
}

// Such columns back to rows: rows[h][y] gets columns 4 h to 4 h + 3 of row y.
CT_HD void transpose_back(const FloatRow (*columns)[8], FloatRow (*rows)[8]) {
  for (int parity = 0; parity < 2; ++parity) {
    for (int half = 0; half < 2; ++half) {
      hn::Vec<DWF> square[4];
      for (int i = 0; i < 4; ++i) square[i] = columns[parity][4 * half + i].lanes;
      for (int step = 0; step < 2; ++step) interleave_halves<DWF, 4>(DWF(), square);
      for (int i = 0; i < 4; ++i) rows[half][2 * i + parity].lanes = square[i];
    }
  }
}

// ---- islow ----
//
// 1d-inl.h's sums multiplied out into pairs of 16-bit products, which machines multiply and
// add in one instruction; cuda/dct8x8/islow.cuh multiplies them out likewise. All of it is exact in
// 32 bits, so the order does not matter.

// In units of 2^-13, as 1d-inl.h's constants, and sums of those, so not always what rounding
// a cosine would give: sqrt(2) c2 and sqrt(2) c6 of frequencies 2 and 6; then the odd half, which
// is islow_odd_half() of each unit vector and symmetric.
constexpr int kEven[2][2] = {{4433 + 6270, 4433}, {4433, 4433 - 15137}};
constexpr int kOdd[4][4] = {{11363, 9633, 6437, 2260},
                            {9633, -2259, -11362, -6436},
                            {6437, -11362, 2261, 9633},
                            {2260, -6436, 9633, -11363}};
template <int k>
CT_HD Wide even(Pairs ab) {
  return multiply<kEven[k][0], kEven[k][1]>(ab);
}
template <int k>
CT_HD Wide odd(Pairs ab, Pairs cd) {
  return multiply<kOdd[k][0], kOdd[k][1]>(ab) + multiply<kOdd[k][2], kOdd[k][3]>(cd);
}

// Samples level shifted: then nothing of pass 2 exceeds 16 bits before it is multiplied. Pass 1's
// results are at most 4096 (eight samples of 128, four times), so sums of four and of eight such
// are at most 16384 and, -32768 to 32640, still 16-bit numbers.
template <int kPass>
CT_HD void islow_forward_short(Short* v) {
  constexpr int kDescale = kPass == 1 ? 13 - 2 : 13 + 2;
  constexpr int kHalf = 1 << (kDescale - 1);
  const Short s0 = hn::Add(v[0], v[7]), s1 = hn::Add(v[1], v[6]);
  const Short s2 = hn::Add(v[2], v[5]), s3 = hn::Add(v[3], v[4]);
  const Short d0 = hn::Sub(v[0], v[7]), d1 = hn::Sub(v[1], v[6]);
  const Short d2 = hn::Sub(v[2], v[5]), d3 = hn::Sub(v[3], v[4]);

  const Short e0 = hn::Add(s0, s3), e1 = hn::Add(s1, s2);
  if constexpr (kPass == 1) {
    v[0] = hn::ShiftLeft<2>(hn::Add(e0, e1));
    v[4] = hn::ShiftLeft<2>(hn::Sub(e0, e1));
  } else {
    const Short two = hn::Set(DS(), int16_t{2});
    v[0] = hn::ShiftRight<2>(hn::Add(hn::Add(e0, e1), two));
    v[4] = hn::ShiftRight<2>(hn::Add(hn::Sub(e0, e1), two));
  }
  const Pairs e = interleave(hn::Sub(s0, s3), hn::Sub(s1, s2));
  v[2] = narrow_shifted<kDescale>(even<0>(e) + kHalf);
  v[6] = narrow_shifted<kDescale>(even<1>(e) + kHalf);

  const Pairs d01 = interleave(d0, d1), d23 = interleave(d2, d3);
  v[1] = narrow_shifted<kDescale>(odd<0>(d01, d23) + kHalf);
  v[3] = narrow_shifted<kDescale>(odd<1>(d01, d23) + kHalf);
  v[5] = narrow_shifted<kDescale>(odd<2>(d01, d23) + kHalf);
  v[7] = narrow_shifted<kDescale>(odd<3>(d01, d23) + kHalf);
}

template <int kPass>
CT_HD void islow_inverse_short(Short* v, int offset) {
  constexpr int kDescale = kPass == 1 ? 13 - 2 : 13 + 2 + 3;
  const Pairs v04 = interleave(v[0], v[4]), v26 = interleave(v[2], v[6]);
  const int32_t bias = (1 << (kDescale - 1)) + (offset << kDescale);
  const Wide sum = multiply<8192, 8192>(v04) + bias, difference = multiply<8192, -8192>(v04) + bias;
  const Wide low = even<0>(v26), high = even<1>(v26);
  const Wide e0 = sum + low, e3 = sum - low, e1 = difference + high, e2 = difference - high;

  const Pairs v13 = interleave(v[1], v[3]), v57 = interleave(v[5], v[7]);
  const Wide o0 = odd<0>(v13, v57), o1 = odd<1>(v13, v57);
  const Wide o2 = odd<2>(v13, v57), o3 = odd<3>(v13, v57);

  v[0] = narrow_shifted<kDescale>(e0 + o0);
  v[7] = narrow_shifted<kDescale>(e0 - o0);
  v[1] = narrow_shifted<kDescale>(e1 + o1);
  v[6] = narrow_shifted<kDescale>(e1 - o1);
  v[2] = narrow_shifted<kDescale>(e2 + o2);
  v[5] = narrow_shifted<kDescale>(e2 - o2);
  v[3] = narrow_shifted<kDescale>(e3 + o3);
  v[4] = narrow_shifted<kDescale>(e3 - o3);
}
