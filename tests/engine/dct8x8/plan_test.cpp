// The names of the CUDA engine's fast kernels for various jobs. Needs no GPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#ifdef CT_HAVE_CUDA

#include <gtest/gtest.h>

#include <string>

#include "cuda/dct8x8/plan.h"
#include "cuda/device/kernel_family.h"
#include "tests/engine/dct8x8/job_runner.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::test {
namespace {

using cuda::KernelChoice;

struct Frame {
  int width, height;
  int components = 1;  // 3: 4:2:0
};

Dct8x8Job job_on(const Frame& frame, const Spec& spec, Direction direction) {
  Dct8x8Job job = job_of(spec, direction, frame.components);
  static uint8_t memory[256];  // only its address counts
  auto* const aligned = memory + (256 - reinterpret_cast<uintptr_t>(memory) % 256) % 256;
  for (int c = 0; c < frame.components; ++c) {
    SamplePlane& samples = job.samples[c];
    samples.data = aligned;
    samples.width = c == 0 ? frame.width : (frame.width + 1) / 2;
    samples.height = c == 0 ? frame.height : (frame.height + 1) / 2;
    samples.stride = 1;
    samples.pitch = (samples.width + 63) / 64 * 64;
    CoefPlane& coefs = job.coefs[c];
    coefs.data = aligned;
    coefs.blocks_w = (samples.width + 7) / 8;
    coefs.blocks_h = (samples.height + 7) / 8;
    coefs.pitch = 2 * (job.layout == Layout::kPlane ? 8 : 64) * coefs.blocks_w;
  }
  return job;
}

std::string kernel_of(const Frame& frame, const Spec& spec, Direction direction,
                      KernelChoice choice = KernelChoice::kAuto) {
  cuda::FastParamsCache params;
  cuda::SumsInProgress progress;
  const auto launch = cuda::fast_launch(job_on(frame, spec, direction), &progress, params, choice);
  return launch ? cuda::fast_kernels().name(launch->kernel) : "none";
}

Spec spec_of(Method method, uint32_t measure = 0) {
  Spec spec;
  spec.method = method;
  spec.measure = measure;
  for (QuantTable& table : spec.tables)
    table = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 60);
  return spec;
}

constexpr Frame k4K = {3840, 2160}, k4K420 = {3840, 2160, 3}, k1080p = {1920, 1088};
constexpr Frame k1080p420 = {1920, 1080, 3}, kOdd = {3840, 2159};

// Eight bits in 16 are a valid job, for which `islow` has no fast kernels.
TEST(Plan, EightBitsInSixteen) {
  cuda::FastParamsCache params;
  cuda::SumsInProgress progress;
  for (const Method method : {Method::kIslow, Method::kFloat}) {
    for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
      Dct8x8Job job = job_on(k4K, spec_of(method), direction);
      job.samples[0].type = SampleType::kU16;
      job.samples[0].stride = 2;
      job.samples[0].pitch *= 2;
      EXPECT_TRUE(validate(job).ok()) << validate(job).message;
      EXPECT_EQ(cuda::fast_launch(job, &progress, params).has_value(), method == Method::kFloat)
          << method_name(method);
    }
  }
}

TEST(Plan, TwelveBits) {
  cuda::FastParamsCache params;
  cuda::SumsInProgress progress;
  for (const uint32_t measure : {0u, uint32_t{kMeasureZeros}})
    for (const Layout layout : {Layout::kBlock, Layout::kPlane})
      for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
        Spec spec = spec_of(Method::kIslow, measure);
        spec.depth = 12;
        spec.layout = layout;
        spec.tables[0].q[5] = 40000;
        Dct8x8Job job = job_on(k4K, spec, direction);
        job.samples[0].type = SampleType::kU16;
        job.samples[0].stride = 2;
        job.samples[0].pitch *= 2;
        const auto launch = cuda::fast_launch(job, &progress, params);
        ASSERT_TRUE(launch);
        EXPECT_EQ(cuda::fast_kernels().name(launch->kernel),
                  std::string(direction == Direction::kForward ? "forward" : "inverse") +
                      "_islow12_u16_s16_" + (layout == Layout::kBlock ? "block" : "plane") +
                      (measure != 0 ? "_measure" : ""));
      }
}

TEST(Plan, FullPlanes) {
  const Spec islow = spec_of(Method::kIslow), floats = spec_of(Method::kFloat);
  for (const Frame& frame : {k4K, k4K420}) {
    EXPECT_EQ(kernel_of(frame, islow, Direction::kForward), "forward_islow_u8_s16_block_full");
    EXPECT_EQ(kernel_of(frame, islow, Direction::kInverse), "inverse_islow_u8_s16_block_full");
    EXPECT_EQ(kernel_of(frame, floats, Direction::kForward), "forward_float_u8_s16_block");
    EXPECT_EQ(kernel_of(frame, floats, Direction::kInverse), "inverse_float_u8_s16_block");
    EXPECT_EQ(kernel_of(frame, spec_of(Method::kFloat, kMeasureSse), Direction::kForward),
              "forward_float_u8_s16_block_full_measure");
    EXPECT_EQ(kernel_of(frame, islow, Direction::kForward, KernelChoice::kEdged),
              "forward_islow_u8_s16_block");
  }
  EXPECT_EQ(kernel_of(kOdd, islow, Direction::kForward), "forward_islow_u8_s16_block");
  EXPECT_EQ(kernel_of(kOdd, islow, Direction::kInverse), "inverse_islow_u8_s16_block");
}

