// The CUDA engine's kernels for one job write the same bytes and measure the same sums.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "tests/engine/dct8x8/judge.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::test {
namespace {

struct Frame {
  Sampling sampling;
  int width, height;
};
// Sizes at which the kernels for full planes and for small frames branch: exactly a CTA's 64
// blocks; a last CTA that shares blocks with the one before it, or has its own; chroma that is
// full, too small for a CTA, or has edges; a frame that is not small.
constexpr Frame kFrames[] = {
    {Sampling::kGray, 64, 64},     {Sampling::kGray, 72, 64},  {Sampling::kGray, 520, 8},
    {Sampling::k420, 160, 112},    {Sampling::k420, 128, 112}, {Sampling::k420, 160, 120},
    {Sampling::k444, 136, 72},     {Sampling::k420, 157, 111}, {Sampling::kGray, 1920, 1088},
    {Sampling::kGray, 2560, 1288},
};

struct Placement {
  Layout layout;
  Order order;
};
constexpr Placement kPlacements[] = {{Layout::kBlock, Order::kRaster},
                                     {Layout::kBlock, Order::kZigzag},
                                     {Layout::kPlane, Order::kRaster}};

std::vector<Engine> cuda_engines() {
  std::vector<Engine> list;
  std::copy_if(engines().begin(), engines().end(), std::back_inserter(list),
               [](const Engine& engine) { return engine.is_cuda; });
  return list;
}

std::string compare_sums(const PictureSums& a, const PictureSums& b, uint32_t measure) {
  for (int c = 0; c < 3; ++c) {
    if ((measure & kMeasureSse) != 0 && a.sse[c] != b.sse[c])
      return "squared errors of component " + std::to_string(c) +
             " differ: " + std::to_string(a.sse[c]) + " and " + std::to_string(b.sse[c]);
    if ((measure & kMeasureZeros) != 0 && a.zeros[c] != b.zeros[c])
      return "zeros of component " + std::to_string(c) + " differ";
  }
  return "";
}

void compare_kernels(const std::vector<Engine>& list, const Spec& spec, const Picture& picture,
                     const std::string& where) {
  const ForwardResult expected = run_forward(list.front(), spec, picture);
  const InverseResult inverse = run_inverse(list.front(), spec, expected.coefs, picture, &picture);
  if (spec.measure != 0) {
    EXPECT_EQ(judge_zeros(expected.sums, expected.coefs), "") << where;
  }
  for (const Engine& engine : list) {
    const ForwardResult forward = run_forward(engine, spec, picture);
    EXPECT_EQ(forward.fault, "") << engine.name << where;
    EXPECT_EQ(judge_equal(expected.coefs, forward.coefs), "") << engine.name << where;
    EXPECT_EQ(compare_sums(expected.sums, forward.sums, spec.measure), "") << engine.name << where;
    const InverseResult back = run_inverse(engine, spec, expected.coefs, picture, &picture);
    EXPECT_EQ(back.fault, "") << engine.name << where;
    EXPECT_EQ(judge_equal(inverse.picture, back.picture), "") << engine.name << where;
    EXPECT_EQ(compare_sums(inverse.sums, back.sums, spec.measure), "") << engine.name << where;
  }
}

struct Way {
  std::vector<Quantizer> quantizers;
  QuantPreset preset;
  int quality, widest, widest_if_quick;
  int depth = 8;
};

// Every frame up to a width, with both methods, in all placements, measured and not.
void compare_kernels(const Way& way) {
  const std::vector<Engine> list = cuda_engines();
  if (list.empty()) GTEST_SKIP() << "only the CUDA engine has several kernels for a job";
  for (const Frame& frame : kFrames) {
    if (frame.width > (quick() ? way.widest_if_quick : way.widest)) continue;
    const Picture picture =
        make_picture(frame.sampling, frame.width, frame.height, way.depth, Content::kPhoto, 5);
    for (const Method method : {Method::kIslow, Method::kFloat})
      for (const Quantizer quantizer : way.quantizers)
        for (const Placement& placement : kPlacements)
          for (const uint32_t measure : {0u, uint32_t{kMeasureSse | kMeasureZeros}}) {
            Spec spec;
            spec.method = method;
            spec.depth = way.depth;
            spec.quantizer = quantizer;
            spec.layout = placement.layout;
            spec.order = placement.order;
            spec.measure = measure;
            for (QuantTable& table : spec.tables)
              table = preset_table(way.preset, QuantComponent::kLuma, way.quality);
            compare_kernels(list, spec, picture,
                            std::string(": ") + method_name(method) + " " +
                                quantizer_name(quantizer) + " " + std::to_string(frame.width) +
                                "x" + std::to_string(frame.height) + " placement " +
                                std::to_string(&placement - kPlacements) + " measuring " +
                                std::to_string(measure));
          }
  }
}

TEST(Kernels, WriteTheSameBytes) {
  compare_kernels({{Quantizer::kRound}, QuantPreset::kAnnexK, 60, 2560, 520});
}

TEST(Kernels, WriteTheSameBytesOf12Bits) {
  for (const int quality : {100, 20})
    compare_kernels({{Quantizer::kRound}, QuantPreset::kAnnexK, quality, 2560, 520, 12});
}

// The general kernels among them.
TEST(Kernels, DecideTheSameQcoefs) {
  compare_kernels({{Quantizer::kDeadZone, Quantizer::kRd}, QuantPreset::kPerceptual, 90, 520, 160});
}

}  // namespace
}  // namespace cudatransform::test
