// The CUDA engine's decoder of JPEG scans: packs files for the bus, and launches the kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/jpeg/engine.h"

#include <algorithm>
#include <cstring>

#include "cuda/common/batch_launch.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/jpeg/decode_params.h"
#include "cuda/jpeg/kernels.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(decode_kernels, CT_JPEG_DECODE_IMAGES)

namespace {

constexpr int kFixes = 2;  // as in jpeg/parallel_decode.cpp

enum Kernel : uint32_t { kSync1, kSync2, kSync3, kWrite2, kWrite3 };
constexpr uint32_t kFirstOfBatches = kWrite3 + 1;                  // in the same order
constexpr auto kParts = static_cast<Kernel>(2 * kFirstOfBatches);  // and after those
constexpr auto kWriteParts = static_cast<Kernel>(kParts + 1);

uint32_t classes_of(const JpegScans& scans) {
  uint32_t classes = 0;
  for (int i = 0; i < scans.count; ++i) classes = std::max(classes, scans.scans[i].classes);
  return classes;
}

constexpr size_t kAlignment = 128;
constexpr size_t aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

size_t parts_in(const JpegScanPlan& scan) {
  return (size_t{scan.subsequences} + kPartSubsequences - 1) / kPartSubsequences;
}
size_t parts_in(const JpegScans& scans) {
  size_t parts = 0;
  for (int i = 0; i < scans.count; ++i) parts += parts_in(scans.scans[i]);
  return parts;
}

// Lays out the kernels' messages to each other, reused from job to job.
class Scratch {
 public:
  Scratch(const JpegScans& scans, bool in_parts) {
    const uint32_t classes = classes_of(scans);
    const uint32_t row_bits = in_parts ? kPartRowBits : kRowBits;
    add(kResultWords, &result_);
    counts(size_t{scans.subsequences} * (kSubsequenceBits / row_bits), classes, &rows_);
    if (in_parts) add(parts_in(scans) * (sizeof(JpegPart) / sizeof(uint32_t)), &parts_);
    if (in_parts) return;
    counts(scans.subsequences, classes, &subsequence_);
    counts(scans.tiles, classes, &tiles_);
  }
  size_t bytes() const { return words_ * sizeof(uint32_t); }
  void place(CUdeviceptr address, JpegDecodeParams* params) const {
    auto* const base = reinterpret_cast<uint32_t*>(address);
    params->result = base + result_;
    params->parts = reinterpret_cast<JpegPart*>(base + parts_);
    params->rows = at(base, rows_);
    params->subsequence = at(base, subsequence_);
    params->tiles = at(base, tiles_);
  }

 private:
  struct Counts {
    size_t states, begins, blocks, sums, count;
  };
  void add(size_t count, size_t* place) {
    *place = words_;
    words_ += (count + 31) / 32 * 32;
  }
  void counts(size_t count, size_t classes, Counts* to) {
    to->count = count;
    add(count, &to->states);
    add(count, &to->begins);
    add(count, &to->blocks);
    add(count * classes, &to->sums);
  }
  static JpegCounts at(uint32_t* base, const Counts& counts) {
    return {base + counts.states, base + counts.begins, base + counts.blocks, base + counts.sums,
            static_cast<uint32_t>(counts.count)};
  }

