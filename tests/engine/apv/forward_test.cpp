// The forward transform of APV on every engine against its definition by matrices: all depths,
// kinds of samples, sizes and quantizers; and jobs that validate() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/apv/forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/apv/definition.h"
#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

using Coefs = std::vector<int16_t>;
using Bytes = std::vector<uint8_t>;

struct Case {
  int depth = 10, shift = 0, components = 3;
  SampleType type = SampleType::kU16;
  int width = 64, height = 32;  // of component 0; others are half as wide
  int pad = 0;                  // samples between rows
  int step = 1;
  uint32_t seed = 1;
  std::function<int(std::mt19937&)> sample = [](std::mt19937& r) {
    return static_cast<int>(r() % 65536);
  };
  bool is_quantized = true;
  int qp = 20, rounding = 212;
  std::function<int(std::mt19937&)> weight = [](std::mt19937&) { return 16; };
};

class Picture {
 public:
  explicit Picture(const Case& of) : case_(of), random_(of.seed) {
    job_.depth = of.depth;
    job_.shift = of.shift;
    job_.is_quantized = of.is_quantized;
    job_.components = of.components;
    for (int c = 0; c < of.components; ++c) make_plane(c);
  }

  Coefs define(int component) const {
    const ApvForwardPlane& plane = job_.plane[component];
    Coefs all(kBorder, kFill);
    for (int by = 0; by < plane.blocks_down; ++by) {
      for (int bx = 0; bx < plane.blocks_across; ++bx) {
        int samples[64];
        for (int i = 0; i < 64; ++i) {
          samples[i] = sample_at(component, std::min(8 * bx + i % 8, plane.width - 1),
                                 std::min(8 * by + i / 8, plane.height - 1));
        }
        const auto block = define_apv_forward(samples, job_.depth,
                                              job_.is_quantized ? &plane.quantization : nullptr);
        all.insert(all.end(), block.begin(), block.end());
      }
    }
    all.insert(all.end(), kBorder, kFill);
    return all;
  }

  Status run(const Engine& engine, std::vector<Coefs>* results) const {
    Device& device = *engine.device;
    ApvForwardJob job = job_;
    std::unique_ptr<Memory> samples[kMaxApvComponents], coefs[kMaxApvComponents];
    Queue& up = device.queue(QueueKind::kUpload);
    for (int c = 0; c < job.components; ++c) {
      ApvForwardPlane& plane = job.plane[c];
      const Coefs before(size_t{2} * kBorder + coef_count(plane), kFill);
      const size_t bytes = 2 * before.size();
      CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, samples_[c].size(), &samples[c]));
      CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, bytes, &coefs[c]));
      CT_RETURN_IF_ERROR(device.upload(
          up, copy_of_bytes(samples[c]->data(), samples_[c].data(), samples_[c].size())));
      CT_RETURN_IF_ERROR(device.upload(up, copy_of_bytes(coefs[c]->data(), before.data(), bytes)));
      plane.samples = samples[c]->data();
      plane.coefs = static_cast<int16_t*>(coefs[c]->data()) + kBorder;
    }
    CT_RETURN_IF_ERROR(submit_and_wait(engine, *engine.apv_forward_ops, job));
    Queue& down = device.queue(QueueKind::kDownload);
    for (int c = 0; c < job.components; ++c) {
      Coefs& result = results->emplace_back(size_t{2} * kBorder + coef_count(job.plane[c]));
      CT_RETURN_IF_ERROR(
          device.download(down, copy_of_bytes(result.data(), coefs[c]->data(), 2 * result.size())));
    }
    FencePtr done;
    CT_RETURN_IF_ERROR(down.record(&done));
    return done->wait();
  }

  const ApvForwardJob& job() const { return job_; }

 private:
  static constexpr int kBorder = 64;
  static constexpr int16_t kFill = 0x5A5A;

  static size_t coef_count(const ApvForwardPlane& plane) {
    return size_t{64} * static_cast<size_t>(plane.blocks_across * plane.blocks_down);
  }

  void make_plane(int c) {
    ApvForwardPlane& plane = job_.plane[c];
    plane.type = case_.type;
    plane.width = std::max(case_.width / (c == 0 ? 1 : 2), 1);
    plane.height = case_.height;
    plane.blocks_across = (plane.width + 7) / 8 + static_cast<int>(random_() % 2);
    plane.blocks_down = (plane.height + 7) / 8 + static_cast<int>(random_() % 2);
    const int bytes = case_.type == SampleType::kU8 ? 1 : 2;
    plane.step = case_.step;
    const int row = plane.step * (plane.width - 1) + 1;
    plane.pitch = ptrdiff_t{bytes} * (row + case_.pad);
    // No row follows the last one.
    samples_[c].resize(
        static_cast<size_t>(plane.pitch * (plane.height - 1) + ptrdiff_t{bytes} * row));
    for (size_t i = 0; i + static_cast<size_t>(bytes) <= samples_[c].size();
         i += static_cast<size_t>(bytes)) {
      const int sample = case_.sample(random_);
      const auto container = static_cast<uint16_t>(sample);
      std::memcpy(&samples_[c][i], &container, static_cast<size_t>(bytes));
    }
    plane.quantization.qp = case_.qp;
    plane.quantization.rounding = case_.rounding;
    for (uint8_t& weight : plane.quantization.matrix)
      weight = static_cast<uint8_t>(case_.weight(random_));
  }

  int sample_at(int component, int x, int y) const {
    const ApvForwardPlane& plane = job_.plane[component];
    const uint8_t* const row = samples_[component].data() + y * plane.pitch;
    x *= plane.step;
    if (plane.type == SampleType::kU8) return row[x] << (job_.depth - 8);
    return std::min((row[2 * x] | row[2 * x + 1] << 8) >> job_.shift, (1 << job_.depth) - 1);
  }

  const Case case_;
  std::mt19937 random_;
  ApvForwardJob job_;
  Bytes samples_[kMaxApvComponents];
};

