// The checks that keep conversions inside their buffers, and which conversion a job is.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/verbs/convert.h"

#include "transform/verbs/coefs_check.h"
#include "transform/verbs/conversions.h"

namespace cudatransform {

namespace {

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

}  // namespace

int conversion_of(const CoefKinds& from, const CoefKinds& to) {
  const Kind a = kind_of(from), b = kind_of(to);
  if (a == Kind::kNone || b == Kind::kNone) return -1;
  if (a == b) return bytes_of(from.number) == 2 ? kConversion_copy_16 : kConversion_copy_32;
#define CT_FIND(name, From, To) \
  if (a == Kind::k##From && b == Kind::k##To) return name;
  CT_CONVERSIONS(CT_FIND, kConversion_)
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
  CT_RETURN_IF_ERROR(check_components(job.components));
  for (int c = 0; c < job.components; ++c) {
    const CoefArray &from = job.from[c], &to = job.to[c];
    CT_RETURN_IF_ERROR(
        check_coefs({"source", c}, from, job.from_kinds.number, job.from_kinds.arrangement));
    CT_RETURN_IF_ERROR(
        check_coefs({"result", c}, to, job.to_kinds.number, job.to_kinds.arrangement));
    if (from.blocks_w != to.blocks_w || from.blocks_h != to.blocks_h)
      return Where{"result", c}.error("not as many blocks as the source");
    if (needs_tables(job))
      CT_RETURN_IF_ERROR(
          check_table({"table", c}, job.tables, job.from_kinds.quantized ? from.table : to.table));
  }
  return {};
}

}  // namespace cudatransform
