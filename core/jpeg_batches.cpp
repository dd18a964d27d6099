// Batches of JPEG files on their way to pixels or quantized coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/jpeg_batches.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "core/decode_chunk.h"

namespace cudatransform::core {
namespace {

constexpr int kBatches = 3;

}  // namespace

JpegBatches::JpegBatches(CtEngine& engine, const CtDecodeOptions& options)
    : engine_(engine), options_(options) {}

Status JpegBatches::make(CtEngine& engine, const CtDecodeOptions& options,
                         std::unique_ptr<JpegBatches>* made) {
  std::unique_ptr<JpegBatches> batches(new JpegBatches(engine, options));
  if (engine.is_cuda()) CT_RETURN_IF_ERROR(DecodeChunk::probe(*engine.device));
  *made = std::move(batches);
  return {};
}

JpegBatches::~JpegBatches() {
  while (oldest_count() > 0) {
    (void)wait(-1);
    take(nullptr);
  }
}

std::unique_ptr<JpegBatch> JpegBatches::new_batch(std::span<const CtSource> sources) {
  std::unique_ptr<JpegBatch> batch;
  {
    std::unique_lock lock(mutex_);
    const auto most = static_cast<size_t>(options_.batches > 0 ? options_.batches : kBatches);
    done_.wait(lock, [&] { return under_way_.size() < most; });
    if (!idle_.empty()) {
      batch = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!batch) batch = std::make_unique<JpegBatch>();
  batch->count = sources.size();
  batch->left = 0;
  batch->is_done = false;
  while (batch->items.size() < sources.size()) batch->items.push_back(std::make_unique<JpegItem>());
  return batch;
}

void JpegBatches::push(std::span<const CtSource> sources) {
  std::unique_ptr<JpegBatch> made = new_batch(sources);
  JpegBatch* const batch = made.get();
  {
    const std::lock_guard lock(mutex_);
    under_way_.push_back(std::move(made));
  }
  if (sources.empty()) return end(*batch);
  const auto own = std::make_shared<std::vector<CtSource>>(sources.begin(), sources.end());
  const auto work = [this, batch, own](size_t i) { prepare(*batch->items[i], (*own)[i]); };
  engine_.threads->run(sources.size(), work, [this, batch] { go_on(*batch); });
}

// After prepare() of all files.
void JpegBatches::go_on(JpegBatch& batch) {
  share_block(batch);
  if (engine_.lanes) return divide(batch);
  if (options_.stack == 0) return end(batch);
  const auto work = [this, &batch](size_t i) { decode_stacked(batch, i); };
  engine_.threads->run(batch.count, work, [this, &batch] { end(batch); });
}

void JpegBatches::prepare(JpegItem& item, const CtSource& source) const {
  try {
    item.open(source, options_, options_.stack != 0 || !engine_.lanes);
    if (engine_.lanes)
      item.measure();
    else if (options_.stack == 0)
      decode_on_host(item, nullptr, nullptr);
  } catch (const std::bad_alloc&) {
    item.fail(no_memory());
  }
}

// Into chunks, for a device.
void JpegBatches::divide(JpegBatch& batch) {
  const auto end_one = [this, &batch] {
    if (--batch.left == 0) end(batch);
  };
  std::vector<std::unique_ptr<DecodeChunk>> chunks;
  for (size_t i = 0; i < batch.count; ++i) {
    JpegItem& item = *batch.items[i];
    if (!item.is_sound()) continue;
    if (batch.stack != nullptr) ref(batch.stack);
    uint8_t* const pixels =
        batch.stack != nullptr ? batch.stack->data() + i * item.plan().pixel_bytes : nullptr;
    if (!chunks.empty() && chunks.back()->add(item, batch.stack, pixels)) continue;
    chunks.push_back(std::make_unique<DecodeChunk>(engine_, options_, end_one));
    (void)chunks.back()->add(item, batch.stack, pixels);
  }
  if (chunks.empty()) return end(batch);
  batch.left = chunks.size();
  for (std::unique_ptr<DecodeChunk>& chunk : chunks) engine_.lanes->add(std::move(chunk));
}

void JpegBatches::decode_now(const CtSource& source, CtPicture* picture) {
  std::unique_ptr<JpegItem> item = engine_.items->take();
  prepare(*item, source);
  if (item->is_sound() && engine_.lanes) {
    DecodeChunk chunk(engine_, options_, [] {});
    (void)chunk.add(*item, nullptr, nullptr);
    engine_.lanes->run(chunk);
  } else if (item->is_sound() && options_.stack != 0) {
    decode_on_host(*item, nullptr, nullptr);
  }
  *picture = item->picture();
  engine_.items->give(std::move(item));
}

void JpegBatches::decode_stacked(JpegBatch& batch, size_t i) const {
  JpegItem& item = *batch.items[i];
  CtBlock* const block = batch.stack;
  if (block != nullptr) ref(block);
  try {
    decode_on_host(item, block,
                   block != nullptr ? block->data() + i * item.plan().pixel_bytes : nullptr);
  } catch (const std::bad_alloc&) {
    item.fail(no_memory());
  }
}

// `block`: that takes the pixels (transferred), at `to`; null: a new one.
void JpegBatches::decode_on_host(JpegItem& item, CtBlock* block, uint8_t* to) const {
  if (!item.is_sound()) return unref(block);
  static thread_local std::unique_ptr<Memory> kept;
  if (options_.output != CT_OUTPUT_COEFFICIENTS) {
    uint8_t* const qcoefs = make_host_room(item.plan().qcoef_bytes, &kept);
    Status status = qcoefs != nullptr ? Status() : no_memory();
    if (status.ok() && !item.decode(options_, qcoefs)) return unref(block);
    if (status.ok() && block == nullptr) {
      status = engine_.blocks->take(item.plan().pixel_bytes, &block);
      if (status.ok()) to = block->data();
    }
    if (status.ok()) status = make_pixels(item, qcoefs, to);
    if (status.ok()) return item.finish(options_, block, to);
    unref(block);
    return item.fail(status);
  }
  if (const Status status = engine_.blocks->take(item.plan().qcoef_bytes, &block); !status.ok())
    return item.fail(status);
  if (item.decode(options_, block->data()))
    item.finish(options_, block, block->data());
  else
    unref(block);
}

Status JpegBatches::make_pixels(const JpegItem& item, uint8_t* qcoefs, uint8_t* pixels) const {
  static thread_local std::unique_ptr<Memory> kept;
  uint8_t* planes = nullptr;
  if (item.plan().plane_bytes > 0) {
    planes = make_host_room(item.plan().plane_bytes, &kept);
    if (planes == nullptr) return no_memory();
  }
  Device& host = *engine_.host;
  return submit(host, host.queue(QueueKind::kCompute),
                jobs_of(item.plan(), item.tables(), qcoefs, planes, pixels));
}

// One block for all pictures, if they are sound and of one size.
void JpegBatches::share_block(JpegBatch& batch) const {
  if (options_.stack == 0 || options_.output == CT_OUTPUT_COEFFICIENTS) return;
  const PixelPlan& first = batch.items[0]->plan();
  const bool are_alike = std::all_of(
      batch.used().begin(), batch.used().end(), [&](const std::unique_ptr<JpegItem>& item) {
        const PixelPlan& plan = item->plan();
        return item->is_sound() && !plan.is_part && plan.output_width() == first.output_width() &&
               plan.output_height() == first.output_height() && plan.channels == first.channels;
      });
  if (are_alike) (void)engine_.blocks->take(first.pixel_bytes * batch.count, &batch.stack);
}

void JpegBatches::end(JpegBatch& batch) {
  unref(std::exchange(batch.stack, nullptr));
  const std::lock_guard lock(mutex_);
  batch.is_done = true;
  done_.notify_all();
}

bool JpegBatches::wait(int32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return under_way_.front()->is_done; };
  if (timeout_ms >= 0) return done_.wait_for(lock, std::chrono::milliseconds(timeout_ms), is_done);
  done_.wait(lock, is_done);
  return true;
}

size_t JpegBatches::oldest_count() {
  const std::lock_guard lock(mutex_);
  if (under_way_.empty()) return 0;
  return std::max<size_t>(under_way_.front()->count, 1);
}

void JpegBatches::take(CtPicture* pictures) {
  std::unique_ptr<JpegBatch> batch;
  {
    const std::lock_guard lock(mutex_);
    batch = std::move(under_way_.front());
    under_way_.pop_front();
  }
  for (size_t i = 0; i < batch->count; ++i) {
    CtPicture& picture = batch->items[i]->picture();
    if (pictures != nullptr)
      pictures[i] = picture;
    else
      ct_picture_clear(&picture);
    picture = {};
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(batch));
  done_.notify_all();
}

}  // namespace cudatransform::core