  size_t words_ = 0, result_ = 0, parts_ = 0;
  Counts rows_ = {}, subsequence_ = {}, tiles_ = {};
};

// The sets of a scan get the first slots; slots that it does not use have the first one's set.
void assign_slots(JpegScanPlan* plan, uint32_t (&slots)[kMaxSets]) {
  const McuFields sets = plan->set;
  plan->set.bits = 0;
  uint32_t used = 0;
  for (uint32_t block = 0; block < plan->blocks_in_mcu; ++block) {
    const auto* const end = slots + used;
    const auto* const found = std::find(static_cast<const uint32_t*>(slots), end, sets[block]);
    const auto slot = static_cast<uint32_t>(found - slots);
    if (found == end) slots[used++] = sets[block];
    plan->set.bits |= slot << (2 * block);
  }
  std::fill(slots + used, std::end(slots), slots[0]);
}

JpegDecodeParams params_for(const JpegDecodeJob& job) {
  const JpegScans& scans = *job.scans;
  JpegDecodeParams params = {};
  params.infos_at = scans.infos_at;
  params.words_at = scans.words_at;
  params.sets_at = scans.sets_at;
  params.runs_at = scans.runs_at;
  params.subsequences = scans.subsequences;
  params.scan_count = static_cast<uint32_t>(scans.count);
  params.components = static_cast<uint32_t>(scans.components);
  for (int i = 0; i < scans.count; ++i) {
    params.scans[i] = scans.scans[i];
    assign_slots(&params.scans[i], params.slots[i]);
  }
  static_assert(sizeof kNaturalOfZigzag == sizeof params.natural);
  std::memcpy(params.natural, kNaturalOfZigzag, sizeof params.natural);
  for (int c = 0; c < scans.components; ++c) {
    const JpegQcoefs& qcoefs = job.qcoefs[c];
    params.planes[c] = {reinterpret_cast<uint8_t*>(qcoefs.data), qcoefs.stride, qcoefs.blocks_w,
                        qcoefs.blocks_h};
  }
  return params;
}

Status launch(StreamQueue& queue, Kernel kernel, uint32_t ctas, uint32_t threads,
              JpegDecodeParams* params, bool waits_itself = false) {
  return queue.launch(KernelKey{decode_kernels(), kernel}, ctas, threads, *params, waits_itself);
}

// Which kernels a job gets.
Kernel sync_kernel(const JpegScans& scans) {
  return static_cast<Kernel>(kSync1 + scans.max_sets - 1);
}
Kernel write_kernel(uint32_t sync) { return sync > kSync2 ? kWrite3 : kWrite2; }

// What is decoded in parts, measured on an H200. It takes several times the work: where its caller
// has others to decode, a device gets only small pictures so, which leave it idle in any case.
// Dense blocks are full and have no ends, by which trails meet: beyond this some fall back to the
// CPU.
struct PartLimits {
  uint32_t subsequences, block_bits;
};
constexpr PartLimits kPartLimits = {1024, 160}, kPartLimitsAlone = {6144, 210};

bool is_decoded_in_parts(const JpegDecodeJob& job) {
  const JpegScans& scans = *job.scans;
  const PartLimits& limits = job.is_alone ? kPartLimitsAlone : kPartLimits;
  uint64_t blocks = 0;
  for (int i = 0; i < scans.count; ++i) {
    const JpegScanPlan& scan = scans.scans[i];
    if (!scan.knows_phases() || scan.period > kPartPhases) return false;
    blocks += uint64_t{scan.mcus} * scan.blocks_in_mcu;
  }
  return scans.max_sets <= 2 && scans.subsequences <= limits.subsequences &&
         uint64_t{scans.subsequences} * kSubsequenceBits <= blocks * limits.block_bits;
}

Status launch_parts(StreamQueue& queue, const JpegScans& scans, CUdeviceptr block,
                    JpegDecodeParams* params) {
  uint32_t parts = 0;
  for (int i = 0; i < scans.count; ++i) {
    params->first_part[i] = parts;
    parts += static_cast<uint32_t>(parts_in(scans.scans[i]));
  }
  params->part_count = parts;
  params->result = reinterpret_cast<uint32_t*>(block + scans.zeros_at);
  params->part_flags = params->result + kResultWords;
  CT_RETURN_IF_ERROR(launch(queue, kParts, parts, kJpegPartThreads, params));
  return launch(queue, kWriteParts, parts, kJpegPartWriteThreads, params, true);
}

void begin(const JpegDecodeJob& job, JpegDecodeParams* params) {
  *job.result = {JpegDecodeResult::kPending, JpegDecodeResult::kPending};
  static_assert(sizeof(JpegDecodeResult) == 2 * sizeof(uint32_t));
  params->host_result = reinterpret_cast<uint32_t*>(job.result);
}

Status submit(Device& device, Queue& queue, const JpegDecodeJob& job, FencePtr* done) {
  CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  const JpegScans& scans = *job.scans;
  JpegDecodeParams params = params_for(job);
  begin(job, &params);
  const bool in_parts = is_decoded_in_parts(job);
  const Scratch scratch(scans, in_parts);
  CUdeviceptr address = 0;
  CT_RETURN_IF_ERROR(stream->scratch(aligned(scans.bytes) + scratch.bytes(), &address));
  params.block = reinterpret_cast<const uint8_t*>(address);
  scratch.place(address + aligned(scans.bytes), &params);
  CT_RETURN_IF_ERROR(stream->send(address, job.block, scans.bytes));
  const Kernel sync = sync_kernel(scans);
  if (in_parts) {
    CT_RETURN_IF_ERROR(launch_parts(*stream, scans, address, &params));
    return done != nullptr ? stream->record(done) : Status{};
  }
  for (int i = 0; i <= kFixes; ++i) {
    params.fixes = i > 0 ? 1 : 0;
    CT_RETURN_IF_ERROR(launch(*stream, sync, scans.tiles, kJpegSyncThreads, &params));
  }
  CT_RETURN_IF_ERROR(launch(*stream, write_kernel(sync), scans.tiles * kJpegWriteCtas,
                            kJpegWriteThreads, &params));
  return done != nullptr ? stream->record(done) : Status{};
}

// Enqueues the copies of all blocks. Consecutive blocks, each from a multiple of kAlignment on, are
// one copy.
Status send_blocks(StreamQueue& stream, std::span<const JpegDecodeJob> jobs, CUdeviceptr address) {
  for (size_t i = 0; i < jobs.size();) {
    const uint8_t* const first = jobs[i].block;
    size_t bytes = 0, end = 0;
    for (; i < jobs.size() && jobs[i].block == first + end; ++i) {
      bytes = end + jobs[i].scans->bytes;
      end += aligned(jobs[i].scans->bytes);
    }
    CT_RETURN_IF_ERROR(stream.send(address, first, bytes));
    address += end;
  }
  return {};
}

}  // namespace

