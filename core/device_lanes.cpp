// Chunks of JPEG pictures on a CUDA device: each lane decodes one chunk at a time, beside others.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/device_lanes.h"

#include <algorithm>
#include <new>
#include <utility>

#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/device/cuda_device.h"
#include "cuda/jpeg/engine.h"
#include "cuda/rgb/engine.h"
#endif

namespace cudatransform::core {
namespace {

constexpr int kLanes = 4;
// Levels and planes of a chunk: launches of fewer bytes do not fill the device, and memory for more
// is wasted.
constexpr size_t kChunkBytes = size_t{96} << 20;
constexpr size_t kChunkPictures = 128;

constexpr size_t aligned(size_t bytes) {
  return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

Status make_room(Device& device, MemoryKind kind, size_t bytes, std::unique_ptr<Memory>* memory) {
  if (*memory && (*memory)->size() >= bytes) return {};
  memory->reset();
  return device.allocate(kind, bytes + bytes / 8, memory);
}

}  // namespace

struct Lane {
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Memory> pinned;  // packed files or levels of the CPU's, then results
  std::unique_ptr<Memory> levels, planes;
};

struct Chunk {
  struct Entry {
    JpegItem* item;
    size_t measured = 0;  // 0: the CPU decodes it
    size_t pinned_at = 0, levels_at = 0, planes_at = 0;
    CtBlock* block = nullptr;
    uint8_t* pixels = nullptr;
    uint8_t* levels = nullptr;  // on the device
    bool by_device = false;
  };
  JpegBatch* batch;
  std::vector<Entry> entries;  // of sound pictures
  size_t pinned_bytes = 0, level_bytes = 0, plane_bytes = 0;
  std::unique_ptr<Lane> lane;
  FencePtr done;
  Status status;

  uint8_t* pinned() const { return static_cast<uint8_t*>(lane->pinned->data()); }
  JpegDecodeResult* results() const {
    return reinterpret_cast<JpegDecodeResult*>(pinned() + pinned_bytes);
  }
};

#if CT_HAVE_CUDA

DeviceLanes::DeviceLanes(JpegBatches& batches) : batches_(batches), engine_(batches.engine_) {}

Status DeviceLanes::make(JpegBatches& batches, std::unique_ptr<DeviceLanes>* made) {
  Device& device = *batches.engine_.device;
  CT_RETURN_IF_ERROR(probe_cuda_jpeg_decode(device));
  CT_RETURN_IF_ERROR(probe_cuda_kernels(device));
  CT_RETURN_IF_ERROR(probe_cuda_rgb_kernels(device));
  std::unique_ptr<DeviceLanes> lanes(new DeviceLanes(batches));
  for (int i = 0; i < kLanes; ++i) {
    auto lane = std::make_unique<Lane>();
    CT_RETURN_IF_ERROR(make_cuda_queue(device, &lane->queue));
    lanes->idle_.push_back(std::move(lane));
  }
  lanes->collector_ = std::thread([all = lanes.get()] { all->collect(); });
  *made = std::move(lanes);
  return {};
}

DeviceLanes::~DeviceLanes() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (collector_.joinable()) collector_.join();
}

// Divides the batch into chunks.
void DeviceLanes::add(JpegBatch& batch) {
  std::deque<std::unique_ptr<Chunk>> chunks;
  size_t bytes = 0;
  for (size_t i = 0; i < batch.count; ++i) {
    JpegItem& item = *batch.items[i];
    if (!item.is_sound()) continue;
    const PixelPlan& plan = item.plan();
    const size_t own = plan.level_bytes + plan.plane_bytes;
    if (chunks.empty() || bytes + own > kChunkBytes ||
        chunks.back()->entries.size() == kChunkPictures) {
      chunks.push_back(std::make_unique<Chunk>());
      chunks.back()->batch = &batch;
      bytes = 0;
    }
    bytes += own;
    Chunk::Entry entry = {.item = &item};
    if (batch.stack != nullptr) {
      ref(batch.stack);
      entry.block = batch.stack;
      entry.pixels = batch.stack->data() + i * plan.pixel_bytes;
    }
    chunks.back()->entries.push_back(entry);
  }
  if (chunks.empty()) return batches_.end(batch);
  batch.left = chunks.size();
  {
    const std::lock_guard lock(mutex_);
    for (std::unique_ptr<Chunk>& chunk : chunks) waiting_.push_back(std::move(chunk));
  }
  start_waiting();
}

// Gives idle lanes to waiting chunks.
void DeviceLanes::start_waiting() {
  while (true) {
    std::unique_ptr<Chunk> chunk;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty() || idle_.empty()) return;
      chunk = std::move(waiting_.front());
      waiting_.pop_front();
      chunk->lane = std::move(idle_.back());
      idle_.pop_back();
    }
    start(*chunk.release());
  }
}

