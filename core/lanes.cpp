// The lanes of a CUDA device: each processes one chunk of pictures at a time, concurrently.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/lanes.h"

#include <new>
#include <utility>

#include "core/engine.h"

#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::core {
namespace {

// While the CPU packs for one, the device works on others.
constexpr int kLanes = 6;
// Of a lane's memory of each kind, kept when nothing is under way for long.
constexpr size_t kMaxKept = size_t{1} << 22;

// The status of a chunk's step. No exception leaves it: it would end the process, or lose the lane.
template <typename Step>
Status status_of(const Step& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

#if !CT_HAVE_CUDA
Status make_cuda_queue(Device&, std::unique_ptr<Queue>*) {
  return Status::error(StatusCode::kNotFound, "built without CUDA (-Dcuda=disabled)");
}
Status finish_cuda_queue(Queue&) { return {}; }
#endif

}  // namespace

Status finish(Queue& queue, const Status& status) {
  const Status waited = finish_cuda_queue(queue);
  return status.ok() ? waited : status;
}

Status Lanes::make(Device& device, Threads& threads, std::unique_ptr<Lanes>* made) {
  std::unique_ptr<Lanes> lanes(new Lanes(threads));
  for (int i = 0; i < kLanes; ++i) {
    auto lane = std::make_unique<Lane>();
    CT_RETURN_IF_ERROR(make_cuda_queue(device, &lane->queue));
    lanes->idle_.push_back(std::move(lane));
  }
  lanes->collector_ = std::thread([all = lanes.get()] { all->collect(); });
  *made = std::move(lanes);
  return {};
}

Lanes::~Lanes() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (collector_.joinable()) collector_.join();
}

void Lanes::add(std::unique_ptr<Chunk> chunk) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(chunk));
  }
  start_waiting();
}

// Gives idle lanes to waiting chunks.
void Lanes::start_waiting() {
  while (true) {
    auto running = std::make_unique<Running>();
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty() || idle_.size() <= callers_) return;
      running->chunk = std::move(waiting_.front());
      waiting_.pop_front();
      running->lane = std::move(idle_.back());
      running->lane->is_alone = false;
      idle_.pop_back();
    }
    start(running.release());
  }
}

void Lanes::start(Running* running) {
  running->status = status_of([&] { return running->chunk->place(*running->lane); });
  if (!running->status.ok()) return submit(running);
  threads_.run(
      running->chunk->count(), [running](size_t i) { running->chunk->pack(*running->lane, i); },
      [this, running] { submit(running); });
}

void Lanes::submit(Running* running) {
  std::unique_ptr<Running> own(running);
  if (own->status.ok()) own->status = status_of([&] { return own->chunk->submit(*own->lane); });
  if (own->status.ok()) own->status = own->lane->queue->record(&own->done);
  {
    const std::lock_guard lock(mutex_);
    submitted_.push_back(std::move(own));
  }
  wake_.notify_one();
}

// The thread of results.
void Lanes::collect() {
  while (true) {
    std::unique_ptr<Running> running;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ends_ || !submitted_.empty(); });
      if (submitted_.empty()) return;
      running = std::move(submitted_.front());
      submitted_.pop_front();
    }
    const Status status = running->status.ok() ? running->done->wait()
                                               : finish(*running->lane->queue, running->status);
    running->chunk->settle(*running->lane, status);
    give(std::move(running->lane));
    running->chunk->end();
  }
}

void Lanes::give(std::unique_ptr<Lane> lane) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(lane));
  }
  idle_wake_.notify_one();
  start_waiting();
}

void Lanes::trim() {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Lane>& lane : idle_)
    for (std::unique_ptr<Memory>* memory :
         {&lane->pinned, &lane->qcoefs, &lane->planes, &lane->files})
      if (*memory && (*memory)->size() > kMaxKept) memory->reset();
}

void Lanes::run(Chunk& chunk) {
  std::unique_ptr<Lane> lane;
  {
    std::unique_lock lock(mutex_);
    ++callers_;
    idle_wake_.wait(lock, [&] { return !idle_.empty(); });
    --callers_;
    lane = std::move(idle_.back());
    lane->is_alone = idle_.size() == kLanes;
    idle_.pop_back();
  }
  Status status = status_of([&] { return chunk.place(*lane); });
  for (size_t i = 0; i < chunk.count() && status.ok(); ++i) chunk.pack(*lane, i);
  if (status.ok()) status = status_of([&] { return chunk.submit(*lane); });
  chunk.settle(*lane, finish(*lane->queue, status));
  give(std::move(lane));
  chunk.end();
}

}  // namespace cudatransform::core
