// Devices: memory, copies, queues, fences, timers, and jobs in flight together.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/dct8x8/judge.h"
#include "transform/device/host_device.h"

namespace cudatransform::test {
namespace {

TEST(Device, NamesAndMemory) {
  for (const Engine& engine : engines()) {
    Device& device = *engine.device;
    EXPECT_STRNE(device.name(), "");
    EXPECT_EQ(device.is_host(), !engine.is_cuda);
    EXPECT_STRNE(engine.ops->name, "");
    for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinned})
      for (const size_t bytes : {size_t{1}, size_t{63}, size_t{4097}}) {
        std::unique_ptr<Memory> memory;
        const Status status = device.allocate(kind, bytes, &memory);
        ASSERT_TRUE(status.ok()) << status.message;
        EXPECT_GE(memory->size(), bytes);
        EXPECT_NE(memory->data(), nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 64, 0u) << engine.name;
      }
  }
}

// More than any machine has: an answer, not an abort.
TEST(Device, OutOfMemory) {
  for (const Engine& engine : engines())
    for (const size_t bytes :
         {std::numeric_limits<size_t>::max(), size_t{std::numeric_limits<ptrdiff_t>::max()} - 100,
          size_t{1} << 60}) {
      std::unique_ptr<Memory> memory;
      const Status status = engine.device->allocate(MemoryKind::kDevice, bytes, &memory);
      EXPECT_EQ(status.code, StatusCode::kOutOfMemory) << engine.name << " " << bytes;
      EXPECT_NE(status.message, "");
      EXPECT_EQ(memory, nullptr);
    }
}

// The engine makes no more threads than cores, so the name does not promise them.
TEST(Device, ThreadsAreNoMoreThanCores) {
  const std::string most = make_host_device(0)->name();
  EXPECT_EQ(make_host_device(1024)->name(), most);
}

TEST(Device, MemoryAndFencesOutliveTheDevice) {
  std::unique_ptr<Memory> memory;
  FencePtr fence;
  for (const Engine& engine : engines()) {
    if (engine.is_cuda) continue;  // the shared device stays; cuda_device_test does this
    std::unique_ptr<Device> device = make_host_device(2);
    ASSERT_TRUE(device->allocate(MemoryKind::kDevice, 100, &memory).ok());
    ASSERT_TRUE(device->queue(QueueKind::kCompute).record(&fence).ok());
    device.reset();
    std::memset(memory->data(), 1, 100);
    EXPECT_TRUE(fence->done());
    EXPECT_TRUE(fence->wait().ok());
    break;
  }
}

