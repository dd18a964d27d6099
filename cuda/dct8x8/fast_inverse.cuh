// The fast inverse kernels' bodies: stored coefficients to rows of samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: inverse_row_short() of transform/dct8x8/simd_short_rows-inl.h, inverse_blocks() of
// simd_rows-inl.h.
#pragma once

#include "cuda/dct8x8/fast.cuh"

namespace cudatransform::cuda {

// A block's quantized coefficients as they are stored: in shared memory or, of rows of a plane, in
// registers.
template <bool kInRegisters>
struct StoredQcoefs {
  uint4 row[kInRegisters ? 8 : 1];
  uint8_t* shared;  // this thread's 128 bytes

  __device__ __forceinline__ void put(const uint4* rows) {
    uint4* const to = kInRegisters ? row : reinterpret_cast<uint4*>(shared);
#pragma unroll
    for (int y = 0; y < 8; ++y) to[y] = rows[y];
    // Hides from the compiler what the thread has stored there.
    if constexpr (!kInRegisters) __syncwarp();
  }
  __device__ __forceinline__ uint4 group(int g) const {
    if constexpr (kInRegisters) return row[g];
    return *reinterpret_cast<const uint4*>(shared + 16 * g);
  }
};

// In registers, `float` begins with a row while the next ones arrive, which gains more on a small
// frame than the higher occupancy of fewer registers.
template <typename M, Arrangement A, Planes P>
using QcoefsOf = StoredQcoefs<A == Arrangement::kPlane && P != Planes::kFull && !M::kMaySaturate>;

// Reads a block and stores it for the thread. Returns whether islow has to saturate. `minus_limit`:
// of rows of a plane, for islow.
template <typename M, Arrangement A, Planes P>
__device__ __forceinline__ bool load_qcoefs(const FastPlane& plane, const FastPlace& place,
                                            const FastInverseTable& table,
                                            const uint32_t* minus_limit, uint8_t* shared,
                                            QcoefsOf<M, A, P>* qcoefs) {
  constexpr bool kChecked = M::kMaySaturate;
  bool saturate = false;
  qcoefs->shared = shared + threadIdx.x * (128 + 16);
  if constexpr (A == Arrangement::kPlane) {
    uint4 rows[8];
#pragma unroll
    for (int y = 0; y < 8; ++y) rows[y] = *plane_row(plane, place, y);
    if constexpr (kChecked) saturate = block_exceeds_limits(rows, table, minus_limit);
    qcoefs->put(rows);
  } else {
    using Stage = WarpStage<128, 32, P>;
    const int lane = threadIdx.x % 32;
    const Stage stage{shared + threadIdx.x / 32 * Stage::kBytes, lane};
    uint4 words[Stage::kSteps];
    stage.read(plane, place.index - lane, words);
    if constexpr (kChecked) {
      const uint4* limits = reinterpret_cast<const uint4*>(as_memory(table.limit));
      saturate = exceeds_limits<Stage::kSteps>(words, limits[lane % 8]);
    }
    stage.put(words);
  }
  return saturate;
}

struct InverseFloat : FastFloat {
  static constexpr bool kMaySaturate = false;
  template <Arrangement A, typename Qcoefs>
  static __device__ __forceinline__ void inverse(const Qcoefs& qcoefs,
                                                 const FastInverseTable& table, float dc, bool,
                                                 float* v) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      float group[8];
      FloatDevice::from_qcoefs(qcoefs.group(g), group);
#pragma unroll
      for (int k = 0; k < 8; ++k) v[natural_index<A>(8 * g + k)] = group[k];
    }
    FloatDevice::inverse<true>(v, table.mul, dc);
  }
};

struct InverseIslow : FastIslow {
  static constexpr bool kMaySaturate = true;
  template <Arrangement A, typename Qcoefs>
  static __device__ __forceinline__ void inverse(const Qcoefs& qcoefs,
                                                 const FastInverseTable& table, float,
                                                 bool saturate, int* v) {
    if (saturate) {
      put_in_raster_order<A>(qcoefs, v);
      saturating_columns<A>(qcoefs.shared, table);
#pragma unroll
      for (int i = 0; i < 64; ++i) v[i] = reinterpret_cast<const int16_t*>(qcoefs.shared)[i];
    } else {
      FastIslow::dequantize<A>([&](int g) { return qcoefs.group(g); }, table, v);
      FastIslow::columns(v);
    }
    FastIslow::rows(v);
  }

