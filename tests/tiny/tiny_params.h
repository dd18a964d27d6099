// The parameters of the tiny transform's kernel, passed by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudatransform::test {

struct TinyParams {
  const uint8_t* from;
  uint8_t* to;
  int64_t from_pitch, to_pitch;
  int32_t width, height;
  uint8_t mask;
};

inline constexpr unsigned kTinyThreads = 256;  // in a CTA, each for one sample

}  // namespace cudatransform::test
