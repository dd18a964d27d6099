// The fast kernels of islow at 12 bits for 16-bit quantized coefficients, one thread per
// 8x8 block.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the CPU: IslowVector<1> of transform/dct8x8/simd_methods-inl.h.
#include "cuda/dct8x8/fast_forward.cuh"
#include "cuda/dct8x8/fast_inverse.cuh"
#include "cuda/dct8x8/kernels.h"
#include "transform/dct8x8/block.h"

namespace cudatransform::cuda {
namespace {

constexpr int32_t kLevelShift = 2048, kPeak = 4095;

struct FastIslow12 {
  using Value = int;
  static constexpr bool kMaySaturate = false;

  template <typename Row>
  static __device__ __forceinline__ void forward(const typename Row::Words* rows,
                                                 const FastPlane& plane, const FastFrame&, int* v) {
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      typename Row::Words row = rows[y];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t pair = unpack_words(word_of(row, i), plane.shift, kPeak);
        v[8 * y + 2 * i] = int(pair & 0xffff);
        v[8 * y + 2 * i + 1] = int(pair >> 16);
      }
    }
    Islow12Method::forward(v, kLevelShift);
  }
  // `mul` is larger by 2^-19: values have 17 bits.
  template <typename Coef>
  static __device__ __forceinline__ void quantize(int* v, const FastForwardTable& table) {
    FastIslow::quantize<Coef>(v, table);
  }
  static __device__ __forceinline__ int32_t bits(int v) { return v; }

  template <typename Coef, Arrangement A, typename Groups>
  static __device__ __forceinline__ void reconstruct(int* v, Groups&& groups,
                                                     const FastInverseTable& table, float) {
    dequantize<A>(groups, table, v);
    Islow12Method::inverse(v, kLevelShift);
  }
  template <Arrangement A, typename Qcoefs>
  static __device__ __forceinline__ void inverse(const Qcoefs& qcoefs,
                                                 const FastInverseTable& table, float, bool,
                                                 int* v) {
    dequantize<A>([&](int g) { return qcoefs.group(g); }, table, v);
    Islow12Method::inverse(v, kLevelShift);
  }
  template <typename Row>
  static __device__ __forceinline__ typename Row::Words finish(const int* v, int shift, float) {
    typename Row::Words row;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      word_of(row, i) = pair_of(clamp_int(v[2 * i], 0, kPeak), clamp_int(v[2 * i + 1], 0, kPeak))
                        << shift;
    return row;
  }

 private:
  // Eight quantized coefficients of groups(g) as they are stored; the table is in that order, 16
  // bits an entry.
  template <Arrangement A, typename Groups>
  static __device__ __forceinline__ void dequantize(Groups&& groups, const FastInverseTable& table,
                                                    int* v) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      uint4 words = groups(g);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = 8 * g + 2 * i;
        const uint32_t qcoefs = word_of(words, i), q = table.q[at / 2];
        v[natural_index<A>(at)] = saturate16(int16_t(qcoefs & 0xffff) * int(q & 0xffff));
        v[natural_index<A>(at + 1)] = saturate16((int32_t(qcoefs) >> 16) * int(q >> 16));
      }
    }
  }
};

}  // namespace

CT_FAST_DEEP_FORWARD_KERNELS(CT_FAST_FORWARD)

#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant)                  \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kCtas_##name) name(               \
      const __grid_constant__ InverseParamsOf<Arrangement::k##arrangement, Variant::k##variant> \
          params) {                                                                             \
    fast_inverse<Fast##method, samples##Row<Planes::k##planes>, Arrangement::k##arrangement,    \
                 Variant::k##variant>(params);                                                  \
  }
CT_FAST_DEEP_INVERSE_KERNELS(CT_INVERSE)

}  // namespace cudatransform::cuda
