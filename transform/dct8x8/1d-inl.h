// The 8-point transforms: Loeffler's (islow), AA&N's (ifast, float) and Sung's (decomposed).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Written once for every kind of element T: an int or a float, on the host or in a CUDA kernel, or
// a vector of them that holds a row of the block. No include guard: 1d.h includes this file
// for scalars, simd_all-inl.h once more for each instruction set, each into its own namespace. It
// needs, for T: + and -, * by a constant, and the functions shift_left<n>(T), shift_right<n>(T),
// saturate16(T) (islow), aan_scale<units>(T) (ifast) and
// multiply_add(T, float, T) (float).
//
// Every function transforms the 8 elements v[0], v[kStride], ..., v[7 kStride] in place.

// islow: C. Loeffler, A. Ligtenberg, G. Moschytz, "Practical Fast 1-D DCT Algorithms with 11
// Multiplications", ICASSP 1989, in the variant with 12 multiplications and 32 additions whose
// paths have one multiplication each. Constants are in units of 2^-13. The numbers of fraction bits
// between the passes, kBits, and the roundings are libjpeg's ("jpeg_fdct_islow"): they decide the
// result's bits, the order of exact integer operations does not. kBits is 2 for samples of 8 bits
// and 1 for those of 12. With 12, sums may leave int32 that differences bring back: T wraps then.

// The rotations of the odd half. Its matrix is symmetric, so both directions use it: forward from
// the differences x3 - x4, x2 - x5, x1 - x6, x0 - x7 to frequencies 7, 5, 3, 1; inverse back.
template <typename T>
CT_HD void islow_odd_half(T& a, T& b, T& c, T& d) {
  const T all = (a + c + (b + d)) * 9633;  // sqrt(2) c3
  const T ad = (a + d) * -7373;            // sqrt(2) (c7 - c3)
  const T bc = (b + c) * -20995;           // sqrt(2) (-c1 - c3)
  const T ac = (a + c) * -16069 + all;     // sqrt(2) (-c3 - c5)
  const T bd = (b + d) * -3196 + all;      // sqrt(2) (c5 - c3)
  a = a * 2446 + ad + ac;                  // sqrt(2) (-c1 + c3 + c5 - c7)
  b = b * 16819 + bc + bd;                 // sqrt(2) (c1 + c3 - c5 + c7)
  c = c * 25172 + bc + ac;                 // sqrt(2) (c1 + c3 + c5 - c7)
  d = d * 12299 + ad + bd;                 // sqrt(2) (c1 + c3 - c5 - c7)
}

// Pass 1 (rows) keeps kBits fraction bits, pass 2 (columns) removes them; the result is 8 times the
// orthonormal value (sqrt(8) from each pass). Samples need no level shift before: an offset of all
// samples reaches the DC value alone, and exactly.
template <int kStride, int kPass, int kBits = 2, typename T>
CT_HD void islow_forward_1d(T* v) {
  constexpr int kDescale = kPass == 1 ? 13 - kBits : 13 + kBits;
  const T s0 = v[0 * kStride] + v[7 * kStride], s1 = v[1 * kStride] + v[6 * kStride];
  const T s2 = v[2 * kStride] + v[5 * kStride], s3 = v[3 * kStride] + v[4 * kStride];
  T d0 = v[0 * kStride] - v[7 * kStride], d1 = v[1 * kStride] - v[6 * kStride];
  T d2 = v[2 * kStride] - v[5 * kStride], d3 = v[3 * kStride] - v[4 * kStride];

  const T e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
  if constexpr (kPass == 1) {
    v[0 * kStride] = shift_left<kBits>(e0 + e1);
    v[4 * kStride] = shift_left<kBits>(e0 - e1);
  } else {
    v[0 * kStride] = shift_right<kBits>(e0 + e1 + (1 << (kBits - 1)));
    v[4 * kStride] = shift_right<kBits>(e0 - e1 + (1 << (kBits - 1)));
  }
  const T rotated = (e2 + e3) * 4433 + (1 << (kDescale - 1));     // sqrt(2) c6
  v[2 * kStride] = shift_right<kDescale>(rotated + e3 * 6270);    // sqrt(2) (c2 - c6)
  v[6 * kStride] = shift_right<kDescale>(rotated + e2 * -15137);  // sqrt(2) (-c2 - c6)

  islow_odd_half(d3, d2, d1, d0);
  v[1 * kStride] = shift_right<kDescale>(d0 + (1 << (kDescale - 1)));
  v[3 * kStride] = shift_right<kDescale>(d1 + (1 << (kDescale - 1)));
  v[5 * kStride] = shift_right<kDescale>(d2 + (1 << (kDescale - 1)));
  v[7 * kStride] = shift_right<kDescale>(d3 + (1 << (kDescale - 1)));
}

