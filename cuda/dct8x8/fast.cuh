// Shared by the fast kernels of both directions: the steps of each method around a thread's block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: IslowShort and FloatShort of transform/dct8x8/simd_short_rows-inl.h, IslowVector and
// FloatVector of simd_methods-inl.h; coef_address() of transform/dct8x8/adapters.h, as blocks are
// read in place.
//
// A thread has a whole 8x8 block in its registers, so nothing is exchanged between the passes.
// Twelve CTAs of 64 threads fit an SM of sm_90 where a thread has no more than 80 registers; with
// less than that in flight the memory is not kept busy.
#pragma once

#include <type_traits>

#include "cuda/dct8x8/islow.cuh"
#include "cuda/dct8x8/rate.cuh"
#include "cuda/dct8x8/sums.cuh"
#include "cuda/dct8x8/tile.cuh"

namespace cudatransform::cuda {

// A block is 128 or 256 consecutive bytes, so threads that each read or wrote their own would touch
// 32 cache lines an instruction. Instead a warp moves its blocks through shared memory, 512 bytes
// an instruction. 16 bytes between blocks keep 16-byte accesses free of bank conflicts. Loads go
// through registers: asynchronous copies to shared memory are slower (docs/kernels.md, step 9).
template <int kBlockBytes, int kBlocks, Planes P>
struct WarpStage {
  static constexpr int kStride = kBlockBytes + 16;
  static constexpr int kLanes = kBlockBytes / 16;    // that move one block
  static constexpr int kPerStep = 32 / kLanes;       // blocks an instruction
  static constexpr int kSteps = kBlocks / kPerStep;  // instructions
  static constexpr int kBytes = kBlocks * kStride;

  uint8_t* shared;  // kBytes
  int lane;

  __device__ __forceinline__ uint4* group(int block, int g) const {
    return reinterpret_cast<uint4*>(shared + block * kStride + 16 * g);
  }
  __device__ __forceinline__ uint4* share(int step) const {
    return group(kPerStep * step + lane / kLanes, lane % kLanes);
  }

  // The place of block `index` in the plane's sequence.
  static __device__ __forceinline__ uint8_t* address(const FastPlane& plane, uint32_t index) {
    if (P != Planes::kPairs || !plane.interleaved)
      return plane.coefs[0] + int64_t(index) * kBlockBytes;
    return plane.coefs[index & 1] + int64_t(index >> 1) * kBlockBytes;
  }

  // Whether all kBlocks blocks from `first` on are there, consecutively.
  static __device__ __forceinline__ bool are_consecutive(const FastPlane& plane, uint32_t first) {
    return P == Planes::kFull ||
           (first + kBlocks <= plane.blocks && !(P == Planes::kPairs && plane.interleaved));
  }

  // This lane's share of the kBlocks blocks from `first` on. Blocks beyond the last repeat it.
  __device__ __forceinline__ void read(const FastPlane& plane, uint32_t first, uint4* words) const {
    if (are_consecutive(plane, first)) {
      const uint4* from =
          reinterpret_cast<const uint4*>(plane.coefs[0] + int64_t(first) * kBlockBytes) + lane;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) words[step] = from[32 * step];
      return;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t index = min(first + kPerStep * step + lane / kLanes, plane.blocks - 1);
      words[step] = reinterpret_cast<const uint4*>(address(plane, index))[lane % kLanes];
    }
  }
  __device__ __forceinline__ void put(const uint4* words) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) *share(step) = words[step];
    __syncwarp();
  }
  // Writes the groups that this warp's threads have filled.
  __device__ __forceinline__ void write(const FastPlane& plane, uint32_t first) const {
    __syncwarp();
    if (are_consecutive(plane, first)) {
      uint4* to = reinterpret_cast<uint4*>(plane.coefs[0] + int64_t(first) * kBlockBytes) + lane;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) to[32 * step] = *share(step);
      return;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t index = first + kPerStep * step + lane / kLanes;
      if (index < plane.blocks)
        reinterpret_cast<uint4*>(address(plane, index))[lane % kLanes] = *share(step);
    }
  }
};

// Row `v` of a block in plane layout.
__device__ __forceinline__ uint4* plane_row(const FastPlane& plane, const FastPlace& place, int v) {
  return reinterpret_cast<uint4*>(plane.coefs[place.parity] + place.by * plane.row_step +
                                  int64_t(v) * plane.coef_pitch) +
         place.bx;
}

template <Arrangement A>
__device__ __forceinline__ constexpr int natural_index(int stored) {
  return A == Arrangement::kZigzag ? natural_of_zigzag(stored) : stored;
}
template <Arrangement A>
__device__ __forceinline__ constexpr int stored_index(int natural) {
  return A == Arrangement::kZigzag ? zigzag_of_natural(natural) : natural;
}