void expect_definition(const Case& of) {
  for (const Engine& engine : engines_with(&Engine::apv_forward_ops)) {
    Case possible = of;
    possible.is_quantized &= engine.apv_forward_ops->quantizes;
    const Picture picture(possible);
    SCOPED_TRACE(engine.name + ", " + std::to_string(of.width) + "x" + std::to_string(of.height) +
                 ", " + std::to_string(of.depth) + " bits, qp " + std::to_string(of.qp) +
                 ", seed " + std::to_string(of.seed));
    std::vector<Coefs> results;
    const Status status = picture.run(engine, &results);
    ASSERT_TRUE(status.ok()) << status.message;
    for (int c = 0; c < of.components; ++c)
      ASSERT_EQ(results[static_cast<size_t>(c)], picture.define(c)) << "component " << c;
  }
}

TEST(ApvForward, Depths) {
  for (int depth = kMinApvDepth; depth <= kMaxApvDepth; ++depth) {
    for (const SampleType type : {SampleType::kU8, SampleType::kU16}) {
      for (const bool is_quantized : {false, true}) {
        Case of;
        of.depth = depth;
        of.type = type;
        of.shift = depth % 2 == 0 ? 16 - depth : 0;
        of.is_quantized = is_quantized;
        expect_definition(of);
      }
    }
  }
}

TEST(ApvForward, Sizes) {
  std::mt19937 random(2);
  for (uint32_t i = 0; i < (quick() ? 30u : 200u); ++i) {
    Case of;
    of.seed = i;
    of.type = i % 3 == 0 ? SampleType::kU8 : SampleType::kU16;
    of.width = 1 + static_cast<int>(random() % 150);
    of.height = 1 + static_cast<int>(random() % 60);
    of.pad = static_cast<int>(random() % 3) * static_cast<int>(random() % 9);
    of.components = 1 + static_cast<int>(random() % 4);
    of.step = i % 2 == 0 ? 1 : 1 + static_cast<int>(random() % kMaxApvStep);
    expect_definition(of);
  }
}

