// The steps of one value of a wavelet transform other than lifting: quantizing, and becoming a
// sample.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "transform/dwt/dwt.h"
#include "transform/dwt/quantizer.h"
#include "transform/samples.h"

namespace cudatransform {

// A band's quantizer.
struct DwtQuantizer {
  uint32_t factor, offset;

  explicit DwtQuantizer(int index)
      : factor(dwt_quant_factor(index)), offset(dwt_quant_offset(index)) {}
  bool is_lossless() const { return factor == 4; }
};

// A value to its level; not larger, so that nothing wraps.
inline int32_t dwt_quantize(int32_t value, DwtQuantizer quantizer) {
  const int64_t magnitude = value < 0 ? -int64_t{value} : int64_t{value};
  const int64_t level = 4 * magnitude / quantizer.factor;
  return static_cast<int32_t>(value < 0 ? -level : level);
}

// A level to its value, modulo 2^32.
inline int32_t dwt_dequantize(int32_t level, DwtQuantizer quantizer) {
  if (level == 0) return 0;
  const uint64_t magnitude = static_cast<uint64_t>(level < 0 ? -int64_t{level} : int64_t{level});
  const uint64_t value = (magnitude * quantizer.factor + quantizer.offset + 2) / 4;
  return static_cast<int32_t>(level < 0 ? 0 - value : value);
}

// The sample that the inverse makes of a value. `half` is 2^(depth-1).
inline int32_t dwt_sample(int32_t value, SampleType type, int32_t half) {
  if (type == SampleType::kS16) return clamp_int(value, INT16_MIN, INT16_MAX);
  return clamp_int(value, -half, half - 1) + half;
}

}  // namespace cudatransform
