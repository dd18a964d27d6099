// Rows of 8x8 blocks as vectors: the types that 1d-inl.h calculates with.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set by simd_all-inl.h, inside cudatransform::HWY_NAMESPACE. A Row
// holds one row of kBlocks blocks side by side, so eight Rows are a group of blocks, and a pass
// over columns is plain arithmetic on Rows; a pass over rows needs a transpose before and after.

namespace hn = hwy::HWY_NAMESPACE;

// Up to 16 lanes of 32 bits, two blocks. Half a block's row on 128-bit machines: there a Row has
// two parts.
using DI = hn::CappedTag<int32_t, 16>;
constexpr int kLanes = int(hn::MaxLanes(DI()));
constexpr int kParts = kLanes < 8 ? 8 / kLanes : 1;
constexpr int kBlocks = kLanes * kParts / 8;
constexpr int kGroupWidth = 8 * kBlocks;  // columns of a group, elements of a Row
static_assert(kParts <= 2 && kBlocks <= 2);

using DF = hn::Rebind<float, DI>;
using DH = hn::CappedTag<int16_t, kGroupWidth>;  // one part always
using DPartH = hn::Rebind<int16_t, DI>;          // the 16-bit lanes of one part
using DPartU16 = hn::Rebind<uint16_t, DI>;
using DPartU8 = hn::Rebind<uint8_t, DI>;
using DHalfI = hn::Half<DI>;
using DHalfF = hn::Half<DF>;

template <class D>
struct WideRow {
  hn::Vec<D> part[kParts];
};
using RowI = WideRow<DI>;
using RowF = WideRow<DF>;
struct RowH {
  hn::Vec<DH> part;
};

// ---- Operators, so that transforms read the same for scalars and Rows ----

template <class D>
CT_HD WideRow<D> operator+(WideRow<D> a, WideRow<D> b) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::Add(a.part[p], b.part[p]);
  return a;
}
template <class D>
CT_HD WideRow<D> operator-(WideRow<D> a, WideRow<D> b) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::Sub(a.part[p], b.part[p]);
  return a;
}
CT_HD RowI operator+(RowI a, int32_t constant) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::Add(a.part[p], hn::Set(DI(), constant));
  return a;
}
CT_HD RowI operator*(RowI a, int32_t constant) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::Mul(a.part[p], hn::Set(DI(), constant));
  return a;
}
CT_HD RowF operator*(RowF a, float constant) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::Mul(a.part[p], hn::Set(DF(), constant));
  return a;
}
CT_HD RowH operator+(RowH a, RowH b) { return {hn::Add(a.part, b.part)}; }
CT_HD RowH operator-(RowH a, RowH b) { return {hn::Sub(a.part, b.part)}; }

template <int kBits>
CT_HD RowI shift_left(RowI a) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::ShiftLeft<kBits>(a.part[p]);
  return a;
}
template <int kBits>
CT_HD RowI shift_right(RowI a) {
  for (int p = 0; p < kParts; ++p) a.part[p] = hn::ShiftRight<kBits>(a.part[p]);
  return a;
}
CT_HD RowI clamp_row(RowI a, int32_t low, int32_t high) {
  for (int p = 0; p < kParts; ++p) {
    a.part[p] = hn::Min(hn::Max(a.part[p], hn::Set(DI(), low)), hn::Set(DI(), high));
  }
  return a;
}
CT_HD RowI saturate16(RowI a) { return clamp_row(a, -32768, 32767); }
CT_HD RowI limit14(RowI a) { return clamp_row(a, -16384, 16384); }

// The scalar aan_scale() documents what this computes and why.
template <int kUnits256>
CT_HD RowH aan_scale(RowH a) {
  constexpr int kUnits = kUnits256 == -669 ? -413 : kUnits256;
  const auto scaled =
      hn::MulHigh(hn::ShiftLeft<2>(a.part), hn::Set(DH(), static_cast<int16_t>(kUnits * 64)));
  if constexpr (kUnits256 == -669) return {hn::Sub(scaled, a.part)};
  return {scaled};
}
template <int kUnits256>
CT_HD RowF aan_scale(RowF a) {
  return a * AanFactor<kUnits256>::kFloat;
}

// ---- Between the types ----

CT_HD RowF to_float(RowI a) {
  RowF result;
  for (int p = 0; p < kParts; ++p) result.part[p] = hn::ConvertTo(DF(), a.part[p]);
  return result;
}
template <class R>  // RowH; a template, so that the branch that does not fit is not compiled
CT_HD RowI widen(R a) {
  RowI result;
  if constexpr (kParts == 1) {
    result.part[0] = hn::PromoteTo(DI(), a.part);
  } else {
    result.part[0] = hn::PromoteTo(DI(), hn::LowerHalf(DPartH(), a.part));
    result.part[1] = hn::PromoteTo(DI(), hn::UpperHalf(DPartH(), a.part));
  }
  return result;
}
template <class R>  // RowI
CT_HD RowH narrow_saturated(R a) {
  if constexpr (kParts == 1) {
    return {hn::DemoteTo(DH(), a.part[0])};
  } else {
    return {
        hn::Combine(DH(), hn::DemoteTo(DPartH(), a.part[1]), hn::DemoteTo(DPartH(), a.part[0]))};
  }
}
// round_clamped(), with its treatment of NaN.
CT_HD RowI round_clamped(RowF a, float low, float high) {
  RowI result;
  const auto bottom = hn::Set(DF(), low), top = hn::Set(DF(), high);
  for (int p = 0; p < kParts; ++p) {
    auto x = hn::IfThenElse(hn::Gt(a.part[p], bottom), a.part[p], bottom);
    x = hn::IfThenElse(hn::Lt(x, top), x, top);
    result.part[p] = hn::NearestInt(x);
  }
  return result;
}