// Every quantization parameter, with all weights: products of more than 32 bits, and coefficients
// that are limited to 16.
TEST(ApvForward, Quantizers) {
  for (int depth = kMinApvDepth; depth <= kMaxApvDepth; depth += 2) {
    for (int qp = 0; qp <= max_apv_qp(depth); qp += quick() ? 7 : 1) {
      Case of;
      of.depth = depth;
      of.qp = qp;
      of.seed = static_cast<uint32_t>(qp);
      of.rounding = static_cast<int>(of.seed * 31 % 513);
      const int least = qp % 3 + 1;
      of.weight = [least](std::mt19937& r) {
        return std::clamp(least + static_cast<int>(r() % 8 == 0 ? r() % 256 : r() % 4), 1, 255);
      };
      expect_definition(of);
    }
  }
}

// Blocks that have the largest coefficients.
TEST(ApvForward, Extremes) {
  for (int depth = kMinApvDepth; depth <= kMaxApvDepth; ++depth) {
    for (uint32_t seed = 0; seed < 64; seed += quick() ? 5 : 1) {
      Case of;
      of.depth = depth;
      of.qp = 0;
      of.seed = seed;
      of.is_quantized = seed % 2 == 0;
      of.sample = [n = 0u, seed, depth](std::mt19937&) mutable {
        const uint32_t x = n++ % 64;
        return (x * seed / 8 % 2 != 0) != (n / 512 % 2 != 0) ? 0 : (1 << depth) - 1;
      };
      expect_definition(of);
    }
  }
}

TEST(ApvForward, RefusedJobs) {
  const Picture picture(Case{});
  alignas(16) int16_t coefs[64] = {};
  const uint16_t samples[64] = {};
  const auto sound = [&] {
    ApvForwardJob job = picture.job();
    for (ApvForwardPlane& plane : job.plane) {
      plane.coefs = coefs;
      plane.samples = samples;
    }
    return job;
  };
  EXPECT_TRUE(validate(sound()).ok());
  const std::function<void(ApvForwardJob&)> faults[] = {
      [](ApvForwardJob& job) { job.depth = 9; },
      [](ApvForwardJob& job) { job.depth = 17; },
      [](ApvForwardJob& job) { job.shift = 7; },
      [](ApvForwardJob& job) { job.shift = -1; },
      [](ApvForwardJob& job) { job.components = 0; },
      [](ApvForwardJob& job) { job.components = 5; },
      [](ApvForwardJob& job) { job.plane[1].blocks_across = 0; },
      [](ApvForwardJob& job) { job.plane[1].blocks_down = INT32_MAX; },
      [](ApvForwardJob& job) { job.plane[2].width = 1000; },
      [](ApvForwardJob& job) { job.plane[2].height = 0; },
      [](ApvForwardJob& job) { job.plane[0].coefs = nullptr; },
      [](ApvForwardJob& job) { ++job.plane[0].coefs; },
      [](ApvForwardJob& job) { job.plane[0].samples = nullptr; },
      [](ApvForwardJob& job) { job.plane[0].type = SampleType::kS16; },
      [](ApvForwardJob& job) { job.plane[0].pitch = 2 * job.plane[0].width - 2; },
      [](ApvForwardJob& job) { job.plane[0].step = 0; },
      [](ApvForwardJob& job) { job.plane[0].step = kMaxApvStep + 1; },
      [](ApvForwardJob& job) { job.plane[0].step = 2; },
      [](ApvForwardJob& job) { ++job.plane[0].pitch; },
      [](ApvForwardJob& job) { job.plane[2].quantization.qp = 64; },
      [](ApvForwardJob& job) { job.plane[2].quantization.qp = -1; },
      [](ApvForwardJob& job) { job.plane[2].quantization.rounding = 513; },
      [](ApvForwardJob& job) { job.plane[2].quantization.matrix[63] = 0; },
  };
  for (size_t i = 0; i < std::size(faults); ++i) {
    ApvForwardJob job = sound();
    faults[i](job);
    const Status status = validate(job);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << i;
    EXPECT_FALSE(status.message.empty()) << i;
  }
}

}  // namespace
}  // namespace cudatransform::test
