// Conversions of coefficients: the checks that keep them inside their buffers, and the CPU engine,
// rows of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/coeffilter/convert.h"

#include <atomic>

#include "transform/coeffilter/coefs_check.h"
#include "transform/coeffilter/conversions.h"
#include "transform/device/host_threads.h"

namespace cudatransform {
namespace {

enum class Kind { kQcoef16, kQcoef32, kValue32, kValueF32, kValueF16, kNone };

Kind kind_of(const CoefKinds& kinds) {
  switch (kinds.number) {
    case CoefNumber::kS16:
      return kinds.quantized ? Kind::kQcoef16 : Kind::kNone;
    case CoefNumber::kS32:
      return kinds.quantized ? Kind::kQcoef32 : Kind::kValue32;
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
  return -1;  // quantized coefficients of two sizes: they do not exist at one depth
}

bool needs_tables(const ConvertJob& job) {
  return job.from_kinds.quantized != job.to_kinds.quantized;
}

const QuantTable& table_of(const ConvertJob& job, int component) {
  const CoefArray* qcoefs = job.from_kinds.quantized ? job.from : job.to;
  return job.tables[qcoefs[component].table];
}

Status validate(const ConvertJob& job) {
  if (!within(job.from_kinds.number, CoefNumber::kF16) ||
      !within(job.to_kinds.number, CoefNumber::kF16) ||
      !within(job.from_kinds.arrangement, CoefArrangement::kBand) ||
      !within(job.to_kinds.arrangement, CoefArrangement::kBand))
    return job_error("unknown type or arrangement of coefficients");
  if (conversion_of(job.from_kinds, job.to_kinds) < 0)
    return job_error("unsupported conversion between types of coefficients");
  CT_RETURN_IF_ERROR(check_components(job.components));
  for (int c = 0; c < job.components; ++c) {
    const CoefArray &from = job.from[c], &to = job.to[c];
    CT_RETURN_IF_ERROR(
        check_coefs({"source", c}, from, job.from_kinds.number, job.from_kinds.arrangement));
    CT_RETURN_IF_ERROR(
        check_coefs({"result", c}, to, job.to_kinds.number, job.to_kinds.arrangement));
    if (from.blocks_w != to.blocks_w || from.blocks_h != to.blocks_h)
      return Where{"result", c}.error("number of blocks differs from the source");
    if (needs_tables(job))
      CT_RETURN_IF_ERROR(job.from_kinds.quantized
                             ? check_table({"table", c}, job.tables, from.table, false)
                             : check_table({"table", c}, job.tables, to.table, true));
  }
  return {};
}

namespace {

// Row `y` of blocks.
CoefRow row_of(const CoefArray& array, CoefArrangement arrangement, int64_t y) {
  const int64_t rows = arrangement == CoefArrangement::kPlane ? 8 : 1;
  return {arrangement, static_cast<uint8_t*>(array.data) + y * rows * array.pitch, array.pitch,
          array.blocks_h * array.pitch};
}

Status convert(const ConvertJob& job, HostThreads& threads) {
  const ConvertRow convert_row = convert_rows()[conversion_of(job.from_kinds, job.to_kinds)];
  int64_t rows = 0;
  for (int c = 0; c < job.components; ++c) rows += job.from[c].blocks_h;
  std::atomic<uint64_t> saturated = 0;
  threads.for_each(rows, [&](int64_t y) {
    int c = 0;
    for (; y >= job.from[c].blocks_h; ++c) y -= job.from[c].blocks_h;
    const uint64_t count = convert_row(row_of(job.from[c], job.from_kinds.arrangement, y),
                                       row_of(job.to[c], job.to_kinds.arrangement, y),
                                       job.from[c].blocks_w, table_of(job, c).q);
    if (count != 0) saturated += count;
  });
  // Others read it concurrently.
  if (job.saturated != nullptr) std::atomic_ref(*job.saturated) += saturated;
  return {};
}

Status submit(Device& device, Queue& queue, const ConvertJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for a conversion",
                                 [&](HostThreads& threads) { return convert(job, threads); }));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

const ConvertOps& host_convert_ops() {
  static constexpr ConvertOps kOps = {"cpu", submit};
  return kOps;
}

}  // namespace cudatransform
