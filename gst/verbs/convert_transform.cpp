// cudadctconvert's transform: coefficients in another layout, order or format, or dequantised.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/convert_transform.h"

#include <algorithm>
#include <utility>

#include "transform/verbs/convert.h"
#if CT_HAVE_CUDA
#include "cuda/verbs/engine.h"
#endif

namespace cudatransform {
namespace {

const ConvertOps& ops_of([[maybe_unused]] const Engine& engine) {
#if CT_HAVE_CUDA
  if (engine.is_cuda()) return cuda_convert_ops();
#endif
  return host_convert_ops();
}

CoefKinds kinds_of(const GstDctInfo& info) {
  return {number_of(info), arrangement_of(info), info.quantized != FALSE};
}

// The device may be adding to it.
guint64 count_in(const Memory* memory) {
  return memory ? __atomic_load_n(static_cast<guint64*>(memory->data()), __ATOMIC_RELAXED) : 0;
}

// Time alone is measured.
void measure(const GstDctInfo& in, const GstDctInfo& out, MeasuredFrame* frame, ConvertJob* job) {
  frame->kinds &= kMeasureTime;
  frame->components = 0;
  frame->bytes = in.size + out.size;
  if (frame->kinds) job->timer = frame->kernel.get();
}

}  // namespace

void ConvertTransform::start() {
  const std::lock_guard guard(lock_);
  saturated_before_ = 0;
}

Status ConvertTransform::take_settings() {
  return quantises() ? fill_tables(settings, out_info(), &new_tables_) : Status();
}

Status ConvertTransform::make_tables(const FrameTables& from, FrameTables* to) {
  if (out_info().quantized) *to = in_info().quantized ? from : new_tables_;
  return {};
}

Status ConvertTransform::enqueue(const CoefArray from[kMostCoefArrays],
                                 const FrameTables& from_tables,
                                 const CoefArray to[kMostCoefArrays], const FrameTables& to_tables,
                                 MeasuredFrame* frame, FencePtr* done) {
  ConvertJob job;
  job.from_kinds = kinds_of(in_info());
  job.to_kinds = kinds_of(out_info());
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  const FrameTables& tables = quantises() ? to_tables : from_tables;
  std::copy(std::begin(tables.tables), std::end(tables.tables), std::begin(job.tables));
  if (frame) measure(in_info(), out_info(), frame, &job);
  if (!saturated_) {
    std::unique_ptr<Memory> memory;
    CT_RETURN_IF_ERROR(
        engine_.device().allocate(MemoryKind::kPinned, sizeof *job.saturated, &memory));
    *static_cast<guint64*>(memory->data()) = 0;
    const std::lock_guard guard(lock_);
    saturated_ = std::move(memory);
  }
  job.saturated = static_cast<uint64_t*>(saturated_->data());
  CT_RETURN_IF_ERROR(
      ops_of(engine_).submit(engine_.device(), engine_.queue(QueueKind::kCompute), job, done));
  last_ = *done;
  return {};
}

void ConvertTransform::describe(GstStructure* stats) const {
  const std::lock_guard guard(lock_);
  gst_structure_set(stats, "saturated", G_TYPE_UINT64,
                    saturated_before_ + count_in(saturated_.get()), nullptr);
}

void ConvertTransform::give_up_count() {
  if (last_) (void)last_->wait();
  last_.reset();
  const std::lock_guard guard(lock_);
  saturated_before_ += count_in(saturated_.get());
  saturated_.reset();
}

void ConvertTransform::stop() {
  give_up_count();
  VerbTransform::stop();
}

}  // namespace cudatransform
