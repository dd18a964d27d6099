// RGB of planes, and planes of RGB, a sample after another: the judge of engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/engine/frame.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::test {

// The parameters of a job, without memory.
struct RgbCase {
  int width = 0, height = 0;
  RgbColor color = RgbColor::kYcbcr;
  RgbSubsampling subsampling[kMaxComponents];
  ChromaUpsampling upsampling = ChromaUpsampling::kFancy;

  int components() const { return color == RgbColor::kGray ? 1 : 3; }
};

// Zeros, of the sizes of the components; `in_blocks`: in whole blocks of 8x8.
Picture rgb_planes(const RgbCase& of, bool in_blocks);

// Three planes of R, G and B.
Picture define_rgb(const RgbCase& of, const Picture& planes);
// In whole blocks.
Picture define_planes(const RgbCase& of, const Picture& rgb);

}  // namespace cudatransform::test