// Two samples of a word of a U16Row, brought to the right and clamped to the depth.
__device__ __forceinline__ uint32_t unpack_words(uint32_t word, int shift, uint32_t peak) {
  const uint32_t kept = 0xffffu >> shift;
  return __vminu2(word >> shift & (kept << 16 | kept), peak << 16 | peak);
}

// ---- Forward ----

struct FastFloat {
  using Value = float;
  template <typename Row>
  static __device__ __forceinline__ void load(typename Row::Words row, int shift, float peak,
                                              float* v) {
    if constexpr (Row::kSampleBytes == 1) {
      FloatDevice::from_bytes(row, v);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t pair = unpack_words(word_of(row, i), shift, uint32_t(peak));
        v[2 * i] = float(pair & 0xffff);
        v[2 * i + 1] = float(pair >> 16);
      }
    }
  }
  template <typename Row>
  static __device__ __forceinline__ void forward(const typename Row::Words* rows,
                                                 const FastPlane& plane, const FastFrame& frame,
                                                 float* v) {
#pragma unroll
    for (int y = 0; y < 8; ++y) load<Row>(rows[y], plane.shift, frame.peak, v + 8 * y);
    FloatDevice::forward(v, frame.forward_dc);
  }
  // Leaves rounded values, whose bits hold the integers; F32 needs the products themselves.
  template <typename Coef>
  static __device__ __forceinline__ void quantize(float* v, const FastForwardTable& table) {
#pragma unroll
    for (int i = 0; i < 64; i += 2) {
      const float2 mul = *reinterpret_cast<const float2*>(table.mul + i);
      if constexpr (Coef(0.5) != 0) {
        v[i] *= mul.x;
        v[i + 1] *= mul.y;
      } else {
        v[i] = FloatDevice::rounded(v[i], mul.x);
        v[i + 1] = FloatDevice::rounded(v[i + 1], mul.y);
      }
    }
  }
  static __device__ __forceinline__ int32_t rounded_bits(float v, float mul) {
    return bits_of_rounded(FloatDevice::rounded(v, mul));
  }
  static __device__ __forceinline__ int32_t bits(float v) { return __float_as_int(v); }
  static __device__ __forceinline__ float of_bits(int32_t bits) { return __int_as_float(bits); }
  static __device__ __forceinline__ int32_t eighths(float v, int i) {
    return eighths_of_float(v, i);
  }

  // The values that a decoder will reconstruct from the quantized ones.
  template <typename Coef, Arrangement A, typename Groups>
  static __device__ __forceinline__ void reconstruct(float* v, Groups&&,
                                                     const FastInverseTable& table, float dc) {
#pragma unroll
    for (int i = 0; i < 64; ++i)
      if constexpr (Coef(0.5) == 0) v[i] = FloatDevice::qcoef_of(v[i]);
    FloatDevice::inverse<true>(v, table.mul, dc);
  }
  // A row of samples, as it is stored.
  template <typename Row>
  static __device__ __forceinline__ typename Row::Words finish(const float* v, int shift,
                                                               float peak) {
    if constexpr (Row::kSampleBytes == 1) {
      return make_uint2(FloatDevice::four_bytes(v), FloatDevice::four_bytes(v + 4));
    } else {
      uint4 row;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        word_of(row, i) = pair_of(FloatDevice::sample_bits(v[2 * i], peak),
                                  FloatDevice::sample_bits(v[2 * i + 1], peak))
                          << shift;
      }
      return row;
    }
  }
};

struct FastIslow {
  using Value = int;
  template <typename Row>
  static __device__ __forceinline__ void forward(const uint2* rows, const FastPlane&,
                                                 const FastFrame&, int* v) {
#pragma unroll
    for (int y = 0; y < 8; ++y) islow_forward_row(rows[y], v + 8 * y);
#pragma unroll
    for (int x = 0; x < 8; ++x) islow_forward_column<8>(v + x, x == 0 ? 128 : 0);
  }
  // `mul` is 1 / (8 q), made larger by 2^-16, so that exact ties round away from zero as libjpeg's
  // do and nothing else changes: a value below a tie is below it by at least one part in 2^16.
  // tests/engine/dct8x8/quantizer_test.cpp tries every q and x.
  template <typename Coef>
  static __device__ __forceinline__ void quantize(int* v, const FastForwardTable& table) {
#pragma unroll
    for (int i = 0; i < 64; i += 2) {
      const float2 mul = *reinterpret_cast<const float2*>(table.mul + i);
      v[i] = rounded_bits(v[i], mul.x);
      v[i + 1] = rounded_bits(v[i + 1], mul.y);
    }
  }
  static __device__ __forceinline__ int32_t rounded_bits(int v, float mul) {
    return bits_of_rounded(__fmaf_rn(float_of_small(v), mul, kRound));
  }
  static __device__ __forceinline__ int32_t bits(int v) { return v; }
  static __device__ __forceinline__ int of_bits(int32_t bits) { return bits; }
  static __device__ __forceinline__ int32_t eighths(int v, int) { return v; }

