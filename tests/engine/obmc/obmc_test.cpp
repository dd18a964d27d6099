// Motion compensation of every engine against the definition, on random pictures and blocks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/obmc/definition.h"
#include "transform/device/device.h"

namespace cudatransform::test {
namespace {

constexpr uint8_t kCanary = 0xa5;
constexpr int32_t kMargin = 5;  // bytes after each row

// The parameters of a random picture.
struct Case {
  int32_t width, height;
  int shift_x, shift_y;
  int depth[kMaxComponents];
  int32_t length_x, length_y, separation_x, separation_y;
  int precision;
  int references;
  int weight_bits;
  int32_t weights[2];
  int32_t reach;      // of vectors, in samples
  int alignment = 2;  // of rows, in bytes
};

std::string name_of(const Case& c) {
  const auto number = [](int value) { return std::to_string(value) + " "; };
  return number(c.width) + number(c.height) + "depth " + number(c.depth[0]) + "blocks " +
         number(c.length_x) + number(c.length_y) + number(c.separation_x) + number(c.separation_y) +
         "precision " + number(c.precision) + "references " + number(c.references) + "weights " +
         number(c.weight_bits) + number(c.weights[0]) + number(c.weights[1]) + "reach " +
         number(c.reach);
}

class Scene {
 public:
  Scene(const Case& c, unsigned seed) : random_(seed), alignment_(c.alignment) {
    job_.components = kMaxComponents;
    job_.chroma_shift_x = c.shift_x;
    job_.chroma_shift_y = c.shift_y;
    for (int i = 0; i < kMaxComponents; ++i) {
      const int32_t width = i == 0 ? c.width : (c.width + c.shift_x) >> c.shift_x;
      const int32_t height = i == 0 ? c.height : (c.height + c.shift_y) >> c.shift_y;
      job_.depth[i] = c.depth[i];
      const auto type = c.depth[i] <= 8 ? SampleType::kU8 : SampleType::kU16;
      job_.samples[i] = plane(width, height, type, 0);
      job_.residual[i] = plane(width, height, SampleType::kS16, 12);
      for (int r = 0; r < c.references; ++r) {
        // Pitches of references differ, sometimes; and there are no half positions to whole
        // samples.
        const ptrdiff_t more = r == 1 && random_() % 4 == 0 ? alignment_ : 0;
        for (int p = 0; p < (c.precision == 0 ? 1 : 4); ++p) {
          job_.references[r].planes[i][p] =
              plane(width, height, type, p == 0 ? c.depth[i] : 0, more);
        }
      }
    }
    job_.length_x = c.length_x;
    job_.length_y = c.length_y;
    job_.separation_x = c.separation_x;
    job_.separation_y = c.separation_y;
    job_.blocks_across = 4 * ((c.width + 4 * c.separation_x - 1) / (4 * c.separation_x));
    job_.blocks_down = 4 * ((c.height + 4 * c.separation_y - 1) / (4 * c.separation_y));
    job_.precision = c.precision;
    job_.weight_bits = c.weight_bits;
    std::copy_n(c.weights, 2, job_.weights);
    job_.reference_count = c.references;
    fill_blocks(c);
  }

  ObmcJob& job() { return job_; }
  UpsampleJob upsampling(int reference) const {
    UpsampleJob job;
    job.components = job_.components;
    std::copy_n(job_.depth, kMaxComponents, job.depth);
    job.reference = job_.references[reference];
    return job;
  }

 private:
  // Of random samples of `bits` bits; 0: canaries.
  SamplePlane plane(int32_t width, int32_t height, SampleType type, int bits, ptrdiff_t more = 0) {
    SamplePlane plane;
    plane.type = type;
    plane.stride = type == SampleType::kU8 ? 1 : 2;
    plane.width = width;
    plane.height = height;
    plane.pitch =
        ((ptrdiff_t{width} * plane.stride + kMargin + alignment_ - 1) & -alignment_) + more;
    memory_.push_back(
        std::make_unique<std::vector<uint8_t>>(static_cast<size_t>(plane.pitch * height), kCanary));
    plane.data = memory_.back()->data();
    for (int32_t y = 0; y < height && bits > 0; ++y) {
      for (int32_t x = 0; x < width; ++x) put(plane, x, y, bits);
    }
    return plane;
  }
  // Half of the samples are extremes, so that filters overshoot.
  void put(const SamplePlane& plane, int32_t x, int32_t y, int bits) {
    const uint32_t mask = (1u << bits) - 1;
    const uint32_t any = random_() & mask;
    uint32_t value = random_() % 2 != 0 ? any : (any & 1) * mask;
    if (plane.type == SampleType::kS16) value -= mask / 2;
    auto* row = static_cast<uint8_t*>(plane.data) + y * plane.pitch;
    if (plane.type == SampleType::kU8) {
      row[x] = static_cast<uint8_t>(value);
    } else {
      reinterpret_cast<uint16_t*>(row)[x] = static_cast<uint16_t>(value);
    }
  }