void DeviceLanes::start(Chunk& chunk) {
  chunk.status = place(chunk);
  const auto done = [this, &chunk] {
    if (chunk.status.ok()) chunk.status = submit(chunk);
    {
      const std::lock_guard lock(mutex_);
      submitted_.push_back(std::unique_ptr<Chunk>(&chunk));
    }
    wake_.notify_one();
  };
  if (!chunk.status.ok()) return done();
  engine_.threads->run(
      chunk.entries.size(), [this, &chunk](size_t i) { pack(chunk, i); }, done);
}

// Lays out the chunk's memory.
Status DeviceLanes::place(Chunk& chunk) {
  const bool wants_levels = batches_.options_.output == CT_OUTPUT_LEVELS;
  for (Chunk::Entry& entry : chunk.entries) {
    const PixelPlan& plan = entry.item->plan();
    entry.measured = entry.item->measured();
    entry.pinned_at = chunk.pinned_bytes;
    chunk.pinned_bytes += aligned(entry.measured > 0 ? entry.measured : plan.level_bytes);
    entry.levels_at = chunk.level_bytes;
    if (!wants_levels) chunk.level_bytes += plan.level_bytes;
    entry.planes_at = chunk.plane_bytes;
    chunk.plane_bytes += plan.plane_bytes;
  }
  Device& device = *engine_.device;
  const size_t result_bytes = chunk.entries.size() * sizeof(JpegDecodeResult);
  CT_RETURN_IF_ERROR(make_room(device, MemoryKind::kPinned, chunk.pinned_bytes + result_bytes,
                               &chunk.lane->pinned));
  if (chunk.level_bytes > 0)
    CT_RETURN_IF_ERROR(
        make_room(device, MemoryKind::kDevice, chunk.level_bytes, &chunk.lane->levels));
  if (chunk.plane_bytes > 0)
    CT_RETURN_IF_ERROR(
        make_room(device, MemoryKind::kDevice, chunk.plane_bytes, &chunk.lane->planes));
  for (Chunk::Entry& entry : chunk.entries) {
    const PixelPlan& plan = entry.item->plan();
    if (entry.block == nullptr) {
      const size_t bytes = wants_levels ? plan.level_bytes : plan.pixel_bytes;
      CT_RETURN_IF_ERROR(engine_.blocks->take(bytes, &entry.block));
      entry.pixels = entry.block->data();
    }
    entry.levels = wants_levels
                       ? entry.block->data()
                       : static_cast<uint8_t*>(chunk.lane->levels->data()) + entry.levels_at;
  }
  return {};
}

// One of the engine's threads: the file's bits, or its levels, in page-locked memory.
void DeviceLanes::pack(Chunk& chunk, size_t i) {
  Chunk::Entry& entry = chunk.entries[i];
  try {
    uint8_t* const to = chunk.pinned() + entry.pinned_at;
    entry.by_device = entry.measured > 0 && entry.item->pack(to);
    if (!entry.by_device && entry.measured == 0) (void)entry.item->decode(batches_.options_, to);
  } catch (const std::bad_alloc&) {
    entry.item->fail(Status::error(StatusCode::kOutOfMemory, "there is no memory for the picture"));
  }
}

Status DeviceLanes::submit(Chunk& chunk) {
  Device& device = *engine_.device;
  Queue& queue = *chunk.lane->queue;
  std::vector<JpegDecodeJob> decode;
  std::vector<Dct8x8Job> dct;
  std::vector<RgbJob> rgb;
  decode.reserve(chunk.entries.size());
  for (size_t i = 0; i < chunk.entries.size(); ++i) {
    Chunk::Entry& entry = chunk.entries[i];
    if (!entry.item->is_sound()) continue;
    const PixelPlan& plan = entry.item->plan();
    if (entry.by_device) {
      JpegDecodeJob job;
      job.scans = &entry.item->scans();
      job.block = chunk.pinned() + entry.pinned_at;
      job.result = chunk.results() + i;
      for (int c = 0; c < job.scans->components; ++c) job.levels[c] = plan.levels(c, entry.levels);
      entry.by_device = validate(job).ok();
      if (entry.by_device) decode.push_back(job);
    } else if (entry.measured == 0) {
      const auto bytes = static_cast<ptrdiff_t>(plan.level_bytes);
      CT_RETURN_IF_ERROR(device.upload(queue, {.dst = entry.levels,
                                               .dst_pitch = bytes,
                                               .src = chunk.pinned() + entry.pinned_at,
                                               .src_pitch = bytes,
                                               .row_bytes = plan.level_bytes,
                                               .rows = 1}));
    }
    if (!entry.by_device && entry.measured > 0) continue;  // decode_again() does it all
    if (batches_.options_.output == CT_OUTPUT_LEVELS) continue;
    uint8_t* const planes =
        plan.plane_bytes > 0 ? static_cast<uint8_t*>(chunk.lane->planes->data()) + entry.planes_at
                             : nullptr;
    const JpegTables& tables = entry.by_device ? entry.item->scans().tables : entry.item->tables();
    const PixelJobs jobs = jobs_of(plan, tables, entry.levels, planes, entry.pixels);
    dct.insert(dct.end(), jobs.dct.begin(), jobs.dct.begin() + jobs.dct_count);
    if (jobs.has_rgb) rgb.push_back(jobs.rgb);
  }
  if (!decode.empty()) CT_RETURN_IF_ERROR(cuda::decode_jpeg_batch(device, queue, decode));
  if (!dct.empty()) CT_RETURN_IF_ERROR(cuda::submit_dct8x8_batch(device, queue, dct));
  if (!rgb.empty()) CT_RETURN_IF_ERROR(cuda::submit_rgb_batch(device, queue, rgb));
  return queue.record(&chunk.done);
}

