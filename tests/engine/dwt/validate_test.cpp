// validate() accepts what the contract of wavelet jobs allows and refuses, with a sentence,
// everything else.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/engine/dwt/job_runner.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::test::dwt {
namespace {

// A good job on host memory: 4:2:0, 33x17, 8 bit, two levels.
struct GoodJob {
  alignas(64) uint8_t samples[3][40 * 40] = {};
  alignas(64) uint8_t reference[3][40 * 40] = {};
  alignas(64) int16_t coefs[3][64 * 64 * 2] = {};
  alignas(64) PictureSums sums = {};
  DwtJob job;

  explicit GoodJob(Direction direction) {
    job.direction = direction;
    job.components = 3;
    job.levels = {2, 0};
    for (int c = 0; c < 3; ++c) {
      SamplePlane& plane = job.samples[c];
      plane.data = samples[c];
      plane.pitch = 40;
      plane.width = c == 0 ? 33 : 17;
      plane.height = c == 0 ? 17 : 9;
      job.coefs[c] = {coefs[c], c == 0 ? 36 * 2 : 20 * 2};
      std::fill(std::begin(job.quant_index[c]), std::end(job.quant_index[c]), uint8_t{4});
      job.reference[c] = plane;
      job.reference[c].data = reference[c];
    }
    job.measure = kMeasureSse | kMeasureZeros;
    job.sums = &sums;
  }
};

void make_deep(DwtJob& job, int depth) {
  job.depth = depth;
  job.measure = 0;
  job.type = DwtCoefType::kS32;
  for (SamplePlane& plane : job.samples) {
    plane.type = SampleType::kU16;
    plane.stride = 2;
    plane.pitch = 80;
  }
  for (DwtPlane& coef : job.coefs) coef.pitch *= 2;
}

struct Mutation {
  const char* name;
  std::function<void(DwtJob&)> apply;
};
using J = DwtJob;

const std::vector<Mutation>& refused_either_way() {
  static const std::vector<Mutation> list = {
      {"no components", [](J& j) { j.components = 0; }},
      {"two components", [](J& j) { j.components = 2; }},
      {"four components", [](J& j) { j.components = 4; }},
      {"negative components", [](J& j) { j.components = -1; }},
      {"depth 0", [](J& j) { j.depth = 0; }},
      {"depth 9", [](J& j) { j.depth = 9; }},
      {"wavelet 8", [](J& j) { j.wavelet = static_cast<Wavelet>(8); }},
      {"wavelet -1", [](J& j) { j.wavelet = static_cast<Wavelet>(-1); }},
      {"horizontal wavelet 99", [](J& j) { j.wavelet_ho = static_cast<Wavelet>(99); }},
      {"j2k53 in columns alone", [](J& j) { j.wavelet = Wavelet::kJ2k53; }},
      {"j2k53 in rows alone", [](J& j) { j.wavelet_ho = Wavelet::kJ2k53; }},
      {"method 99", [](J& j) { j.method = static_cast<DwtMethod>(99); }},
      {"type 99", [](J& j) { j.type = static_cast<DwtCoefType>(99); }},
      {"direction 99", [](J& j) { j.direction = static_cast<Direction>(99); }},
      {"sample type 99", [](J& j) { j.samples[0].type = static_cast<SampleType>(99); }},
      {"no levels",
       [](J& j) {
         j.levels = {0, 0};
       }},
      {"7 levels",
       [](J& j) {
         j.levels = {7, 0};
       }},
      {"-1 levels",
       [](J& j) {
         j.levels = {-1, 2};
       }},
      {"5 horizontal levels",
       [](J& j) {
         j.levels = {0, 5};
       }},
      {"-1 horizontal levels",
       [](J& j) {
         j.levels = {2, -1};
       }},
      {"more levels than the pitch has room for",
       [](J& j) {
         j.levels = {3, 0};
       }},
      {"more horizontal levels than that",
       [](J& j) {
         j.levels = {2, 1};
       }},
      {"a quantiser above the last",
       [](J& j) { j.quant_index[2][6] = static_cast<uint8_t>(kMaxQuantIndex + 1); }},
      {"a quantiser far above it", [](J& j) { j.quant_index[0][0] = 255; }},
      {"bytes at 10 bits", [](J& j) { j.depth = 10; }},
      {"samples at null", [](J& j) { j.samples[2].data = nullptr; }},
      {"coefficients at null", [](J& j) { j.coefs[1].data = nullptr; }},
      {"width 0", [](J& j) { j.samples[0].width = 0; }},
      {"width -8", [](J& j) { j.samples[0].width = -8; }},
      {"height 0", [](J& j) { j.samples[1].height = 0; }},
      {"a column more than the pitch has room for", [](J& j) { j.samples[0].width = 37; }},
      {"sample pitch one short", [](J& j) { j.samples[0].pitch = 32; }},
      {"sample stride 0", [](J& j) { j.samples[0].stride = 0; }},
      {"sample stride -1", [](J& j) { j.samples[0].stride = -1; }},
      {"16-bit samples with stride 1", [](J& j) { make_deep(j, 10), j.samples[0].stride = 1; }},
      {"16-bit samples with an odd pitch", [](J& j) { make_deep(j, 10), j.samples[0].pitch = 81; }},
      {"shift -1", [](J& j) { make_deep(j, 10), j.samples[0].shift = -1; }},
      {"shift 7 at 10 bits", [](J& j) { make_deep(j, 10), j.samples[0].shift = 7; }},
      {"row_repeat 0", [](J& j) { j.samples[0].row_repeat = 0; }},
      {"row_repeat -2", [](J& j) { j.samples[0].row_repeat = -2; }},
      {"coefficient pitch one short", [](J& j) { j.coefs[0].pitch = 36 * 2 - 2; }},
      {"coefficient pitch 0", [](J& j) { j.coefs[0].pitch = 0; }},
      {"coefficient pitch odd", [](J& j) { j.coefs[0].pitch = 36 * 2 + 1; }},
      {"S32 with the pitch of S16", [](J& j) { j.type = DwtCoefType::kS32; }},
      {"S32 at an address for S16",
       [](J& j) {
         make_deep(j, 10);
         j.coefs[0].data = static_cast<uint8_t*>(j.coefs[0].data) + 2;
       }},
      {"coefficients at an odd address",
       [](J& j) { j.coefs[0].data = static_cast<uint8_t*>(j.coefs[0].data) + 1; }},
      {"measuring into nothing", [](J& j) { j.sums = nullptr; }},
      {"measuring something else", [](J& j) { j.measure = 8; }},
      {"times without a timer",
       [](J& j) {
         static PictureTimes times;
         j.times = &times;
       }},
      {"a width that overflows",
       [](J& j) { j.samples[0].width = std::numeric_limits<int32_t>::max(); }},
      {"a height that overflows",
       [](J& j) { j.samples[0].height = std::numeric_limits<int32_t>::max(); }},
      {"more coefficients than a job may have",
       [](J& j) {
         j.samples[0].width = j.samples[0].height = 1 << 20;
         j.samples[0].pitch = 1 << 20;
         j.coefs[0].pitch = 1 << 21;
       }},
  };
  return list;
}

const std::vector<Mutation>& refused_forward() {
  static const std::vector<Mutation> list = {
      {"residual samples",
       [](J& j) {
         for (SamplePlane& p : j.samples) p.type = SampleType::kS16, p.stride = 2, p.pitch = 80;
       }},
      {"repeated rows", [](J& j) { j.samples[1].row_repeat = 2; }},
  };
  return list;
}

const std::vector<Mutation>& refused_inverse() {
  static const std::vector<Mutation> list = {
      {"residuals beside pictures",
       [](J& j) {
         j.measure = 0;
         j.samples[0].type = SampleType::kS16;
         j.samples[0].stride = 2;
         j.samples[0].pitch = 80;
       }},
      {"residuals that are measured",
       [](J& j) {
         for (SamplePlane& p : j.samples) p.type = SampleType::kS16, p.stride = 2, p.pitch = 80;
       }},
      {"room behind bytes", [](J& j) { j.samples_have_room = true; }},
      {"room that rows do not have",
       [](J& j) {
         j.measure = 0;
         for (SamplePlane& p : j.samples)
           p.type = SampleType::kS16, p.stride = 2, p.pitch = 2 * p.width;
         j.samples_have_room = true;
         j.samples[0].width -= 2;
         j.samples[0].pitch -= 4;
       }},
      {"no reference", [](J& j) { j.reference[0].data = nullptr; }},
      {"a smaller reference", [](J& j) { j.reference[0].width = 32; }},
      {"a reference of another height", [](J& j) { j.reference[2].height = 8; }},
      {"a reference with repeated rows", [](J& j) { j.reference[0].row_repeat = 2; }},
  };
  return list;
}

const std::vector<Mutation>& accepted() {
  static const std::vector<Mutation> list = {
      {"as it is", [](J&) {}},
      {"one component, the others junk",
       [](J& j) {
         j.components = 1;
         j.samples[1] = {};
         j.coefs[2] = {};
         j.quant_index[1][0] = 255;
       }},
      {"a quantiser out of range where there is no band",
       [](J& j) { j.quant_index[0][dwt_band_count(j.levels)] = 255; }},
      {"the last quantiser",
       [](J& j) { j.quant_index[0][0] = static_cast<uint8_t>(kMaxQuantIndex); }},
      {"two filters", [](J& j) { j.wavelet = Wavelet::kHaar; }},
      {"JPEG 2000's", [](J& j) { j.wavelet = j.wavelet_ho = Wavelet::kJ2k53; }},
      {"levels in rows alone",
       [](J& j) {
         j.levels = {0, 2};
       }},
      {"as many levels, one of them in rows alone",
       [](J& j) {
         j.levels = {1, 1};
       }},
      {"the other method", [](J& j) { j.method = DwtMethod::kSeparableSlab; }},
      {"not measured", [](J& j) { j.measure = 0, j.sums = nullptr; }},
      {"zeros alone",
       [](J& j) {
         j.measure = kMeasureZeros;
         j.reference[0] = {};
       }},
      {"10 bits", [](J& j) { make_deep(j, 10); }},
      {"16 bits", [](J& j) { make_deep(j, 16); }},
  };
  return list;
}

TEST(DwtValidate, AcceptsGoodJobs) {
  for (const Direction direction : {Direction::kForward, Direction::kInverse})
    for (const Mutation& mutation : accepted()) {
      GoodJob good(direction);
      mutation.apply(good.job);
      const Status status = validate(good.job);
      EXPECT_TRUE(status.ok()) << mutation.name << ": " << status.message;
    }
}

void expect_refused(Direction direction, const Mutation& mutation) {
  GoodJob good(direction);
  mutation.apply(good.job);
  const Status status = validate(good.job);
  EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << "accepted: " << mutation.name;
  EXPECT_GT(status.message.size(), 10u) << mutation.name << ": '" << status.message << "'";
}

TEST(DwtValidate, RefusesBadJobs) {
  for (const Mutation& mutation : refused_either_way()) {
    expect_refused(Direction::kForward, mutation);
    expect_refused(Direction::kInverse, mutation);
  }
  for (const Mutation& mutation : refused_forward()) expect_refused(Direction::kForward, mutation);
  for (const Mutation& mutation : refused_inverse()) expect_refused(Direction::kInverse, mutation);
}

// A sentence names what it found and what it expected.
TEST(DwtValidate, SaysWhatIsWrong) {
  GoodJob good(Direction::kForward);
  good.job.quant_index[1][3] = 200;
  EXPECT_EQ(validate(good.job).message, "quantiser index 200 of band 3 of component 1 is over 115");
  GoodJob alone(Direction::kForward);
  alone.job.wavelet = Wavelet::kJ2k53;
  EXPECT_NE(validate(alone.job).message.find("j2k53 with horizontal wavelet legall53"),
            std::string::npos);
}

// An engine that trusted its caller would crash here, or write.
TEST(DwtValidate, EnginesRefuseBadJobs) {
  for (const Engine& engine : dwt_engines())
    for (const Direction direction : {Direction::kForward, Direction::kInverse})
      for (const Mutation& mutation : refused_either_way()) {
        GoodJob good(direction);
        mutation.apply(good.job);
        engine.activate();
        FencePtr fence;
        const Status status = engine.dwt_ops->submit(
            *engine.device, engine.device->queue(QueueKind::kCompute), good.job, &fence);
        EXPECT_FALSE(status.ok()) << engine.name << " accepted: " << mutation.name;
        for (const auto& plane : good.coefs)
          for (const int16_t coef : plane) ASSERT_EQ(coef, 0) << engine.name << mutation.name;
      }
}

}  // namespace
}  // namespace cudatransform::test::dwt
