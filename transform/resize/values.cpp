// Tables of the floats that vision models take for bytes, by the recipes of common libraries.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <string>

#include "transform/picture_check.h"
#include "transform/resize/resize.h"

namespace cudatransform {

namespace {

float scaled(ValueRecipe recipe, int byte) {
  const auto value = static_cast<float>(byte);
  switch (recipe) {
    case ValueRecipe::kTorchvision:
      return value / 255.f;
    case ValueRecipe::kHf:
      return static_cast<float>(byte / 255.);
    case ValueRecipe::kTorchvisionV2:
    case ValueRecipe::kHfFast:
      break;
  }
  return value * static_cast<float>(1. / 255.);
}

float normalized(ValueRecipe recipe, int byte, float mean, float deviation) {
  if (recipe != ValueRecipe::kHfFast) return (scaled(recipe, byte) - mean) / deviation;
  return (static_cast<float>(byte) - mean * 255.f) / (deviation * 255.f);
}

Status check_numbers(const char* what, std::span<const double> numbers, int channels) {
  if (!numbers.empty() && numbers.size() != static_cast<size_t>(channels)) {
    return job_error(std::string(what) + " of " + std::to_string(numbers.size()) +
                     " numbers, expected " + text(channels) + ", one a channel");
  }
  for (const double number : numbers)
    if (!std::isfinite(static_cast<float>(number)))
      return job_error(std::string(what) + " of " + std::to_string(number) +
                       ", expected a finite number");
  return {};
}

}  // namespace

Status make_values(ValueRecipe recipe, int channels, std::span<const double> mean,
                   std::span<const double> deviation, float* table) {
  if (!within(recipe, ValueRecipe::kHfFast))
    return job_error("unknown recipe " + text(int(recipe)));
  if (channels < 1 || channels > kMaxResizeChannels)
    return job_error(text(channels) + " channels, expected 1 to " + text(kMaxResizeChannels));
  CT_RETURN_IF_ERROR(check_numbers("a mean", mean, channels));
  CT_RETURN_IF_ERROR(check_numbers("a standard deviation", deviation, channels));
  if (mean.empty() != deviation.empty())
    return job_error("a mean or a standard deviation alone, expected both or neither");
  for (const double number : deviation)
    if (static_cast<float>(number) == 0.f)
      return job_error("a standard deviation of 0, expected another number");
  for (int c = 0; c < channels; ++c) {
    const auto at = static_cast<size_t>(c);
    for (int byte = 0; byte < 256; ++byte)
      table[256 * c + byte] = mean.empty() ? scaled(recipe, byte)
                                           : normalized(recipe, byte, static_cast<float>(mean[at]),
                                                        static_cast<float>(deviation[at]));
  }
  return {};
}

}  // namespace cudatransform