// Pass 1 (columns) keeps kBits fraction bits and, with two, saturates to 16 bits, as
// libjpeg-turbo's vector code does, which 12 bits have none of; pass 2 (rows) removes them and both
// factors of sqrt(8). `offset` is added to each output: in pass 2 the level shift.
//
// Nothing overflows int32 as long as |input| <= 32768: the gains of one output add up to 7.473, and
// 7.473 x 32768 x 2^13 = 2.006e9; the partial sums above are smaller. Hence dequantized values are
// saturated to 16 bits too. The second pass of 12 bits has such inputs for samples of four times
// their range; more wrap, of files that no encoder makes.
template <int kStride, int kPass, int kBits = 2, typename T>
CT_HD void islow_inverse_1d(T* v, int offset) {
  constexpr int kDescale = kPass == 1 ? 13 - kBits : 13 + kBits + 3;
  // The rounding constant and the offset reach every output once by way of the DC term.
  const T dc = shift_left<13>(v[0 * kStride]) + ((1 << (kDescale - 1)) + (offset << kDescale));
  const T middle = shift_left<13>(v[4 * kStride]);
  const T rotated = (v[2 * kStride] + v[6 * kStride]) * 4433;
  const T low = rotated + v[2 * kStride] * 6270, high = rotated + v[6 * kStride] * -15137;
  const T e0 = dc + middle + low, e3 = dc + middle - low;
  const T e1 = dc - middle + high, e2 = dc - middle - high;

  T o3 = v[7 * kStride], o2 = v[5 * kStride], o1 = v[3 * kStride], o0 = v[1 * kStride];
  islow_odd_half(o3, o2, o1, o0);

  v[0 * kStride] = shift_right<kDescale>(e0 + o0);
  v[7 * kStride] = shift_right<kDescale>(e0 - o0);
  v[1 * kStride] = shift_right<kDescale>(e1 + o1);
  v[6 * kStride] = shift_right<kDescale>(e1 - o1);
  v[2 * kStride] = shift_right<kDescale>(e2 + o2);
  v[5 * kStride] = shift_right<kDescale>(e2 - o2);
  v[3 * kStride] = shift_right<kDescale>(e3 + o3);
  v[4 * kStride] = shift_right<kDescale>(e3 - o3);
  if constexpr (kPass == 1 && kBits == 2) {
    CT_UNROLL
    for (int i = 0; i < 8; ++i) v[i * kStride] = saturate16(v[i * kStride]);
  }
}

// AA&N: Y. Arai, T. Agui, M. Nakajima, "A Fast DCT-SQ Scheme for Images", Trans. IEICE E71(11),
// 1988: 5 multiplications and 29 additions, because each frequency stays multiplied by sqrt(8)
// kAanScale[k], which the quantization table then absorbs. T decides whether this is `ifast` or the
// CPU's `float`; in ifast aan_scale truncates to 16 bits as libjpeg-turbo's vector code does, and
// the order of operations matters.
template <int kStride, typename T>
CT_HD void aan_forward_1d(T* v) {
  const T s0 = v[0 * kStride] + v[7 * kStride], s1 = v[1 * kStride] + v[6 * kStride];
  const T s2 = v[2 * kStride] + v[5 * kStride], s3 = v[3 * kStride] + v[4 * kStride];
  const T d0 = v[0 * kStride] - v[7 * kStride], d1 = v[1 * kStride] - v[6 * kStride];
  const T d2 = v[2 * kStride] - v[5 * kStride], d3 = v[3 * kStride] - v[4 * kStride];

  const T e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
  const T half_turn = aan_scale<181>(e2 + e3);
  v[0 * kStride] = e0 + e1;
  v[4 * kStride] = e0 - e1;
  v[2 * kStride] = e3 + half_turn;
  v[6 * kStride] = e3 - half_turn;

  const T p0 = d3 + d2, p1 = d2 + d1, p2 = d1 + d0;
  const T common = aan_scale<98>(p0 - p2);
  const T r0 = aan_scale<139>(p0) + common;
  const T r2 = aan_scale<334>(p2) + common;
  const T r1 = aan_scale<181>(p1);
  const T sum = d0 + r1, difference = d0 - r1;
  v[5 * kStride] = difference + r0;
  v[3 * kStride] = difference - r0;
  v[1 * kStride] = sum + r2;
  v[7 * kStride] = sum - r2;
}