  // Quantized coefficients that the forward transform has made need no saturation anywhere: they
  // dequantize to within q / 2 <= 128 of the range of 8-bit samples. They are read back from where
  // they were stored, so that they need not be in registers until then.
  template <typename Coef, Arrangement A, typename Groups>
  static __device__ __forceinline__ void reconstruct(int* v, Groups&& groups,
                                                     const FastInverseTable& table, float) {
    dequantize<A>(groups, table, v);
    inverse(v);
  }
  // groups(g) makes eight quantized coefficients as they are stored; the table is in that order
  // too.
  template <Arrangement A, typename Groups>
  static __device__ __forceinline__ void dequantize(Groups&& groups, const FastInverseTable& table,
                                                    int* v) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      uint4 words = groups(g);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = 8 * g + 2 * i;
        v[natural_index<A>(at)] = dequantize_low(word_of(words, i), table.q[at / 2]);
        v[natural_index<A>(at + 1)] = dequantize_high(word_of(words, i), table.q[at / 2]);
      }
    }
  }
  static __device__ __forceinline__ void inverse(int* v) {
    columns(v);
    rows(v);
  }
  static __device__ __forceinline__ void columns(int* v) {
#pragma unroll
    for (int x = 0; x < 8; ++x) islow_inverse_direct<8, 1>(v + x, 0);
  }
  static __device__ __forceinline__ void rows(int* v) {
#pragma unroll
    for (int y = 0; y < 8; ++y) islow_inverse_direct<1, 2>(v + 8 * y, 128);
  }
  template <typename Row>
  static __device__ __forceinline__ uint2 finish(const int* v, int, float) {
    return make_uint2(four_clamped_bytes(v), four_clamped_bytes(v + 4));
  }
};

// ---- Measuring ----

// The squared error of two rows of a block. kMasked: only the first `valid` samples count.
template <bool kMasked>
__device__ __forceinline__ uint32_t row_error(uint2 a, uint2 b, int valid, int, uint32_t) {
  uint32_t low = __vabsdiffu4(a.x, b.x), high = __vabsdiffu4(a.y, b.y);
  if (kMasked && valid < 8) {
    const uint64_t mask = (uint64_t{1} << (8 * valid)) - 1;
    low &= uint32_t(mask);
    high &= uint32_t(mask >> 32);
  }
  return __dp4a(low, low, __dp4a(high, high, 0u));
}
template <bool kMasked>
__device__ __forceinline__ uint64_t row_error(uint4 a, uint4 b, int valid, int shift,
                                              uint32_t peak) {
  uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t x = unpack_words(word_of(a, i), shift, peak);
    const uint32_t y = unpack_words(word_of(b, i), shift, peak);
    const int32_t low = int32_t(x & 0xffff) - int32_t(y & 0xffff);
    const int32_t high = int32_t(x >> 16) - int32_t(y >> 16);
    // 16-bit differences: a square takes 32 bits.
    if (!kMasked || 2 * i < valid) sum += uint64_t(uint32_t(low) * uint32_t(low));
    if (!kMasked || 2 * i + 1 < valid) sum += uint64_t(uint32_t(high) * uint32_t(high));
  }
  return sum;
}

// The squared error of a block's visible samples. source(y) is the expected row y.
template <typename Row, typename Source>
__device__ __forceinline__ auto block_error(const FastFrame& frame, const FastPlane& plane,
                                            const FastPlace& place, const typename Row::Words* rows,
                                            Source&& source) {
  const uint32_t peak = uint32_t(frame.peak);
  decltype(row_error<false>(rows[0], rows[0], 8, plane.shift, peak)) sum = 0;
  if (is_whole<Row::kPlanes>(plane, place)) {
#pragma unroll
    for (int y = 0; y < 8; ++y) sum += row_error<false>(rows[y], source(y), 8, plane.shift, peak);
  } else {
    const int valid = plane.width - 8 * place.bx;
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const auto error = row_error<true>(rows[y], source(y), valid, plane.shift, peak);
      if (8 * place.by + y < plane.rows) sum += error;
    }
  }
  return sum;
}
// 32 bits hold the errors of 64 bytes.
template <typename Row>
using BlockError = std::conditional_t<Row::kSampleBytes == 1, uint32_t, uint64_t>;

// The source of a block, which waits in shared memory until its reconstruction is there. The bytes
// between threads keep accesses free of bank conflicts.
template <typename Row>
struct SourceStage {
  using Words = typename Row::Words;
  static constexpr int kStride = 9 * sizeof(Words);
  uint8_t* shared;  // this thread's kStride bytes
  __device__ __forceinline__ Words& row(int y) const { return reinterpret_cast<Words*>(shared)[y]; }
};

}  // namespace cudatransform::cuda