Status decode_jpeg_batch(Device& device, Queue& queue, std::span<const JpegDecodeJob> jobs) {
  if (jobs.size() == 1) return submit(device, queue, jobs[0], nullptr);
  for (const JpegDecodeJob& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  size_t block_bytes = 0, scratch_bytes = 0;
  for (const JpegDecodeJob& job : jobs) {
    block_bytes += aligned(job.scans->bytes);
    scratch_bytes += Scratch(*job.scans, false).bytes();
  }
  CUdeviceptr block = 0;
  CT_RETURN_IF_ERROR(stream->scratch(block_bytes + scratch_bytes, &block));
  CT_RETURN_IF_ERROR(send_blocks(*stream, jobs, block));
  CUdeviceptr rest = block + block_bytes;
  Batch<JpegDecodeParams> batch;
  for (const JpegDecodeJob& job : jobs) {
    JpegDecodeParams params = params_for(job);
    begin(job, &params);
    const Scratch scratch(*job.scans, false);
    params.block = reinterpret_cast<const uint8_t*>(block);
    scratch.place(rest, &params);
    block += aligned(job.scans->bytes);
    rest += scratch.bytes();
    batch.add(sync_kernel(*job.scans), job.scans->tiles, params);
  }
  CT_RETURN_IF_ERROR(batch.send(device, *stream));
  for (uint32_t i = 0; i <= kFixes; ++i)
    CT_RETURN_IF_ERROR(batch.launch(*stream, decode_kernels(), kJpegSyncThreads, i, 1,
                                    [](uint32_t sync) { return kFirstOfBatches + sync; }));
  return batch.launch(*stream, decode_kernels(), kJpegWriteThreads, 0, kJpegWriteCtas,
                      [](uint32_t sync) { return kFirstOfBatches + write_kernel(sync); });
}

}  // namespace cuda

Status probe_cuda_jpeg_decode(Device& device) {
  return cuda::probe_kernel(device, {cuda::decode_kernels(), cuda::kWrite3});
}

const JpegDecodeOps& cuda_jpeg_decode_ops() {
  static constexpr JpegDecodeOps kOps = {"cuda", cuda::submit};
  return kOps;
}

}  // namespace cudatransform
