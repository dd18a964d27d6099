// The symbols of a JPEG scan for several sets of tables: their launches and memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/ratecontrol/engine.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>

#include "cuda/common/divider.h"
#include "cuda/dct8x8/plan.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/params.h"
#include "transform/picture_check.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(rate_kernels, CT_RATE_IMAGES)

namespace {

// Kernels of both lists are in the order of this one.
constexpr struct {
  Method method;
  Quantizer quantizer;
} kKinds[] = {
#define CT_KIND(name, method, quantizer) {Method::k##method, Quantizer::k##quantizer},
    CT_RATE_TRANSFORM_KERNELS(CT_KIND)
#undef CT_KIND
};

// Lists that are made for divisors this many times as fine take longer than a transform.
constexpr uint32_t kMuchFiner = 2;

// The least divisors of all candidates, by component.
struct Finest {
  uint16_t q[kMaxComponents][64];

  uint32_t sum() const { return std::accumulate(q[0], q[0] + kMaxComponents * 64, 0u); }
  bool operator<=(const Finest& other) const {
    return std::equal(q[0], q[0] + kMaxComponents * 64, other.q[0], std::less_equal<>());
  }
};

struct KeptFrame final : StreamQueue::Kept {
  std::unique_ptr<Memory> lists, counts;
  bool has_lists = false;
  Finest finest;  // that the lists are made for

  bool has_lists_for(const Finest& wanted) const {
    return has_lists && finest <= wanted && wanted.sum() < kMuchFiner * finest.sum();
  }
};

Status validate(const RateCountJob& job) {
  CT_RETURN_IF_ERROR(cudatransform::validate(job.dct));
  const Dct8x8Job& dct = job.dct;
  if (dct.direction != Direction::kForward || !dct.quantized || dct.depth != 8 ||
      dct.type != CoefType::kS16 || dct.measure != 0 || !has_rate_kernel(dct.method, dct.quantizer))
    return job_error(
        "symbols are counted of forward jobs of 8 bits without measurements, whose "
        "quantized coefficients are S16");
  if (job.candidates < 1 || job.candidates > RateCountJob::kMax)
    return job_error(text(job.candidates) + " candidates, expected 1 to " +
                     text(RateCountJob::kMax));
  if (job.counts == nullptr || reinterpret_cast<uintptr_t>(job.counts) % 16 != 0)
    return job_error("address of counts is null or unaligned, expected a multiple of 16");
  const JpegScanLayout& scan = job.layout;
  if (scan.components != static_cast<uint32_t>(dct.components) || scan.blocks == 0)
    return job_error(text(dct.components) + " components, but " + text(scan.components) + " with " +
                     text(scan.blocks) + " blocks in the scan");
  for (uint32_t c = 0; c < scan.components; ++c) {
    const Where where = {"coefficients", static_cast<int>(c)};
    if (scan.blocks_w[c] != static_cast<uint32_t>(dct.coefs[c].blocks_w) ||
        scan.blocks_h[c] != static_cast<uint32_t>(dct.coefs[c].blocks_h))
      return where.error(text(dct.coefs[c].blocks_w) + " x " + text(dct.coefs[c].blocks_h) +
                         " blocks, but " + text(scan.blocks_w[c]) + " x " + text(scan.blocks_h[c]) +
                         " in the scan");
    if (scan.table_pair[c] >= kJpegTablePairs)
      return where.error("Huffman tables " + text(scan.table_pair[c]) + ", expected less than " +
                         text(kJpegTablePairs));
  }
  // Dummy blocks are counted as component 0's.
  for (uint32_t c = 1; c < scan.components; ++c)
    if (scan.mcu_w[c] * scan.mcu_h[c] != 1)
      return Where{"coefficients", static_cast<int>(c)}.error(
          text(scan.mcu_w[c] * scan.mcu_h[c]) + " blocks in an MCU, expected one of chroma");
  return {};
}

// The tables of a count, and of all candidates together.
Status gather_tables(const RateCountJob& job, RateCountParams* params, Finest* finest) {
  const Dct8x8Job& dct = job.dct;
  *finest = {};
  for (int c = 0; c < dct.components; ++c) {
    std::fill_n(finest->q[c], 64, UINT16_MAX);
    for (int i = 0; i < static_cast<int>(kRateCandidates); ++i) {
      const QuantTable& table = job.tables[std::min(i, job.candidates - 1)][dct.coefs[c].table];
      if (table.has_zero())
        return job_error("zero in quantization table " + text(dct.coefs[c].table) +
                         " of candidate " + text(std::min(i, job.candidates - 1)));
      std::copy_n(table.q, 64, params->tables[i][c]);
      std::transform(table.q, table.q + 64, finest->q[c], finest->q[c],
                     [](uint16_t a, uint16_t b) { return std::min(a, b); });
    }
  }
  return {};
}

// The places of units. A CTA of the transform has whole units, of which the last of a component may
// be empty.
void place_units(const RateCountJob& job, RateCountParams* params, uint32_t* ctas) {
  constexpr uint32_t kWarps = kRateThreads / 32;
  uint32_t units = 0;
  params->dummies = job.layout.blocks;
  for (int c = 0; c < kMaxComponents; ++c) {
    RatePlane& plane = params->planes[c];
    plane = {};
    plane.first_cta = UINT32_MAX;
    if (c >= job.dct.components) continue;
    plane.blocks = job.layout.blocks_w[c] * job.layout.blocks_h[c];
    plane.pair = job.layout.table_pair[c];
    params->dummies -= plane.blocks;
    plane.first_unit = units;
    plane.units = divide_up(plane.blocks, kUnitBlocks);
    units += divide_up(plane.blocks, kFusedBlocks) * kUnitsOfCta;
  }
  const uint32_t rounds = divide_up(units, kWarps * kMaxCountCtas);
  *ctas = 0;
  for (int c = 0; c < job.dct.components; ++c) {
    RatePlane& plane = params->planes[c];
    plane.first_cta = *ctas;
    plane.ctas = divide_up(plane.units, kWarps * rounds);
    *ctas += plane.ctas;
  }
}

// Room for the lists of `units`, and for counts that are zero whenever no kernel is running.
Status make_room(Device& device, StreamQueue& queue, const RateCountJob& job, uint32_t units,
                 KeptFrame* kept, RateCountParams* params) {
  const bool is_decided = job.dct.quantizer != Quantizer::kRound;
  const size_t item_words = job.dct.method == Method::kFloat && !is_decided ? 2 : 1;
  const size_t words = size_t{units} * (2 * kUnitBlocks + 1 + kUnitItems * item_words);
  if (kept->lists == nullptr || kept->lists->size() < words * sizeof(uint32_t)) {
    kept->has_lists = false;
    kept->lists.reset();
    CT_RETURN_IF_ERROR(
        device.allocate(MemoryKind::kDevice, words * sizeof(uint32_t), &kept->lists));
  }
  if (kept->counts == nullptr) {
    constexpr size_t kBytes = kRateCandidates * sizeof(JpegSymbolCounts) + sizeof(uint32_t);
    std::unique_ptr<Memory> counts;
    CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, kBytes, &counts));
    CT_RETURN_IF_ERROR(queue.clear(reinterpret_cast<CUdeviceptr>(counts->data()), kBytes));
    kept->counts = std::move(counts);
  }
  auto* lists = static_cast<uint32_t*>(kept->lists->data());
  params->lists.items = lists;  // first: of two words each
  params->lists.dc = lists + size_t{units} * kUnitItems * item_words;
  params->lists.before = params->lists.dc + size_t{units} * kUnitBlocks;
  params->lists.sizes = params->lists.before + size_t{units} * kUnitBlocks;
  params->counts = static_cast<JpegSymbolCounts*>(kept->counts->data());
  params->finished = reinterpret_cast<uint32_t*>(params->counts + kRateCandidates);
  return {};
}

