// The dequantizer of Dirac and VC-2 on the device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/dirac/params.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::cuda {

constexpr int kQuantIndices = 128;  // more than there are
static_assert(kMaxQuantIndex < kQuantIndices && kQuantIndices == kExpandThreads);

// Factors by index, made by all threads of a CTA, which have to synchronize afterwards.
__device__ __forceinline__ void fill_factors(uint32_t* factors) {
  factors[threadIdx.x] =
      threadIdx.x <= kMaxQuantIndex ? dwt_quant_factor(static_cast<int>(threadIdx.x)) : 0;
}

struct Quantizer {
  uint32_t factor, offset;

  // dirac_quant_offset() of dirac/qcoefs.h.
  __device__ __forceinline__ Quantizer(const uint32_t* factors, int index, bool is_intra)
      : factor(factors[index]),
        offset(static_cast<uint32_t>((3 * static_cast<uint64_t>(factor) + 4) >> 3)) {
    if (index == 0)
      offset = 1;
    else if (is_intra)
      offset = index == 1 ? 2 : (factor + 1) / 2;
  }
  // dirac_dequantize() there. Of a quantized coefficient that is not zero; modulo 2^32.
  __device__ __forceinline__ int32_t value_of(int32_t qcoef) const {
    const uint64_t magnitude = qcoef < 0 ? 0 - static_cast<uint64_t>(static_cast<int64_t>(qcoef))
                                         : static_cast<uint64_t>(qcoef);
    const auto value = static_cast<uint32_t>((magnitude * factor + offset + 2) >> 2);
    return static_cast<int32_t>(qcoef < 0 ? 0 - value : value);
  }
};

}  // namespace cudatransform::cuda