// The flow graph read backwards. Frequency k is multiplied by kAanScale[k] / sqrt(8) on input.
template <int kStride, typename T>
CT_HD void aan_inverse_1d(T* v) {
  const T a0 = v[0 * kStride] + v[4 * kStride], a1 = v[0 * kStride] - v[4 * kStride];
  const T a2 = v[2 * kStride] + v[6 * kStride];
  const T a3 = aan_scale<362>(v[2 * kStride] - v[6 * kStride]) - a2;
  const T e0 = a0 + a2, e3 = a0 - a2, e1 = a1 + a3, e2 = a1 - a3;

  const T s53 = v[5 * kStride] + v[3 * kStride], d53 = v[5 * kStride] - v[3 * kStride];
  const T s17 = v[1 * kStride] + v[7 * kStride], d17 = v[1 * kStride] - v[7 * kStride];
  const T common = aan_scale<473>(d53 + d17);
  const T o0 = s17 + s53;
  const T o1 = aan_scale<-669>(d53) + common - o0;
  const T o2 = aan_scale<362>(s17 - s53) - o1;
  const T o3 = aan_scale<277>(d17) - common + o2;

  v[0 * kStride] = e0 + o0;
  v[7 * kStride] = e0 - o0;
  v[1 * kStride] = e1 + o1;
  v[6 * kStride] = e1 - o1;
  v[2 * kStride] = e2 + o2;
  v[5 * kStride] = e2 - o2;
  v[4 * kStride] = e3 + o3;
  v[3 * kStride] = e3 - o3;
}

// The same flow graphs for the GPU's `float` (FloatDevice in cuda/dct8x8/float.cuh), whose
// multiply-add costs what an addition costs: the rotations become products that are added where
// they are needed, 30 operations forward and 28 inverse in place of 34. multiply_add(a, c, b) is
// a c + b, rounded once. On a host, where tests alone run this, it is rounded twice.
template <int kStride, typename T>
CT_HD void float_forward_1d(T* v) {
  const T s0 = v[0 * kStride] + v[7 * kStride], s1 = v[1 * kStride] + v[6 * kStride];
  const T s2 = v[2 * kStride] + v[5 * kStride], s3 = v[3 * kStride] + v[4 * kStride];
  const T d0 = v[0 * kStride] - v[7 * kStride], d1 = v[1 * kStride] - v[6 * kStride];
  const T d2 = v[2 * kStride] - v[5 * kStride], d3 = v[3 * kStride] - v[4 * kStride];

  constexpr float kC2 = float(kCosine[2]), kC4 = float(kCosine[4]), kC6 = float(kCosine[6]);
  const T e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
  const T turned = e2 + e3;
  v[0 * kStride] = e0 + e1;
  v[4 * kStride] = e0 - e1;
  v[2 * kStride] = multiply_add(turned, kC4, e3);
  v[6 * kStride] = multiply_add(turned, -kC4, e3);

  const T p0 = d3 + d2, p1 = d2 + d1, p2 = d1 + d0;
  const T sum = multiply_add(p1, kC4, d0), difference = multiply_add(p1, -kC4, d0);
  const T r0 = multiply_add(p0, kC2, p2 * -kC6), r2 = multiply_add(p2, kC2, p0 * kC6);
  v[5 * kStride] = difference + r0;
  v[3 * kStride] = difference - r0;
  v[1 * kStride] = sum + r2;
  v[7 * kStride] = sum - r2;
}

// The inverse from the sums and differences of its inputs 0 and 4 (a0, a1), 2 and 6 (a2, d2), 5 and
// 3 (s53, d53), 1 and 7 (s17, d17), whose formation may be one with dequantization. `last` is
// applied to every output: a saturation that is free in the last addition, or the identity.
template <int kStride, typename T, typename Last>
CT_HD void float_inverse_1d_from(T a0, T a1, T a2, T d2, T s53, T d53, T s17, T d17, T* v,
                                 Last last) {
  constexpr float kSqrt2 = float(2 * kCosine[4]);
  constexpr float kC2 = float(2 * kCosine[2]), kC6 = float(2 * kCosine[6]);
  const T a3 = multiply_add(d2, kSqrt2, -a2);
  const T e0 = a0 + a2, e3 = a0 - a2, e1 = a1 + a3, e2 = a1 - a3;
  const T o0 = s17 + s53;
  const T o1 = multiply_add(d53, -kC6, multiply_add(d17, kC2, -o0));
  const T o2 = multiply_add(s17 - s53, kSqrt2, -o1);
  const T o3 = multiply_add(d17, -kC6, multiply_add(d53, -kC2, o2));

  v[0 * kStride] = last(e0 + o0);
  v[7 * kStride] = last(e0 - o0);
  v[1 * kStride] = last(e1 + o1);
  v[6 * kStride] = last(e1 - o1);
  v[2 * kStride] = last(e2 + o2);
  v[5 * kStride] = last(e2 - o2);
  v[4 * kStride] = last(e3 + o3);
  v[3 * kStride] = last(e3 - o3);
}

