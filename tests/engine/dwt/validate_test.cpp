// validate() accepts wavelet jobs within the contract and refuses, with a sentence, all others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/engine/dwt/job_runner.h"
#include "tests/engine/planted_errors.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::test::dwt {
namespace {

// A function, because clang 14 initializes no aggregate from parentheses.
DwtLevels levels_of(int both, int horizontal) { return {both, horizontal}; }

// Two levels.
struct GoodJob : SoundJob<DwtJob> {
  static constexpr StatusCode kRefusals[] = {StatusCode::kInvalidArgument};

  explicit GoodJob(Direction direction) : SoundJob(direction) {
    job.levels = {2, 0};
    for (int c = 0; c < 3; ++c) {
      job.coefs[c] = {coefs[c], c == 0 ? 36 * 2 : 20 * 2};
      std::fill(std::begin(job.quant_index[c]), std::end(job.quant_index[c]), uint8_t{4});
    }
  }

  static void make_deep(Job& job, int depth) {
    job.depth = depth;
    job.measure = 0;
    job.type = DwtCoefType::kS32;
    widen_samples(job, SampleType::kU16);
    for (DwtPlane& coef : job.coefs) coef.pitch *= 2;
  }

  static std::vector<Engine> engines() { return engines_with(&Engine::dwt_ops); }
  static Status submit(const Engine& engine, const Job& job) {
    FencePtr fence;
    return engine.dwt_ops->submit(*engine.device, engine.device->queue(QueueKind::kCompute), job,
                                  &fence);
  }
};

using J = DwtJob;
using G = GoodJob;

PlantedList<J> refused_coefficients() {
  return {
      {"wavelet 8", [](J& j) { j.wavelet = static_cast<Wavelet>(8); }},
      {"wavelet -1", [](J& j) { j.wavelet = static_cast<Wavelet>(-1); }},
      {"horizontal wavelet 99", [](J& j) { j.wavelet_ho = static_cast<Wavelet>(99); }},
      {"j2k53 in columns alone", [](J& j) { j.wavelet = Wavelet::kJ2k53; }},
      {"j2k53 in rows alone", [](J& j) { j.wavelet_ho = Wavelet::kJ2k53; }},
      {"no levels", [](J& j) { j.levels = levels_of(0, 0); }},
      {"7 levels", [](J& j) { j.levels = levels_of(7, 0); }},
      {"-1 levels", [](J& j) { j.levels = levels_of(-1, 2); }},
      {"5 horizontal levels", [](J& j) { j.levels = levels_of(0, 5); }},
      {"-1 horizontal levels", [](J& j) { j.levels = levels_of(2, -1); }},
      {"more levels than the pitch has room for", [](J& j) { j.levels = levels_of(3, 0); }},
      {"more horizontal levels than that", [](J& j) { j.levels = levels_of(2, 1); }},
      {"a quantizer above the last",
       [](J& j) { j.quant_index[2][6] = static_cast<uint8_t>(kMaxQuantIndex + 1); }},
      {"a quantizer far above it", [](J& j) { j.quant_index[0][0] = 255; }},
      {"bytes at 10 bits", [](J& j) { j.depth = 10; }},
      {"a column more than the pitch has room for", [](J& j) { j.samples[0].width = 37; }},
      {"S32 with the pitch of S16", [](J& j) { j.type = DwtCoefType::kS32; }},
      {"S32 at an address for S16",
       [](J& j) {
         G::make_deep(j, 10);
         j.coefs[0].data = static_cast<uint8_t*>(j.coefs[0].data) + 2;
       }},
      {"measuring something else", [](J& j) { j.measure = 8; }},
      {"more coefficients than a job may have",
       [](J& j) {
         j.samples[0].width = j.samples[0].height = 1 << 20;
         j.samples[0].pitch = 1 << 20;
         j.coefs[0].pitch = 1 << 21;
       }},
  };
}

PlantedList<J> refused_inverse() {
  return {
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
  };
}

PlantedList<J> accepted_coefficients() {
  return {
      {"a quantizer out of range where there is no component",
       [](J& j) { j.components = 1, j.quant_index[1][0] = 255; }},
      {"a quantizer out of range where there is no band",
       [](J& j) { j.quant_index[0][dwt_band_count(j.levels)] = 255; }},
      {"the last quantizer",
       [](J& j) { j.quant_index[0][0] = static_cast<uint8_t>(kMaxQuantIndex); }},
      {"two filters", [](J& j) { j.wavelet = Wavelet::kHaar; }},
      {"JPEG 2000's", [](J& j) { j.wavelet = j.wavelet_ho = Wavelet::kJ2k53; }},
      {"levels in rows alone", [](J& j) { j.levels = levels_of(0, 2); }},
      {"as many levels, one of them in rows alone", [](J& j) { j.levels = levels_of(1, 1); }},
      {"the other method", [](J& j) { j.method = DwtMethod::kSeparableSlab; }},
  };
}

TEST(DwtValidate, AcceptsGoodJobs) {
  expect_accepted<G>(accepted_planes<G>() + accepted_coefficients());
}

TEST(DwtValidate, RefusesBadJobs) {
  for (const Direction direction : {Direction::kForward, Direction::kInverse})
    expect_refused<G>(direction,
                      refused_planes<G>() + refused_planes<G>(direction) + refused_coefficients());
  expect_refused<G>(Direction::kInverse, refused_inverse());
}

TEST(DwtValidate, EnginesRefuseBadJobs) {
  expect_engines_refuse<G>(refused_planes<G>() + refused_coefficients());
}

// A sentence names the found and the expected value.
TEST(DwtValidate, SaysWhatIsWrong) {
  GoodJob good(Direction::kForward);
  good.job.quant_index[1][3] = 200;
  const std::string message = validate(good.job).message;
  for (const char* part : {"200", "band 3", "component 1", "115"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

}  // namespace
}  // namespace cudatransform::test::dwt