// ---- Memory ----

// Eight values of a table of 64, the same for every block of the group.
template <class D, typename T>
CT_HD WideRow<D> load_table_row(const T* row) {
  WideRow<D> result;
  if constexpr (kBlocks == 2) {
    const auto half = hn::LoadU(hn::Half<D>(), row);
    result.part[0] = hn::Combine(D(), half, half);
  } else {
    for (int p = 0; p < kParts; ++p) result.part[p] = hn::LoadU(D(), row + p * kLanes);
  }
  return result;
}

// Row v of a group of blocks of 64 consecutive coefficients each; `from` is its first element.
CT_HD RowI load_coef_row(const int16_t* from) {
  RowI result;
  if constexpr (kBlocks == 2) {
    const hn::Half<DPartH> half;
    result.part[0] = hn::PromoteTo(
        DI(), hn::Combine(DPartH(), hn::LoadU(half, from + 64), hn::LoadU(half, from)));
  } else {
    for (int p = 0; p < kParts; ++p) {
      result.part[p] = hn::PromoteTo(DI(), hn::LoadU(DPartH(), from + p * kLanes));
    }
  }
  return result;
}
template <class D, typename T>
CT_HD WideRow<D> load_wide_coef_row(const T* from) {
  WideRow<D> result;
  if constexpr (kBlocks == 2) {
    const hn::Half<D> half;
    result.part[0] = hn::Combine(D(), hn::LoadU(half, from + 64), hn::LoadU(half, from));
  } else {
    for (int p = 0; p < kParts; ++p) result.part[p] = hn::LoadU(D(), from + p * kLanes);
  }
  return result;
}
CT_HD RowI load_coef_row(const int32_t* from) { return load_wide_coef_row<DI>(from); }
CT_HD RowF load_coef_row(const float* from) { return load_wide_coef_row<DF>(from); }

template <class D, typename T>
CT_HD void store_wide_coef_row(WideRow<D> row, T* to) {
  if constexpr (kBlocks == 2) {
    const hn::Half<D> half;
    hn::StoreU(hn::LowerHalf(half, row.part[0]), half, to);
    hn::StoreU(hn::UpperHalf(half, row.part[0]), half, to + 64);
  } else {
    for (int p = 0; p < kParts; ++p) hn::StoreU(row.part[p], D(), to + p * kLanes);
  }
}
CT_HD void store_coef_row(RowI row, int32_t* to) { store_wide_coef_row(row, to); }
CT_HD void store_coef_row(RowF row, float* to) { store_wide_coef_row(row, to); }
CT_HD void store_coef_row(RowI row, int16_t* to) {
  if constexpr (kBlocks == 2) {
    const hn::Half<DPartH> half;
    const auto narrow = hn::DemoteTo(DPartH(), row.part[0]);
    hn::StoreU(hn::LowerHalf(half, narrow), half, to);
    hn::StoreU(hn::UpperHalf(half, narrow), half, to + 64);
  } else {
    for (int p = 0; p < kParts; ++p) {
      hn::StoreU(hn::DemoteTo(DPartH(), row.part[p]), DPartH(), to + p * kLanes);
    }
  }
}

CT_HD void store_row(RowI row, int32_t* to) {
  for (int p = 0; p < kParts; ++p) hn::StoreU(row.part[p], DI(), to + p * kLanes);
}

// ---- Transposes of every block of a group ----

// Interleaving rows i and i + n/2 into rows 2i and 2i + 1 rotates the bits of (row, column) by one,
// so that log2(n) such steps transpose every n x n square within 128-bit blocks.
template <class D, int kRows>
CT_HD void interleave_halves(D d, hn::Vec<D>* rows) {
  hn::Vec<D> next[kRows];
  for (int i = 0; i < kRows / 2; ++i) {
    next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kRows / 2]);
    next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kRows / 2]);
  }
  for (int i = 0; i < kRows; ++i) rows[i] = next[i];
}

// A row of a block is one 128-bit block.
CT_HD void transpose(RowH* v) {
  hn::Vec<DH> rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = v[i].part;
  for (int step = 0; step < 3; ++step) interleave_halves<DH, 8>(DH(), rows);
  for (int i = 0; i < 8; ++i) v[i].part = rows[i];
}

// A row of a block is a pair of 128-bit blocks: transposes the four quadrants, then exchanges the
// upper right with the lower left one.
template <class D>
CT_HD void transpose(WideRow<D>* v) {
  for (int p = 0; p < kParts; ++p) {
    hn::Vec<D> top[4], bottom[4];
    for (int i = 0; i < 4; ++i) {
      top[i] = v[i].part[p];
      bottom[i] = v[i + 4].part[p];
    }
    for (int step = 0; step < 2; ++step) {
      interleave_halves<D, 4>(D(), top);
      interleave_halves<D, 4>(D(), bottom);
    }
    for (int i = 0; i < 4; ++i) {
      v[i].part[p] = top[i];
      v[i + 4].part[p] = bottom[i];
    }
  }
  for (int i = 0; i < 4; ++i) {
    if constexpr (kParts == 2) {
      const auto upper_right = v[i].part[1];
      v[i].part[1] = v[i + 4].part[0];
      v[i + 4].part[0] = upper_right;
    } else {
      const auto top = v[i].part[0], bottom = v[i + 4].part[0];
      v[i].part[0] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(bottom), top);
      v[i + 4].part[0] = hn::OddEvenBlocks(bottom, hn::SwapAdjacentBlocks(top));
    }
  }
}
