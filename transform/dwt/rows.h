// The vector code of the wavelet transforms: its functions on rows of values.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values are int16_t or int32_t. 32 bits are for kS32, and for kS16 where a filter's values between
// its steps need them (Lifting::wraps_at_end): then `wrap` selects the values that are taken modulo
// 2^16, and StepRange what a step does.
//
// Functions work on whole vectors unless stated otherwise: kRowSlack values after a row may be
// read and written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/dwt/dwt.h"
#include "transform/dwt/lifting.h"
#include "transform/dwt/values.h"

namespace cudatransform {

// Counted in values; a whole vector of any instruction set has no more.
inline constexpr int kRowSlack = 64;

// Samples without gaps, in bytes for kU8 and else in 16 bits.
struct SampleForm {
  SampleType type;
  int depth;
  int shift;  // as SamplePlane's

  size_t bytes() const { return type == SampleType::kU8 ? 1 : 2; }
};

enum class StepRange {
  kWhole,    // any value; modulo 2^(bits of T)
  kShort,    // no sum or product exceeds 32 bits
  kWrapped,  // the same, and results are taken modulo 2^16
};

template <typename T>
struct RowKernels {
  // target[i] -= or += the step's term of sources[0][i] ... sources[step.count - 1][i].
  void (*step)(const LiftingStep& step, bool subtract, StepRange range, T* target,
               const T* const* sources, size_t count);
  void (*wrap)(T* row, size_t count);
  // Every second value to each half, shifted to the left.
  void (*split)(const T* from, T* low, T* high, size_t pairs, int shift, bool wrap);
  void (*split_samples)(const void* from, const SampleForm& form, T* low, T* high, size_t pairs,
                        int shift, bool wrap);
  // The reverse; rounded and shifted to the right by 0 or 1.
  void (*join)(const T* low, const T* high, T* to, size_t pairs, int shift);
  void (*join_samples)(const T* low, const T* high, void* to, const SampleForm& form, size_t pairs,
                       int shift);
  // `count` coefficients of `type`, none more.
  void (*quantize)(const T* from, void* to, DwtCoefType type, DwtQuantizer quantizer, size_t count);
  void (*dequantize)(const void* from, DwtCoefType type, DwtQuantizer quantizer, T* to,
                     size_t count);
};

// For this CPU, or null where vectors have one lane.
template <typename T>
const RowKernels<T>* row_kernels();
template <>
const RowKernels<int16_t>* row_kernels<int16_t>();
template <>
const RowKernels<int32_t>* row_kernels<int32_t>();

}  // namespace cudatransform
