// The fast forward kernels' bodies: rows of samples to stored coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: forward_row_short() of transform/dct8x8/simd_short_rows-inl.h, forward_blocks() of
// simd_rows-inl.h.
#pragma once

#include "cuda/dct8x8/fast.cuh"

namespace cudatransform::cuda {

// Eight stored coefficients from group `g` on, in the order that they are stored in.
template <typename M, Arrangement A>
__device__ __forceinline__ uint4 qcoef_group(const typename M::Value* v, int g) {
  uint4 words;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    word_of(words, i) = pair_of(M::bits(v[natural_index<A>(8 * g + 2 * i)]),
                                M::bits(v[natural_index<A>(8 * g + 2 * i + 1)]));
  }
  return words;
}

// Four coefficients of 32 bits.
template <typename M, typename Coef>
__device__ __forceinline__ uint4 wide_group(const typename M::Value* v) {
  uint4 words;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    word_of(words, i) =
        Coef(0.5) != 0 ? uint32_t(M::bits(v[i])) : uint32_t(M::bits(v[i]) - kRoundBits);
  }
  return words;
}

template <typename M, typename Coef, Arrangement A, Planes P>
__device__ __forceinline__ void store_block(const FastPlane& plane, const FastPlace& place,
                                            uint8_t* shared, const typename M::Value* v) {
  if constexpr (A == Arrangement::kPlane) {
    static_assert(sizeof(Coef) == 2);
    if (!place.active) return;
#pragma unroll
    for (int y = 0; y < 8; ++y) *plane_row(plane, place, y) = qcoef_group<M, A>(v, y);
  } else {
    const int lane = threadIdx.x % 32;
    using Stage = WarpStage<64 * sizeof(Coef), 32, P>;
    const Stage stage{shared + threadIdx.x / 32 * Stage::kBytes, lane};
    if constexpr (sizeof(Coef) == 2) {
#pragma unroll
      for (int g = 0; g < 8; ++g) *stage.group(lane, g) = qcoef_group<M, A>(v, g);
    } else {
      static_assert(A == Arrangement::kBlock);
#pragma unroll
      for (int g = 0; g < 16; ++g) *stage.group(lane, g) = wide_group<M, Coef>(v + 4 * g);
    }
    stage.write(plane, place.index - lane);
  }
}

template <typename M, typename Coef>
__device__ __forceinline__ uint32_t count_zeros(const typename M::Value* v) {
  uint32_t zeros = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i)
    zeros += Coef(0.5) != 0 ? M::bits(v[i]) << 1 == 0 : M::bits(v[i]) == kRoundBits;
  return zeros;
}

template <Variant V, Quantizer Q = Quantizer::kRound>
using ForwardParamsOf = std::conditional_t<
    Q != Quantizer::kRound, FastDecidedParams,
    std::conditional_t<V == Variant::kMeasure, FastMeasureParams, FastForwardParams>>;

__device__ __forceinline__ const FastForwardParams& forward_part(const FastForwardParams& params) {
  return params;
}
__device__ __forceinline__ const FastForwardParams& forward_part(const FastMeasureParams& params) {
  return params.forward;
}
__device__ __forceinline__ const FastForwardParams& forward_part(const FastDecidedParams& params) {
  return params.measure.forward;
}
__device__ __forceinline__ const FastInverseTable& inverse_table(const FastMeasureParams& params,
                                                                 uint32_t component) {
  return params.inverse[component];
}
__device__ __forceinline__ const FastInverseTable& inverse_table(const FastDecidedParams& params,
                                                                 uint32_t component) {
  return params.measure.inverse[component];
}

// Transform values to quantized coefficients that the dead zone or `rd` decides, as M::quantize()
// leaves them. No coefficient needs clamping here: islow and float compute none beyond the samples'
// range.
template <typename M, Quantizer Q>
__device__ __forceinline__ void decide(typename M::Value* v, const FastDecidedParams& params,
                                       uint32_t component, RdSharedOf<Q>& rd) {
  const FastForwardTable& table = params.measure.forward.tables[component];
  const int32_t* limit = params.limit[component];
  if constexpr (Q == Quantizer::kRd) {
    rd.decide(
        params.rd_weight, params.chroma >> component & 1,
        [&](int i) { return M::eighths(v[i], i); }, [&](int i) { return limit[i]; });
  }
#pragma unroll
  for (int i = 1; i < 64; ++i) {
    int32_t bits;
    if constexpr (Q == Quantizer::kRd) {
      bits = kRoundBits + rd.block()[zigzag_of_natural(i)];
    } else {
      const int32_t x = M::eighths(v[i], i);
      bits = bits_of_rounded(__fmaf_rn(float_of_small(x), table.mul[i], kRound));
      if (abs(x) < limit[i]) bits = kRoundBits;
    }
    v[i] = M::of_bits(bits);
  }
  v[0] = M::of_bits(M::rounded_bits(v[0], table.mul[0]));
}

