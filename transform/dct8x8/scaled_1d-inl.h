// The 1-D steps of the scaled inverses: 8 frequencies to 4 or 2 samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Written once for every kind of element T, as 1d-inl.h and like it without an include
// guard. It needs, for T: + and -, * by a constant, and the functions shift_left<n>(T),
// shift_right<n>(T) and limit14(T) (islow).

// islow, scaled, is libjpeg's: every output is the mean of the 2 (4) neighboring outputs that the
// 8-point inverse (1d-inl.h) has in its place. A mean of cosines is a cosine times a number,
// so one matrix does both. With ck = cos(k pi / 16), the unnormalized 8-point inverse has
//   x(n) = F(0) + sqrt(2) sum_k F(k) cos((2n + 1) k pi / 16),
// and the entry of frequency k in the sum of outputs n and n + 1 is sqrt(2) (cos((2n + 1) k pi /
// 16)
// + cos((2n + 3) k pi / 16)). Over a pair, frequency 4 cancels out; over four, 2 and 6 do as well:
// the block's values in those rows and columns do not matter. Sums are kept where means are meant,
// which is a descaling by one (two) bits more.
//
// Constants are in units of 2^-13, rounded. The fraction bits between the passes, kBits, are those
// of the full size: two of 8-bit samples, one of 12-bit ones.
//
// Of 8 bits nothing overflows int32 as long as |input| <= 2^14: the gains of an output add up
// to 9.6 at half and 10.5 at quarter size, and 10.5 x 2^14 x 2^13 = 1.41e9, which leaves room for
// the level shift. Hence limit14() on dequantized values and between the passes. An encoder's
// output never meets it: with table entries to 255 no value exceeds 1,200 and no intermediate
// 7,000. kLimit false: the caller knows that it is not met.
// Of 12 bits, sums wrap, of samples beyond twice their range, which no encoder makes.
template <int kStride, int kPass, int kBits = 2, bool kLimit = kPass == 1 && kBits == 2, typename T>
CT_HD void islow_half_1d(T* v, int offset) {
  constexpr int kDescale = (kPass == 1 ? 13 - kBits : 13 + kBits + 3) + 1;
  // The rounding constant and the offset reach every output once by way of the DC term.
  const T dc = shift_left<14>(v[0 * kStride]) + ((1 << (kDescale - 1)) + (offset << kDescale));
  const T low = v[2 * kStride] * 15137 + v[6 * kStride] * -6270;  // 2 c2, -2 c6
  const T e0 = dc + low, e1 = dc - low;

  const T f1 = v[1 * kStride], f3 = v[3 * kStride], f5 = v[5 * kStride], f7 = v[7 * kStride];
  const T o0 = f1 * 20995 + f3 * 7373      // sqrt(2) (c1 + c3), sqrt(2) (c3 - c7)
               + f5 * -4926 + f7 * -4176;  // sqrt(2) (c5 - c1), sqrt(2) (c7 - c5)
  const T o1 = f1 * 8697 + f3 * -17799     // sqrt(2) (c5 + c7), sqrt(2) (-c1 - c5)
               + f5 * 11893 + f7 * -1730;  // sqrt(2) (c3 + c7), sqrt(2) (c3 - c1)
  v[0 * kStride] = shift_right<kDescale>(e0 + o0);
  v[3 * kStride] = shift_right<kDescale>(e0 - o0);
  v[1 * kStride] = shift_right<kDescale>(e1 + o1);
  v[2 * kStride] = shift_right<kDescale>(e1 - o1);
  if constexpr (kLimit) {
    CT_UNROLL
    for (int i = 0; i < 4; ++i) v[i * kStride] = limit14(v[i * kStride]);
  }
}

template <int kStride, int kPass, int kBits = 2, bool kLimit = kPass == 1 && kBits == 2, typename T>
CT_HD void islow_quarter_1d(T* v, int offset) {
  constexpr int kDescale = (kPass == 1 ? 13 - kBits : 13 + kBits + 3) + 2;
  constexpr int kHalf = 1 << (kDescale - 1);
  const T odd = v[1 * kStride] * 29692     // sqrt(2) (c1 + c3 + c5 + c7)
                + v[3 * kStride] * -10426  // sqrt(2) (-c1 + c3 - c5 - c7)
                + v[5 * kStride] * 6967    // sqrt(2) (-c1 + c3 + c5 + c7)
                + v[7 * kStride] * -5906;  // sqrt(2) (-c1 + c3 - c5 + c7)
  if constexpr (kBits == 1 && kPass == 2) {
    // Here 32 bits end where samples do, with their 19 fraction bits. So the DC term, which has 4
    // of them, comes after a part of the shift.
    const T four = v[0 * kStride] + (offset << (kDescale - 15));
    v[0 * kStride] = shift_right<kDescale - 15>(four + shift_right<15>(odd + kHalf));
    v[1 * kStride] = shift_right<kDescale - 15>(four + shift_right<15>(odd * -1 + kHalf));
    return;
  }
  const T dc = shift_left<15>(v[0 * kStride]) + (kHalf + (offset << kDescale));
  v[0 * kStride] = shift_right<kDescale>(dc + odd);
  v[1 * kStride] = shift_right<kDescale>(dc - odd);
  if constexpr (kLimit) {
    v[0 * kStride] = limit14(v[0 * kStride]);
    v[1 * kStride] = limit14(v[1 * kStride]);
  }
}

// float, scaled: the inverse of 4 (2) points over the 4 (2) lowest frequencies. scaled_factor()
// gives the table's factor of each: in the 4-point one cos(pi/8) of frequencies 1 and 3
// and cos(pi/4) of frequency 2, so that one multiplication remains, by tan(pi/8).
template <int kStride, typename T>
CT_HD void float_half_1d(T* v) {
  constexpr float kTan = 0.414213562373095049f;
  const T e0 = v[0 * kStride] + v[2 * kStride], e1 = v[0 * kStride] - v[2 * kStride];
  const T o0 = v[1 * kStride] + v[3 * kStride] * kTan;
  const T o1 = v[1 * kStride] * kTan - v[3 * kStride];
  v[0 * kStride] = e0 + o0;
  v[3 * kStride] = e0 - o0;
  v[1 * kStride] = e1 + o1;
  v[2 * kStride] = e1 - o1;
}

template <int kStride, typename T>
CT_HD void float_quarter_1d(T* v) {
  const T sum = v[0 * kStride] + v[1 * kStride], difference = v[0 * kStride] - v[1 * kStride];
  v[0 * kStride] = sum;
  v[1 * kStride] = difference;
}
