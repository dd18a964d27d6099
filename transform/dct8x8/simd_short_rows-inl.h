// A row of blocks in 16-bit lanes: the methods, their memory, and the blocks of the general way.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, after simd_short-inl.h. A method here has
//   General                    the same method in simd_methods-inl.h
//   forward_usable(tables)     whether these tables allow it
//   inverse_usable(tables)
//   forward(v, tables, to)     level shifted samples to kShortBlocks blocks of 64 levels
//   inverse(from, tables, v)   and back to samples, clamped to 0..255, as pairs of rows: a 128-bit
//                              block of v[i] holds rows 2i and 2i + 1 of one 8x8 block

// ---- Memory ----

// Row y of as many blocks as D holds, 64 coefficients apart; `from` is its first element.
template <class D>
CT_HD hn::Vec<D> load_apart(D d, const int16_t* from) {
  if constexpr (hn::MaxLanes(D()) == 8) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_apart(half, from + 64 * (hn::MaxLanes(D()) / 16)),
                       load_apart(half, from));
  }
}

template <class D>
CT_HD void store_apart(D d, hn::Vec<D> v, int16_t* to) {
  if constexpr (hn::MaxLanes(D()) == 8) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    store_apart(half, hn::LowerHalf(half, v), to);
    store_apart(half, hn::UpperHalf(half, v), to + 64 * (hn::MaxLanes(D()) / 16));
  }
}

CT_HD Short load_samples_row(const uint8_t* from) {
  return hn::PromoteTo(DS(), hn::LoadU(hn::Rebind<uint8_t, DS>(), from));
}

CT_HD void store_row_pairs(const hn::Vec<DB>* v, uint8_t* to, ptrdiff_t pitch) {
  // All first rows into the lower half.
  using D64 = hn::Repartition<uint64_t, DB>;
  constexpr uint64_t kOrder[4][8] = {{0, 1}, {0, 2, 1, 3}, {}, {0, 2, 4, 6, 1, 3, 5, 7}};
  const hn::Half<DB> half;
  for (int i = 0; i < 4; ++i) {
    auto rows = v[i];
    if constexpr (kShortBlocks > 1) {
      const auto order = hn::SetTableIndices(D64(), kOrder[kShortBlocks - 1]);
      rows = hn::BitCast(DB(), hn::TableLookupLanes(hn::BitCast(D64(), rows), order));
    }
    hn::StoreU(hn::LowerHalf(half, rows), half, to + 2 * i * pitch);
    hn::StoreU(hn::UpperHalf(half, rows), half, to + (2 * i + 1) * pitch);
  }
}

// ---- Steps that methods share ----

