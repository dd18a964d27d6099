// cudadctquant's transform: levels with other quantisation tables.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/quant_transform.h"

#include <algorithm>

#include "gst/dct8x8/quant_properties.h"
#include "transform/verbs/quant.h"
#if CT_HAVE_CUDA
#include "cuda/verbs/flip_quant_engine.h"
#endif

namespace cudatransform {
namespace {

const RequantOps& ops_of([[maybe_unused]] const Engine& engine) {
#if CT_HAVE_CUDA
  if (engine.is_cuda()) return cuda_requant_ops();
#endif
  return host_requant_ops();
}

const QuantTable& table_of(const FrameTables& tables, int c) {
  return tables.tables[tables.table_of[c]];
}

void measure(const GstDctInfo& info, MeasuredFrame* frame, RequantJob* job) {
  // Sums have three components.
  if (job->components > kMaxComponents) frame->kinds &= kMeasureTime;
  if (frame->kinds & kMeasurePsnr) job->measure |= kMeasureSse;
  if (frame->kinds & kMeasureZeroShare) job->measure |= kMeasureZeros;
  job->sums = &frame->results()->sums;
  if (frame->kinds & kMeasureTime) job->timer = frame->kernel.get();
  frame->has_sse = job->measure & kMeasureSse;
  frame->components = std::min(job->components, kMaxComponents);
  frame->depth = static_cast<int>(info.depth);
  frame->bytes = 2 * info.size;
  // The transform is orthonormal: the coefficients' error is that of all samples of the blocks.
  for (int c = 0; c < frame->components; c++)
    frame->samples[c] = frame->coefficients[c] =
        64 * guint64{info.components[c].blocks_w} * info.components[c].blocks_h;
}

}  // namespace

Status QuantTransform::prepare(FrameRequest*) {
  coarser_only_ = settings.coarser_only;
  return fill_tables(settings.quant, out_info(), &wanted_);
}

void QuantTransform::describe(GstStructure* stats) const {
  const QuantSettings& quant = settings.quant;
  gst_structure_set(stats, "method", G_TYPE_STRING,
                    !quant.file.empty() ? "qtable-file"
                    : quant.luma        ? "qtable"
                                        : preset_name(quant.preset),
                    nullptr);
}

QuantTable QuantTransform::made_of(const FrameTables& from, int c) const {
  QuantTable table = table_of(wanted_, c);
  if (coarser_only_)
    std::transform(std::begin(table.q), std::end(table.q), table_of(from, c).q, table.q,
                   [](uint16_t a, uint16_t b) { return std::max(a, b); });
  return table;
}

bool QuantTransform::keeps(const FrameTables& tables) const {
  for (int c = 0; c < static_cast<int>(out_info().n_components); c++)
    if (!(made_of(tables, c) == table_of(tables, c))) return false;
  return true;
}

// Components with equal tables share one, as in files.
Status QuantTransform::make_tables(const FrameTables& from, FrameTables* to) {
  for (int c = 0; c < static_cast<int>(out_info().n_components); c++) {
    const QuantTable table = made_of(from, c);
    const QuantTable* end = to->tables + to->count;
    const QuantTable* same = std::find(static_cast<const QuantTable*>(to->tables), end, table);
    to->table_of[c] = static_cast<int>(same - to->tables);
    if (same == end) to->tables[to->count++] = table;
  }
  return {};
}

Status QuantTransform::enqueue(const CoefArray from[kMostCoefArrays],
                               const FrameTables& from_tables, const CoefArray to[kMostCoefArrays],
                               const FrameTables& to_tables, MeasuredFrame* frame, FencePtr* done) {
  RequantJob job;
  job.number = number_of(in_info());
  job.arrangement = arrangement_of(in_info());
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  std::copy_n(from_tables.tables, kMostCoefArrays, job.before);
  std::copy_n(to_tables.tables, kMostCoefArrays, job.after);
  if (frame) measure(out_info(), frame, &job);
  return ops_of(engine_).submit(engine_.device(), engine_.queue(QueueKind::kCompute), job, done);
}

}  // namespace cudatransform
