// Every method, format, layout and order, one block at a time: the widest and plainest engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <type_traits>

#include "transform/dct8x8/adapters.h"
#include "transform/dct8x8/block.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/rows.h"
#include "transform/dct8x8/teaching.h"

namespace cudatransform {

namespace {

// Stored coefficients in natural order to finished samples.
template <class M, typename Coef>
void reconstruct(const RowContext& context, int component, SampleRange range, const Coef* coefs,
                 int32_t* samples) {
  typename M::Value values[64];
  inverse_block<M>(coefs, context.inverse[component], context.level_shift, values);
  for (int i = 0; i < 64; ++i)
    samples[i] = M::sample(values[i], range.low, range.high) - range.bias;
}

// Samples, which are used up, to stored coefficients in natural order.
template <class M, typename Coef>
void quantize(const RowContext& context, int component, typename M::Value* values, Coef* coefs) {
  if constexpr (std::is_same_v<Coef, int16_t>) {
    if (decides(*context.job)) {
      int32_t eighths[64];
      forward_block<M>(values, context.forward[component], context.level_shift, eighths);
      decide_block(context.decisions[component], eighths, coefs);
      return;
    }
  }
  forward_block<M>(values, context.forward[component], context.level_shift, coefs);
}

template <class M, typename Coef>
RowSums forward_row(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  RowSums sums;
  for (int bx = 0; bx < coef_plane.blocks_w; ++bx) {
    int32_t samples[64];
    typename M::Value values[64];
    Coef coefs[64];
    load_samples(plane, context.peak, bx, by, samples);
    for (int i = 0; i < 64; ++i) values[i] = typename M::Value(samples[i]);
    quantize<M>(context, component, values, coefs);
    store_coefs(job, coef_plane, bx, by, coefs);
    if ((job.measure & kMeasureZeros) != 0) sums.zeros += count_zeros(coefs);
    if ((job.measure & kMeasureSse) != 0) {
      int32_t decoded[64];
      reconstruct<M>(context, component, sample_range(context, plane), coefs, decoded);
      sums.sse += squared_difference(plane, bx, by, samples, decoded);
    }
  }
  return sums;
}

template <class M, typename Coef>
RowSums inverse_row(const RowContext& context, int component, int by) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  RowSums sums;
  for (int bx = 0; bx < coef_plane.blocks_w; ++bx) {
    Coef coefs[64];
    int32_t samples[64];
    load_coefs(job, coef_plane, bx, by, coefs);
    reconstruct<M>(context, component, sample_range(context, plane), coefs, samples);
    store_samples(plane, bx, by, samples);
    if ((job.measure & kMeasureZeros) != 0) sums.zeros += count_zeros(coefs);
    if ((job.measure & kMeasureSse) != 0) {
      int32_t reference[64];
      load_samples(job.reference[component], context.peak, bx, by, reference);
      sums.sse += squared_difference(job.reference[component], bx, by, samples, reference);
    }
  }
  return sums;
}

template <class M, typename Coef>
RowFunction choose_direction(const Dct8x8Job& job) {
  return job.direction == Direction::kForward ? forward_row<M, Coef> : inverse_row<M, Coef>;
}

template <class M>
RowFunction choose_type(const Dct8x8Job& job) {
  switch (job.type) {
    case CoefType::kS16:
      return choose_direction<M, int16_t>(job);
    case CoefType::kS32:
      return choose_direction<M, int32_t>(job);
    case CoefType::kF32:
      break;
  }
  return choose_direction<M, float>(job);
}

Status submit_portable(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return run_rows(device, queue, job, portable_row_function, fence);
}

}  // namespace

RowFunction portable_row_function(const Dct8x8Job& job) {
  if (job.scale != 1) return portable_scaled_row_function(job);
  switch (job.method) {
    case Method::kIslow:
      return job.depth == 12 ? choose_type<Islow12Method>(job) : choose_type<IslowMethod>(job);
    case Method::kIfast:
      return choose_type<IfastMethod>(job);
    case Method::kFloat:
      return choose_type<FloatMethod>(job);
    case Method::kReference:
      return choose_type<ReferenceMethod>(job);
    case Method::kNaive:
      return choose_type<NaiveMethod>(job);
    case Method::kMatrix:
      return choose_type<MatrixMethod>(job);
    case Method::kSeparable:
      return choose_type<SeparableMethod>(job);
    case Method::kDecomposed:
    case Method::kShuffle:  // a GPU's way to exchange rows for columns, not another arithmetic
      break;
  }
  return choose_type<DecomposedMethod>(job);
}

const Dct8x8Ops& portable_dct8x8_ops() {
  static constexpr Dct8x8Ops kOps = {"portable", submit_portable};
  return kOps;
}

}  // namespace cudatransform
