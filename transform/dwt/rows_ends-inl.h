// Between rows of values and memory: samples, coefficients, low bands; for one instruction set.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, after rows_lift-inl.h.

using LanesU16 = hn::RebindToUnsigned<Lanes16>;
using LanesF32 = hn::RebindToFloat<Lanes32>;
using LanesF64 = hn::ScalableTag<double>;
using Half32 = hn::Rebind<int32_t, LanesF64>;

// ---- Halves ----

inline void split_row(const int16_t* from, int16_t* low, int16_t* high, size_t pairs, int shift,
                      bool) {
  const Lanes16 d;
  for (size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    Vec16 a, b;
    hn::LoadInterleaved2(d, from + 2 * i, a, b);
    hn::StoreU(hn::ShiftLeftSame(a, shift), d, low + i);
    hn::StoreU(hn::ShiftLeftSame(b, shift), d, high + i);
  }
}

inline void split_row(const int32_t* from, int32_t* low, int32_t* high, size_t pairs, int shift,
                      bool wrap) {
  const Lanes32 d;
  for (size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    Vec32 a, b;
    hn::LoadInterleaved2(d, from + 2 * i, a, b);
    a = hn::ShiftLeftSame(a, shift);
    b = hn::ShiftLeftSame(b, shift);
    hn::StoreU(wrap ? wrap16(a) : a, d, low + i);
    hn::StoreU(wrap ? wrap16(b) : b, d, high + i);
  }
}

// (v + 1) >> 1, which wraps at 32 bits and not at 16, or v.
HWY_INLINE Vec16 unshifted(Vec16 v, int shift) { return shift != 0 ? half_up(v) : v; }
HWY_INLINE Vec32 unshifted(Vec32 v, int shift) {
  return shift != 0 ? hn::ShiftRight<1>(hn::Add(v, hn::Set(Lanes32(), 1))) : v;
}

template <typename T>
void join_row(const T* low, const T* high, T* to, size_t pairs, int shift) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    hn::StoreInterleaved2(unshifted(hn::LoadU(d, low + i), shift),
                          unshifted(hn::LoadU(d, high + i), shift), d, to + 2 * i);
  }
}

// ---- Samples ----

HWY_INLINE void store_split(Vec16 v, int16_t* to, int shift, bool) {
  hn::StoreU(hn::ShiftLeftSame(v, shift), Lanes16(), to);
}
HWY_INLINE void store_split(Vec16 v, int32_t* to, int shift, bool wrap) {
  const Lanes32 d;
  Vec32 parts[2] = {hn::PromoteTo(d, hn::LowerHalf(Half16(), v)),
                    hn::PromoteTo(d, hn::UpperHalf(Half16(), v))};
  for (size_t p = 0; p < 2; ++p) {
    const Vec32 shifted = hn::ShiftLeftSame(parts[p], shift);
    hn::StoreU(wrap ? wrap16(shifted) : shifted, d, to + p * hn::Lanes(d));
  }
}

template <typename T>
void split_samples(const void* from, const SampleForm& form, T* low, T* high, size_t pairs,
                   int shift, bool wrap) {
  const Lanes16 d;
  const LanesU16 du;
  const Vec16 half = hn::Set(d, static_cast<int16_t>(1 << (form.depth - 1)));
  const auto peak = hn::Set(du, static_cast<uint16_t>((1 << form.depth) - 1));
  for (size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    hn::Vec<LanesU16> a, b;
    if (form.type == SampleType::kU8) {
      // A pair of bytes is a word whose low byte comes first.
      const auto words = hn::LoadU(du, static_cast<const uint16_t*>(from) + i);
      a = hn::And(words, hn::Set(du, 255));
      b = hn::ShiftRight<8>(words);
    } else {
      hn::LoadInterleaved2(du, static_cast<const uint16_t*>(from) + 2 * i, a, b);
      a = hn::Min(hn::ShiftRightSame(a, form.shift), peak);
      b = hn::Min(hn::ShiftRightSame(b, form.shift), peak);
    }
    store_split(hn::Sub(hn::BitCast(d, a), half), low + i, shift, wrap);
    store_split(hn::Sub(hn::BitCast(d, b), half), high + i, shift, wrap);
  }
}

// A vector of values, within 16 bits: 32-bit ones are clamped to `low` to `high`.
HWY_INLINE Vec16 load_narrow(const int16_t* from, int shift, int32_t low, int32_t high) {
  const Lanes16 d;
  return hn::Min(
      hn::Max(unshifted(hn::LoadU(d, from), shift), hn::Set(d, static_cast<int16_t>(low))),
      hn::Set(d, static_cast<int16_t>(high)));
}
HWY_INLINE Vec16 load_narrow(const int32_t* from, int shift, int32_t low, int32_t high) {
  const Lanes32 d;
  hn::Vec<Half16> parts[2];
  for (size_t p = 0; p < 2; ++p) {
    const Vec32 v = unshifted(hn::LoadU(d, from + p * hn::Lanes(d)), shift);
    parts[p] = hn::DemoteTo(Half16(), hn::Min(hn::Max(v, hn::Set(d, low)), hn::Set(d, high)));
  }
  return hn::Combine(Lanes16(), parts[1], parts[0]);
}

