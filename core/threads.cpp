// Worker threads of an engine.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/threads.h"

#include <system_error>
#include <utility>

namespace cudatransform::core {

Threads::Threads(int count) : count_(count) {}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Threads::run(size_t count, std::function<void(size_t)> work, std::function<void()> done) {
  (void)begin(count, std::move(work), std::move(done));
}

void Threads::run_here(size_t count, const std::function<void(size_t)>& work) {
  if (count <= 1 || count_ == 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  const auto latch = std::make_shared<Latch>(1);
  const std::shared_ptr<Loop> loop = begin(count, work, [latch] { latch->step(); });
  iterate(*loop);
  latch->wait();
}

std::shared_ptr<Threads::Loop> Threads::begin(size_t count, std::function<void(size_t)> work,
                                              std::function<void()> done) {
  const auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->work = std::move(work);
  loop->done = std::move(done);
  loop->left = count;
  if (!start_threads()) {
    iterate(*loop);
    return loop;
  }
  {
    const std::lock_guard lock(mutex_);
    loops_.push_back(loop);
  }
  if (count == 1)
    wake_.notify_one();
  else
    wake_.notify_all();
  return loop;
}

// False: there are none, and the caller has to do the work.
bool Threads::start_threads() {
  const std::lock_guard lock(mutex_);
  try {
    while (threads_.size() < static_cast<size_t>(count_))
      threads_.emplace_back([this] { this->work(); });
  } catch (const std::system_error&) {  // a limit of the process; fewer are enough
  }
  return !threads_.empty();
}

// The first loop with iterations that have not begun; null at the end.
std::shared_ptr<Threads::Loop> Threads::wait_for_loop() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    while (!loops_.empty() && loops_.front()->next >= loops_.front()->count) loops_.pop_front();
    if (!loops_.empty()) return loops_.front();
    wake_.wait(lock);
  }
  return nullptr;
}

void Threads::iterate(Loop& loop) {
  for (size_t i = loop.next++; i < loop.count; i = loop.next++) {
    loop.work(i);
    if (--loop.left == 0) loop.done();
  }
}

void Threads::work() {
  while (const std::shared_ptr<Loop> loop = wait_for_loop()) iterate(*loop);
}

}  // namespace cudatransform::core
