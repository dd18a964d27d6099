// Lifting steps on rows, for one instruction set.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, inside cudatransform::HWY_NAMESPACE. A step whose sum needs
// more than 16 bits is calculated in 32-bit lanes. In 32-bit rows the products of long filters need
// 64 bits; there each value is split into high x 2^shift + low, so that of
//
//   (sum of taps x value + rounding) >> shift
//     = sum of taps x high + ((sum of taps x low + rounding) >> shift)
//
// the first sum may wrap and the second cannot.

namespace hn = hwy::HWY_NAMESPACE;

using Lanes16 = hn::ScalableTag<int16_t>;
using Lanes32 = hn::ScalableTag<int32_t>;
using Half16 = hn::Rebind<int16_t, Lanes32>;
using Vec16 = hn::Vec<Lanes16>;
using Vec32 = hn::Vec<Lanes32>;

HWY_INLINE Vec32 load32(const int16_t* from) {
  return hn::PromoteTo(Lanes32(), hn::LoadU(Half16(), from));
}
HWY_INLINE Vec32 load32(const int32_t* from) { return hn::LoadU(Lanes32(), from); }

HWY_INLINE Vec32 wrap16(Vec32 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); }

HWY_INLINE void store32(Vec32 v, int16_t* to) {
  hn::StoreU(hn::DemoteTo(Half16(), wrap16(v)), Half16(), to);
}
HWY_INLINE void store32(Vec32 v, int32_t* to) { hn::StoreU(v, Lanes32(), to); }

// ---- Terms in 16-bit lanes: exact, though the sum of two values needs 17 bits ----

// (a + b) >> 1, and the bit that is lost.
HWY_INLINE Vec16 half_sum(Vec16 a, Vec16 b) {
  return hn::Add(hn::And(a, b), hn::ShiftRight<1>(hn::Xor(a, b)));
}
HWY_INLINE Vec16 half_up(Vec16 a) {  // (a + 1) >> 1
  return hn::Add(hn::ShiftRight<1>(a), hn::And(a, hn::Set(Lanes16(), 1)));
}

template <typename Term>
HWY_INLINE void lift16(bool subtract, int16_t* target, size_t count, Term term) {
  const Lanes16 d;
  const size_t lanes = hn::Lanes(d);
  if (subtract) {
    for (size_t i = 0; i < count; i += lanes)
      hn::StoreU(hn::Sub(hn::LoadU(d, target + i), term(i)), d, target + i);
  } else {
    for (size_t i = 0; i < count; i += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, target + i), term(i)), d, target + i);
  }
}

// False: the step's sum needs more.
HWY_INLINE bool lift_in_16(const LiftingStep& step, bool subtract, int16_t* target,
                           const int16_t* const* sources, size_t count) {
  const Lanes16 d;
  const int16_t* a = sources[0];
  if (step.count == 1) {
    if (step.shift == 0) {
      lift16(subtract, target, count, [=](size_t i) { return hn::LoadU(d, a + i); });
    } else {
      lift16(subtract, target, count, [=](size_t i) { return half_up(hn::LoadU(d, a + i)); });
    }
    return true;
  }
  if (step.count != 2 || step.taps[0] != 1) return false;
  const int16_t* b = sources[1];
  const auto half = [=](size_t i) { return half_sum(hn::LoadU(d, a + i), hn::LoadU(d, b + i)); };
  if (step.shift == 2) {
    lift16(subtract, target, count, [=](size_t i) { return half_up(half(i)); });
  } else if (step.rounding == 0) {
    lift16(subtract, target, count, half);
  } else {
    lift16(subtract, target, count, [=](size_t i) {
      const Vec16 x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i);
      return hn::Sub(hn::Or(x, y), hn::ShiftRight<1>(hn::Xor(x, y)));
    });
  }
  return true;
}

// ---- Terms of pairs of 16-bit values, where the CPU adds the products of neighbors ----

#undef CT_ADDS_PAIRS
#define CT_ADDS_PAIRS (HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128)

#if CT_ADDS_PAIRS