// The thread of results.
void DeviceLanes::collect() {
  while (true) {
    std::unique_ptr<Chunk> chunk;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ends_ || !submitted_.empty(); });
      if (submitted_.empty()) return;
      chunk = std::move(submitted_.front());
      submitted_.pop_front();
    }
    // Work that was enqueued before an error still uses the lane's memory.
    if (!chunk->status.ok() && chunk->lane->queue->record(&chunk->done).ok())
      (void)chunk->done->wait();
    else if (chunk->done)
      chunk->status = chunk->done->wait();
    if (chunk->status.ok())
      settle(*chunk);
    else
      give_up(*chunk, chunk->status);
    JpegBatch& batch = *chunk->batch;
    bool is_last = false;
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(chunk->lane));
      is_last = --batch.left == 0;
    }
    if (is_last) batches_.end(batch);
    start_waiting();
  }
}

void DeviceLanes::settle(Chunk& chunk) {
  for (size_t i = 0; i < chunk.entries.size(); ++i) {
    Chunk::Entry& entry = chunk.entries[i];
    const bool is_decoded =
        entry.item->is_sound() &&
        (entry.measured == 0 || (entry.by_device && entry.item->settle(chunk.results()[i])));
    if (is_decoded)
      entry.item->finish(batches_.options_, entry.block, entry.pixels);
    else if (entry.item->is_sound())
      decode_again(chunk, i);
    else
      unref(entry.block);
  }
}

// What the device has not decoded, the CPU decodes: libjpeg alone says what is damaged.
void DeviceLanes::decode_again(Chunk& chunk, size_t i) {
  Chunk::Entry& entry = chunk.entries[i];
  JpegItem& item = *entry.item;
  const PixelPlan& plan = item.plan();
  Device& device = *engine_.device;
  Queue& queue = *chunk.lane->queue;
  std::unique_ptr<Memory> levels;
  Status status = allocate_host_memory(plan.level_bytes, &levels);
  if (status.ok()) {
    auto* const host = static_cast<uint8_t*>(levels->data());
    if (!item.decode(batches_.options_, host)) return unref(entry.block);
    const auto bytes = static_cast<ptrdiff_t>(plan.level_bytes);
    status = device.upload(queue, {.dst = entry.levels,
                                   .dst_pitch = bytes,
                                   .src = host,
                                   .src_pitch = bytes,
                                   .row_bytes = plan.level_bytes,
                                   .rows = 1});
  }
  if (status.ok() && batches_.options_.output != CT_OUTPUT_LEVELS) {
    uint8_t* const planes =
        plan.plane_bytes > 0 ? static_cast<uint8_t*>(chunk.lane->planes->data()) + entry.planes_at
                             : nullptr;
    const PixelJobs jobs = jobs_of(plan, item.tables(), entry.levels, planes, entry.pixels);
    for (int k = 0; k < jobs.dct_count && status.ok(); ++k)
      status = cuda_dct8x8_ops().submit(device, queue, jobs.dct[static_cast<size_t>(k)], nullptr);
    if (status.ok() && jobs.has_rgb)
      status = cuda_rgb_ops().submit(device, queue, jobs.rgb, nullptr);
  }
  FencePtr done;
  if (status.ok()) status = queue.record(&done);
  if (status.ok()) status = done->wait();
  if (status.ok()) return item.finish(batches_.options_, entry.block, entry.pixels);
  unref(entry.block);
  item.fail(status);
}

void DeviceLanes::give_up(Chunk& chunk, const Status& why) {
  for (Chunk::Entry& entry : chunk.entries) {
    unref(entry.block);
    if (entry.item->is_sound()) entry.item->fail(why);
  }
}

#else

DeviceLanes::DeviceLanes(JpegBatches& batches) : batches_(batches), engine_(batches.engine_) {}
DeviceLanes::~DeviceLanes() = default;
Status DeviceLanes::make(JpegBatches&, std::unique_ptr<DeviceLanes>*) {
  return Status::error(StatusCode::kNotFound, "this build has no CUDA engine (-Dcuda=disabled)");
}
void DeviceLanes::add(JpegBatch&) {}

#endif

}  // namespace cudatransform::core
