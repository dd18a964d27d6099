// Coefficients as numbers for tests of the DCT, and the pictures that they come from.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/engine/picture.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::test {

// One component's coefficients: natural order, blocks in raster order. Doubles hold every type that
// an engine stores without loss.
struct Blocks {
  int blocks_w = 0;
  int blocks_h = 0;
  std::vector<double> values;

  Blocks() = default;
  Blocks(int w, int h) : blocks_w(w), blocks_h(h), values(static_cast<size_t>(w) * h * 64) {}
  double* block(int bx, int by) { return &values[(static_cast<size_t>(by) * blocks_w + bx) * 64]; }
  const double* block(int bx, int by) const {
    return &values[(static_cast<size_t>(by) * blocks_w + bx) * 64];
  }
};
using Coefficients = std::vector<Blocks>;

// The planes of the same picture at 1/scale of its size, each rounded up by itself; all samples 0.
Picture empty_scaled_picture(const Picture& picture, int scale);
// Zero coefficients for planes of these sizes.
Coefficients empty_coefficients(const Picture& picture);

enum class Content {
  kPhoto,    // smooth, some texture, a little noise: like a camera's
  kNoise,    // uniform over the whole range
  kExtreme,  // only the lowest and highest value, in the patterns that drive coefficients furthest
};
inline constexpr int kContentCount = 3;
Picture make_picture(Sampling sampling, int width, int height, int depth, Content content,
                     uint32_t seed);

// The definition over whole pictures. Edges are replicated; one table per component.
Coefficients definition_forward(const Picture& picture, int depth);
Coefficients quantise(const Coefficients& values, std::span<const QuantTable> tables);
Coefficients dequantise(const Coefficients& levels, std::span<const QuantTable> tables);
// Samples without level shift, rounding or clamp, cut to the sizes of `like`.
RealPicture definition_inverse(const Coefficients& values, const Picture& like);
// The same at 1/scale of the size; `like` has those sizes. See definition.h for the two ways.
enum class ScaledBy { kLowFrequencies, kMeans };
RealPicture definition_scaled_inverse(const Coefficients& values, const Picture& like, int scale,
                                      ScaledBy way);

}  // namespace cudatransform::test
