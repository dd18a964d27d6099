// The weights of a filter along one side of a picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/resize/axis.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace cudatransform {

namespace {

double box(double x) { return x > -.5 && x <= .5 ? 1. : 0.; }

double bilinear(double x) {
  x = std::fabs(x);
  return x < 1. ? 1. - x : 0.;
}

double sinc(double x) {
  if (x == 0.) return 1.;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double hamming(double x) {
  x = std::fabs(x);
  if (x == 0.) return 1.;
  if (x >= 1.) return 0.;
  x *= std::numbers::pi;
  // Pillow's constants are floats.
  return std::sin(x) / x * (double{.54f} + double{.46f} * std::cos(x));
}

double bicubic(double x) {
  constexpr double kA = -.5;
  x = std::fabs(x);
  if (x < 1.) return ((kA + 2.) * x - (kA + 3.)) * x * x + 1.;
  if (x < 2.) return (((x - 5.) * x + 8.) * x - 4.) * kA;
  return 0.;
}

double lanczos(double x) { return x >= -3. && x < 3. ? sinc(x) * sinc(x / 3.) : 0.; }

// J. P. Costella, "The magic kernel", with three and with seven pieces of sharpening.
double mks2013(double x) {
  x = std::fabs(x);
  if (x <= .5) return 17. / 16. - 7. / 4. * x * x;
  if (x <= 1.5) return (1. - x) * (7. / 4. - x);
  if (x <= 2.5) return -1. / 8. * (x - 5. / 2.) * (x - 5. / 2.);
  return 0.;
}

double mks2021(double x) {
  x = std::fabs(x);
  if (x <= .5) return 577. / 576. - 239. / 144. * x * x;
  if (x <= 1.5) return 35. / 36. * (x - 1.) * (x - 239. / 140.);
  if (x <= 2.5) return 1. / 6. * (x - 2.) * (65. / 24. - x);
  if (x <= 3.5) return 1. / 36. * (x - 3.) * (x - 15. / 4.);
  if (x <= 4.5) return -1. / 288. * (x - 9. / 2.) * (x - 9. / 2.);
  return 0.;
}

struct Kernel {
  double support;
  double (*weight)(double x);
};
constexpr Kernel kKernels[kResizeFilterCount] = {
    {0., nullptr}, {.5, box},     {1., bilinear}, {1., hamming},
    {2., bicubic}, {3., lanczos}, {2.5, mks2013}, {4.5, mks2021},
};

double step_of(double from, double to, int32_t out) {
  const float side = static_cast<float>(to) - static_cast<float>(from);
  return double{side} / out;
}

int32_t fixed_point(double weight) {
  constexpr double kOne = 1 << kResizeFraction;
  return static_cast<int32_t>(weight < 0. ? weight * kOne - .5 : weight * kOne + .5);
}

}  // namespace

double resize_support(ResizeFilter filter) { return kKernels[static_cast<int>(filter)].support; }

void weigh_resize_outputs(const ResizeWeighing& of, int32_t begin, int32_t end) {
  const auto weight_of = kKernels[static_cast<int>(of.filter)].weight;
  std::vector<double> exact(static_cast<size_t>(of.taps));
  for (int32_t o = begin; o < end; ++o) {
    int32_t* const weights = of.weights + int64_t{o} * of.taps;
    const double center = of.from + (o + .5) * of.scale;
    // Beyond the picture's end of a box that ends there, by rounding alone.
    const int32_t first = std::clamp(static_cast<int32_t>(center - of.reach + .5), 0, of.in - 1);
    const int32_t last = std::clamp(static_cast<int32_t>(center + of.reach + .5), first + 1, of.in);
    const int32_t count = std::min(last - first, of.taps);
    double sum = 0.;
    for (int32_t i = 0; i < count; ++i) {
      const double weight = weight_of((i + first - center + .5) * of.narrow);
      exact[static_cast<size_t>(i)] = weight;
      sum += weight;
    }
    for (int32_t i = 0; i < count; ++i) {
      const double weight = exact[static_cast<size_t>(i)];
      weights[i] = fixed_point(sum != 0. ? weight / sum : weight);
    }
    std::fill(weights + count, weights + of.taps, 0);
    of.first[o] = first;
    of.count[o] = count;
  }
}

ResizeAxis make_resize_axis(ResizeFilter filter, int32_t in, double from, double to, int32_t out,
                            ResizeWeigher weigh) {
  constexpr size_t kBand = ResizeAxis::kBand;
  const double scale = step_of(from, to, out), stretch = std::max(scale, 1.);
  const double reach = resize_support(filter) * stretch;
  ResizeAxis axis;
  axis.in = in;
  axis.out = out;
  axis.taps = std::min(static_cast<int32_t>(std::ceil(reach)) * 2 + 1, in);
  const auto outputs = static_cast<size_t>(out), taps = static_cast<size_t>(axis.taps);
  const size_t room = (outputs + kResizeWeighed - 1) / kResizeWeighed * kResizeWeighed;
  const size_t bands = (outputs + kBand - 1) / kBand;
  const size_t all = room * (2 + taps) + 2 * bands;
  axis.memory = std::make_unique<int32_t[]>(all);
  int32_t* const first = axis.memory.get();
  int32_t *const count = first + room, *const weights = count + room;
  int32_t* const ends = weights + room * taps;
  weigh({filter, in, out, axis.taps, double{static_cast<float>(from)}, scale, reach, 1. / stretch,
         first, count, weights});
  for (size_t b = 0; b < bands; ++b) {
    const size_t last = std::min((b + 1) * kBand, outputs) - 1;
    ends[2 * b] = first[b * kBand] & -ResizeAxis::kBandAlignment;
    ends[2 * b + 1] = first[last] + count[last];
  }
  axis.first = {first, outputs};
  axis.count = {count, outputs};
  axis.weights = {weights, outputs * taps};
  axis.bands = {ends, 2 * bands};
  axis.all = {first, all};
  return axis;
}

size_t ResizeAxisCache::Hash::operator()(const Key& key) const {
  return std::apply(
      [](const auto&... part) {
        size_t sum = 0;
        ((sum = sum * 0x9e3779b97f4a7c15 + std::hash<std::decay_t<decltype(part)>>()(part)), ...);
        return sum;
      },
      key);
}

std::shared_ptr<const ResizeAxis> ResizeAxisCache::axis(ResizeFilter filter, int32_t in,
                                                        double from, double to, int32_t out) {
  const Key key = {static_cast<int>(filter), in, from, to, out};
  if (const auto found = axes_.find(key); found != axes_.end()) return found->second;
  const auto made = std::make_shared<const ResizeAxis>(make_resize_axis(filter, in, from, to, out));
  const size_t bytes = made->all.size_bytes();
  if (bytes > max_bytes_) return made;
  if (bytes_ + bytes > max_bytes_) {
    axes_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  axes_.emplace(key, made);
  return made;
}

std::vector<int32_t> nearest_positions(int32_t in, double from, double to, int32_t out) {
  const double step = step_of(from, to, out);
  std::vector<int32_t> positions(static_cast<size_t>(out));
  // Added up, not multiplied: sums of many steps are rounded many times.
  double x = double{static_cast<float>(from)} + step * .5;
  for (int32_t& position : positions) {
    position = x >= 0. && x < in ? static_cast<int32_t>(x) : -1;
    x += step;
  }
  return positions;
}

}  // namespace cudatransform
