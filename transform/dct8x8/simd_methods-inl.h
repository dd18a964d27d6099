// islow, ifast and float over groups of blocks in 32-bit lanes: the counterpart of block.h in
// vectors. On the GPU: cuda/dct8x8/general.cu and float.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, as simd-inl.h. Results equal the portable ones to the
// bit: the same operations in the same order, or exact ones. A method here has
//   forward(v)                          level shifted samples to transform values, in place
//   store<Coef>(v, table, to)           to kBlocks blocks of 64 coefficients in natural order
//   load<Coef>(from, table, shift, v)   and back
//   inverse(v, shift)                   transform values to samples, not rounded or clamped
//   samples(row, low, high)             the rounded, clamped samples of a row
//   from_samples(row)                   a row of level shifted samples

// ---- Coefficients of the integer methods: quantizer.h's arithmetic ----

CT_HD RowF scale_to_float(RowI value, const float* mul) {
  const RowF m = load_table_row<DF>(mul);
  RowF x = to_float(value);
  for (int p = 0; p < kParts; ++p) x.part[p] = hn::Mul(x.part[p], m.part[p]);
  return x;
}

CT_HD RowI quantize_integer_row(RowI value, const float* mul, const float* half) {
  const RowF m = load_table_row<DF>(mul), h = load_table_row<DF>(half);
  RowI result;
  for (int p = 0; p < kParts; ++p) {
    const auto x = hn::ConvertTo(DF(), value.part[p]);
    const auto qcoef = hn::Mul(hn::Add(hn::Abs(x), h.part[p]), m.part[p]);
    result.part[p] = hn::ConvertTo(DI(), hn::CopySignToAbs(qcoef, x));  // towards zero
  }
  return result;
}

template <typename Coef>
CT_HD void store_integer_row(RowI value, const ForwardTable& table, int v, Coef* to) {
  if constexpr (sizeof(Coef) == 4 && Coef(0.5) != 0) {
    store_coef_row(scale_to_float(value, table.mul + 8 * v), to + 8 * v);
  } else {
    store_coef_row(quantize_integer_row(value, table.mul + 8 * v, table.half + 8 * v), to + 8 * v);
  }
}

template <typename Coef>
CT_HD RowI load_integer_row(const Coef* from, int v) {
  if constexpr (sizeof(Coef) == 2) {
    return load_coef_row(from + 8 * v);
  } else if constexpr (Coef(0.5) != 0) {
    // Rounding half away from zero has no vector operation; this format is rare with integers.
    int32_t rounded[64 * kBlocks];
    for (int b = 0; b < kBlocks; ++b) {
      for (int x = 0; x < 8; ++x) {
        rounded[64 * b + x] = integer_of(from[64 * b + 8 * v + x]);
      }
    }
    return load_coef_row(rounded);
  } else {
    return saturate16(load_coef_row(from + 8 * v));
  }
}

// Not saturated yet.
CT_HD RowI multiply_row(RowI coefs, const int32_t* imul) {
  const RowI m = load_table_row<DI>(imul);
  for (int p = 0; p < kParts; ++p) coefs.part[p] = hn::Mul(coefs.part[p], m.part[p]);
  return coefs;
}

// ---- The methods ----

// kBits: 2 of 8-bit samples, 1 of 12-bit ones.
template <int kBits>
struct IslowVector {
  using Row = RowI;
  static CT_HD Row from_samples(RowI samples) { return samples; }
  static CT_HD void forward(Row* v) {
    transpose(v);
    islow_forward_1d<1, 1, kBits>(v);
    transpose(v);
    islow_forward_1d<1, 2, kBits>(v);
  }
  static CT_HD void inverse(Row* v, int level_shift) {
    islow_inverse_1d<1, 1, kBits>(v, 0);
    transpose(v);
    islow_inverse_1d<1, 2, kBits>(v, level_shift);
    transpose(v);
  }
  template <typename Coef>
  static CT_HD void store(const Row* v, const ForwardTable& table, Coef* to) {
    for (int y = 0; y < 8; ++y) store_integer_row(v[y], table, y, to);
  }
  template <typename Coef>
  static CT_HD void load(const Coef* from, const InverseTable& table, int, Row* v) {
    for (int y = 0; y < 8; ++y) {
      v[y] = saturate16(multiply_row(load_integer_row(from, y), table.imul + 8 * y));
    }
  }
  static CT_HD RowI samples(Row row, int32_t low, int32_t high) {
    return clamp_row(row, low, high);
  }
};

