// The DCT's definition in double precision, and pictures and coefficients as numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Written from the formula (ITU-T T.81, A.3.3) and, on purpose, without a line of transform/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/engine/frame.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::test {

// F(u,v) = 1/4 C(u) C(v) sum f(x,y) cos((2x+1) u pi/16) cos((2y+1) v pi/16), C(0) = sqrt(1/2);
// indices 8 y + x and 8 v + u.
void definition_dct(const double samples[64], double coefs[64]);
void definition_idct(const double coefs[64], double samples[64]);

// The inverse at n x n samples, n = 1, 2 or 4, index n y + x. By low frequencies: the n x n lowest
// coefficients through the orthonormal inverse of n points,
//   f(x,y) = 1/4 C(u) C(v) sum F(u,v) cos((2x+1) u pi/2n) cos((2y+1) v pi/2n).
// By means: every sample is the mean of definition_idct()'s (8/n)^2 samples in its place.
void definition_low_frequencies(const double coefs[64], int n, double* samples);
void definition_means(const double coefs[64], int n, double* samples);

// Halves away from zero.
double round_half_away(double value);

// The distance of `value` from the nearest number at which its rounding changes.
double distance_to_tie(double value);

// The natural index (8 v + u) of the k-th coefficient of a zigzag scan, found by walking it.
int natural_of_zigzag(int k);

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
Coefficients quantize(const Coefficients& values, std::span<const QuantTable> tables);
Coefficients dequantize(const Coefficients& qcoefs, std::span<const QuantTable> tables);
// Samples without level shift, rounding or clamp, cut to the sizes of `like`.
RealPicture definition_inverse(const Coefficients& values, const Picture& like);
// The same at 1/scale of the size; `like` has those sizes. See definition.h for the two ways.
enum class ScaledBy { kLowFrequencies, kMeans };
RealPicture definition_scaled_inverse(const Coefficients& values, const Picture& like, int scale,
                                      ScaledBy way);

}  // namespace cudatransform::test