// Fences of a queue are done in the order in which they were made: one query resolves all earlier
// ones, and for everything that the queue has waited for.
TEST(Device, FencesKnowOfLaterOnes) {
  for (const Engine& engine : engines()) {
    Device& device = *engine.device;
    std::vector<uint8_t> bytes(1 << 20);
    std::unique_ptr<Memory> memory;
    ASSERT_TRUE(device.allocate(MemoryKind::kDevice, bytes.size(), &memory).ok());
    Queue& queue = device.queue(QueueKind::kUpload);
    FencePtr fences[4];
    for (FencePtr& fence : fences) {
      ASSERT_TRUE(
          device.upload(queue, {memory->data(), 1024, bytes.data(), 1024, 1024, 1024}).ok());
      ASSERT_TRUE(queue.record(&fence).ok());
    }
    EXPECT_EQ(fences[0]->known_done(), !engine.is_cuda) << "nobody has asked yet";
    ASSERT_TRUE(fences[2]->wait().ok());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(fences[i]->known_done()) << engine.name << " " << i;
    Queue& other = device.queue(QueueKind::kCompute);
    FencePtr before, after;
    ASSERT_TRUE(other.record(&before).ok());
    ASSERT_TRUE(other.wait_for(fences[3]).ok());
    ASSERT_TRUE(other.record(&after).ok());
    ASSERT_TRUE(before->wait().ok());
    EXPECT_EQ(fences[3]->known_done(), !engine.is_cuda) << "that one does not come after it";
    ASSERT_TRUE(after->wait().ok());
    EXPECT_TRUE(fences[3]->known_done()) << engine.name;

    // More than a queue remembers: the latest represents those before it.
    std::vector<FencePtr> many(100);
    for (FencePtr& fence : many) {
      ASSERT_TRUE(device.upload(queue, {memory->data(), 64, bytes.data(), 64, 64, 1}).ok());
      ASSERT_TRUE(queue.record(&fence).ok());
      ASSERT_TRUE(other.wait_for(fence).ok());
    }
    ASSERT_TRUE(other.record(&after).ok());
    ASSERT_TRUE(after->wait().ok());
    for (const FencePtr& fence : many) EXPECT_TRUE(fence->known_done()) << engine.name;

    for (FencePtr& fence : fences) ASSERT_TRUE(queue.record(&fence).ok());
    const auto fence_of = [&](size_t i) { return fences[i].get(); };
    while (!first_is_done(4, fence_of)) std::this_thread::yield();
    EXPECT_TRUE(fences[0]->known_done());
    int asked = 0;
    EXPECT_TRUE(first_is_done(4, [&](size_t i) { return ++asked, fences[i].get(); }));
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(first_is_done(1, [](size_t) { return static_cast<Fence*>(nullptr); }));
  }
}

TEST(Device, CopiesRectangles) {
  for (const Engine& engine : engines()) {
    Device& device = *engine.device;
    std::vector<uint8_t> source(50 * 20), back(70 * 20, 0xEE);
    std::iota(source.begin(), source.end(), 0);
    std::unique_ptr<Memory> first, second;
    ASSERT_TRUE(device.allocate(MemoryKind::kDevice, 64 * 20, &first).ok());
    ASSERT_TRUE(device.allocate(MemoryKind::kDevice, 96 * 20, &second).ok());
    Queue& up = device.queue(QueueKind::kUpload);
    Queue& work = device.queue(QueueKind::kCompute);
    Queue& down = device.queue(QueueKind::kDownload);
    FencePtr uploaded, copied, downloaded;
    ASSERT_TRUE(device.upload(up, {first->data(), 64, source.data(), 50, 37, 20}).ok());
    ASSERT_TRUE(up.record(&uploaded).ok());
    ASSERT_TRUE(work.wait_for(nullptr).ok());
    ASSERT_TRUE(work.wait_for(uploaded).ok());
    ASSERT_TRUE(device.copy(work, {second->data(), 96, first->data(), 64, 37, 20}).ok());
    ASSERT_TRUE(work.record(&copied).ok());
    ASSERT_TRUE(down.wait_for(copied).ok());
    ASSERT_TRUE(device.download(down, {back.data(), 70, second->data(), 96, 37, 20}).ok());
    ASSERT_TRUE(down.record(&downloaded).ok());
    ASSERT_TRUE(downloaded->wait().ok());
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 70; ++x)
        ASSERT_EQ(back[70 * y + x], x < 37 ? source[50 * y + x] : 0xEE)
            << engine.name << " at " << x << "," << y;
  }
}

