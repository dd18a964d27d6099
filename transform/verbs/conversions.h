// The conversions between kinds of numbers, for engines: by number.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/verbs/convert.h"

// X(name, From, To): kinds of transform/verbs/numbers.h. Copies are by the size of a number.
#define CT_CONVERSIONS(X, prefix)              \
  X(prefix##copy_16, Level16, Level16)         \
  X(prefix##copy_32, Level32, Level32)         \
  X(prefix##level16_to_s32, Level16, Value32)  \
  X(prefix##level16_to_f32, Level16, ValueF32) \
  X(prefix##level16_to_f16, Level16, ValueF16) \
  X(prefix##level32_to_s32, Level32, Value32)  \
  X(prefix##level32_to_f32, Level32, ValueF32) \
  X(prefix##level32_to_f16, Level32, ValueF16) \
  X(prefix##s32_to_level16, Value32, Level16)  \
  X(prefix##s32_to_level32, Value32, Level32)  \
  X(prefix##s32_to_f32, Value32, ValueF32)     \
  X(prefix##s32_to_f16, Value32, ValueF16)     \
  X(prefix##f32_to_level16, ValueF32, Level16) \
  X(prefix##f32_to_level32, ValueF32, Level32) \
  X(prefix##f32_to_s32, ValueF32, Value32)     \
  X(prefix##f32_to_f16, ValueF32, ValueF16)    \
  X(prefix##f16_to_level16, ValueF16, Level16) \
  X(prefix##f16_to_level32, ValueF16, Level32) \
  X(prefix##f16_to_s32, ValueF16, Value32)     \
  X(prefix##f16_to_f32, ValueF16, ValueF32)

namespace cudatransform {

#define CT_NUMBER(name, From, To) name,
enum ConversionNumber { CT_CONVERSIONS(CT_NUMBER, kConversion_) kConversionCount };
#undef CT_NUMBER

// A ConversionNumber, or -1 if there is none.
int conversion_of(const CoefKinds& from, const CoefKinds& to);

// Whether levels become values, or values levels; and the divisors of a component for that.
bool needs_tables(const ConvertJob& job);
const QuantTable& table_of(const ConvertJob& job, int component);

}  // namespace cudatransform
