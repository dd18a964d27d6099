// Sampling factors of JPEG components.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <numeric>

#include "jpeg/tables.h"

namespace cudatransform {

JpegSampling JpegSampling::of_luma(JpegColor color, uint32_t h, uint32_t v) {
  JpegSampling sampling;
  for (int c = 0; c < components_of(color); ++c) {
    if (is_chroma(color, c)) continue;
    sampling.h[c] = h;
    sampling.v[c] = v;
  }
  return sampling;
}

bool JpegSampling::is_of_luma(JpegColor color) const {
  return color != JpegColor::kTwo && *this == of_luma(color, h[0], v[0]) &&
         (has_chroma(color) || is_full());
}

bool JpegSampling::has_whole_ratios() const {
  const auto divides = [](uint32_t all) { return [all](uint32_t one) { return all % one == 0; }; };
  return std::all_of(std::begin(h), std::end(h), divides(max_h())) &&
         std::all_of(std::begin(v), std::end(v), divides(max_v()));
}

void JpegSampling::reduce(int components) {
  for (uint32_t* factors : {h, v}) {
    uint32_t divisor = 0;
    for (int c = 0; c < components; ++c) divisor = std::gcd(divisor, factors[c]);
    for (int c = 0; c < components; ++c) factors[c] /= divisor;
  }
}

std::string JpegSampling::text(int components) const {
  std::string text;
  for (int c = 0; c < components; ++c)
    text += (c > 0 ? ", " : "") + std::to_string(h[c]) + "x" + std::to_string(v[c]);
  return text;
}

}  // namespace cudatransform