 private:
  template <Arrangement A, typename Qcoefs>
  static __device__ __forceinline__ void put_in_raster_order(const Qcoefs& qcoefs, int* v) {
    if constexpr (A != Arrangement::kBlock) {
#pragma unroll
      for (int g = 0; g < 8; ++g) {
        uint4 words = qcoefs.group(g);
#pragma unroll
        for (int k = 0; k < 8; ++k)
          v[natural_index<A>(8 * g + k)] = int(word_of(words, k / 2) >> (16 * (k % 2)));
      }
#pragma unroll
      for (int i = 0; i < 64; ++i) reinterpret_cast<int16_t*>(qcoefs.shared)[i] = int16_t(v[i]);
    }
  }

  // Dequantizes and runs pass 1 with every saturation, in place in shared memory, where each result
  // of 16 bits takes its quantized coefficient's place. A loop takes neither registers nor code
  // from the common way.
  template <Arrangement A>
  static __device__ __forceinline__ void saturating_columns(uint8_t* shared,
                                                            const FastInverseTable& table) {
    int16_t* const values = reinterpret_cast<int16_t*>(shared);
    const uint8_t* const q = reinterpret_cast<const uint8_t*>(as_memory(table.q));
#pragma unroll 1
    for (int x = 0; x < 8; ++x) {
      int v[8];
#pragma unroll 1
      for (int y = 0; y < 8; ++y) {
        const int stored = stored_index<A>(8 * y + x);
        const int qcoef = values[8 * y + x];
        values[8 * y + x] = int16_t(saturate16(qcoef * int(q[2 * stored + stored % 2])));
      }
#pragma unroll
      for (int y = 0; y < 8; ++y) v[y] = values[8 * y + x];
      islow_inverse_direct<1, 1>(v, 0);
#pragma unroll
      for (int y = 0; y < 8; ++y) values[8 * y + x] = int16_t(saturate16(v[y]));
    }
  }
};

template <typename Qcoefs>
__device__ __forceinline__ uint32_t count_zero_qcoefs(const Qcoefs& qcoefs) {
  uint32_t zeros = 0;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    uint4 words = qcoefs.group(g);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      zeros += ((word_of(words, i) & 0xffffu) == 0) + (word_of(words, i) >> 16 == 0);
  }
  return zeros;
}

// Writes a block's samples, and measures them where there is a `reference`. This is a thread's last
// step.
template <typename M, typename Row, bool kTimed, typename Zeros>
__device__ __forceinline__ void finish_inverse(const FastFrame& frame, const FastPlace& place,
                                               const FastPlane* reference,
                                               const typename M::Value* v, Zeros&& count_zeros) {
  const FastPlane& plane = frame.planes[place.plane];
  typename Row::Words rows[8];
#pragma unroll
  for (int y = 0; y < 8; ++y) rows[y] = M::template finish<Row>(v + 8 * y, plane.shift, frame.peak);
  store_rows<Row>(plane, place, rows);
  if (reference == nullptr) {
    note_end<kTimed>(frame);
    return;
  }
  const uint32_t zeros = frame.measure & kMeasureZeros ? count_zeros() : 0;
  BlockError<Row> sse = 0;
  if (frame.measure & kMeasureSse) {
    typename Row::Words source[8];
    load_rows<Row>(reference[place.plane], place, source);
    sse = block_error<Row>(frame, plane, place, rows, [&](int y) { return source[y]; });
  }
  add_measured<kTimed>(frame, plane, place, sse, zeros);
}