TEST(Device, TimersMeasure) {
  for (const Engine& engine : engines()) {
    Device& device = *engine.device;
    const std::unique_ptr<Timer> timer = device.make_timer();
    ASSERT_NE(timer, nullptr);
    Queue& queue = device.queue(QueueKind::kCompute);
    std::unique_ptr<Memory> a, b;
    ASSERT_TRUE(device.allocate(MemoryKind::kDevice, 1 << 24, &a).ok());
    ASSERT_TRUE(device.allocate(MemoryKind::kDevice, 1 << 24, &b).ok());
    const std::vector<uint8_t> bytes(1 << 24, 1);
    ASSERT_TRUE(device.upload(queue, {a->data(), 1 << 24, bytes.data(), 1 << 24, 1 << 24, 1}).ok());
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(timer->begin(queue).ok());
      ASSERT_TRUE(device.copy(queue, {b->data(), 1 << 24, a->data(), 1 << 24, 1 << 24, 1}).ok());
      ASSERT_TRUE(timer->end(queue).ok());
      FencePtr fence;
      ASSERT_TRUE(queue.record(&fence).ok());
      ASSERT_TRUE(fence->wait().ok());
      uint64_t nanoseconds = 0;
      ASSERT_TRUE(timer->read_ns(&nanoseconds)) << "the work is done";
      EXPECT_GT(nanoseconds, 500u) << engine.name << ": 16 MiB cannot be that fast";
      EXPECT_LT(nanoseconds, 5'000'000'000u) << engine.name;
    }
  }
}

// Several jobs enqueued before the first is waited for: each has its own sums, and a chain of
// forward and inverse in one queue needs no wait in between.
TEST(Device, JobsInFlight) {
  constexpr int kJobs = 6;
  for (const Engine& engine : engines()) {
    engine.activate();
    Device& device = *engine.device;
    Spec spec;
    spec.measure = kMeasureSse | kMeasureZeros;
    spec.tables[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 60);
    struct Flight {
      Picture picture, decoded;
      std::unique_ptr<SampleFrame> input, output;
      std::unique_ptr<CoefFrame> coefs;
      std::unique_ptr<Memory> sums;
      FencePtr fence;
    };
    std::vector<Flight> flights(kJobs);
    for (int i = 0; i < kJobs; ++i) {
      Flight& f = flights[i];
      f.picture = make_picture(Sampling::kGray, 200 + 7 * i, 160, 8, Content::kPhoto, 70 + i);
      f.decoded = f.picture;
      f.input =
          std::make_unique<SampleFrame>(engine, f.picture, 8, Arrangement::kPlanar, 1, false, i);
      f.output = std::make_unique<SampleFrame>(engine, f.picture, 8, Arrangement::kPlanar, 1, true,
                                               i + 50);
      f.coefs = std::make_unique<CoefFrame>(engine, empty_coefficients(f.picture), CoefType::kS16,
                                            Layout::kBlock, Order::kRaster, true, i);
      f.sums = make_sums(engine);
      f.input->fill(f.picture);
      f.output->poison();
      ASSERT_TRUE(f.input->upload().ok() && f.output->upload().ok() && f.coefs->upload().ok());
    }
    FencePtr uploaded;
    ASSERT_TRUE(device.queue(QueueKind::kUpload).record(&uploaded).ok());
    Queue& queue = device.queue(QueueKind::kCompute);
    ASSERT_TRUE(queue.wait_for(uploaded).ok());
    for (Flight& f : flights) {
      Dct8x8Job job = job_of(spec, Direction::kForward, 1);
      f.input->describe(job.samples);
      f.coefs->describe(job.coefs);
      job.sums = static_cast<PictureSums*>(f.sums->data());
      FencePtr between;
      ASSERT_TRUE(engine.ops->submit(device, queue, job, &between).ok());
      job.direction = Direction::kInverse;
      job.measure = 0;
      job.sums = nullptr;
      f.output->describe(job.samples);
      ASSERT_TRUE(engine.ops->submit(device, queue, job, &f.fence).ok());
    }
    for (int i = kJobs - 1; i >= 0; --i) {
      Flight& f = flights[i];
      ASSERT_TRUE(f.fence->wait().ok());
      ASSERT_TRUE(f.output->download().ok());
      ASSERT_EQ(f.output->read(&f.decoded), "");
      PictureSums sums;
      std::memcpy(&sums, f.sums->data(), sizeof sums);
      EXPECT_EQ(judge_sse(sums, f.picture, f.decoded, true), "") << engine.name << " job " << i;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
