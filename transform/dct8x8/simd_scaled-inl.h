// Scaled inverses of rows of blocks in vectors: islow and float at 1/2 and 1/4.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The portable code is scaled.h, the GPU's cuda/dct8x8/scaled.cu. Included once per instruction
// set, as simd-inl.h. The first pass yields kSize rows of a group of blocks; those of 8 / kSize
// groups side by side make eight rows, which are transposed and go through the second pass
// together. A step therefore writes kSize rows of kGroupWidth samples, as a step at full size
// writes eight. At 1/8 there is nothing to transform and the portable code suffices.

// kBits: 2 of 8-bit samples, 1 of 12-bit ones.
template <int kSize, int kBits>
struct IslowScaledBits {
  using Row = RowI;
  template <typename Coef>
  static CT_HD void load(const Coef* from, const InverseTable& table, int, Row* v) {
    for (int y = 0; y < 8; ++y) {
      if (!ScaledIslow<kSize>::uses(y)) continue;
      const RowI values = multiply_row(load_integer_row(from, y), table.imul + 8 * y);
      v[y] = kBits == 2 ? limit14(values) : saturate16(values);
    }
  }
  template <int kPass>
  static CT_HD void inverse(Row* v, int level_shift) {
    if constexpr (kSize == 4)
      islow_half_1d<1, kPass, kBits>(v, kPass == 1 ? 0 : level_shift);
    else
      islow_quarter_1d<1, kPass, kBits>(v, kPass == 1 ? 0 : level_shift);
  }
  static CT_HD RowI samples(Row row, int32_t low, int32_t high) {
    return clamp_row(row, low, high);
  }
};

template <int kSize>
using IslowScaledVector = IslowScaledBits<kSize, 2>;
template <int kSize>
using Islow12ScaledVector = IslowScaledBits<kSize, 1>;

template <int kSize>
struct FloatScaledVector {
  using Row = RowF;
  template <typename Coef>
  static CT_HD void load(const Coef* from, const InverseTable& table, int level_shift, Row* v) {
    for (int y = 0; y < kSize; ++y) {
      if constexpr (Coef(0.5) != 0) {
        v[y] = load_coef_row(from + 8 * y);
      } else {
        v[y] = to_float(load_coef_row(from + 8 * y));
      }
      const RowF m = load_table_row<DF>(table.mul + 8 * y);
      for (int p = 0; p < kParts; ++p) v[y].part[p] = hn::Mul(v[y].part[p], m.part[p]);
    }
    const float dc[8] = {float(level_shift)};
    v[0] = v[0] + load_table_row<DF>(dc);
  }
  template <int kPass>
  static CT_HD void inverse(Row* v, int) {
    if constexpr (kSize == 4)
      float_half_1d<1>(v);
    else
      float_quarter_1d<1>(v);
  }
  static CT_HD RowI samples(Row row, int32_t low, int32_t high) {
    return round_clamped(row, float(low), float(high));
  }
};

// Row 0..kSize - 1 of a step's samples.
template <int kSize>
using ScaledSamples = int32_t[kSize][kGroupWidth];

// Writes the visible ones of kGroupWidth columns from `x` on, kSize rows from `y` on.
template <int kSize>
CT_HD void store_scaled_samples(const SamplePlane& plane, int x, int y,
                                const ScaledSamples<kSize>& samples) {
  const int columns = std::min(kGroupWidth, plane.width - x);
  const int rows = std::min(kSize, plane.rows() - y);
  const bool consecutive = plane.stride == (plane.type == SampleType::kU8 ? 1 : 2);
  const bool vectors = columns == kGroupWidth && consecutive && plane.type != SampleType::kS16;
  for (int r = 0; r < rows; ++r) {
    const int first = (y + r) * plane.row_repeat;
    const int last = std::min(first + plane.row_repeat, plane.height);
    for (int line = first; line < last; ++line) {
      uint8_t* to = sample_address(plane, x, line);
      if (vectors) {
        RowI row;
        for (int p = 0; p < kParts; ++p) row.part[p] = hn::LoadU(DI(), samples[r] + p * kLanes);
        store_sample_row(row, plane, to);
        continue;
      }
      for (int c = 0; c < columns; ++c, to += plane.stride) store_sample(to, plane, samples[r][c]);
    }
  }
}

template <class D>
CT_HD void clear_rows(WideRow<D>* v) {
  for (int i = 0; i < 8; ++i) {
    for (int p = 0; p < kParts; ++p) v[i].part[p] = hn::Zero(D());
  }
}

template <class M, int kSize, typename Coef>
RowSums scaled_row(const RowContext& context, int component, int by) {
  constexpr int kGroups = 8 / kSize;
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  const SampleRange range = sample_range(context, plane);
  RowSums sums;
  Coef staging[64 * kBlocks] = {};
  typename M::Row v[8], w[8];
  clear_rows(v);
  clear_rows(w);
  for (int bx = 0; bx < coef_plane.blocks_w; bx += kGroups * kBlocks) {
    for (int g = 0; g < kGroups; ++g) {
      // A group to the right of the last block is never stored.
      const int first = bx + g * kBlocks, blocks = std::min(kBlocks, coef_plane.blocks_w - first);
      if (blocks <= 0) break;
      const bool direct = blocks == kBlocks && is_block_raster(job);
      const Coef* coefs = direct ? coef_address<Coef>(coef_plane, job.layout, first, by) : staging;
      for (int b = 0; b < blocks; ++b) {
        if (!direct) load_coefs(job, coef_plane, first + b, by, staging + 64 * b);
        if ((job.measure & kMeasureZeros) != 0) sums.zeros += count_zeros(coefs + 64 * b);
      }
      M::load(coefs, context.inverse[component], context.level_shift, v);
      M::template inverse<1>(v, context.level_shift);
      for (int y = 0; y < kSize; ++y) w[g * kSize + y] = v[y];
    }
    transpose(w);
    M::template inverse<2>(w, context.level_shift);
    transpose(w);
    // Row g kSize + y now has row y of group g, in the first kSize of every eight lanes.
    ScaledSamples<kSize> samples;
    for (int i = 0; i < 8; ++i) {
      int32_t row[kGroupWidth];
      store_row(M::samples(w[i], range.low, range.high) + -range.bias, row);
      for (int b = 0; b < kBlocks; ++b) {
        std::copy_n(row + 8 * b, kSize, samples[i % kSize] + (i / kSize * kBlocks + b) * kSize);
      }
    }
    store_scaled_samples<kSize>(plane, kSize * bx, kSize * by, samples);
  }
  return sums;
}

template <class M, int kSize>
RowFunction choose_scaled_type(const Dct8x8Job& job) {
  switch (job.type) {
    case CoefType::kS16:
      return &scaled_row<M, kSize, int16_t>;
    case CoefType::kS32:
      return &scaled_row<M, kSize, int32_t>;
    case CoefType::kF32:
      break;
  }
  return &scaled_row<M, kSize, float>;
}

// Scale 2 or 4.
template <template <int> class M>
RowFunction choose_scaled(const Dct8x8Job& job) {
  return job.scale == 2 ? choose_scaled_type<M<4>, 4>(job) : choose_scaled_type<M<2>, 2>(job);
}