  void fill_blocks(const Case& c) {
    blocks_.resize(static_cast<size_t>(job_.blocks_across * job_.blocks_down));
    std::uniform_int_distribution<int32_t> vector(-c.reach << c.precision, c.reach << c.precision);
    // Sometimes one more than the largest sample.
    const int half = 1 << (c.depth[0] - 1);
    std::uniform_int_distribution<int> dc(-half, half - random_() % 2);
    for (ObmcBlock& block : blocks_) {
      block.references = static_cast<uint8_t>(random_() % (1u << c.references));
      for (auto& pair : block.vector) {
        for (int32_t& part : pair) part = vector(random_);
      }
      for (int16_t& value : block.dc) value = static_cast<int16_t>(dc(random_));
    }
    job_.blocks = blocks_.data();
  }

  std::mt19937 random_;
  const ptrdiff_t alignment_;
  ObmcJob job_;
  std::vector<ObmcBlock> blocks_;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> memory_;
};

int64_t stored(const SamplePlane& plane, int32_t x, int32_t y) {
  const auto* row = static_cast<const uint8_t*>(plane.data) + y * plane.pitch;
  return plane.type == SampleType::kU8 ? row[x] : reinterpret_cast<const uint16_t*>(row)[x];
}

void expect_untouched_padding(const SamplePlane& plane) {
  for (int32_t y = 0; y < plane.height; ++y) {
    const auto* row = static_cast<const uint8_t*>(plane.data) + y * plane.pitch;
    for (ptrdiff_t at = ptrdiff_t{plane.width} * plane.stride; at < plane.pitch; ++at) {
      ASSERT_EQ(row[at], kCanary) << "behind row " << y;
    }
  }
}

void expect_equal(const SamplePlane& plane, const Grid& defined) {
  for (int32_t y = 0; y < plane.height; ++y) {
    for (int32_t x = 0; x < plane.width; ++x) {
      ASSERT_EQ(stored(plane, x, y), defined.clamped(x, y)) << "at " << x << ", " << y;
    }
  }
  expect_untouched_padding(plane);
}

// Planes of a job in an engine's memory, for as long as it works on them.
class Moved {
 public:
  explicit Moved(const Engine& engine) : device_(*engine.device) {}

  void move(SamplePlane* plane) {
    if (device_.is_host() || plane->data == nullptr) return;
    std::unique_ptr<Memory> memory;
    Status status = device_.allocate(MemoryKind::kDevice, bytes_of(*plane), &memory);
    ASSERT_TRUE(status.ok()) << status.message;
    const Copy2D copy = {memory->data(),
                         plane->pitch,
                         plane->data,
                         plane->pitch,
                         static_cast<size_t>(plane->pitch),
                         static_cast<size_t>(plane->height)};
    status = device_.upload(queue(), copy);
    ASSERT_TRUE(status.ok()) << status.message;
    plane->data = memory->data();
    back_.push_back({const_cast<void*>(copy.src), copy.dst_pitch, copy.dst, copy.dst_pitch,
                     copy.row_bytes, copy.rows});
    memory_.push_back(std::move(memory));
  }
  void fetch() {
    for (const Copy2D& copy : back_) {
      const Status status = device_.download(queue(), copy);
      ASSERT_TRUE(status.ok()) << status.message;
    }
  }
  Queue& queue() { return device_.queue(QueueKind::kCompute); }

 private:
  static size_t bytes_of(const SamplePlane& plane) {
    return static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
  }