// `reference`: null where nothing is measured, known when this is compiled. `minus_limits`: only
// for rows of a plane. kTimed: the kernel records when it began and ended.
template <typename M, typename Row, Arrangement A, bool kTimed>
__device__ __forceinline__ void fast_inverse(const FastInverseParams& params,
                                             const FastMinusLimits* minus_limits,
                                             const FastPlane* reference) {
  alignas(16) __shared__ uint8_t shared[kFusedBlocks * (128 + 16)];
  const FastFrame& frame = params.frame;
  const FastPlane& plane = frame.planes[plane_of_cta(frame)];
  const FastInverseTable& table = params.tables[plane.component[0]];
  wait_for_predecessor(frame);
  note_begin<kTimed>(frame);
  QcoefsOf<M, A, Row::kPlanes> qcoefs;
  const uint32_t* const minus_limit =
      A == Arrangement::kPlane ? minus_limits->of[plane.component[0]] : nullptr;
  const bool saturate = load_qcoefs<M, A, Row::kPlanes>(
      plane, place_of_whole_block<Row::kPlanes>(frame), table, minus_limit, shared, &qcoefs);
  typename M::Value v[64];
  M::template inverse<A>(qcoefs, table, frame.inverse_dc, saturate, v);
  finish_inverse<M, Row, kTimed>(frame, place_again<Row::kPlanes>(frame), reference, v,
                                 [&] { return count_zero_qcoefs(qcoefs); });
}

// The float method from 32-bit coefficients in blocks and raster order.
template <typename Row, typename Coef, bool kTimed>
__device__ __forceinline__ void wide_inverse(const FastInverseParams& params,
                                             const FastPlane* reference) {
  using Stage = WarpStage<64 * sizeof(Coef), 32, Row::kPlanes>;
  alignas(16) __shared__ uint8_t shared[kFusedThreads / 32 * Stage::kBytes];
  const FastFrame& frame = params.frame;
  const FastPlane& plane = frame.planes[plane_of_cta(frame)];
  const FastPlace place = place_of_whole_block<Row::kPlanes>(frame);
  const int lane = threadIdx.x % 32;
  const Stage stage{shared + threadIdx.x / 32 * Stage::kBytes, lane};
  wait_for_predecessor(frame);
  note_begin<kTimed>(frame);
  uint4 words[Stage::kSteps];
  stage.read(plane, place.index - lane, words);
  stage.put(words);
  const auto coef = [&](int i) { return reinterpret_cast<const Coef*>(stage.group(lane, 0))[i]; };
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = float(coef(i));
  FloatDevice::inverse<true>(v, params.tables[plane.component[0]].mul, frame.inverse_dc);
  finish_inverse<FastFloat, Row, kTimed>(frame, place, reference, v, [&] {
    uint32_t zeros = 0;
    for (int i = 0; i < 64; ++i) zeros += coef(i) == Coef(0);
    return zeros;
  });
}

// ---- Parameters and parts of kernels ----

template <Arrangement A, Variant V>
using InverseParamsOf = std::conditional_t<
    V == Variant::kMeasure, FastCompareParams,
    std::conditional_t<A == Arrangement::kPlane, FastPlaneInverseParams, FastInverseParams>>;

template <typename M, typename Row, Arrangement A, Variant V>
__device__ __forceinline__ void fast_inverse(const InverseParamsOf<A, V>& params) {
  constexpr bool kTimed = V != Variant::kPlain;
  if constexpr (V == Variant::kMeasure)
    fast_inverse<M, Row, A, kTimed>(params.plane.inverse, &params.plane.minus_limits,
                                    params.reference);
  else if constexpr (A == Arrangement::kPlane)
    fast_inverse<M, Row, A, kTimed>(params.inverse, &params.minus_limits, nullptr);
  else
    fast_inverse<M, Row, A, kTimed>(params, nullptr, nullptr);
}

template <typename Row, typename Coef, Variant V>
__device__ __forceinline__ void wide_inverse(
    const InverseParamsOf<Arrangement::kBlock, V>& params) {
  if constexpr (V == Variant::kMeasure)
    wide_inverse<Row, Coef, true>(params.plane.inverse, params.reference);
  else
    wide_inverse<Row, Coef, false>(params, nullptr);
}

// A kernel of a list of kernels.h.
#define CT_FAST_INVERSE(name, method, samples, coefs, arrangement, planes, variant)             \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name) name(               \
      const __grid_constant__ InverseParamsOf<Arrangement::k##arrangement, Variant::k##variant> \
          params) {                                                                             \
    fast_inverse<Inverse##method, samples##Row<Planes::k##planes>, Arrangement::k##arrangement, \
                 Variant::k##variant>(params);                                                  \
  }

}  // namespace cudatransform::cuda