struct IfastVector {
  using Row = RowH;
  static CT_HD Row from_samples(RowI samples) { return narrow_saturated(samples); }
  static CT_HD void forward(Row* v) {
    transpose(v);
    aan_forward_1d<1>(v);
    transpose(v);
    aan_forward_1d<1>(v);
  }
  static CT_HD void inverse(Row* v, int level_shift) {
    aan_inverse_1d<1>(v);
    transpose(v);
    aan_inverse_1d<1>(v);
    transpose(v);
    const auto shift = hn::Set(DH(), static_cast<int16_t>(level_shift));
    for (int y = 0; y < 8; ++y) v[y].part = hn::Add(hn::ShiftRight<5>(v[y].part), shift);
  }
  template <typename Coef>
  static CT_HD void store(const Row* v, const ForwardTable& table, Coef* to) {
    for (int y = 0; y < 8; ++y) store_integer_row(widen(v[y]), table, y, to);
  }
  template <typename Coef>
  static CT_HD void load(const Coef* from, const InverseTable& table, int, Row* v) {
    for (int y = 0; y < 8; ++y) {
      RowI product = multiply_row(load_integer_row(from, y), table.imul + 8 * y);
      // Quantized: no shift. Unquantized: 12 bits, the only other case that there is.
      if (table.shift != 0) product = shift_right<12>(product + table.round);
      v[y] = narrow_saturated(product);
    }
  }
  static CT_HD RowI samples(Row row, int32_t low, int32_t high) {
    return clamp_row(widen(row), low, high);
  }
};

struct FloatVector {
  using Row = RowF;
  static CT_HD Row from_samples(RowI samples) { return to_float(samples); }
  static CT_HD void forward(Row* v) {
    transpose(v);
    aan_forward_1d<1>(v);
    transpose(v);
    aan_forward_1d<1>(v);
  }
  static CT_HD void inverse(Row* v, int) {
    transpose(v);
    aan_inverse_1d<1>(v);
    transpose(v);
    aan_inverse_1d<1>(v);
  }
  template <typename Coef>
  static CT_HD void store(const Row* v, const ForwardTable& table, Coef* to) {
    for (int y = 0; y < 8; ++y) {
      const RowF m = load_table_row<DF>(table.mul + 8 * y);
      RowF x = v[y];
      for (int p = 0; p < kParts; ++p) x.part[p] = hn::Mul(x.part[p], m.part[p]);
      if constexpr (Coef(0.5) != 0) {
        store_coef_row(x, to + 8 * y);
      } else {
        store_coef_row(round_clamped(x, CoefLimits<Coef>::kLow, CoefLimits<Coef>::kHigh),
                       to + 8 * y);
      }
    }
  }
  template <typename Coef>
  static CT_HD void load(const Coef* from, const InverseTable& table, int level_shift, Row* v) {
    for (int y = 0; y < 8; ++y) {
      RowF x;
      if constexpr (Coef(0.5) != 0) {
        x = load_coef_row(from + 8 * y);
      } else {
        x = to_float(load_coef_row(from + 8 * y));
      }
      const RowF m = load_table_row<DF>(table.mul + 8 * y);
      for (int p = 0; p < kParts; ++p) v[y].part[p] = hn::Mul(x.part[p], m.part[p]);
    }
    const float dc[8] = {float(level_shift)};
    v[0] = v[0] + load_table_row<DF>(dc);
  }
  static CT_HD RowI samples(Row row, int32_t low, int32_t high) {
    return round_clamped(row, float(low), float(high));
  }
};
