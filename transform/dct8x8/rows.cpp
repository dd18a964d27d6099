// The CPU engine: block rows over oneTBB, vector code where there is some, portable code elsewhere.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/rows.h"

#include <atomic>

#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_threads.h"

namespace cudatransform {

namespace {

RowContext make_context(const Dct8x8Job& job) {
  RowContext context;
  context.job = &job;
  context.peak = (1 << job.depth) - 1;
  context.level_shift = 1 << (job.depth - 1);
  const bool forward = job.direction == Direction::kForward;
  const bool inverse = !forward || (job.measure & kMeasureSse) != 0;
  for (int c = 0; c < job.components; ++c) {
    const QuantTable* table = job.quantized ? &job.tables[job.coefs[c].table] : nullptr;
    if (decides(job)) {
      context.forward[c] = make_eighths_table(job.method);
      context.decisions[c] = make_decision(job, c);
    } else if (forward) {
      context.forward[c] = make_forward_table(job.method, table);
    }
    if (inverse) context.inverse[c] = make_inverse_table(job.method, table, job.scale);
    if (job.type == CoefType::kS16 && job.method <= Method::kFloat) {
      context.short_tables[c] = make_short_tables(job.method, *table);
    }
  }
  return context;
}

struct AtomicSums {
  std::atomic<uint64_t> sse[kMaxComponents] = {};
  std::atomic<uint64_t> zeros[kMaxComponents] = {};
};

// Block row `index` when the components' rows are numbered one after the other.
void run_row(const RowContext& context, RowFunction function, int index, AtomicSums* sums) {
  const Dct8x8Job& job = *context.job;
  int component = 0;
  while (index >= job.coefs[component].blocks_h) index -= job.coefs[component++].blocks_h;
  const RowSums row = function(context, component, index);
  if (job.measure == 0) return;
  sums->sse[component].fetch_add(row.sse, std::memory_order_relaxed);
  sums->zeros[component].fetch_add(row.zeros, std::memory_order_relaxed);
}

void run_all_rows(const Dct8x8Job& job, RowFunction function, HostThreads& threads) {
  const RowContext context = make_context(job);
  AtomicSums sums;
  int rows = 0;
  for (int c = 0; c < job.components; ++c) rows += job.coefs[c].blocks_h;
  threads.for_each(rows, [&](int index) { run_row(context, function, index, &sums); });
  if (job.measure == 0) return;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.sums->sse[c] = sums.sse[c].load(std::memory_order_relaxed);
    job.sums->zeros[c] = sums.zeros[c].load(std::memory_order_relaxed);
  }
}

RowFunction best_row_function(const Dct8x8Job& job) {
  const RowFunction simd = simd_row_function(job);
  return simd != nullptr ? simd : portable_row_function(job);
}

Status submit_best(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return run_rows(device, queue, job, best_row_function, fence);
}

}  // namespace

Status run_rows(Device& device, Queue& queue, const Dct8x8Job& job,
                RowFunction (*choose)(const Dct8x8Job&), FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for the CPU engine's tasks",
                                 [&](HostThreads& threads) -> Status {
                                   if (job.timer != nullptr)
                                     CT_RETURN_IF_ERROR(job.timer->begin(queue));
                                   run_all_rows(job, choose(job), threads);
                                   return {};
                                 }));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

const Dct8x8Ops& host_dct8x8_ops() {
  static constexpr Dct8x8Ops kOps = {"cpu", submit_best};
  return kOps;
}

// The vector code for a job, chosen by its method.
RowFunction simd_row_function(const Dct8x8Job& job) {
  if (job.scale == 8) return nullptr;  // nothing to transform
  switch (job.method) {
    case Method::kIslow:
      return simd_islow_row_function(job);
    case Method::kIfast:
      return simd_ifast_row_function(job);
    case Method::kFloat:
      return simd_float_row_function(job);
    default:
      return nullptr;
  }
}

}  // namespace cudatransform
