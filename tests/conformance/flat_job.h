// Whole pictures through an engine in the plainest form: packed 8-bit planes, packed S16 quantized
// coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/engine/engines.h"

namespace cudatransform::test {

struct BytePlane {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> samples;

  int blocks_w() const { return (width + 7) / 8; }
  int blocks_h() const { return (height + 7) / 8; }
};
using BytePicture = std::vector<BytePlane>;
using Qcoefs = std::vector<std::vector<int16_t>>;  // per component, block after block, raster order

struct FlatOptions {
  Method method = Method::kIslow;
  std::span<const QuantTable> tables;  // one per component
  bool measure = false;
  int scale = 1;  // inverse: `like` has the sizes at 1/scale
};

// Both throw std::runtime_error when the engine fails.
Qcoefs forward_qcoefs(const Engine& engine, const FlatOptions& options, const BytePicture& picture,
                      PictureSums* sums = nullptr);
BytePicture inverse_planes(const Engine& engine, const FlatOptions& options, const Qcoefs& qcoefs,
                           const BytePicture& like);

// Unquantized S32 coefficients (64 a block) to residuals: no level shift, no clamp (IEEE 1180).
std::vector<int16_t> inverse_residuals(const Engine& engine, Method method,
                                       const std::vector<int32_t>& coefs, int blocks_w,
                                       int blocks_h);

// 10 log10(255^2 / mse), infinite for equal pictures.
double psnr(const BytePlane& a, const BytePlane& b);

// Text for the first difference, "" for none.
std::string first_difference(const Qcoefs& expected, const Qcoefs& got);
std::string first_difference(const BytePicture& expected, const BytePicture& got);

}  // namespace cudatransform::test