template <int kStride, typename T, typename Last>
CT_HD void float_inverse_1d(T* v, Last last) {
  float_inverse_1d_from<kStride>(v[0 * kStride] + v[4 * kStride], v[0 * kStride] - v[4 * kStride],
                                 v[2 * kStride] + v[6 * kStride], v[2 * kStride] - v[6 * kStride],
                                 v[5 * kStride] + v[3 * kStride], v[5 * kStride] - v[3 * kStride],
                                 v[1 * kStride] + v[7 * kStride], v[1 * kStride] - v[7 * kStride],
                                 v, last);
}

// T.-Y. Sung, Y.-S. Shieh, C.-W. Yu, H.-C. Hsin, "High-Efficiency and Low-Power Architectures for
// 2-D DCT and IDCT Based on CORDIC Rotation", PDCAT 2006: sums and differences of mirrored samples
// split the 8x8 product into two 4x4 ones, and the even one again. 22 multiplications, output
// orthonormal. kC* is cos(k pi / 16) / 2.
template <int kStride, typename T>
CT_HD void decomposed_forward_1d(T* v) {
  constexpr float kC1 = 0.490392640f, kC2 = 0.461939766f, kC3 = 0.415734806f, kC4 = 0.353553391f;
  constexpr float kC5 = 0.277785117f, kC6 = 0.191341716f, kC7 = 0.097545161f;
  const T s0 = v[0 * kStride] + v[7 * kStride], s1 = v[1 * kStride] + v[6 * kStride];
  const T s2 = v[2 * kStride] + v[5 * kStride], s3 = v[3 * kStride] + v[4 * kStride];
  const T d0 = v[0 * kStride] - v[7 * kStride], d1 = v[1 * kStride] - v[6 * kStride];
  const T d2 = v[2 * kStride] - v[5 * kStride], d3 = v[3 * kStride] - v[4 * kStride];

  const T e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
  v[0 * kStride] = (e0 + e1) * kC4;
  v[4 * kStride] = (e0 - e1) * kC4;
  v[2 * kStride] = e3 * kC2 + e2 * kC6;
  v[6 * kStride] = e3 * kC6 - e2 * kC2;

  v[1 * kStride] = d0 * kC1 + d1 * kC3 + d2 * kC5 + d3 * kC7;
  v[3 * kStride] = d0 * kC3 - d1 * kC7 - d2 * kC1 - d3 * kC5;
  v[5 * kStride] = d0 * kC5 - d1 * kC1 + d2 * kC7 + d3 * kC3;
  v[7 * kStride] = d0 * kC7 - d1 * kC5 + d2 * kC3 - d3 * kC1;
}

// The transpose of the forward matrix, split in the same way.
template <int kStride, typename T>
CT_HD void decomposed_inverse_1d(T* v) {
  constexpr float kC1 = 0.490392640f, kC2 = 0.461939766f, kC3 = 0.415734806f, kC4 = 0.353553391f;
  constexpr float kC5 = 0.277785117f, kC6 = 0.191341716f, kC7 = 0.097545161f;
  const T f0 = v[0 * kStride], f1 = v[1 * kStride], f2 = v[2 * kStride], f3 = v[3 * kStride];
  const T f4 = v[4 * kStride], f5 = v[5 * kStride], f6 = v[6 * kStride], f7 = v[7 * kStride];

  const T sum = (f0 + f4) * kC4, difference = (f0 - f4) * kC4;
  const T low = f2 * kC2 + f6 * kC6, high = f2 * kC6 - f6 * kC2;
  const T e0 = sum + low, e3 = sum - low, e1 = difference + high, e2 = difference - high;

  const T o0 = f1 * kC1 + f3 * kC3 + f5 * kC5 + f7 * kC7;
  const T o1 = f1 * kC3 - f3 * kC7 - f5 * kC1 - f7 * kC5;
  const T o2 = f1 * kC5 - f3 * kC1 + f5 * kC7 + f7 * kC3;
  const T o3 = f1 * kC7 - f3 * kC5 + f5 * kC3 - f7 * kC1;

  v[0 * kStride] = e0 + o0;
  v[7 * kStride] = e0 - o0;
  v[1 * kStride] = e1 + o1;
  v[6 * kStride] = e1 - o1;
  v[2 * kStride] = e2 + o2;
  v[5 * kStride] = e2 - o2;
  v[3 * kStride] = e3 + o3;
  v[4 * kStride] = e3 - o3;
}