  Device& device_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<Copy2D> back_;
};

void run(const Engine& engine, UpsampleJob job) {
  engine.activate();
  Moved moved(engine);
  for (int c = 0; c < job.components; ++c) {
    for (SamplePlane& plane : job.reference.planes[c]) moved.move(&plane);
  }
  FencePtr fence;
  const Status status = engine.obmc_ops->upsample(*engine.device, moved.queue(), job, &fence);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_TRUE(fence->wait().ok());
  moved.fetch();
}

void run(const Engine& engine, ObmcJob job) {
  engine.activate();
  Moved moved(engine);
  for (int c = 0; c < job.components; ++c) {
    moved.move(&job.samples[c]);
    moved.move(&job.residual[c]);
    for (ObmcReference& reference : job.references) {
      for (SamplePlane& plane : reference.planes[c]) moved.move(&plane);
    }
  }
  FencePtr fence;
  const Status status = engine.obmc_ops->compensate(*engine.device, moved.queue(), job, &fence);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_TRUE(fence->wait().ok());
  moved.fetch();
}

void upsample(const Engine& engine, const Scene& scene, int reference) {
  const UpsampleJob job = scene.upsampling(reference);
  run(engine, job);
  for (int c = 0; c < job.components; ++c) {
    const Grid defined = define_upsampled(job.reference.planes[c][0], job.depth[c]);
    for (int p = 1; p < 4; ++p) {
      const SamplePlane& plane = job.reference.planes[c][p];
      for (int32_t y = 0; y < plane.height; ++y) {
        for (int32_t x = 0; x < plane.width; ++x) {
          // The last sample is repeated after the end.
          ASSERT_EQ(stored(plane, x, y), defined.clamped(2 * x + p % 2, 2 * y + p / 2))
              << "plane " << p << " at " << x << ", " << y;
        }
      }
      expect_untouched_padding(plane);
    }
  }
}

void check(const Engine& engine, const Case& c, unsigned seed) {
  SCOPED_TRACE(engine.name + ": " + name_of(c));
  Scene scene(c, seed);
  for (int r = 0; r < c.references && c.precision > 0; ++r) upsample(engine, scene, r);
  run(engine, scene.job());
  for (int i = 0; i < kMaxComponents; ++i) {
    SCOPED_TRACE("component " + std::to_string(i));
    expect_equal(scene.job().samples[i], define_compensated(scene.job(), i));
  }
}

// Lengths and separations that sequences of encoders have, and ones that only a header can have.
constexpr int32_t kBlocks[][4] = {{8, 8, 4, 4},     {12, 12, 8, 8},   {16, 16, 12, 12},
                                  {24, 24, 16, 16}, {8, 8, 8, 8},     {4, 4, 4, 4},
                                  {16, 24, 8, 16},  {32, 16, 16, 16}, {20, 12, 12, 8}};
// Bits, two weights.
constexpr int32_t kWeights[][3] = {{1, 1, 1}, {0, 1, 0},     {2, 3, 1},       {2, 5, -1},
                                   {3, 2, 7}, {8, 255, 255}, {0, -255, -255}, {1, 0, 0}};

TEST(Obmc, EqualsTheDefinition) {
  std::mt19937 random(7);
  const int count = quick() ? 60 : 600;
  for (const Engine& engine : engines_with(&Engine::obmc_ops)) {
    for (int i = 0; i < count; ++i) {
      const auto any = [&](int from, int to) {
        return std::uniform_int_distribution<int>(from, to)(random);
      };
      Case c = {};
      c.shift_x = any(0, 1);
      c.shift_y = c.shift_x != 0 ? any(0, 1) : 0;
      c.width = any(1, 70);
      c.height = any(1, 50);
      constexpr int kDepths[] = {8, 8, 8, 10, 12, 16, 1, 5};
      c.depth[0] = kDepths[any(0, 7)];
      c.depth[1] = c.depth[2] = any(0, 3) != 0 ? c.depth[0] : kDepths[any(0, 7)];
      const auto& blocks = kBlocks[any(0, std::size(kBlocks) - 1)];
      c.length_x = blocks[0];
      c.length_y = blocks[1];
      c.separation_x = blocks[2];
      c.separation_y = blocks[3];
      c.precision = any(0, kMaxObmcPrecision);
      c.references = any(0, 2);
      const auto& weights = kWeights[any(0, 2) == 0 ? any(0, std::size(kWeights) - 1) : 0];
      c.weight_bits = weights[0];
      c.weights[0] = weights[1];
      c.weights[1] = weights[2];
      c.reach = any(0, 9) == 0 ? 100000 : any(1, 40);
      c.alignment = any(0, 1) != 0 ? 8 : 2;
      check(engine, c, static_cast<unsigned>(i));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Properties of real streams: 8 bits, a mean of two references, rows that begin at words; and
// pictures larger than a kernel's tile.
TEST(Obmc, CommonJobsEqualTheDefinition) {
  std::mt19937 random(11);
  const int count = quick() ? 16 : 200;
  for (const Engine& engine : engines_with(&Engine::obmc_ops)) {
    for (int i = 0; i < count; ++i) {
      const auto any = [&](int from, int to) {
        return std::uniform_int_distribution<int>(from, to)(random);
      };
      const auto& blocks = kBlocks[any(0, std::size(kBlocks) - 1)];
      Case c = {any(1, 300), any(1, 60), 1,         any(0, 1),          {8, 8, 8},
                blocks[0],   blocks[1],  blocks[2], blocks[3],          any(0, kMaxObmcPrecision),
                any(1, 2),   1,          {1, 1},    any(0, 9) * 10 + 1, 8};
      c.shift_x = any(0, 1);
      if (any(0, 9) == 0) c.reach = kMaxObmcVector >> c.precision;
      check(engine, c, static_cast<unsigned>(1000 + i));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Obmc, WithoutBlocksAddsToGray) {
  const Case c = {33, 9, 1, 1, {8, 10, 10}, 8, 8, 4, 4, 0, 0, 1, {1, 1}, 1};
  for (const Engine& engine : engines_with(&Engine::obmc_ops)) {
    for (const bool has_residual : {true, false}) {
      Scene scene(c, 3);
      scene.job().blocks = nullptr;
      for (SamplePlane& residual : scene.job().residual) {
        if (!has_residual) residual.data = nullptr;
      }
      run(engine, scene.job());
      for (int i = 0; i < kMaxComponents; ++i) {
        expect_equal(scene.job().samples[i], define_compensated(scene.job(), i));
      }
    }
  }
}

// Each change makes a sound job unsound.
TEST(Obmc, RefusesUnsoundJobs) {
  const Case c = {33, 20, 1, 1, {8, 8, 8}, 12, 12, 8, 8, 2, 2, 1, {1, 1}, 4};
  using Change = void (*)(ObmcJob&, ObmcBlock&);
  const std::pair<const char*, Change> changes[] = {
      {"two components", [](ObmcJob& j, ObmcBlock&) { j.components = 2; }},
      {"depth 0", [](ObmcJob& j, ObmcBlock&) { j.depth[1] = 0; }},
      {"depth 17", [](ObmcJob& j, ObmcBlock&) { j.depth[0] = 17; }},
      {"9 bits in bytes", [](ObmcJob& j, ObmcBlock&) { j.depth[0] = 9; }},
      {"no samples", [](ObmcJob& j, ObmcBlock&) { j.samples[0].data = nullptr; }},
      {"a short pitch", [](ObmcJob& j, ObmcBlock&) { j.samples[2].pitch = 3; }},
      {"a wider residual", [](ObmcJob& j, ObmcBlock&) { j.residual[0].width++; }},
      {"an unsigned residual",
       [](ObmcJob& j, ObmcBlock&) { j.residual[0].type = SampleType::kU16; }},
      {"a smaller reference",
       [](ObmcJob& j, ObmcBlock&) { j.references[1].planes[0][3].height--; }},
      {"a missing half plane",
       [](ObmcJob& j, ObmcBlock&) { j.references[0].planes[2][1].data = nullptr; }},
      {"sixteenths", [](ObmcJob& j, ObmcBlock&) { j.precision = 4; }},
      {"three references", [](ObmcJob& j, ObmcBlock&) { j.reference_count = 3; }},
      {"a long weight", [](ObmcJob& j, ObmcBlock&) { j.weights[0] = 256; }},
      {"9 bits of weight", [](ObmcJob& j, ObmcBlock&) { j.weight_bits = 9; }},
      {"blocks apart", [](ObmcJob& j, ObmcBlock&) { j.length_x = 4; }},
      {"blocks over three others", [](ObmcJob& j, ObmcBlock&) { j.length_y = 20; }},
      {"odd blocks", [](ObmcJob& j, ObmcBlock&) { j.separation_x = 6; }},
      {"a grid that is too small", [](ObmcJob& j, ObmcBlock&) { j.blocks_across = 4; }},
      {"quarters of chroma", [](ObmcJob& j, ObmcBlock&) { j.chroma_shift_x = 2; }},
      {"a reference that is not there", [](ObmcJob&, ObmcBlock& b) { b.references = 4; }},
      {"a vector out of range",
       [](ObmcJob&, ObmcBlock& b) { b.vector[1][1] = kMaxObmcVector + 1; }},
  };
  for (const auto& [name, change] : changes) {
    Scene scene(c, 5);
    ASSERT_TRUE(validate(scene.job()).ok()) << validate(scene.job()).message;
    change(scene.job(), const_cast<ObmcBlock&>(scene.job().blocks[3]));
    const Status status = validate(scene.job());
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << name;
    EXPECT_GT(status.message.size(), 10u) << name;
  }
}

TEST(Obmc, InspectsBlocksOnce) {
  Scene scene({33, 20, 1, 1, {8, 8, 8}, 12, 12, 8, 8, 2, 2, 1, {1, 1}, 4}, 5);
  ObmcJob& job = scene.job();
  auto& block = const_cast<ObmcBlock&>(job.blocks[3]);
  block.references = 0;
  block.dc[2] = 128;
  ASSERT_TRUE(inspect_obmc_blocks(job, &job.inspection).ok());
  EXPECT_FALSE(job.inspection.has_byte_values);
  block.references = 4;
  EXPECT_TRUE(validate(job).ok());
  EXPECT_FALSE(inspect_obmc_blocks(job, &job.inspection).ok());
}

}  // namespace
}  // namespace cudatransform::test
