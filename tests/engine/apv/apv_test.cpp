// The inverse transform of APV on every engine against its definition by matrices: all depths,
// sizes, tiles and extremes; and jobs that validate() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/apv/apv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

using Coefs = std::vector<int16_t>;
using Samples = std::vector<uint16_t>;

// ---- The definition ----

constexpr int64_t kMatrix[8][8] = {
    {64, 64, 64, 64, 64, 64, 64, 64},     {89, 75, 50, 18, -18, -50, -75, -89},
    {84, 35, -35, -84, -84, -35, 35, 84}, {75, -18, -89, -50, 50, 89, 18, -75},
    {64, -64, -64, 64, 64, -64, -64, 64}, {50, -89, 18, 75, -75, -18, 89, -50},
    {35, -84, 84, -35, -35, 84, -84, 35}, {18, -50, 75, -89, 89, -75, 50, -18}};
constexpr int64_t kScale[6] = {40, 45, 51, 57, 64, 71};

int64_t shifted(int64_t value, int bits) { return (value + (int64_t{1} << (bits - 1))) >> bits; }
int64_t clip16(int64_t value) { return std::clamp<int64_t>(value, -32768, 32767); }

void define_block(const int16_t* coefs, const uint8_t* weights, int qp, int depth, uint16_t* to) {
  int64_t d[8][8], t[8][8];
  for (int i = 0; i < 64; ++i) {
    const int64_t product = coefs[i] * int64_t{weights[i]} * (kScale[qp % 6] << (qp / 6));
    d[i / 8][i % 8] = clip16(shifted(product, depth - 2));
  }
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      int64_t sum = 0;
      for (int j = 0; j < 8; ++j) sum += kMatrix[j][y] * d[j][x];
      t[y][x] = clip16(shifted(sum, 7));
    }
  }
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      int64_t sum = 0;
      for (int j = 0; j < 8; ++j) sum += kMatrix[j][x] * t[y][j];
      const int64_t sample = shifted(sum, 20 - depth) + (int64_t{1} << (depth - 1));
      to[8 * y + x] =
          static_cast<uint16_t>(std::clamp<int64_t>(sample, 0, (int64_t{1} << depth) - 1));
    }
  }
}

// ---- Cases ----

struct Case {
  int depth = 10, shift = 0, components = 3;
  int width = 64, height = 32;         // of component 0; others are half as wide
  int tile_across = 4, tile_down = 3;  // blocks of component 0, those of others half across
  int pad = 0;                         // samples between rows
  uint32_t seed = 1;
  // A coefficient, and a quantization parameter.
  std::function<int(std::mt19937&)> coef = [](std::mt19937& r) {
    return r() % 4 == 0 ? static_cast<int>(r() % 201) - 100 : 0;
  };
  int min_qp = 0, max_qp = 63;
  bool has_matrix = false;
};

class Picture {
 public:
  explicit Picture(const Case& of) : case_(of), random_(of.seed) {
    job_.depth = of.depth;
    job_.shift = of.shift;
    job_.components = of.components;
    for (int c = 0; c < of.components; ++c) make_plane(c);
    for (int c = 0; c < of.components; ++c) {
      ApvPlane& plane = job_.plane[c];
      for (uint8_t& qp : plane.qp)
        qp = static_cast<uint8_t>(
            of.min_qp +
            static_cast<int>(random_() % static_cast<unsigned>(of.max_qp - of.min_qp + 1)));
      for (uint8_t& weight : plane.matrix)
        weight = static_cast<uint8_t>(of.has_matrix ? 1 + random_() % 255 : 16);
    }
  }

  // All memory of samples, which is `filled` where no sample is written.
  Samples define(int component) const {
    const ApvPlane& plane = job_.plane[component];
    Samples all = filled(plane);
    for (int by = 0; by < plane.blocks_down; ++by) {
      for (int bx = 0; bx < plane.blocks_across; ++bx) {
        const int tile = by / plane.tile_down * job_.tile_columns + bx / plane.tile_across;
        uint16_t block[64];
        define_block(&coefs_[component][static_cast<size_t>(64 * (by * plane.blocks_across + bx))],
                     plane.matrix, plane.qp[tile], job_.depth, block);
        for (int i = 0; i < 64; ++i) {
          const int x = 8 * bx + i % 8, y = 8 * by + i / 8;
          if (x < plane.width && y < plane.height)
            all[at(plane, x, y)] = static_cast<uint16_t>(block[i] << job_.shift);
        }
      }
    }
    return all;
  }

