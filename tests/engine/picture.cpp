// Sizes of a picture's planes, and comparisons.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/picture.h"

namespace cudatransform::test {
namespace {

struct Factors {
  int h, v;  // luma's sampling factors; chroma's are 1
};

Factors luma_factors(Sampling sampling) {
  switch (sampling) {
    case Sampling::k420:
      return {2, 2};
    case Sampling::k422:
      return {2, 1};
    case Sampling::k411:
      return {4, 1};
    case Sampling::k440:
      return {1, 2};
    default:
      return {1, 1};
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

const char* sampling_name(Sampling sampling) {
  static const char* const names[] = {"grey", "4:2:0", "4:2:2", "4:4:4", "4:1:1", "4:4:0", "RGB"};
  return names[static_cast<int>(sampling)];
}

int component_count(Sampling sampling) { return sampling == Sampling::kGrey ? 1 : 3; }

Picture empty_picture(Sampling sampling, int width, int height) {
  const Factors luma = luma_factors(sampling);
  Picture picture;
  picture.emplace_back(width, height);
  for (int c = 1; c < component_count(sampling); ++c)
    picture.emplace_back(divide_up(width, luma.h), divide_up(height, luma.v));
  return picture;
}

uint64_t squared_error(const Plane& a, const Plane& b) {
  uint64_t sum = 0;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const int64_t difference = a.samples[i] - b.samples[i];
    sum += static_cast<uint64_t>(difference * difference);
  }
  return sum;
}

std::string judge_equal(const Picture& expected, const Picture& got) {
  for (size_t c = 0; c < expected.size(); ++c)
    for (size_t i = 0; i < expected[c].samples.size(); ++i)
      if (expected[c].samples[i] != got[c].samples[i])
        return "component " + std::to_string(c) + " sample (" +
               std::to_string(i % expected[c].width) + "," + std::to_string(i / expected[c].width) +
               ")" + ": expected " + std::to_string(expected[c].samples[i]) + ", got " +
               std::to_string(got[c].samples[i]);
  return "";
}

}  // namespace cudatransform::test