template <typename Params>
Status launch(StreamQueue& queue, size_t kernel, uint32_t ctas, uint32_t threads, Params& params) {
  return queue.launch(KernelKey{rate_kernels(), static_cast<uint32_t>(kernel)}, ctas, threads,
                      params, true);
}

Status make_lists(StreamQueue& queue, size_t kind, const RateCountJob& job, const RateLists& lists,
                  const Finest& finest, KeptFrame* kept) {
  kept->has_lists = false;
  DecidedParams general;
  CT_RETURN_IF_ERROR(make_general_params(job.dct, nullptr, &general));
  RateTransformParams params = {};
  params.frame = general.forward.frame;
  params.layout = job.layout;
  params.lists = lists;
  params.dead_zone = general.dead_zone;
  std::copy_n(finest.q[0], kMaxComponents * 64, params.finest[0]);
  CT_RETURN_IF_ERROR(launch(queue, kind, general_launch(job.dct).ctas, kFusedThreads, params));
  kept->has_lists = true;
  kept->finest = finest;
  return {};
}

Status count(Device& device, StreamQueue& queue, const RateCountJob& job) {
  const Dct8x8Job& dct = job.dct;
  RateCountParams params = {};
  Finest finest;
  CT_RETURN_IF_ERROR(gather_tables(job, &params, &finest));
  uint32_t ctas = 0;
  place_units(job, &params, &ctas);
  KeptFrame& kept = queue.kept<KeptFrame>();
  CT_RETURN_IF_ERROR(
      make_room(device, queue, job, general_launch(dct).ctas * kUnitsOfCta, &kept, &params));
  params.host_counts = job.counts;
  params.candidates = static_cast<uint32_t>(job.candidates);
  params.dead_zone = dct.dead_zone;
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& each) {
    return each.method == dct.method && each.quantizer == dct.quantizer;
  });
  const auto kind = static_cast<size_t>(found - std::begin(kKinds));
  if (!job.same_frame || !kept.has_lists_for(finest))
    CT_RETURN_IF_ERROR(make_lists(queue, kind, job, params.lists, finest, &kept));
  return launch(queue, std::size(kKinds) + kind, ctas, kRateThreads, params);
}

}  // namespace
}  // namespace cuda

bool has_rate_kernel(Method method, Quantizer quantizer) {
  return std::any_of(std::begin(cuda::kKinds), std::end(cuda::kKinds), [&](const auto& kind) {
    return kind.method == method && kind.quantizer == quantizer;
  });
}

Status count_rate_candidates(Device& device, Queue& queue, const RateCountJob& job,
                             FencePtr* fence) {
  CT_RETURN_IF_ERROR(cuda::validate(job));
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(cuda::check_queue(device, stream));
  CT_RETURN_IF_ERROR(cuda::count(device, *stream, job));
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace cudatransform