  Status run(const Engine& engine, std::vector<Samples>* results) const {
    Device& device = *engine.device;
    ApvInverseJob job = job_;
    std::unique_ptr<Memory> coefs[kMaxApvComponents], samples[kMaxApvComponents];
    Queue& up = device.queue(QueueKind::kUpload);
    std::vector<Samples> before;
    for (int c = 0; c < job.components; ++c) {
      ApvPlane& plane = job.plane[c];
      before.push_back(filled(plane));
      const size_t coef_bytes = 2 * coefs_[c].size(),
                   bytes = 2 * before[static_cast<size_t>(c)].size();
      CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, coef_bytes, &coefs[c]));
      CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, bytes, &samples[c]));
      CT_RETURN_IF_ERROR(
          device.upload(up, copy_of_bytes(coefs[c]->data(), coefs_[c].data(), coef_bytes)));
      CT_RETURN_IF_ERROR(
          device.upload(up, copy_of_bytes(samples[c]->data(), before.back().data(), bytes)));
      plane.coefs = static_cast<const int16_t*>(coefs[c]->data());
      plane.samples = static_cast<uint16_t*>(samples[c]->data()) + at(plane, 0, 0);
    }
    CT_RETURN_IF_ERROR(submit_and_wait(engine, *engine.apv_ops, job));
    for (int c = 0; c < job.components; ++c) {
      Samples& result = results->emplace_back(before[static_cast<size_t>(c)].size());
      Queue& down = device.queue(QueueKind::kDownload);
      CT_RETURN_IF_ERROR(device.download(
          down, copy_of_bytes(result.data(), samples[c]->data(), 2 * result.size())));
    }
    FencePtr done;
    CT_RETURN_IF_ERROR(device.queue(QueueKind::kDownload).record(&done));
    return done->wait();
  }

  const ApvInverseJob& job() const { return job_; }

 private:
  static constexpr int kBorder = 8;

  void make_plane(int c) {
    ApvPlane& plane = job_.plane[c];
    const int part = c == 0 ? 1 : 2;
    plane.width = std::max(case_.width / part, 1);
    plane.height = case_.height;
    plane.blocks_across = (plane.width + 7) / 8 + static_cast<int>(random_() % 2);
    plane.blocks_down = (plane.height + 7) / 8 + static_cast<int>(random_() % 2);
    plane.tile_across = std::max(case_.tile_across / part, 1);
    plane.tile_down = case_.tile_down;
    plane.pitch = 2 * (plane.width + case_.pad);
    job_.tile_columns = std::max(job_.tile_columns,
                                 (plane.blocks_across + plane.tile_across - 1) / plane.tile_across);
    job_.tile_rows =
        std::max(job_.tile_rows, (plane.blocks_down + plane.tile_down - 1) / plane.tile_down);
    coefs_[c].resize(static_cast<size_t>(64 * plane.blocks_across * plane.blocks_down));
    for (int16_t& coef : coefs_[c])
      coef = static_cast<int16_t>(std::clamp(case_.coef(random_), -32768, 32767));
  }
  size_t at(const ApvPlane& plane, int x, int y) const {
    return static_cast<size_t>(kBorder + y * (plane.pitch / 2) + x);
  }
  Samples filled(const ApvPlane& plane) const {
    return Samples(at(plane, 0, plane.height) + kBorder, 0xA5A5);
  }

  const Case case_;
  std::mt19937 random_;
  ApvInverseJob job_;
  Coefs coefs_[kMaxApvComponents];
};

void expect_definition(const Case& of) {
  const Picture picture(of);
  for (const Engine& engine : engines_with(&Engine::apv_ops)) {
    SCOPED_TRACE(engine.name + ", " + std::to_string(of.width) + "x" + std::to_string(of.height) +
                 ", " + std::to_string(of.depth) + " bits, seed " + std::to_string(of.seed));
    std::vector<Samples> results;
    const Status status = picture.run(engine, &results);
    ASSERT_TRUE(status.ok()) << status.message;
    for (int c = 0; c < of.components; ++c)
      ASSERT_EQ(results[static_cast<size_t>(c)], picture.define(c)) << "component " << c;
  }
}

TEST(ApvInverse, Depths) {
  for (int depth = kMinApvDepth; depth <= kMaxApvDepth; ++depth) {
    Case of;
    of.depth = depth;
    of.shift = depth % 2 == 0 ? 16 - depth : 0;
    of.max_qp = max_apv_qp(depth);
    of.has_matrix = depth % 4 == 0;
    expect_definition(of);
  }
}

