// RGB and its planes of every engine against the definition, in all samplings, packings and places.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/rgb/definition.h"
#include "tests/engine/run_job.h"
#include "transform/rgb/arithmetic.h"

namespace cudatransform::test {
namespace {

// ---- Pixels as the bytes of planes ----

constexpr int kJunk = -1;

// `x`: the byte other than R, G and B, or kJunk.
Picture packed(const Picture& rgb, RgbPacking packing, int x, std::mt19937* random) {
  if (packing == RgbPacking::kPlanar) return rgb;
  const RgbLayout layout = rgb_layout(packing);
  Plane bytes(rgb[0].width * layout.pixel_bytes, rgb[0].rows);
  for (int row = 0; row < bytes.rows; ++row) {
    for (int at = 0; at < rgb[0].width; ++at) {
      const auto put = [&](int place, int value) {
        bytes.at(at * layout.pixel_bytes + place, row) = value;
      };
      put(layout.r, rgb[0].at(at, row));
      put(layout.g, rgb[1].at(at, row));
      put(layout.b, rgb[2].at(at, row));
      if (layout.x >= 0) put(layout.x, x == kJunk ? static_cast<int>((*random)() % 256) : x);
    }
  }
  return {bytes};
}

void describe(const SampleFrame& frame, const RgbCase& of, RgbPacking packing, RgbImage* rgb) {
  SamplePlane planes[3];
  frame.describe(planes);
  *rgb = {packing, of.width, of.height, {}, {}};
  for (int p = 0; p < rgb->planes(); ++p) {
    rgb->data[p] = planes[p].data;
    rgb->pitch[p] = planes[p].pitch;
  }
}

SampleFrame frame_of(const Engine& engine, const Picture& like, bool writable, uint32_t seed) {
  return SampleFrame(engine, like, 8, Arrangement::kPlanar, 1, writable, seed);
}

// ---- Jobs ----

RgbJob job_of(const RgbCase& of, Direction direction) {
  RgbJob job;
  job.direction = direction;
  job.color = of.color;
  std::copy_n(of.subsampling, kMaxComponents, job.subsampling);
  job.upsampling = of.upsampling;
  return job;
}

std::string run(const Engine& engine, const RgbJob& job, SampleFrame& input, SampleFrame& output,
                const Picture& expected) {
  if (const std::string fault = run_on_frames(engine, *engine.rgb_ops, job, input, output);
      !fault.empty())
    return fault;
  Picture got = expected;
  if (const std::string fault = output.read(&got); !fault.empty()) return fault;
  return judge_equal(expected, got);
}

std::string run_inverse(const Engine& engine, const RgbCase& of, RgbPacking packing,
                        const Picture& planes, uint32_t seed) {
  RgbJob job = job_of(of, Direction::kInverse);
  SampleFrame input = frame_of(engine, planes, false, seed);
  input.fill(planes);
  input.describe(job.planes);
  const Picture expected = packed(define_rgb(of, planes), packing, 255, nullptr);
  SampleFrame output = frame_of(engine, expected, true, seed + 1);
  describe(output, of, packing, &job.rgb);
  return run(engine, job, input, output, expected);
}

// `wanted`: planes of the sizes that are written.
std::string run_forward(const Engine& engine, const RgbCase& of, RgbPacking packing,
                        const Picture& rgb, Picture wanted, uint32_t seed) {
  std::mt19937 random(seed);
  RgbJob job = job_of(of, Direction::kForward);
  const Picture bytes = packed(rgb, packing, kJunk, &random);
  SampleFrame input = frame_of(engine, bytes, false, seed);
  input.fill(bytes);
  describe(input, of, packing, &job.rgb);
  const Picture blocks = define_planes(of, rgb);
  for (size_t c = 0; c < wanted.size(); ++c)
    for (int y = 0; y < wanted[c].rows; ++y)
      for (int x = 0; x < wanted[c].width; ++x) wanted[c].at(x, y) = blocks[c].at(x, y);
  SampleFrame output = frame_of(engine, wanted, true, seed + 1);
  output.describe(job.planes);
  return run(engine, job, input, output, wanted);
}

// ---- Cases ----

void fill(Picture* picture, std::mt19937& random) {
  for (Plane& plane : *picture)
    for (int& sample : plane.samples) {
      const auto any = static_cast<int>(random() % 256);
      sample = random() % 3 == 0 ? any % 2 * 255 : any;
    }
}

struct Kind {
  const char* name;
  RgbColor color;
  RgbSubsampling subsampling[kMaxComponents];
};
constexpr Kind kKinds[] = {
    {"4:2:0", RgbColor::kYcbcr, {{1, 1}, {2, 2}, {2, 2}}},
    {"4:2:2", RgbColor::kYcbcr, {{1, 1}, {2, 1}, {2, 1}}},
    {"4:4:4", RgbColor::kYcbcr, {{1, 1}, {1, 1}, {1, 1}}},
    {"4:4:0", RgbColor::kYcbcr, {{1, 1}, {1, 2}, {1, 2}}},
    {"gray", RgbColor::kGray, {{1, 1}}},
    {"RGB", RgbColor::kRgb, {{1, 1}, {1, 1}, {1, 1}}},
    {"4:1:1", RgbColor::kYcbcr, {{1, 1}, {4, 1}, {4, 1}}},
    {"4:1:0", RgbColor::kYcbcr, {{1, 1}, {4, 2}, {4, 2}}},
    {"thirds", RgbColor::kYcbcr, {{1, 1}, {3, 3}, {3, 3}}},
    {"all kinds", RgbColor::kYcbcr, {{2, 1}, {1, 4}, {2, 2}}},
    {"gray of halves", RgbColor::kGray, {{2, 2}}},
    {"RGB of halves", RgbColor::kRgb, {{1, 1}, {2, 2}, {2, 2}}},
};

RgbCase case_of(const Kind& kind, int width, int height, ChromaUpsampling upsampling) {
  RgbCase made;
  made.width = width;
  made.height = height;
  made.color = kind.color;
  std::copy_n(kind.subsampling, kMaxComponents, made.subsampling);
  made.upsampling = upsampling;
  return made;
}

// Planes as small as they may be, in whole blocks, and between.
Picture wanted_planes(const RgbCase& of, std::mt19937& random) {
  const Picture least = rgb_planes(of, false), most = rgb_planes(of, true);
  Picture wanted;
  for (size_t c = 0; c < least.size(); ++c) {
    const auto any = [&](int from, int to) {
      const int kind = static_cast<int>(random() % 3);
      return kind == 0   ? from
             : kind == 1 ? to
                         : from + static_cast<int>(random() % (to - from + 1));
    };
    wanted.emplace_back(any(least[c].width, most[c].width), any(least[c].rows, most[c].rows));
  }
  return wanted;
}

// Both directions on random samples; "" or the first fault.
std::string fault_of(const Engine& engine, const Kind& kind, int width, int height,
                     RgbPacking packing, uint32_t seed) {
  std::mt19937 random(seed);
  const auto upsampling = random() % 3 == 0 ? ChromaUpsampling::kNearest : ChromaUpsampling::kFancy;
  const RgbCase of = case_of(kind, width, height, upsampling);
  Picture planes = rgb_planes(of, false), rgb(3, Plane(width, height));
  fill(&planes, random);
  fill(&rgb, random);
  std::string fault = run_inverse(engine, of, packing, planes, seed);
  if (fault.empty()) fault = run_forward(engine, of, packing, rgb, wanted_planes(of, random), seed);
  if (fault.empty()) return "";
  return engine.name + ": " + kind.name + " " + std::to_string(width) + "x" +
         std::to_string(height) + " packing " + std::to_string(static_cast<int>(packing)) +
         (upsampling == ChromaUpsampling::kFancy ? " fancy: " : " nearest: ") + fault;
}

void check(const Engine& engine, const Kind& kind, int width, int height, RgbPacking packing,
           uint32_t seed) {
  EXPECT_EQ(fault_of(engine, kind, width, height, packing, seed), "");
}

TEST(Rgb, EqualsTheDefinition) {
  const int count = quick() ? 4 : 12;
  for (const Engine& engine : engines_with(&Engine::rgb_ops)) {
    std::mt19937 random(5);
    uint32_t seed = 1;
    for (const Kind& kind : kKinds) {
      for (int p = 0; p < kRgbPackingCount; ++p) {
        for (int i = 0; i < count; ++i) {
          // Sides of blocks and vectors are more likely to be reported apart from others.
          const int width = 1 + static_cast<int>(random() % (i % 4 == 0 ? 300 : 40));
          const int height = 1 + static_cast<int>(random() % (i % 8 == 0 ? 70 : 20));
          check(engine, kind, width, height, static_cast<RgbPacking>(p), seed++);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(Rgb, SmallestPicturesEqualTheDefinition) {
  const int most = quick() ? 5 : 17;
  for (const Engine& engine : engines_with(&Engine::rgb_ops)) {
    uint32_t seed = 1;
    for (const Kind& kind : kKinds) {
      for (int height = 1; height <= most; ++height) {
        for (int width = 1; width <= most; ++width, ++seed) {
          check(engine, kind, width, height, static_cast<RgbPacking>(seed % kRgbPackingCount),
                seed);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// Larger than a CTA's rows and a strip.
TEST(Rgb, LargePicturesEqualTheDefinition) {
  for (const Engine& engine : engines_with(&Engine::rgb_ops)) {
    uint32_t seed = 1;
    for (const Kind& kind : kKinds) {
      check(engine, kind, 1200 - static_cast<int>(seed % 2), quick() ? 30 : 60, RgbPacking::kRgb,
            seed);
      ++seed;
    }
  }
}

// Whole blocks in aligned rows, of one thread and of several CTAs: kernels without edges.
TEST(Rgb, WholeBlocksEqualTheDefinition) {
  for (const Engine& engine : engines_with(&Engine::rgb_ops)) {
    uint32_t seed = 0;
    for (const Kind& kind : kKinds) {
      for (int p = 0; p < kRgbPackingCount; ++p) {
        for (const int blocks : {1, 17}) {
          ASSERT_TRUE(is_pooled(seed) && is_pooled(seed + 1));  // aligned
          check(engine, kind, 16 * blocks, 16 + blocks / 16 * 16, static_cast<RgbPacking>(p), seed);
          if (testing::Test::HasFailure()) return;
          seed += 8;
        }
      }
    }
  }
}

// All chroma at some lumas; many colors.
TEST(Rgb, AllColorsEqualTheDefinition) {
  const int step = quick() ? 5 : 1;
  for (const Engine& engine : engines_with(&Engine::rgb_ops)) {
    for (const int y : {0, 1, 100, 254, 255}) {
      const RgbCase of = case_of(kKinds[2], 256, 256 / step, ChromaUpsampling::kFancy);
      Picture planes = rgb_planes(of, false);
      for (int row = 0; row < of.height; ++row) {
        for (int x = 0; x < of.width; ++x) {
          planes[0].at(x, row) = y;
          planes[1].at(x, row) = x;
          planes[2].at(x, row) = row * step;
        }
      }
      EXPECT_EQ(run_inverse(engine, of, RgbPacking::kRgb, planes, 1), "") << engine.name;
    }
    const RgbCase of = case_of(kKinds[2], 256, 52 * 52 / step, ChromaUpsampling::kFancy);
    Picture rgb(3, Plane(of.width, of.height));
    for (int row = 0; row < of.height; ++row) {
      for (int x = 0; x < of.width; ++x) {
        rgb[0].at(x, row) = x;
        rgb[1].at(x, row) = row % 52 * 5;
        rgb[2].at(x, row) = 255 - row / 52 * 5;
      }
    }
    EXPECT_EQ(run_forward(engine, of, RgbPacking::kRgb, rgb, rgb_planes(of, false), 1), "")
        << engine.name;
  }
}

// ---- The tests can fail ----

// A fault in an engine: it changes the job, or what the job has written.
struct Mutant {
  const char* name;
  void (*change)(RgbJob& job);
  void (*spoil)(const RgbJob& job, FencePtr* fence);
};

bool is_forward(const RgbJob& job) { return job.direction == Direction::kForward; }
uint8_t* output_of(const RgbJob& job) {
  return static_cast<uint8_t*>(is_forward(job) ? job.planes[0].data : job.rgb.data[0]);
}
uint8_t* input_of(const RgbJob& job) {
  return static_cast<uint8_t*>(is_forward(job) ? job.rgb.data[0] : job.planes[0].data);
}

uint8_t kept = 0;

constexpr Mutant kMutants[] = {
    {"another upsampling",
     [](RgbJob& job) {
       job.upsampling = job.upsampling == ChromaUpsampling::kFancy ? ChromaUpsampling::kNearest
                                                                   : ChromaUpsampling::kFancy;
     },
     nullptr},
    {"chroma swapped",
     [](RgbJob& job) {
       if (job.color == RgbColor::kYcbcr && job.planes[1].width == job.planes[2].width &&
           job.planes[1].height == job.planes[2].height)
         std::swap(job.planes[1], job.planes[2]);
     },
     nullptr},
    {"blocks not filled",
     [](RgbJob& job) {
       for (int c = 0; c < job.components() && is_forward(job); ++c)
         job.planes[c].width = rgb_plane_side(job.rgb.width, job.subsampling[c].x);
     },
     nullptr},
    {"a sample wrong", nullptr, [](const RgbJob& job, FencePtr*) { *output_of(job) ^= 1; }},
    {"a sample not written", [](RgbJob& job) { kept = *output_of(job); },
     [](const RgbJob& job, FencePtr*) { *output_of(job) = kept; }},
    {"padding written", nullptr,
     [](const RgbJob& job, FencePtr*) {
       const SamplePlane& plane = job.planes[0];
       if (is_forward(job) && plane.pitch > plane.width && plane.height > 1)
         output_of(job)[plane.width] ^= 1;
     }},
    {"input written", nullptr, [](const RgbJob& job, FencePtr*) { *input_of(job) ^= 1; }},
    {"no fence", nullptr, [](const RgbJob&, FencePtr* fence) { fence->reset(); }},
};

const Mutant* mutant = nullptr;

Status submit_mutant(Device& device, Queue& queue, const RgbJob& job, FencePtr* fence) {
  RgbJob changed = job;
  if (mutant->change != nullptr) mutant->change(changed);
  const Status status = portable_engine().rgb_ops->submit(device, queue, changed, fence);
  if (mutant->spoil != nullptr) mutant->spoil(job, fence);
  return status;
}

TEST(Rgb, MutantsAreFound) {
  if (engines().front().is_cuda) GTEST_SKIP() << "mutants are made of the portable engine";
  constexpr RgbOps kOps = {"mutant", submit_mutant};
  Engine spoilt = portable_engine();
  spoilt.rgb_ops = &kOps;
  for (const Mutant& one : kMutants) {
    mutant = &one;
    int found = 0;
    for (uint32_t seed = 1; seed <= 20; ++seed)
      found += !fault_of(spoilt, kKinds[0], 21, 9, RgbPacking::kRgb, seed).empty() ? 1 : 0;
    std::printf("  %-24s found in %d of 20 cases\n", one.name, found);
    EXPECT_GT(found, 0) << one.name;
  }
}

}  // namespace
}  // namespace cudatransform::test