template <typename T>
void join_samples(const T* low, const T* high, void* to, const SampleForm& form, size_t pairs,
                  int shift) {
  const Lanes16 d;
  const LanesU16 du;
  const bool is_signed = form.type == SampleType::kS16;
  const int32_t half = is_signed ? 32768 : 1 << (form.depth - 1);
  const auto bias = hn::Set(du, static_cast<uint16_t>(is_signed ? 0 : half));
  auto* words = static_cast<uint16_t*>(to);
  for (size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    const auto a = hn::Add(hn::BitCast(du, load_narrow(low + i, shift, -half, half - 1)), bias);
    const auto b = hn::Add(hn::BitCast(du, load_narrow(high + i, shift, -half, half - 1)), bias);
    if (form.type == SampleType::kU8) {
      hn::StoreU(hn::Or(a, hn::ShiftLeft<8>(b)), du, words + i);
    } else {
      hn::StoreInterleaved2(hn::ShiftLeftSame(a, form.shift), hn::ShiftLeftSame(b, form.shift), du,
                            words + 2 * i);
    }
  }
}

// ---- Coefficients ----

HWY_INLINE Vec32 with_sign_of(Vec32 magnitude, Vec32 v) {
  const Vec32 sign = hn::BroadcastSignBit(v);
  return hn::Sub(hn::Xor(magnitude, sign), sign);
}

// (|level| x factor + offset + 2) / 4 modulo 2^32, in two parts of which only the first wraps:
// factor = 4a + b and |level| = 4h + r make |level| a + h b + (r b + offset + 2) / 4.
HWY_INLINE Vec32 dequantized(Vec32 level, DwtQuantizer quantizer) {
  const Lanes32 d;
  const hn::RebindToUnsigned<Lanes32> du;
  const auto magnitude = hn::BitCast(du, with_sign_of(level, level));
  const auto a = hn::Set(du, quantizer.factor / 4), b = hn::Set(du, quantizer.factor % 4);
  const auto rest = hn::And(magnitude, hn::Set(du, 3));
  const auto fraction =
      hn::ShiftRight<2>(hn::Add(hn::Mul(rest, b), hn::Set(du, quantizer.offset + 2)));
  const auto whole = hn::Add(hn::Mul(magnitude, a), hn::Mul(hn::ShiftRight<2>(magnitude), b));
  const Vec32 value = with_sign_of(hn::BitCast(d, hn::Add(whole, fraction)), level);
  return hn::IfThenZeroElse(hn::Eq(level, hn::Zero(d)), value);
}

// The same in 16-bit lanes, modulo 2^16.
HWY_INLINE Vec16 dequantized(Vec16 level, DwtQuantizer quantizer) {
  const Lanes16 d;
  const LanesU16 du;
  const uint32_t offset = quantizer.offset + 2;
  const Vec16 sign = hn::BroadcastSignBit(level);
  const auto magnitude = hn::BitCast(du, hn::Sub(hn::Xor(level, sign), sign));
  const auto a = hn::Set(du, static_cast<uint16_t>(quantizer.factor / 4));
  const auto b = hn::Set(du, static_cast<uint16_t>(quantizer.factor % 4));
  const auto rest = hn::And(magnitude, hn::Set(du, 3));
  const auto fraction =
      hn::ShiftRight<2>(hn::Add(hn::Mul(rest, b), hn::Set(du, static_cast<uint16_t>(offset % 4))));
  const auto whole = hn::Add(hn::Mul(magnitude, a), hn::Mul(hn::ShiftRight<2>(magnitude), b));
  const auto sum =
      hn::Add(hn::Add(whole, hn::Set(du, static_cast<uint16_t>(offset / 4))), fraction);
  const Vec16 value = hn::Sub(hn::Xor(hn::BitCast(d, sum), sign), sign);
  return hn::IfThenZeroElse(hn::Eq(level, hn::Zero(d)), value);
}

// How many of the first values it has done.
HWY_INLINE size_t dequantize_vectors(const int16_t* from, DwtQuantizer quantizer, int16_t* to,
                                     size_t count) {
  const Lanes16 d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(dequantized(hn::LoadU(d, from + i), quantizer), d, to + i);
  }
  return i;
}
template <typename Coef>
HWY_INLINE size_t dequantize_vectors(const Coef* from, DwtQuantizer quantizer, int32_t* to,
                                     size_t count) {
  const size_t lanes = hn::Lanes(Lanes32());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec32 level = load32(from + i);
    const Vec32 value = quantizer.is_lossless() ? level : dequantized(level, quantizer);
    store32(sizeof(Coef) == 2 ? wrap16(value) : value, to + i);
  }
  return i;
}