TEST(ApvInverse, SizesAndTiles) {
  std::mt19937 random(2);
  for (uint32_t i = 0; i < (quick() ? 30u : 200u); ++i) {
    Case of;
    of.seed = i;
    of.width = 1 + static_cast<int>(random() % 150);
    of.height = 1 + static_cast<int>(random() % 60);
    of.tile_across = 2 + static_cast<int>(random() % 9);
    of.tile_down = 1 + static_cast<int>(random() % 9);
    of.pad = static_cast<int>(random() % 3) * static_cast<int>(random() % 9);
    of.components = 1 + static_cast<int>(random() % 4);
    expect_definition(of);
  }
}

// Any 16 bits, by every quantization parameter: both clips to 16 bits, and products of more
// than 32.
TEST(ApvInverse, Extremes) {
  for (int depth = kMinApvDepth; depth <= kMaxApvDepth; ++depth) {
    for (int qp = 0; qp <= max_apv_qp(depth); qp += quick() ? 7 : 1) {
      Case of;
      of.depth = depth;
      of.min_qp = of.max_qp = qp;
      of.seed = static_cast<uint32_t>(qp);
      of.has_matrix = qp % 2 == 0;
      of.coef = [](std::mt19937& r) {
        constexpr int kEnds[] = {-32768, 32767, -32767, 1, -1, 0, 0, 0};
        return r() % 2 == 0 ? kEnds[r() % 8] : static_cast<int>(r() % 65536) - 32768;
      };
      expect_definition(of);
    }
  }
}

// Each basis function alone, with any size.
TEST(ApvInverse, SingleCoefficients) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Case of;
    of.seed = seed;
    of.width = 512;
    of.components = 1;
    of.tile_across = 32;
    of.coef = [](std::mt19937& r) {
      return r() % 64 == 0 ? static_cast<int>(r() % 4096) - 2048 : 0;
    };
    expect_definition(of);
  }
}

TEST(ApvInverse, RefusedJobs) {
  const Picture picture(Case{});
  int16_t coefs[64] = {};
  uint16_t samples[64];
  const auto sound = [&] {
    ApvInverseJob job = picture.job();
    for (ApvPlane& plane : job.plane) {
      plane.coefs = reinterpret_cast<const int16_t*>(reinterpret_cast<uintptr_t>(coefs + 15) &
                                                     ~uintptr_t{15});
      plane.samples = samples;
    }
    return job;
  };
  EXPECT_TRUE(validate(sound()).ok());
  const std::function<void(ApvInverseJob&)> faults[] = {
      [](ApvInverseJob& job) { job.depth = 9; },
      [](ApvInverseJob& job) { job.depth = 17; },
      [](ApvInverseJob& job) { job.shift = 7; },
      [](ApvInverseJob& job) { job.shift = -1; },
      [](ApvInverseJob& job) { job.components = 0; },
      [](ApvInverseJob& job) { job.components = 5; },
      [](ApvInverseJob& job) { job.tile_columns = 0; },
      [](ApvInverseJob& job) { job.tile_columns = 1; },
      [](ApvInverseJob& job) { job.tile_rows = 21; },
      [](ApvInverseJob& job) { job.plane[1].blocks_across = 0; },
      [](ApvInverseJob& job) { job.plane[1].blocks_down = INT32_MAX; },
      [](ApvInverseJob& job) { job.plane[1].tile_down = 0; },
      [](ApvInverseJob& job) { job.plane[2].width = 1000; },
      [](ApvInverseJob& job) { job.plane[2].height = 0; },
      [](ApvInverseJob& job) { job.plane[0].coefs = nullptr; },
      [](ApvInverseJob& job) { ++job.plane[0].coefs; },
      [](ApvInverseJob& job) { job.plane[0].samples = nullptr; },
      [](ApvInverseJob& job) { job.plane[0].pitch = 2 * job.plane[0].width - 2; },
      [](ApvInverseJob& job) { ++job.plane[0].pitch; },
      [](ApvInverseJob& job) { job.plane[2].qp[0] = 64; },
      [](ApvInverseJob& job) { job.plane[2].matrix[63] = 0; },
  };
  for (size_t i = 0; i < std::size(faults); ++i) {
    ApvInverseJob job = sound();
    faults[i](job);
    const Status status = validate(job);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << i;
    EXPECT_FALSE(status.message.empty()) << i;
  }
}

}  // namespace
}  // namespace cudatransform::test