// Within each 128-bit block the elements of a, then those of b, saturated to 0..255.
CT_HD hn::Vec<DB> pack_bytes(Short a, Short b) {
#if CT_X86_BLOCKS == 4
  return hn::Vec<DB>{_mm512_packus_epi16(a.raw, b.raw)};
#elif CT_X86_BLOCKS == 2
  return hn::Vec<DB>{_mm256_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<DB> half;
  return hn::Combine(DB(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

// Columns to pairs of rows: bytes are cheaper to transpose than 16-bit values. Three interleavings
// rotate the six bits (column, row) by three, see interleave_halves().
CT_HD void pack_transposed(const Short* columns, hn::Vec<DB>* v) {
  for (int i = 0; i < 4; ++i) v[i] = pack_bytes(columns[2 * i], columns[2 * i + 1]);
  for (int step = 0; step < 3; ++step) interleave_halves<DB, 4>(DB(), v);
}

// The rounded division of quantizer_short.h.
CT_HD Short quantize(Short x, const ShortForwardTable& table, int y) {
  const Short sign = hn::BroadcastSignBit(x);
  auto qcoef = hn::Add(hn::BitCast(DSU(), hn::Abs(x)), load_table(table.half + 8 * y));
  qcoef = hn::MulHigh(qcoef, load_table(table.reciprocal + 8 * y));
  qcoef = hn::MulHigh(qcoef, load_table(table.scale + 8 * y));
  return hn::Sub(hn::Xor(hn::BitCast(DS(), qcoef), sign), sign);
}

CT_HD void dequantize(const int16_t* from, const ShortInverseTable& table, Short* v) {
  Short seen = hn::Zero(DS());
  for (int y = 0; y < 8; ++y) {
    v[y] = load_apart(DS(), from + 8 * y);
    seen = hn::Or(seen, hn::Abs(v[y]));
  }
  const Short large = hn::And(seen, hn::Set(DS(), table.large));
  if (HWY_LIKELY(hn::AllTrue(DS(), hn::Eq(large, hn::Zero(DS()))))) {
    for (int y = 0; y < 8; ++y) v[y] = hn::Mul(v[y], load_table(table.mul + 8 * y));
  } else {
    for (int y = 0; y < 8; ++y) {
      const Short mul = load_table(table.mul + 8 * y);
      const Pairs product = interleave(hn::Mul(v[y], mul), hn::MulHigh(v[y], mul));
      v[y] = narrow({hn::BitCast(DW(), product.low), hn::BitCast(DW(), product.high)});
    }
  }
}

// ---- The methods ----

struct IslowShort {
  using General = IslowVector<2>;
  static CT_HD bool forward_usable(const ShortTables& tables) { return tables.forward.usable; }
  static CT_HD bool inverse_usable(const ShortTables& tables) { return tables.inverse.usable; }
  static CT_HD void forward(Short* v, const ShortTables& tables, int16_t* to) {
    transpose(v);
    islow_forward_short<1>(v);
    transpose(v);
    islow_forward_short<2>(v);
    for (int y = 0; y < 8; ++y) store_apart(DS(), quantize(v[y], tables.forward, y), to + 8 * y);
  }
  static CT_HD void inverse(const int16_t* from, const ShortTables& tables, hn::Vec<DB>* rows) {
    Short v[8];
    dequantize(from, tables.inverse, v);
    islow_inverse_short<1>(v, 0);
    transpose(v);
    islow_inverse_short<2>(v, kLevelShift8);
    pack_transposed(v, rows);
  }
};

struct IfastShort {
  using General = IfastVector;
  static CT_HD bool forward_usable(const ShortTables& tables) { return tables.forward.usable; }
  static CT_HD bool inverse_usable(const ShortTables& tables) { return tables.inverse.usable; }
  static CT_HD void forward(Short* v, const ShortTables& tables, int16_t* to) {
    ShortRow rows[8];
    transpose(v);
    for (int i = 0; i < 8; ++i) rows[i].lanes = v[i];
    aan_forward_1d<1>(rows);
    for (int i = 0; i < 8; ++i) v[i] = rows[i].lanes;
    transpose(v);
    for (int i = 0; i < 8; ++i) rows[i].lanes = v[i];
    aan_forward_1d<1>(rows);
    for (int y = 0; y < 8; ++y) {
      store_apart(DS(), quantize(rows[y].lanes, tables.forward, y), to + 8 * y);
    }
  }
  static CT_HD void inverse(const int16_t* from, const ShortTables& tables, hn::Vec<DB>* rows) {
    Short v[8];
    ShortRow columns[8];
    dequantize(from, tables.inverse, v);
    for (int i = 0; i < 8; ++i) columns[i].lanes = v[i];
    aan_inverse_1d<1>(columns);
    for (int i = 0; i < 8; ++i) v[i] = columns[i].lanes;
    transpose(v);
    for (int i = 0; i < 8; ++i) columns[i].lanes = v[i];
    aan_inverse_1d<1>(columns);
    const Short shift = hn::Set(DS(), int16_t{kLevelShift8});
    for (int i = 0; i < 8; ++i) {
      v[i] = hn::Add(hn::ShiftRight<5>(columns[i].lanes), shift);
    }
    pack_transposed(v, rows);
  }
};

struct FloatShort {
  using General = FloatVector;
  static CT_HD bool forward_usable(const ShortTables&) { return true; }
  static CT_HD bool inverse_usable(const ShortTables& tables) {
    return tables.float_inverse_usable;
  }
  static CT_HD void forward(Short* v, const ShortTables& tables, int16_t* to) {
    FloatRow columns[2][8], rows[2][8];
    widen_transposed(v, columns);
    for (int parity = 0; parity < 2; ++parity) aan_forward_1d<1>(columns[parity]);
    transpose_back(columns, rows);
    for (int half = 0; half < 2; ++half) aan_forward_1d<1>(rows[half]);
    for (int y = 0; y < 8; ++y) {
      const float* mul = tables.float_forward + 8 * y;
      const auto low = hn::Mul(rows[0][y].lanes, hn::LoadDup128(DWF(), mul));
      const auto high = hn::Mul(rows[1][y].lanes, hn::LoadDup128(DWF(), mul + 4));
      store_apart(DS(), narrow({nearest_int(low), nearest_int(high)}), to + 8 * y);
    }
  }
  static CT_HD void inverse(const int16_t* from, const ShortTables& tables, hn::Vec<DB>* bytes) {
    Short v[8];
    FloatRow columns[2][8], rows[2][8];
    for (int y = 0; y < 8; ++y) v[y] = load_apart(DS(), from + 8 * y);
    widen_transposed(v, columns);
    for (int parity = 0; parity < 2; ++parity) {
      for (int u = 0; u < 8; ++u) {
        const float* mul = tables.float_inverse + 32 * parity + 4 * u;
        columns[parity][u].lanes = hn::Mul(columns[parity][u].lanes, hn::LoadDup128(DWF(), mul));
      }
    }
    alignas(16) static constexpr float kShift[4] = {kLevelShift8};
    columns[0][0].lanes = hn::Add(columns[0][0].lanes, hn::LoadDup128(DWF(), kShift));
    for (int parity = 0; parity < 2; ++parity) aan_inverse_1d<1>(columns[parity]);
    transpose_back(columns, rows);
    for (int half = 0; half < 2; ++half) aan_inverse_1d<1>(rows[half]);
    for (int y = 0; y < 8; ++y) {
      v[y] = narrow({nearest_int(rows[0][y].lanes), nearest_int(rows[1][y].lanes)});
    }
    for (int i = 0; i < 4; ++i) bytes[i] = pack_bytes(v[2 * i], v[2 * i + 1]);
  }
};

// ---- Rows of blocks ----

// Whether block row `by` has 8-bit samples in all its eight rows.
CT_HD bool has_eight_rows(const SamplePlane& plane, int by) {
  return plane.type == SampleType::kU8 && 8 * by + 8 <= plane.rows();
}

// How many blocks from the left of block row `by` take this path; the general one does the rest.
template <class M>
CT_HD int short_blocks(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const ShortTables& tables = context.short_tables[component];
  const SamplePlane& plane = job.samples[component];
  const bool forward = job.direction == Direction::kForward;
  const bool measures = (job.measure & kMeasureSse) != 0;
  if (!has_eight_rows(plane, by) || (forward && !M::forward_usable(tables)) ||
      ((!forward || measures) && !M::inverse_usable(tables)) ||
      (!forward && measures && !has_eight_rows(job.reference[component], by))) {
    return 0;
  }
  return plane.width / (8 * kShortBlocks) * kShortBlocks;
}

// Cache lines are prefetched four groups ahead: so far that they arrive in time, so near that they
// still are in the first cache then. The processor sees eight rows or one long one coming by
// itself, but not across pages.
CT_HD int block_ahead(int bx, int blocks) {
  return std::min(bx + 4 * kShortBlocks, blocks - kShortBlocks);
}
CT_HD void prefetch_qcoefs(const int16_t* group) {
  for (int i = 0; i < 2 * kShortBlocks; ++i) hwy::Prefetch(group + 32 * i);
}
CT_HD void prefetch_samples(const uint8_t* group, ptrdiff_t pitch) {
  for (int y = 0; y < 8; ++y) hwy::Prefetch(group + y * pitch);
}

// Samples of a group: eight rows, one sample next to the other.
struct GroupRows {
  const uint8_t* first;
  ptrdiff_t pitch;
};
// In place, or (interleaved samples of two planes) copied to `staging`, 64 a block.
CT_HD GroupRows group_rows(const SamplePlane& plane, int bx, int by, uint8_t* staging) {
  constexpr int kWidth = 8 * kShortBlocks;
  const uint8_t* from = sample_address(plane, 8 * bx, 8 * by);
  if (plane.stride == 1) return {from, plane.pitch};
  for (int y = 0; y < 8; ++y) {
    const uint8_t* row = from + y * plane.pitch;
    for (int x = 0; x < kWidth; ++x) staging[kWidth * y + x] = row[ptrdiff_t{x} * plane.stride];
  }
  return {staging, kWidth};
}

// Bytes between the samples belong to another component, which another thread may be writing right
// now. So samples that are not side by side are written one by one.
CT_HD void store_group(const hn::Vec<DB>* decoded, const SamplePlane& plane, int bx, int by) {
  if (plane.stride == 1 && plane.row_repeat == 1) {
    store_row_pairs(decoded, sample_address(plane, 8 * bx, 8 * by), plane.pitch);
    return;
  }
  constexpr int kWidth = 8 * kShortBlocks;
  uint8_t staging[8 * kWidth];
  store_row_pairs(decoded, staging, kWidth);
  const ptrdiff_t stride = plane.stride;
  const int first = 8 * by * plane.row_repeat;
  const int last = std::min(first + 8 * plane.row_repeat, plane.height);
  for (int row = first; row < last; ++row) {
    const uint8_t* from = staging + kWidth * ((row - first) / plane.row_repeat);
    uint8_t* to = sample_address(plane, 8 * bx, row);
    for (int x = 0; x < kWidth; ++x) to[x * stride] = from[x];
  }
}

// The squared difference of decoded samples and others.
CT_HD uint64_t short_sse(const hn::Vec<DB>* decoded, GroupRows rows) {
  uint8_t bytes[64 * kShortBlocks];
  store_row_pairs(decoded, bytes, 8 * kShortBlocks);
  auto sum = hn::Zero(DW());
  for (int y = 0; y < 8; ++y) {
    const Short difference = hn::Sub(load_samples_row(bytes + 8 * kShortBlocks * y),
                                     load_samples_row(rows.first + y * rows.pitch));
    sum = hn::Add(sum, multiply_pairs(difference, difference));
  }
  return static_cast<uint64_t>(hn::GetLane(hn::SumOfLanes(DW(), sum)));
}

template <class M>
RowSums forward_row_short(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  const ShortTables& tables = context.short_tables[component];
  const bool direct = is_block_raster(job);
  const int blocks = short_blocks<M>(context, component, by);
  int16_t staging[64 * kShortBlocks];
  uint8_t sample_staging[64 * kShortBlocks];
  RowSums sums;
  for (int bx = 0; bx < blocks; bx += kShortBlocks) {
    const GroupRows rows = group_rows(plane, bx, by, sample_staging);
    const Short shift = hn::Set(DS(), int16_t{kLevelShift8});
    Short v[8];
    for (int y = 0; y < 8; ++y)
      v[y] = hn::Sub(load_samples_row(rows.first + y * rows.pitch), shift);
    int16_t* to = direct ? coef_address<int16_t>(coef_plane, job.layout, bx, by) : staging;
    prefetch_samples(sample_address(plane, 8 * block_ahead(bx, blocks), 8 * by), plane.pitch);
    M::forward(v, tables, to);
    for (int b = 0; b < kShortBlocks; ++b) {
      if (!direct) store_coefs(job, coef_plane, bx + b, by, to + 64 * b);
      if ((job.measure & kMeasureZeros) != 0) sums.zeros += count_zeros(to + 64 * b);
    }
    if ((job.measure & kMeasureSse) != 0) {
      hn::Vec<DB> decoded[4];
      M::inverse(to, tables, decoded);
      sums.sse += short_sse(decoded, rows);
    }
  }
  forward_blocks<typename M::General, int16_t>(context, component, by, blocks, &sums);
  return sums;
}

template <class M>
RowSums inverse_row_short(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  const ShortTables& tables = context.short_tables[component];
  const bool direct = is_block_raster(job);
  const int blocks = short_blocks<M>(context, component, by);
  int16_t staging[64 * kShortBlocks];
  uint8_t sample_staging[64 * kShortBlocks];
  RowSums sums;
  for (int bx = 0; bx < blocks; bx += kShortBlocks) {
    const int16_t* from = direct ? coef_address<int16_t>(coef_plane, job.layout, bx, by) : staging;
    for (int b = 0; b < kShortBlocks; ++b) {
      if (!direct) load_coefs(job, coef_plane, bx + b, by, staging + 64 * b);
      if ((job.measure & kMeasureZeros) != 0) sums.zeros += count_zeros(from + 64 * b);
    }
    if (direct) {
      prefetch_qcoefs(coef_address<int16_t>(coef_plane, job.layout, block_ahead(bx, blocks), by));
    }
    hn::Vec<DB> decoded[4];
    M::inverse(from, tables, decoded);
    store_group(decoded, plane, bx, by);
    if ((job.measure & kMeasureSse) != 0) {
      const GroupRows rows = group_rows(job.reference[component], bx, by, sample_staging);
      sums.sse += short_sse(decoded, rows);
    }
  }
  inverse_blocks<typename M::General, int16_t>(context, component, by, blocks, &sums);
  return sums;
}

template <class M>
RowFunction choose_short(const Dct8x8Job& job) {
  if (job.type != CoefType::kS16 || decides(job)) return choose_type<typename M::General>(job);
  return job.direction == Direction::kForward ? &forward_row_short<M> : &inverse_row_short<M>;
}
