// Tables of the floats that vision models take for bytes, by the recipes of common libraries.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>

#include "transform/device/status.h"

namespace cudatransform {

// How a byte x becomes a float, to the bit: all operations in float unless they say otherwise.
enum class ValueRecipe {
  kTorchvision,    // ToTensor, Normalize: x / 255, less the mean, by the deviation
  kTorchvisionV2,  // v2.ToDtype(scale=True): x * float(1 / 255), then the same
  kHf,             // Hugging Face's image processors: x / 255 in double, then the same
  kHfFast,         // their fast ones: (x - 255 mean) / (255 deviation)
};
inline constexpr int kValueRecipeCount = 4;

// 256 values for each of `channels` channels, as ResizeJob::table has them. `mean` and `deviation`
// have a number for each channel, or none: then values are scaled alone.
Status make_values(ValueRecipe recipe, int channels, std::span<const double> mean,
                   std::span<const double> deviation, float* table);

}  // namespace cudatransform
