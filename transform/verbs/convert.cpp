// The checks that keep conversions inside their buffers, and which conversion a job is.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/verbs/convert.h"

#include <algorithm>
#include <iterator>

#include "transform/picture_check.h"
#include "transform/verbs/conversions.h"

namespace cudatransform {

namespace {

// Kernels number the tiles of a frame with 31 bits, and rows of bands with 32.
constexpr int64_t kMaxBlocks = int64_t{1} << 30;
constexpr int32_t kMaxBlocksHigh = 1 << 25;

enum class Kind { kLevel16, kLevel32, kValue32, kValueF32, kValueF16, kNone };

Kind kind_of(const CoefKinds& kinds) {
  switch (kinds.number) {
    case CoefNumber::kS16:
      return kinds.quantized ? Kind::kLevel16 : Kind::kNone;
    case CoefNumber::kS32:
      return kinds.quantized ? Kind::kLevel32 : Kind::kValue32;
    case CoefNumber::kF32:
      return kinds.quantized ? Kind::kNone : Kind::kValueF32;
    case CoefNumber::kF16:
      return kinds.quantized ? Kind::kNone : Kind::kValueF16;
  }
  return Kind::kNone;
}

Status check_array(const Where& where, const CoefArray& array, const CoefKinds& kinds) {
  if (array.blocks_w < 1 || array.blocks_h < 1 || array.blocks_h > kMaxBlocksHigh ||
      int64_t{array.blocks_w} * array.blocks_h > kMaxBlocks)
    return where.error(text(array.blocks_w) + " x " + text(array.blocks_h) + " blocks");
  const int64_t rows = rows_of_blocks(kinds.arrangement);
  const int bytes = bytes_of(kinds.number);
  return check_pitch(where, array.data, array.pitch, array.blocks_w * (64 / rows) * bytes,
                     array.blocks_h * rows, bytes);
}

Status check_table(const Where& where, const CoefArray& array, const ConvertJob& job) {
  if (array.table < 0 || array.table > 3)
    return where.error("table index " + text(array.table) + " is not in 0 to 3");
  const auto& q = job.tables[array.table].q;
  const auto* zero = std::find(std::begin(q), std::end(q), 0);
  if (zero == std::end(q)) return {};
  return where.error("entry " + text(zero - q) + " of quantisation table " + text(array.table) +
                     " is zero");
}

}  // namespace

int conversion_of(const CoefKinds& from, const CoefKinds& to) {
  const Kind a = kind_of(from), b = kind_of(to);
  if (a == Kind::kNone || b == Kind::kNone) return -1;
  if (a == b) return bytes_of(from.number) == 2 ? kConversion_copy_16 : kConversion_copy_32;
#define CT_FIND(name, From, To) \
  if (a == Kind::k##From && b == Kind::k##To) return kConversion_##name;
  CT_CONVERSIONS(CT_FIND)
#undef CT_FIND
  return -1;  // levels of two sizes: they do not exist at one depth
}

bool needs_tables(const ConvertJob& job) {
  return job.from_kinds.quantized != job.to_kinds.quantized;
}

const QuantTable& table_of(const ConvertJob& job, int component) {
  const CoefArray* levels = job.from_kinds.quantized ? job.from : job.to;
  return job.tables[levels[component].table];
}

Status validate(const ConvertJob& job) {
  if (!within(job.from_kinds.number, CoefNumber::kF16) ||
      !within(job.to_kinds.number, CoefNumber::kF16) ||
      !within(job.from_kinds.arrangement, CoefArrangement::kBand) ||
      !within(job.to_kinds.arrangement, CoefArrangement::kBand))
    return job_error("unknown type or arrangement of coefficients");
  if (conversion_of(job.from_kinds, job.to_kinds) < 0)
    return job_error("there is no such conversion between types of coefficients");
  if (job.components < 1 || job.components > kMostCoefArrays)
    return job_error(text(job.components) + " components, expected 1 to 4");
  for (int c = 0; c < job.components; ++c) {
    CT_RETURN_IF_ERROR(check_array({"source", c}, job.from[c], job.from_kinds));
    CT_RETURN_IF_ERROR(check_array({"result", c}, job.to[c], job.to_kinds));
    if (job.from[c].blocks_w != job.to[c].blocks_w || job.from[c].blocks_h != job.to[c].blocks_h)
      return Where{"result", c}.error("not as many blocks as the source");
    if (needs_tables(job))
      CT_RETURN_IF_ERROR(
          check_table({"table", c}, job.from_kinds.quantized ? job.from[c] : job.to[c], job));
  }
  return {};
}

}  // namespace cudatransform
