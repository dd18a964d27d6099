// Scaled inverses in portable code: every method, format, layout and order, a row of blocks at a
// time. SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8_scaled.h"

#include "transform/dct8x8_adapters.h"
#include "transform/dct8x8_rows.h"

namespace cudatransform {

namespace {

// How a block's coefficients lie in memory: that of natural index i is at at[i].
struct Places {
  ptrdiff_t at[64];
  ptrdiff_t block_step;

  Places(const Dct8x8Job& job, const CoefPlane& plane, size_t coef_bytes) {
    const bool block_layout = job.layout == Layout::kBlock;
    block_step = block_layout ? 64 : 8;
    for (int i = 0; i < 64; ++i) {
      at[i] = !block_layout                 ? i / 8 * (plane.pitch / ptrdiff_t(coef_bytes)) + i % 8
              : job.order == Order::kZigzag ? kZigzagOfNatural[i]
                                            : i;
    }
  }
};

template <typename Coef>
uint64_t count_zeros(const Places& places, const Coef* block) {
  uint64_t zeros = 0;
  for (const ptrdiff_t at : places.at) zeros += block[at] == 0;
  return zeros;
}

template <class M, int kSize, typename Coef>
RowSums scaled_row(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  const InverseTable& table = context.inverse[component];
  const SampleRange range = sample_range(context, plane);
  const Places places(job, coef_plane, sizeof(Coef));
  const Coef* block = coef_address<Coef>(coef_plane, job.layout, 0, by);
  RowSums sums;
  typename M::Value v[64] = {};
  int32_t samples[64] = {};
  for (int bx = 0; bx < coef_plane.blocks_w; ++bx, block += places.block_step) {
    for (int i = 0; i < 64; ++i) {
      if (M::uses(i / 8) && M::uses(i % 8)) v[i] = M::load(block[places.at[i]], table, i);
    }
    M::inverse(v, context.level_shift);
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        samples[8 * y + x] = M::sample(v[8 * y + x], range.low, range.high) - range.bias;
      }
    }
    store_samples(plane, bx, by, samples, kSize);
    if ((job.measure & kMeasureZeros) != 0) sums.zeros += count_zeros(places, block);
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
      return choose_type<ScaledIslow>(job);
    case Method::kReference:
      return choose_type<ScaledReference>(job);
    default:
      return choose_type<ScaledFloat>(job);
  }
}

}  // namespace cudatransform