// Two of the four or eight rows side by side: low and high halves of each 128-bit block.
struct Pairs {
  Vec16 low, high;
};
HWY_INLINE Pairs pairs_of(const int16_t* a, const int16_t* b, size_t i) {
  const Lanes16 d;
  const Vec16 x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i);
  return {hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y)};
}
HWY_INLINE Vec32 add_products(Vec16 pairs, Vec16 taps, Vec32 sum) {
  Vec32 none = hn::Zero(Lanes32());
  return hn::ReorderWidenMulAccumulate(Lanes32(), pairs, taps, sum, none);
}

// Row k has tap k, and row kCount - 1 - k the same. Of (sum + rounding) >> kShift the low 16 bits.
template <int kCount, int kShift>
HWY_INLINE void lift_pairs(const LiftingStep& step, bool subtract, int16_t* target,
                           const int16_t* const* s, size_t count) {
  const Lanes16 d;
  Vec16 taps[kCount / 2];
  for (int k = 0; k < kCount / 2; ++k) taps[k] = hn::Set(d, static_cast<int16_t>(step.taps[k]));
  const Vec32 rounding = hn::Set(Lanes32(), step.rounding);
  lift16(subtract, target, count, [&](size_t i) {
    Vec32 low = rounding, high = rounding;
    for (int k = 0; k < kCount / 2; ++k) {
      const Pairs pairs = pairs_of(s[k], s[kCount - 1 - k], i);
      low = add_products(pairs.low, taps[k], low);
      high = add_products(pairs.high, taps[k], high);
    }
    low = hn::ShiftRight<16>(hn::ShiftLeft<16 - kShift>(low));
    high = hn::ShiftRight<16>(hn::ShiftLeft<16 - kShift>(high));
    return hn::ReorderDemote2To(d, low, high);
  });
}

// False: the step has other taps.
HWY_INLINE bool lift_by_pairs(const LiftingStep& step, bool subtract, int16_t* target,
                              const int16_t* const* sources, size_t count) {
  if (step.count == 4 && step.shift == 4) {
    lift_pairs<4, 4>(step, subtract, target, sources, count);
  } else if (step.count == 4) {
    lift_pairs<4, 5>(step, subtract, target, sources, count);
  } else if (step.count == 8) {
    lift_pairs<8, 8>(step, subtract, target, sources, count);
  } else {
    return false;
  }
  return true;
}

#else

HWY_INLINE bool lift_by_pairs(const LiftingStep&, bool, int16_t*, const int16_t* const*, size_t) {
  return false;
}

#endif

// ---- Terms in 32-bit lanes ----

template <typename T, typename Term>
HWY_INLINE void lift32(bool subtract, bool wrap, T* target, size_t count, Term term) {
  const size_t lanes = hn::Lanes(Lanes32());
  for (size_t i = 0; i < count; i += lanes) {
    const Vec32 t = term(i), v = load32(target + i);
    Vec32 sum = subtract ? hn::Sub(v, t) : hn::Add(v, t);
    if (wrap) sum = wrap16(sum);
    store32(sum, target + i);
  }
}

// (-a + 9b + 9c - d + rounding) >> kShift
template <int kShift, typename T>
HWY_INLINE Vec32 four_tap_term(const T* const* s, size_t i) {
  const Vec32 inner = hn::Add(load32(s[1] + i), load32(s[2] + i));
  const Vec32 outer = hn::Add(load32(s[0] + i), load32(s[3] + i));
  const Vec32 nine = hn::Add(hn::ShiftLeft<3>(inner), inner);
  const Vec32 rounding = hn::Set(Lanes32(), 1 << (kShift - 1));
  return hn::ShiftRight<kShift>(hn::Add(hn::Sub(nine, outer), rounding));
}

// factor x (a + b); kWhole: split as said above.
template <bool kWhole, typename T>
HWY_INLINE Vec32 product_term(const T* const* s, size_t i, Vec32 factor) {
  const Vec32 rounding = hn::Set(Lanes32(), 2048);
  const Vec32 a = load32(s[0] + i), b = load32(s[1] + i);
  if constexpr (!kWhole) {
    return hn::ShiftRight<12>(hn::Add(hn::Mul(hn::Add(a, b), factor), rounding));
  }
  const Vec32 mask = hn::Set(Lanes32(), 4095);
  const Vec32 low = hn::Add(hn::And(a, mask), hn::And(b, mask));
  const Vec32 high = hn::Add(hn::ShiftRight<12>(a), hn::ShiftRight<12>(b));
  return hn::Add(hn::Mul(high, factor),
                 hn::ShiftRight<12>(hn::Add(hn::Mul(low, factor), rounding)));
}

