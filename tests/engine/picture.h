// Pictures as plain numbers for tests, without addresses or pitches.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudatransform::test {

enum class Sampling { kGrey, k420, k422, k444, k411, k440, kRgb };
inline constexpr int kSamplingCount = 7;
const char* sampling_name(Sampling sampling);
int component_count(Sampling sampling);

template <typename T>
struct BasicPlane {
  int width = 0;
  int rows = 0;
  std::vector<T> samples;

  BasicPlane() = default;
  BasicPlane(int w, int h) : width(w), rows(h), samples(static_cast<size_t>(w) * h) {}
  T& at(int x, int y) { return samples[static_cast<size_t>(y) * width + x]; }
  const T& at(int x, int y) const { return samples[static_cast<size_t>(y) * width + x]; }
};
using Plane = BasicPlane<int>;
using Picture = std::vector<Plane>;                   // components in JPEG order
using RealPicture = std::vector<BasicPlane<double>>;  // before rounding

// The planes of a picture of `width` x `height`, all samples 0.
Picture empty_picture(Sampling sampling, int width, int height);
uint64_t squared_error(const Plane& a, const Plane& b);

// "" or the first difference.
std::string judge_equal(const Picture& expected, const Picture& got);

}  // namespace cudatransform::test
