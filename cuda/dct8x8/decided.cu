// The general forward kernels whose quantized coefficients are decided, by a dead zone or by rate
// and distortion.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: decide_block() of transform/dct8x8/decision.cpp.
#include "cuda/dct8x8/general.cuh"
#include "cuda/dct8x8/kernels.h"

namespace cudatransform::cuda {
namespace {

// Stores the quantized coefficients of a block and returns how many are zero:
// qcoef(i) is that of natural index i. With kReconstruct, the values become those that a
// decoder will reconstruct.
template <typename M, bool kReconstruct, typename Natural, typename Qcoef>
__device__ __forceinline__ int store_qcoefs(typename M::Value* v, const InverseTable& inverse,
                                            uint8_t* out, int64_t group_step, bool active,
                                            Natural&& natural, Qcoef&& qcoef) {
  int zeros = 0;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    int16_t c[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int i = natural(8 * g + k);
      c[k] = qcoef(i);
      zeros += c[k] == 0;
      if constexpr (kReconstruct) v[i] = M::template load<int16_t>(c[k], inverse, i);
    }
    if (active) store_eight(out + g * group_step, c);
  }
  return zeros;
}

template <typename M, Quantizer kQuantizer, bool kMeasure>
__device__ __forceinline__ void forward_decided(const DecidedParams& params) {
  [[maybe_unused]] __shared__ RdSharedOf<kQuantizer> rd;
  const FrameParams& frame = params.forward.frame;
  const BlockPlace place = place_of_thread(frame);
  const PlaneParams& plane = frame.planes[place.component];
  const ForwardTable& table = params.forward.tables[place.component];
  const InverseTable& inverse = params.forward.inverse_tables[place.component];
  typename M::Value v[64];
  load_samples(plane.samples, place, frame.peak, v);
  M::forward(v, plane.level_shift);
  if constexpr (kQuantizer == Quantizer::kRd) {
    const bool chroma = params.chroma >> place.component & 1;
    const ForwardTable* memory = as_memory(&table);
    // A table's `half` is 4 q + 1/2.
    rd.tables.fill(chroma, [&](int i) { return memory->half[i]; });
    rd.decide(
        params.rd_weight, chroma, [&](int i) { return limit_eighths(M::eighths(v[i], i)); },
        [&](int i) { return table.half[i]; });
  }
  const auto qcoef = [&](int i) {
    if (i == 0) return M::template store<int16_t>(v[0], table, 0);
    if constexpr (kQuantizer == Quantizer::kRd)
      return rd.block()[zigzag_of_natural(i)];
    else
      return dead_zone_qcoef<M>(v[i], table, i, params.dead_zone);
  };
  uint8_t* out = block_address(plane.coefs, place);
  const auto store = [&](auto natural) {
    return store_qcoefs<M, kMeasure>(v, inverse, out, plane.coefs.group_step, place.active, natural,
                                     qcoef);
  };
  const int zeros = frame.order == Order::kZigzag
                        ? store([](int k) { return natural_of_zigzag(k); })
                        : store([](int k) { return k; });
  if constexpr (kMeasure) {
    uint64_t error = 0;
    if (frame.measure & kMeasureSse) {
      const Range range = range_of(frame, plane);
      M::inverse(v, inverse, range);
      error = squared_error(plane.samples, place, frame.peak,
                            [&](int i) { return M::sample(v[i], range); });
    }
    add_measured(frame, place, zeros, error);
  }
}

}  // namespace

#define CT_DECIDED(name, method, quantizer, measure)                            \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kGeneralCtas)     \
      name(const __grid_constant__ DecidedParams params) {                      \
    forward_decided<Decided##method, Quantizer::k##quantizer, measure>(params); \
  }

CT_DECIDED_FORWARD_KERNELS(CT_DECIDED)

}  // namespace cudatransform::cuda
