// The conversions between kinds of numbers, for engines: by number.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/coeffilter/convert.h"

// X(name, From, To): kinds of transform/coeffilter/numbers.h. Copies are by the size of a number.
#define CT_CONVERSIONS(X, prefix)              \
  X(prefix##copy_16, Qcoef16, Qcoef16)         \
  X(prefix##copy_32, Qcoef32, Qcoef32)         \
  X(prefix##qcoef16_to_s32, Qcoef16, Value32)  \
  X(prefix##qcoef16_to_f32, Qcoef16, ValueF32) \
  X(prefix##qcoef16_to_f16, Qcoef16, ValueF16) \
  X(prefix##qcoef32_to_s32, Qcoef32, Value32)  \
  X(prefix##qcoef32_to_f32, Qcoef32, ValueF32) \
  X(prefix##qcoef32_to_f16, Qcoef32, ValueF16) \
  X(prefix##s32_to_qcoef16, Value32, Qcoef16)  \
  X(prefix##s32_to_qcoef32, Value32, Qcoef32)  \
  X(prefix##s32_to_f32, Value32, ValueF32)     \
  X(prefix##s32_to_f16, Value32, ValueF16)     \
  X(prefix##f32_to_qcoef16, ValueF32, Qcoef16) \
  X(prefix##f32_to_qcoef32, ValueF32, Qcoef32) \
  X(prefix##f32_to_s32, ValueF32, Value32)     \
  X(prefix##f32_to_f16, ValueF32, ValueF16)    \
  X(prefix##f16_to_qcoef16, ValueF16, Qcoef16) \
  X(prefix##f16_to_qcoef32, ValueF16, Qcoef32) \
  X(prefix##f16_to_s32, ValueF16, Value32)     \
  X(prefix##f16_to_f32, ValueF16, ValueF32)

namespace cudatransform {

#define CT_NUMBER(name, From, To) name,
enum ConversionNumber { CT_CONVERSIONS(CT_NUMBER, kConversion_) kConversionCount };
#undef CT_NUMBER

// A ConversionNumber, or -1 if there is none.
int conversion_of(const CoefKinds& from, const CoefKinds& to);

// Whether quantized coefficients become values, or values quantized coefficients; and the divisors
// of a component for that.
bool needs_tables(const ConvertJob& job);
const QuantTable& table_of(const ConvertJob& job, int component);

// ---- Rows of the CPU engine ----

// A row of blocks, on one side of a conversion.
struct CoefRow {
  CoefArrangement arrangement;
  uint8_t* data;      // the first coefficient
  ptrdiff_t pitch;    // kPlane: bytes from one row of coefficients to the next
  ptrdiff_t to_band;  // kBand: bytes from one frequency to the next
};

// Converts `blocks` blocks by `divisors`, in natural order, and returns how many numbers it has
// saturated.
using ConvertRow = uint64_t (*)(const CoefRow& from, const CoefRow& to, int32_t blocks,
                                const uint16_t divisors[64]);

// By ConversionNumber, for this CPU.
const ConvertRow* convert_rows();

}  // namespace cudatransform