// Variant::kMeasure: the reconstruction is made and compared where Dct8x8Job::measure requests it.
template <typename M, typename Row, typename Coef, Arrangement A, Variant V,
          Quantizer Q = Quantizer::kRound>
__device__ __forceinline__ void fast_forward(const ForwardParamsOf<V, Q>& all) {
  constexpr bool kMeasure = V == Variant::kMeasure, kTimed = V != Variant::kPlain;
  const FastForwardParams& params = forward_part(all);
  constexpr size_t kShared =
      A == Arrangement::kPlane ? 16 : kFusedBlocks * (64 * sizeof(Coef) + 16);
  alignas(16) __shared__ uint8_t shared[kShared];
  alignas(16) __shared__ uint8_t sources[kMeasure ? kFusedBlocks * SourceStage<Row>::kStride : 16];
  const SourceStage<Row> source{sources + threadIdx.x * SourceStage<Row>::kStride};
  const FastFrame& frame = params.frame;
  const FastPlane& plane = frame.planes[plane_of_cta(frame)];
  [[maybe_unused]] __shared__ RdSharedOf<Q> rd;
  if constexpr (Q == Quantizer::kRd) {
    const int32_t* limit = as_memory(&all)->limit[plane.component[0]];
    rd.tables.fill(all.chroma >> plane.component[0] & 1, [&](int i) { return limit[i]; });
  }
  wait_for_predecessor(frame);
  note_begin<kTimed>(frame);
  typename Row::Words rows[8];
  load_rows<Row>(plane, place_of_whole_block<Row::kPlanes>(frame), rows);
  if constexpr (kMeasure) {
#pragma unroll
    for (int y = 0; y < 8; ++y) source.row(y) = rows[y];
  }
  typename M::Value v[64];
  M::template forward<Row>(rows, plane, frame, v);
  if constexpr (Q == Quantizer::kRound)
    M::template quantize<Coef>(v, params.tables[plane.component[0]]);
  else
    decide<M, Q>(v, all, plane.component[0], rd);
  const FastPlace place = place_again<Row::kPlanes>(frame);
  const FastPlane& same_plane = frame.planes[place.plane];
  store_block<M, Coef, A, Row::kPlanes>(same_plane, place, shared, v);
  if constexpr (kMeasure) {
    uint32_t zeros = 0;
    if (frame.measure & kMeasureZeros) zeros = count_zeros<M, Coef>(v);
    BlockError<Row> sse = 0;
    if (frame.measure & kMeasureSse) {
      const auto groups = [&](int g) {
        if constexpr (A == Arrangement::kPlane) return qcoef_group<M, A>(v, g);
        constexpr int kStride = WarpStage<64 * sizeof(Coef), 32, Row::kPlanes>::kStride;
        return *reinterpret_cast<const uint4*>(shared + threadIdx.x * kStride + 16 * g);
      };
      M::template reconstruct<Coef, A>(v, groups, inverse_table(all, same_plane.component[0]),
                                       frame.inverse_dc);
#pragma unroll
      for (int y = 0; y < 8; ++y)
        rows[y] = M::template finish<Row>(v + 8 * y, same_plane.shift, frame.peak);
      sse = block_error<Row>(frame, same_plane, place, rows, [&](int y) { return source.row(y); });
    }
    add_measured<kTimed>(frame, same_plane, place, sse, zeros);
  } else {
    note_end<kTimed>(frame);
  }
}

// A kernel of a list of kernels.h.
#define CT_FAST_FORWARD(name, method, samples, coefs, arrangement, planes, variant) \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name)         \
      name(const __grid_constant__ ForwardParamsOf<Variant::k##variant> params) {   \
    fast_forward<Fast##method, samples##Row<Planes::k##planes>, coefs,              \
                 Arrangement::k##arrangement, Variant::k##variant>(params);         \
  }

}  // namespace cudatransform::cuda
