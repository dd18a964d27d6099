// The tests can fail: engines with one planted fault each, which the table of cases must find.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/mutants.h"

#include <algorithm>
#include <iterator>

#include "tests/engine/dwt/case_check.h"

namespace cudatransform::test::dwt {
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
          {"quantisers shared",
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
