// Every filter, number of levels, engine, direction, depth, sampling and arrangement against the
// definition, bit for bit.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/engine/dwt/cases.h"
#include "tests/engine/mutants.h"

namespace cudatransform::test::dwt {
namespace {

// The number of cases left out for each tested one. Quick runs of the CUDA engine are emulated:
// there a thread of a kernel is a fiber.
size_t case_step(const std::vector<Engine>& engines, size_t quick_step) {
  if (!quick()) return 1;
  return engines.front().is_cuda ? 3 * quick_step : quick_step;
}

Spec without_measuring(Spec spec) {
  spec.measure = 0;
  return spec;
}

TEST(Dwt, EqualsTheDefinition) {
  const std::vector<Engine> engines = engines_with(&Engine::dwt_ops);
  check_cases(all_cases(), case_step(engines, sanitized() ? 5 : 23), engines,
              [](const Engine&, const Case&) { return true; });
}

// Coefficients near the ends of their type whose neighbors are 0: haar's samples are then near
// them as well, where 32 bits have no room for the level shift.
TEST(Dwt, ClipsWhatIsNearTheEndsOfTheType) {
  const std::vector<Engine> engines = engines_with(&Engine::dwt_ops);
  for (int w = 0; w < kWaveletCount; ++w)
    for (const DwtCoefType type : {DwtCoefType::kS16, DwtCoefType::kS32})
      for (const int depth : {8, 10, 16}) {
        Case test{};
        test.direction = Direction::kInverse;
        test.spec.shape = {static_cast<Wavelet>(w), static_cast<Wavelet>(w), 1, 0};
        test.spec.type = type;
        test.spec.depth = depth;
        test.content = Content::kSparse;
        test.sampling = Sampling::kGray;
        test.width = 128;
        test.height = 16;
        test.seed = static_cast<uint32_t>(3 * w + depth);
        const Expectation expectation = expect(test);
        for (const Engine& engine : engines)
          EXPECT_EQ(check_case(engine, test, expectation), "")
              << engine.name << ": " << test.text();
      }
}

// Pictures large enough for the host engine to cut them into stripes, also into stripes lower than
// the margin that a filter needs.
TEST(Dwt, StripesDoNotShow) {
  const std::vector<Engine> engines = engines_with(&Engine::dwt_ops);
  for (const auto& [width, height] : {std::pair{5000, 20}, {700, quick() ? 130 : 500}})
    for (size_t w = 0; w < kWaveletCount; w += case_step(engines, 3))
      for (const DwtCoefType type : {DwtCoefType::kS16, DwtCoefType::kS32})
        for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
          Case test{};
          test.direction = direction;
          test.spec.shape = {static_cast<Wavelet>(w), static_cast<Wavelet>(w), 3, 1};
          test.spec.type = type;
          test.spec.quant_index = make_quant_indices(Quant::kMixed, 5);
          test.spec.measure = kMeasureSse | kMeasureZeros;
          test.content =
              direction == Direction::kForward ? Content::kWholeRange : Content::kNatural;
          test.width = width;
          test.height = height;
          test.sampling = Sampling::kGray;
          Expectation e;
          e.picture = make_picture(test);
          // The test above has judged the portable engine, which has no stripes.
          if (direction == Direction::kForward) {
            e.coefs = run_forward(portable_engine(), test.spec, e.picture).coefs;
            e.decoded =
                run_inverse(portable_engine(), without_measuring(test.spec), e.coefs, e.picture)
                    .picture;
          } else {
            e.input = make_coefficients(test, e.picture);
            e.decoded =
                run_inverse(portable_engine(), without_measuring(test.spec), e.input, e.picture)
                    .picture;
          }
          for (const Engine& engine : engines)
            EXPECT_EQ(check_case(engine, test, e), "") << engine.name << ": " << test.text();
        }
}

// Index 0 is lossless, in any format, as long as no value of the transform leaves its type.
TEST(Dwt, LosesNothingAtIndexZero) {
  int trips = 0;
  const std::vector<Engine> engines = engines_with(&Engine::dwt_ops);
  const size_t step = case_step(engines, 7);
  size_t index = 0;
  for (int w = 0; w < kWaveletCount; ++w)
    for (int levels = 1; levels <= kMaxDwtLevels; ++levels)
      for (int s = 0; s < kSamplingCount; ++s) {
        if (index++ % step != 0) continue;
        // With samples up to 16 bits the widest filter stays within 32 up to 6 levels.
        const int depths[] = {8, 10, 12, 16};
        Case test{};
        test.spec.shape = {static_cast<Wavelet>(w), static_cast<Wavelet>(w), levels, levels % 3};
        test.sampling = static_cast<Sampling>(s);
        test.spec.depth = depths[(w + levels + s) % 4];
        test.spec.type = DwtCoefType::kS32;
        test.content = (levels + s) % 2 == 0 ? Content::kWholeRange : Content::kNatural;
        test.width = 45 + s;
        test.height = 19 + 2 * s;
        test.seed = static_cast<uint32_t>(1 + trips);
        if (s == static_cast<int>(Sampling::k420) && levels % 2 == 0)
          test.spec.arrangement = Arrangement::kSemiPlanar;
        test.spec.measure = kMeasureSse;
        const Picture picture = make_picture(test);
        if (test.spec.depth == 16 && test.spec.shape.wavelet == Wavelet::kFidelity &&
            levels + levels % 3 > 5)
          continue;
        for (const Engine& engine : engines) {
          const ForwardResult forward = run_forward(engine, test.spec, picture);
          ASSERT_EQ(forward.fault, "") << engine.name << ": " << test.text();
          for (size_t c = 0; c < picture.size(); ++c)
            EXPECT_EQ(forward.sums.sse[c], 0u) << engine.name << ": " << test.text();
          const InverseResult back =
              run_inverse(engine, test.spec, forward.coefs, picture, &picture);
          ASSERT_EQ(back.fault, "") << engine.name << ": " << test.text();
          EXPECT_EQ(test::judge_equal(picture, back.picture), "")
              << engine.name << ": " << test.text();
          ++trips;
        }
      }
  std::printf("  %d round trips\n", trips);
}

}  // namespace

