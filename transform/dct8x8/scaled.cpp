// Scaled inverses in portable code, a row of blocks at a time: every method, format and layout.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/scaled.h"

#include "transform/dct8x8/adapters.h"
#include "transform/dct8x8/rows.h"

namespace cudatransform {

namespace {

// The rows of a block that the method M uses, in natural order.
template <class M, typename Coef>
class Rows {
 public:
  Rows(const Dct8x8Job& job, const CoefPlane& plane, int by)
      : zigzag_(job.layout == Layout::kBlock && job.order == Order::kZigzag),
        block_(coef_address<Coef>(plane, job.layout, 0, by)),
        block_step_(job.layout == Layout::kBlock ? 64 : 8),
        row_step_(job.layout == Layout::kBlock ? 8 : plane.pitch / ptrdiff_t(sizeof(Coef))) {}

  // Row v of the current block. Only coefficients that M uses need be there.
  const Coef* row(int v) {
    if (!zigzag_) return block_ + v * row_step_;
    for (int u = 0; u < 8; ++u) {
      if (M::uses(u)) gathered_[u] = block_[kZigzagOfNatural[8 * v + u]];
    }
    return gathered_;
  }
  void next_block() { block_ += block_step_; }

  uint64_t zeros() const {
    uint64_t zeros = 0;
    for (int v = 0; v < 8; ++v) {
      for (int u = 0; u < 8; ++u) zeros += block_[v * row_step_ + u] == 0;
    }
    return zeros;
  }

 private:
  bool zigzag_;
  const Coef* block_;
  ptrdiff_t block_step_, row_step_;
  Coef gathered_[8] = {};
};

template <class M, int kSize, typename Coef>
RowSums scaled_row(const RowContext& context, int component, int by) {
  constexpr int kColumns = M::uses(7) ? 8 : kSize;
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  const InverseTable& table = context.inverse[component];
  const SampleRange range = sample_range(context, plane);
  Rows<M, Coef> rows(job, coef_plane, by);
  RowSums sums;
  typename M::Value values[64] = {};
  int32_t samples[64] = {};
  for (int bx = 0; bx < coef_plane.blocks_w; ++bx, rows.next_block()) {
    for (int v = 0; v < 8; ++v) {
      if (!M::uses(v)) continue;
      const Coef* row = rows.row(v);
      for (int u = 0; u < kColumns; ++u) {
        values[8 * v + u] = M::load(row[u], table, 8 * v + u);
      }
    }
    M::inverse(values, context.level_shift);
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        samples[8 * y + x] = M::sample(values[8 * y + x], range.low, range.high) - range.bias;
      }
    }
    store_samples(plane, bx, by, samples, kSize);
    if ((job.measure & kMeasureZeros) != 0) sums.zeros += rows.zeros();
  }
  return sums;
}

// 1/8: one coefficient and one sample a block, so the loop is all that there is to do.
template <class M, typename Coef>
RowSums dc_row(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  if ((job.measure & kMeasureZeros) != 0 || plane.row_repeat != 1) {
    return scaled_row<M, 1, Coef>(context, component, by);
  }
  const CoefPlane& coef_plane = job.coefs[component];
  const InverseTable& table = context.inverse[component];
  const SampleRange range = sample_range(context, plane);
  const Coef* block = coef_address<Coef>(coef_plane, job.layout, 0, by);
  const ptrdiff_t step = job.layout == Layout::kBlock ? 64 : 8;
  uint8_t* to = sample_address(plane, 0, by);
  for (int bx = 0; bx < coef_plane.blocks_w; ++bx, block += step, to += plane.stride) {
    typename M::Value value = M::load(*block, table, 0);
    M::inverse(&value, context.level_shift);
    store_sample(to, plane, M::sample(value, range.low, range.high) - range.bias);
  }
  return {};
}

template <template <int> class M, typename Coef>
RowFunction choose_scale(const Dct8x8Job& job) {
  if (job.scale == 2) return scaled_row<M<4>, 4, Coef>;
  return job.scale == 4 ? scaled_row<M<2>, 2, Coef> : dc_row<M<1>, Coef>;
}

template <template <int> class M>
RowFunction choose_type(const Dct8x8Job& job) {
  switch (job.type) {
    case CoefType::kS16:
      return choose_scale<M, int16_t>(job);
    case CoefType::kS32:
      return choose_scale<M, int32_t>(job);
    case CoefType::kF32:
      break;
  }
  return choose_scale<M, float>(job);
}

}  // namespace

RowFunction portable_scaled_row_function(const Dct8x8Job& job) {
  switch (job.method) {
    case Method::kIslow:
      return job.depth == 12 ? choose_type<ScaledIslow12>(job) : choose_type<ScaledIslow>(job);
    case Method::kReference:
      return choose_type<ScaledReference>(job);
    default:
      return choose_type<ScaledFloat>(job);
  }
}

}  // namespace cudatransform