// Eight taps, symmetric.
template <bool kWhole, typename T>
HWY_INLINE Vec32 eight_tap_term(const T* const* s, size_t i, const Vec32* factors) {
  Vec32 low = hn::Set(Lanes32(), 128), high = hn::Zero(Lanes32());
  const Vec32 mask = hn::Set(Lanes32(), 255);
  for (int k = 0; k < 4; ++k) {
    const Vec32 a = load32(s[k] + i), b = load32(s[7 - k] + i);
    if constexpr (!kWhole) {
      low = hn::Add(low, hn::Mul(hn::Add(a, b), factors[k]));
    } else {
      low = hn::Add(low, hn::Mul(hn::Add(hn::And(a, mask), hn::And(b, mask)), factors[k]));
      high =
          hn::Add(high, hn::Mul(hn::Add(hn::ShiftRight<8>(a), hn::ShiftRight<8>(b)), factors[k]));
    }
  }
  return hn::Add(high, hn::ShiftRight<8>(low));
}

template <typename T>
HWY_INLINE void lift_in_32(const LiftingStep& step, bool subtract, StepRange range, T* target,
                           const T* const* s, size_t count) {
  const Lanes32 d;
  const bool wrap = range == StepRange::kWrapped;
  const auto lift = [&](auto term) { lift32(subtract, wrap, target, count, term); };
  if (step.count == 1) {
    if (step.shift == 0) {
      lift([=](size_t i) { return load32(s[0] + i); });
    } else {
      lift([=](size_t i) { return hn::ShiftRight<1>(hn::Add(load32(s[0] + i), hn::Set(d, 1))); });
    }
  } else if (step.count == 2 && step.taps[0] == 1) {
    const Vec32 rounding = hn::Set(d, step.rounding);
    const auto sum = [=](size_t i) {
      return hn::Add(hn::Add(load32(s[0] + i), load32(s[1] + i)), rounding);
    };
    if (step.shift == 2) {
      lift([=](size_t i) { return hn::ShiftRight<2>(sum(i)); });
    } else {
      lift([=](size_t i) { return hn::ShiftRight<1>(sum(i)); });
    }
  } else if (step.count == 2) {
    const Vec32 factor = hn::Set(d, step.taps[0]);
    if (range == StepRange::kWhole) {
      lift([=](size_t i) { return product_term<true>(s, i, factor); });
    } else {
      lift([=](size_t i) { return product_term<false>(s, i, factor); });
    }
  } else if (step.count == 4) {
    if (step.shift == 4) {
      lift([=](size_t i) { return four_tap_term<4>(s, i); });
    } else {
      lift([=](size_t i) { return four_tap_term<5>(s, i); });
    }
  } else {
    const Vec32 factors[4] = {hn::Set(d, step.taps[0]), hn::Set(d, step.taps[1]),
                              hn::Set(d, step.taps[2]), hn::Set(d, step.taps[3])};
    if (range == StepRange::kWhole) {
      lift([&](size_t i) { return eight_tap_term<true>(s, i, factors); });
    } else {
      lift([&](size_t i) { return eight_tap_term<false>(s, i, factors); });
    }
  }
}

inline void step_rows(const LiftingStep& step, bool subtract, StepRange, int16_t* target,
                      const int16_t* const* sources, size_t count) {
  if (lift_in_16(step, subtract, target, sources, count)) return;
  if (lift_by_pairs(step, subtract, target, sources, count)) return;
  lift_in_32(step, subtract, StepRange::kShort, target, sources, count);
}

inline void step_rows(const LiftingStep& step, bool subtract, StepRange range, int32_t* target,
                      const int32_t* const* sources, size_t count) {
  lift_in_32(step, subtract, range, target, sources, count);
}

inline void wrap_row(int16_t*, size_t) {}

inline void wrap_row(int32_t* row, size_t count) {
  const size_t lanes = hn::Lanes(Lanes32());
  for (size_t i = 0; i < count; i += lanes) store32(wrap16(load32(row + i)), row + i);
}