namespace {

struct Dwt {
  using Job = DwtJob;
  using Ops = DwtOps;
  static constexpr uint8_t kSampleFault = 1;

  static ptrdiff_t coef_row_bytes(const Job& job) {
    return ptrdiff_t{dwt_padded_width(job.samples[0].width, job.levels)} *
           (job.type == DwtCoefType::kS16 ? 2 : 4);
  }
  static int32_t coef_rows(const Job& job) {
    return dwt_padded_height(job.samples[0].height, job.levels);
  }
};
using J = DwtJob;

template <Wavelet A, Wavelet B>
void exchange(J& j) {
  for (Wavelet* wavelet : {&j.wavelet, &j.wavelet_ho})
    *wavelet = *wavelet == A ? B : *wavelet == B ? A : *wavelet;
  // Validation would refuse one of a pair alone.
  if (j.wavelet == Wavelet::kJ2k53 || j.wavelet_ho == Wavelet::kJ2k53) j.wavelet = j.wavelet_ho;
  if (j.wavelet == Wavelet::kJ2k53 || j.wavelet_ho == Wavelet::kJ2k53) j.wavelet_ho = j.wavelet;
}

// Computes in 32 bits and leaves the wrapping to the store.
std::vector<int32_t> wide[kMaxComponents];

bool wraps(const J& j) { return is_forward(j) && j.type == DwtCoefType::kS16; }

void widen(J& j) {
  if (!wraps(j)) return;
  j.type = DwtCoefType::kS32;
  for (int c = 0; c < j.components; ++c) {
    const int32_t width = dwt_padded_width(j.samples[c].width, j.levels);
    const int32_t height = dwt_padded_height(j.samples[c].height, j.levels);
    wide[c].assign(static_cast<size_t>(width) * static_cast<size_t>(height), 0);
    j.coefs[c] = {wide[c].data(), ptrdiff_t{4} * width};
  }
}

void wrap(const J& j, FencePtr*) {
  if (!wraps(j)) return;
  for (int c = 0; c < j.components; ++c) {
    const int32_t width = dwt_padded_width(j.samples[c].width, j.levels);
    for (size_t i = 0; i < wide[c].size(); ++i) {
      const auto y = static_cast<ptrdiff_t>(i) / width, x = static_cast<ptrdiff_t>(i) % width;
      *reinterpret_cast<int16_t*>(byte_at(j.coefs[c].data, y * j.coefs[c].pitch + 2 * x)) =
          static_cast<int16_t>(wide[c][i]);
    }
  }
}

TEST(DwtMutants, AreAllFound) {
  expect_found<Dwt>(
      &Engine::dwt_ops, all_cases(), quick() ? 23 : 11,
      {
          {"a coefficient off by one", nullptr,
           [](const J& j, FencePtr*) {
             if (is_forward(j)) *byte_at(j.coefs[0].data, 0) ^= 1;
           }},
          {"legall53 for j2k53", exchange<Wavelet::kLegall53, Wavelet::kJ2k53>, nullptr},
          {"haar without its shift", exchange<Wavelet::kHaar, Wavelet::kHaarShift>, nullptr},
          {"dd97 for dd137", exchange<Wavelet::kDd97, Wavelet::kDd137>, nullptr},
          {"one filter for both", [](J& j) { j.wavelet = j.wavelet_ho; }, nullptr},
          {"filters exchanged", [](J& j) { std::swap(j.wavelet, j.wavelet_ho); }, nullptr},
          {"a level forgotten",
           [](J& j) {
             if (j.levels.horizontal > 0 && j.levels.both > 0) --j.levels.horizontal;
           },
           nullptr},
          {"quantizers shared",
           [](J& j) {
             for (auto& component : j.quant_index)
               std::copy(std::begin(j.quant_index[0]), std::end(j.quant_index[0]), component);
           },
           nullptr},
          {"bands exchanged",
           [](J& j) {
             const int last = dwt_band_count(j.levels) - 1;
             if (j.levels.both == 0) return;
             for (auto& component : j.quant_index)
               std::swap(component[last - 1], component[last - 2]);
           },
           nullptr},
          {"an index off by one", [](J& j) { j.quant_index[0][0] ^= 1; }, nullptr},
          {"wrapped at the store", widen, wrap},
          {"error mismeasured", nullptr,
           [](const J& j, FencePtr*) {
             if (j.sums != nullptr) j.sums->sse[0]++;
           }},
      });
}

}  // namespace

}  // namespace cudatransform::test::dwt
