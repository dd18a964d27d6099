// Transforms interleaved on one device and one queue: none gets another's kernels or kept objects.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <vector>

#include "tests/engine/engines.h"
#include "tests/tiny/tiny.h"

namespace cudatransform::test {
namespace {

constexpr int kSize = 64, kBlocks = kSize / 8;
constexpr int kTurns = 1100;  // more than the tiny transform has numbers of kernels

using Bytes = std::vector<uint8_t>;

// A picture in device memory, each transform's output for it, and a host that can read it.
class Bench {
 public:
  explicit Bench(const Engine& engine)
      : engine_(engine), device_(*engine.device), queue_(device_.queue(QueueKind::kCompute)) {
    engine.activate();
    Bytes picture(kSize * kSize);
    for (size_t i = 0; i < picture.size(); ++i)
      picture[i] = static_cast<uint8_t>(i * i / 7 + 31 * (i / kSize));
    for (auto* memory : {&picture_, &masked_})
      EXPECT_TRUE(device_.allocate(MemoryKind::kDevice, picture.size(), memory).ok());
    for (auto* memory : {&levels_, &pyramid_})
      EXPECT_TRUE(device_.allocate(MemoryKind::kDevice, 2 * picture.size(), memory).ok());
    EXPECT_TRUE(
        device_.upload(queue_, {picture_->data(), kSize, picture.data(), kSize, kSize, kSize})
            .ok());
  }

  void transform() {
    Dct8x8Job job;
    job.components = 1;
    job.samples[0] = plane_of(*picture_);
    job.coefs[0] = {levels_->data(), kSize * 8 * 2, kBlocks, kBlocks, 0};
    job.tables[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 75);
    const Status status = engine_.ops->submit(device_, queue_, job, nullptr);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  void wavelet() {
    if (engine_.dwt_ops == nullptr) return;
    DwtJob job;
    job.components = 1;
    job.samples[0] = plane_of(*picture_);
    job.coefs[0] = {pyramid_->data(), 2 * kSize};
    const Status status = engine_.dwt_ops->submit(device_, queue_, job, nullptr);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  void mask(uint8_t with) {
    TinyJob job;
    job.components = 1;
    job.from[0] = plane_of(*picture_);
    job.to[0] = plane_of(*masked_);
    job.mask = with;
    const Status status = ops().submit(device_, queue_, job, nullptr);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  // The outputs after all submitted work; clears them.
  Bytes take() {
    Bytes all(5 * kSize * kSize);
    move(*levels_, 2 * kSize, all.data());
    move(*pyramid_, 2 * kSize, all.data() + 2 * kSize * kSize);
    move(*masked_, kSize, all.data() + 4 * kSize * kSize);
    FencePtr done;
    EXPECT_TRUE(queue_.record(&done).ok());
    EXPECT_TRUE(done->wait().ok());
    return all;
  }

 private:
  static SamplePlane plane_of(const Memory& memory) {
    SamplePlane plane;
    plane.data = memory.data();
    plane.pitch = plane.width = plane.height = kSize;
    return plane;
  }
  const TinyOps& ops() const {
#ifdef CT_HAVE_CUDA
    if (engine_.is_cuda) return cuda_tiny_ops();
#endif
    return host_tiny_ops();
  }
  void move(const Memory& from, size_t row_bytes, uint8_t* to) {
    const auto pitch = static_cast<ptrdiff_t>(row_bytes);
    EXPECT_TRUE(device_.download(queue_, {to, pitch, from.data(), pitch, row_bytes, kSize}).ok());
    const Bytes zeros(row_bytes * kSize);
    EXPECT_TRUE(
        device_.upload(queue_, {from.data(), pitch, zeros.data(), pitch, row_bytes, kSize}).ok());
  }

  const Engine& engine_;
  Device& device_;
  Queue& queue_;
  std::unique_ptr<Memory> picture_, levels_, pyramid_, masked_;
};

TEST(Device, TwoTransformsByTurns) {
  for (const Engine& engine : engines()) {
    Bench bench(engine);
    bench.take();
    bench.transform();
    const Bytes transformed = bench.take();
    EXPECT_NE(transformed, Bytes(transformed.size()));
    bench.mask(0x5a);
    const Bytes masked = bench.take();
    EXPECT_NE(masked, Bytes(masked.size()));
    bench.wavelet();
    const Bytes pyramid = bench.take();
    EXPECT_EQ(pyramid == Bytes(pyramid.size()), engine.dwt_ops == nullptr);
    Bytes all = transformed;
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<uint8_t>(all[i] | masked[i] | pyramid[i]);
    for (int turn = 0; turn < kTurns; ++turn) {
      bench.mask(0x5a);
      if (quick() && turn % 10 != 0 && turn < kTurns - 10) continue;
      bench.transform();
      bench.wavelet();
      if (turn % 100 != 0 && turn < kTurns - 10) continue;
      ASSERT_EQ(bench.take(), all) << engine.name << ", turn " << turn;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
