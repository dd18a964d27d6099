// Range conversions of every engine against H.273 in double precision, for every value of a sample
// and in all places; and jobs that validate() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"
#include "transform/range/arithmetic.h"
#include "transform/range/range.h"

namespace cudatransform::test {
namespace {

// H.273, equations 20 to 25: E of the limited range, and its value in full range. std::round()
// takes halves away from zero, as Round() does. Halves are exact: quotients are computed last.
int define(int sample, int depth, bool is_chroma) {
  const double unit = std::ldexp(1, depth - 8), peak = std::ldexp(1, depth) - 1;
  const double scaled = is_chroma ? (sample - 128 * unit) * peak / (224 * unit)
                                  : (sample - 16 * unit) * peak / (219 * unit);
  return static_cast<int>(std::clamp(std::round(scaled) + (is_chroma ? 128 * unit : 0), 0.0, peak));
}

TEST(RangeArithmetic, EqualsTheDefinitionForEverySample) {
  for (int depth = kMinRangeDepth; depth <= kMaxRangeDepth; ++depth) {
    for (const bool is_chroma : {false, true}) {
      for (int sample = 0; sample < 1 << depth; ++sample) {
        ASSERT_EQ(to_full_range(sample, range_scale(depth, is_chroma)),
                  define(sample, depth, is_chroma))
            << sample << " of " << depth << " bits, chroma " << is_chroma;
      }
    }
  }
}

TEST(RangeArithmetic, HasTheEndsOfBothRanges) {
  for (const int depth : {8, 10, 12}) {
    const int unit = 1 << (depth - 8), peak = (1 << depth) - 1;
    const auto luma = [&](int sample) { return to_full_range(sample, range_scale(depth, false)); };
    const auto chroma = [&](int sample) { return to_full_range(sample, range_scale(depth, true)); };
    EXPECT_EQ(luma(16 * unit), 0);
    EXPECT_EQ(luma(235 * unit), peak);
    EXPECT_EQ(luma(0), 0);
    EXPECT_EQ(luma(peak), peak);
    EXPECT_EQ(chroma(16 * unit), 0);
    EXPECT_EQ(chroma(128 * unit), 128 * unit);
    EXPECT_EQ(chroma(240 * unit), peak);
  }
}

struct Case {
  int width, height, depth;
  Arrangement arrangement;
  Sampling sampling;
};

// The planes in memory of a frame's components: interleaved ones are one.
void describe(const SampleFrame& from, const SampleFrame& to, const Case& of, size_t components,
              RangeJob* job) {
  SamplePlane in[3], out[3];
  from.describe(in);
  to.describe(out);
  const bool interleaved = of.arrangement == Arrangement::kSemiPlanar && components > 1;
  job->depth = of.depth;
  job->shift = in[0].shift;
  job->planes = interleaved ? 2 : static_cast<int>(components);
  for (int p = 0; p < job->planes; ++p) {
    const int across = interleaved && p == 1 ? 2 : 1;
    job->plane[p] = {in[p].data,
                     out[p].data,
                     in[p].pitch,
                     out[p].pitch,
                     in[p].width * across,
                     in[p].height,
                     p > 0 && of.sampling != Sampling::kRgb};
  }
}

std::string fault_of(const Engine& engine, const Case& of, uint32_t seed) {
  std::mt19937 random(seed);
  Picture limited = empty_picture(of.sampling, of.width, of.height);
  for (Plane& plane : limited)
    for (int& sample : plane.samples) sample = static_cast<int>(random() % (1u << of.depth));
  Picture wanted = limited;
  for (size_t c = 0; c < wanted.size(); ++c)
    for (int& sample : wanted[c].samples)
      sample = define(sample, of.depth, c > 0 && of.sampling != Sampling::kRgb);

  RangeJob job;
  SampleFrame input(engine, limited, of.depth, of.arrangement, 1, false, seed);
  SampleFrame output(engine, limited, of.depth, of.arrangement, 1, true, seed + 1);
  input.fill(limited);
  describe(input, output, of, limited.size(), &job);
  if (const std::string fault = run_on_frames(engine, *engine.range_ops, job, input, output);
      !fault.empty())
    return fault;
  Picture got = wanted;
  if (const std::string fault = output.read(&got); !fault.empty()) return fault;
  return judge_equal(wanted, got);
}

TEST(Range, EqualsTheDefinition) {
  const Case kinds[] = {{0, 0, 8, Arrangement::kPlanar, Sampling::k420},
                        {0, 0, 8, Arrangement::kSemiPlanar, Sampling::k420},
                        {0, 0, 8, Arrangement::kPlanar, Sampling::k422},
                        {0, 0, 8, Arrangement::kPlanar, Sampling::k444},
                        {0, 0, 8, Arrangement::kPlanar, Sampling::kGray},
                        {0, 0, 8, Arrangement::kPlanar, Sampling::kRgb},
                        {0, 0, 12, Arrangement::kPlanar, Sampling::k420},
                        {0, 0, 12, Arrangement::kSemiPlanar, Sampling::k420},
                        {0, 0, 12, Arrangement::kSemiPlanar, Sampling::kGray},
                        {0, 0, 10, Arrangement::kSemiPlanar, Sampling::k420}};
  const int count = quick() ? 8 : 40;
  for (const Engine& engine : engines_with(&Engine::range_ops)) {
    std::mt19937 random(3);
    uint32_t seed = 1;
    for (Case of : kinds) {
      for (int i = 0; i < count; ++i, ++seed) {
        // Rows of less than a thread or a vector, of several, and of several CTAs.
        of.width = 1 + static_cast<int>(random() % (i % 4 == 0 ? 2500 : 70));
        of.height = 1 + static_cast<int>(random() % (i % 4 == 0 ? 6 : 75));
        ASSERT_EQ(fault_of(engine, of, seed), "")
            << engine.name << ": " << of.width << "x" << of.height << " of " << of.depth
            << " bits, " << arrangement_name(of.arrangement) << ", " << sampling_name(of.sampling);
      }
    }
  }
}

// Each change makes a sound job unsound.
TEST(RangeValidate, RefusesUnsoundJobs) {
  using Change = void (*)(RangeJob&);
  const std::pair<const char*, Change> changes[] = {
      {"too few bits", [](RangeJob& j) { j.depth = 7; }},
      {"too many bits", [](RangeJob& j) { j.depth = 13; }},
      {"words of bytes", [](RangeJob& j) { j.depth = 12; }},
      {"a shift of bytes", [](RangeJob& j) { j.shift = 1; }},
      {"no planes", [](RangeJob& j) { j.planes = 0; }},
      {"too many planes", [](RangeJob& j) { j.planes = 4; }},
      {"no samples", [](RangeJob& j) { j.plane[1].samples = 0; }},
      {"negative rows", [](RangeJob& j) { j.plane[0].rows = -1; }},
      {"rows without an end", [](RangeJob& j) { j.plane[0].samples = INT32_MAX; }},
      {"no input", [](RangeJob& j) { j.plane[1].from = nullptr; }},
      {"no output", [](RangeJob& j) { j.plane[0].to = nullptr; }},
      {"a short pitch", [](RangeJob& j) { j.plane[0].from_pitch = 32; }},
      {"a short pitch of output", [](RangeJob& j) { j.plane[1].to_pitch = 32; }},
      {"output over its input",
       [](RangeJob& j) { j.plane[0].to = const_cast<void*>(j.plane[0].from); }},
      {"output over another's input",
       [](RangeJob& j) { j.plane[1].to = const_cast<void*>(j.plane[0].from); }},
      {"output over another's output", [](RangeJob& j) { j.plane[1].to = j.plane[0].to; }},
  };
  std::vector<uint8_t> memory(4096), other(4096);
  RangeJob sound;
  sound.planes = 2;
  for (int p = 0; p < 2; ++p)
    sound.plane[p] = {memory.data() + p * 2001, other.data() + p * 2001, 35, 37, 33, 20, p > 0};
  ASSERT_TRUE(validate(sound).ok()) << validate(sound).message;
  for (const auto& [what, change] : changes) {
    RangeJob job = sound;
    change(job);
    const Status status = validate(job);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << what;
    EXPECT_FALSE(status.message.empty()) << what;
  }
}

// A grid has no more CTAs than fit 31 bits: the message says how many parts there are, and how many
// may be.
TEST(RangeValidate, CudaEngineNamesItsLimit) {
  RangeJob job;
  job.planes = 1;
  job.plane[0] = {reinterpret_cast<void*>(uintptr_t{1} << 20),
                  reinterpret_cast<void*>(uintptr_t{1} << 60),
                  1 << 20,
                  1 << 20,
                  1 << 20,
                  1 << 24,
                  false};
  ASSERT_EQ(validate(job).message, "");
  for (const Engine& engine : engines()) {
    if (!engine.is_cuda || engine.range_ops == nullptr) continue;
    const Status status = engine.range_ops->submit(
        *engine.device, engine.device->queue(QueueKind::kCompute), job, nullptr);
    EXPECT_EQ(status.code, StatusCode::kUnsupported);
    EXPECT_TRUE(status.message.starts_with("the frame has ") &&
                status.message.ends_with("expected at most 2147483647 on the CUDA engine"))
        << status.message;
  }
}

}  // namespace
}  // namespace cudatransform::test