template <typename Coef, typename T>
void dequantize_row(const Coef* from, DwtQuantizer quantizer, T* to, size_t count) {
  if constexpr (sizeof(Coef) == sizeof(T)) {
    if (quantizer.is_lossless()) {
      std::memcpy(to, from, count * sizeof(T));
      return;
    }
  }
  size_t i = dequantize_vectors(from, quantizer, to, count);
  for (; i < count; ++i) {
    to[i] = static_cast<T>(static_cast<Coef>(dwt_dequantize(from[i], quantizer)));
  }
}

// 4 |value| / factor: a half is added before it is multiplied by the reciprocal, which moves the
// quotient by less than the distance of (4 |value| + 1/2) / factor from the next integer.
HWY_INLINE Vec32 quantized16(Vec32 value, hn::Vec<LanesF32> reciprocal) {
  const LanesF32 df;
  const auto v = hn::ConvertTo(df, value);
  const auto magnitude = hn::Add(hn::Mul(hn::Abs(v), hn::Set(df, 4.0f)), hn::Set(df, 0.5f));
  return with_sign_of(hn::ConvertTo(Lanes32(), hn::Mul(magnitude, reciprocal)), value);
}

template <typename T>
size_t quantize_vectors(const T* from, int16_t* to, DwtQuantizer quantizer, size_t count) {
  const size_t lanes = hn::Lanes(Lanes32());
  const auto reciprocal = hn::Set(LanesF32(), 1.0f / static_cast<float>(quantizer.factor));
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec32 value = load32(from + i);
    store32(quantizer.is_lossless() ? value : quantized16(value, reciprocal), to + i);
  }
  return i;
}

#if HWY_HAVE_FLOAT64
inline size_t quantize_vectors(const int32_t* from, int32_t* to, DwtQuantizer quantizer,
                               size_t count) {
  const LanesF64 df;
  const Half32 d;
  const size_t lanes = hn::Lanes(df);
  const auto reciprocal = hn::Set(df, 1.0 / quantizer.factor);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::PromoteTo(df, hn::LoadU(d, from + i));
    const auto magnitude = hn::Add(hn::Mul(hn::Abs(v), hn::Set(df, 4.0)), hn::Set(df, 0.5));
    const auto quotient = hn::CopySign(hn::Mul(magnitude, reciprocal), v);
    hn::StoreU(hn::DemoteTo(d, quotient), d, to + i);
  }
  return i;
}
#else
inline size_t quantize_vectors(const int32_t*, int32_t*, DwtQuantizer, size_t) { return 0; }
#endif

template <typename T, typename Coef>
void quantize_row(const T* from, Coef* to, DwtQuantizer quantizer, size_t count) {
  if constexpr (sizeof(Coef) == sizeof(T)) {
    if (quantizer.is_lossless()) {
      std::memcpy(to, from, count * sizeof(T));
      return;
    }
  }
  size_t i = quantize_vectors(from, to, quantizer, count);
  if (quantizer.is_lossless()) {
    for (; i < count; ++i) to[i] = static_cast<Coef>(from[i]);
  } else {
    for (; i < count; ++i) to[i] = static_cast<Coef>(dwt_quantize(from[i], quantizer));
  }
}

inline void quantize_rows(const int16_t* from, void* to, DwtCoefType, DwtQuantizer quantizer,
                          size_t count) {
  quantize_row(from, static_cast<int16_t*>(to), quantizer, count);
}
inline void quantize_rows(const int32_t* from, void* to, DwtCoefType type, DwtQuantizer quantizer,
                          size_t count) {
  if (type == DwtCoefType::kS16) {
    quantize_row(from, static_cast<int16_t*>(to), quantizer, count);
  } else {
    quantize_row(from, static_cast<int32_t*>(to), quantizer, count);
  }
}

inline void dequantize_rows(const void* from, DwtCoefType, DwtQuantizer quantizer, int16_t* to,
                            size_t count) {
  dequantize_row(static_cast<const int16_t*>(from), quantizer, to, count);
}
inline void dequantize_rows(const void* from, DwtCoefType type, DwtQuantizer quantizer, int32_t* to,
                            size_t count) {
  if (type == DwtCoefType::kS16) {
    dequantize_row(static_cast<const int16_t*>(from), quantizer, to, count);
  } else {
    dequantize_row(static_cast<const int32_t*>(from), quantizer, to, count);
  }
}