// A CTA has 64 blocks, and a full plane no fewer; half of them are in chroma.
TEST(Plan, FullPlanesHaveACta) {
  const Spec measured = spec_of(Method::kIslow, kMeasureSse);
  const std::string full = "forward_islow_u8_s16_block_full_measure";
  const std::string edged = "forward_islow_u8_s16_block_measure";
  EXPECT_EQ(kernel_of({64, 64}, measured, Direction::kForward), full);
  EXPECT_EQ(kernel_of({72, 56}, measured, Direction::kForward), edged);
  EXPECT_EQ(kernel_of({128, 128, 3}, measured, Direction::kForward), full);
  EXPECT_EQ(kernel_of({128, 112, 3}, measured, Direction::kForward), edged);
}

TEST(Plan, SmallFramesAreSplit) {
  for (const Method method : {Method::kIslow, Method::kFloat}) {
    const Spec spec = spec_of(method);
    const std::string name = method_name(method);
    EXPECT_EQ(kernel_of(k1080p, spec, Direction::kForward), "forward_" + name + "_u8_s16_split");
    EXPECT_EQ(kernel_of(k1080p, spec, Direction::kInverse), "inverse_" + name + "_u8_s16_split");
    // Chroma of 540 rows: only the forward kernel knows edges.
    EXPECT_EQ(kernel_of(k1080p420, spec, Direction::kForward, KernelChoice::kSplit),
              "forward_" + name + "_u8_s16_split");
    EXPECT_EQ(kernel_of(k1080p420, spec, Direction::kInverse, KernelChoice::kSplit),
              "inverse_" + name + "_u8_s16_block");
    EXPECT_EQ(kernel_of(k1080p, spec, Direction::kForward, KernelChoice::kEdged),
              "forward_" + name + "_u8_s16_block");
  }
}

TEST(Plan, OrderAndLayout) {
  Spec zigzag = spec_of(Method::kIslow), plane = zigzag;
  zigzag.order = Order::kZigzag;
  plane.layout = Layout::kPlane;
  EXPECT_EQ(kernel_of(k4K, zigzag, Direction::kForward), "forward_islow_u8_s16_zigzag_full");
  EXPECT_EQ(kernel_of(k4K, zigzag, Direction::kInverse), "inverse_islow_u8_s16_zigzag_full");
  EXPECT_EQ(kernel_of(k4K, plane, Direction::kForward), "forward_islow_u8_s16_plane_full");
  EXPECT_EQ(kernel_of(k4K, plane, Direction::kInverse), "inverse_islow_u8_s16_plane_full");
  EXPECT_EQ(kernel_of(k4K, plane, Direction::kInverse, KernelChoice::kGeneral), "none");
  EXPECT_EQ(kernel_of(k1080p, plane, Direction::kInverse), "inverse_islow_u8_s16_split_plane");
  EXPECT_EQ(kernel_of(k1080p, plane, Direction::kForward), "forward_islow_u8_s16_plane_full");
  plane.method = Method::kFloat;
  EXPECT_EQ(kernel_of(k1080p, plane, Direction::kInverse), "inverse_float_u8_s16_plane");
  EXPECT_EQ(kernel_of(k4K, plane, Direction::kInverse), "inverse_float_u8_s16_plane_full");
}

// Whole planes and small frames have no dedicated kernels here.
TEST(Plan, DecidedQcoefs) {
  Spec dead_zone = spec_of(Method::kIslow), rd = spec_of(Method::kFloat, kMeasureSse);
  dead_zone.quantizer = Quantizer::kDeadZone;
  rd.quantizer = Quantizer::kRd;
  for (const Frame& frame : {k4K, k1080p420, kOdd}) {
    EXPECT_EQ(kernel_of(frame, dead_zone, Direction::kForward),
              "forward_islow_u8_s16_block_dead_zone");
    EXPECT_EQ(kernel_of(frame, rd, Direction::kForward), "forward_float_u8_s16_block_rd_measure");
  }
  rd.order = Order::kZigzag;
  dead_zone.layout = Layout::kPlane;
  EXPECT_EQ(kernel_of(k4K, rd, Direction::kForward), "forward_float_u8_s16_zigzag_rd_measure");
  EXPECT_EQ(kernel_of(k4K, dead_zone, Direction::kForward), "forward_islow_u8_s16_plane_dead_zone");
  EXPECT_EQ(kernel_of(k4K, rd, Direction::kForward, KernelChoice::kGeneral), "none");
}

}  // namespace
}  // namespace cudatransform::test

#endif  // CT_HAVE_CUDA
