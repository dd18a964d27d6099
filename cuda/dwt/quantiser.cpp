// The numbers that wavelet kernels quantise and dequantise by: see memory.cuh and packed*.cuh.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/quantiser.h"

#include <algorithm>

#include "transform/dwt/quantizer.h"

namespace cudatransform::cuda {

void set_quantiser(int index, ValuesParams* values) {
  const uint32_t factor = dwt_quant_factor(index);
  values->factor = factor;
  values->offset = dwt_quant_offset(index);
  int log2 = 0;
  while (factor >> (log2 + 1) != 0) ++log2;
  // Numbers above these make every level but 0 too large for lanes, and so do these.
  values->lane_quantiser =
      std::min(2 * values->offset + 1, 4096u) << 16 | 2 * std::min(factor, 8192u);
  values->scaled_factor = factor << 14;
  values->scaled_offset = (2 * values->offset + 1) << 13;
  values->reciprocal_shift = log2 - 2;
  values->reciprocal32 = static_cast<int32_t>((uint64_t{1} << (30 + log2)) / factor + 1);
  // 2^(18+s) / qf, and 1 more, with s of 8 or 16, so that it has 31 bits and the quotient of 16
  // bits is exact.
  const int skipped = factor < 512 ? 8 : 16;
  values->upper_reciprocal = static_cast<int32_t>((uint64_t{1} << (18 + skipped)) / factor + 1);
  values->upper_bytes = skipped == 8 ? 0x6521 : 0x7632;
  values->reciprocal64 =
      static_cast<uint64_t>((static_cast<unsigned __int128>(1) << (62 + log2)) / factor + 1);
}

bool is_quantised(const ValuesParams (&bands)[4]) {
  return std::any_of(bands, bands + 4, [](const ValuesParams& band) { return band.factor != 4; });
}

uint32_t levels_bias(const ValuesParams (&bands)[4]) {
  uint32_t bias = 1024;
  for (const ValuesParams& band : bands)
    while (bias > 1 && (uint64_t{bias} * band.factor + band.offset + 2) / 4 > kMostOfLevels)
      bias /= 2;
  return bias << 16 | bias;
}

}  // namespace cudatransform::cuda
