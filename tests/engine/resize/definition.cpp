// Pillow's resampling, a sample after another: the judge of engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/resize/definition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace cudatransform::test {
namespace {

constexpr double kPi = 3.14159265358979323846;

double sinc(double x) { return x == 0 ? 1 : std::sin(x * kPi) / (x * kPi); }

double support_of(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::kBox:
      return .5;
    case ResizeFilter::kBicubic:
      return 2;
    case ResizeFilter::kLanczos:
      return 3;
    case ResizeFilter::kMks2013:
      return 2.5;
    case ResizeFilter::kMks2021:
      return 4.5;
    default:
      return 1;
  }
}

double weight_of(ResizeFilter filter, double x) {
  const double d = std::fabs(x);
  switch (filter) {
    case ResizeFilter::kBox:
      return x > -.5 && x <= .5;
    case ResizeFilter::kBilinear:
      return std::max(1 - d, 0.);
    case ResizeFilter::kHamming:
      return d < 1 ? sinc(d) * (double{.54f} + double{.46f} * std::cos(d * kPi)) : 0;
    case ResizeFilter::kBicubic:
      if (d < 1) return (1.5 * d - 2.5) * d * d + 1;
      return d < 2 ? (((d - 5) * d + 8) * d - 4) * -.5 : 0;
    case ResizeFilter::kLanczos:
      return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case ResizeFilter::kMks2013:
      if (d <= .5) return 17. / 16 - 7. / 4 * d * d;
      if (d <= 1.5) return (1 - d) * (7. / 4 - d);
      return d <= 2.5 ? -1. / 8 * (d - 2.5) * (d - 2.5) : 0;
    case ResizeFilter::kMks2021:
      if (d <= .5) return 577. / 576 - 239. / 144 * d * d;
      if (d <= 1.5) return 35. / 36 * (d - 1) * (d - 239. / 140);
      if (d <= 2.5) return 1. / 6 * (d - 2) * (65. / 24 - d);
      if (d <= 3.5) return 1. / 36 * (d - 3) * (d - 15. / 4);
      return d <= 4.5 ? -1. / 288 * (d - 4.5) * (d - 4.5) : 0;
    default:
      return 0;
  }
}

struct Side {
  float from, to;
  int in, out;
};

// The samples that an output is made of, from the first on, by 22 bits of fraction.
struct Window {
  int first;
  std::vector<int64_t> weights;
};

Window window_of(ResizeFilter filter, const Side& side, int output) {
  const double scale = double{side.to - side.from} / side.out, stretch = std::max(scale, 1.);
  const double center = side.from + (output + .5) * scale, reach = support_of(filter) * stretch;
  const int low = std::max(0, static_cast<int>(center - reach + .5));
  const int high = std::min(side.in, static_cast<int>(center + reach + .5));
  std::vector<double> weights;
  double all = 0;
  for (int i = low; i < high; ++i) {
    weights.push_back(weight_of(filter, (i - center + .5) * (1 / stretch)));
    all += weights.back();
  }
  Window window = {low, {}};
  for (const double weight : weights) {
    const double whole = weight / all * (1 << 22);
    window.weights.push_back(static_cast<int64_t>(std::trunc(whole + (whole < 0 ? -.5 : .5))));
  }
  return window;
}

int filtered(const Window& window, const int* row) {
  int64_t sum = 1 << 21;
  for (size_t i = 0; i < window.weights.size(); ++i)
    sum += window.weights[i] * row[window.first + static_cast<int>(i)];
  return static_cast<int>(std::clamp<int64_t>(sum >> 22, 0, 255));
}

Plane along_rows(ResizeFilter filter, const Side& side, const Plane& from) {
  Plane to(side.out, from.rows);
  for (int x = 0; x < to.width; ++x) {
    const Window window = window_of(filter, side, x);
    for (int y = 0; y < to.rows; ++y)
      to.at(x, y) = filtered(window, &from.samples[static_cast<size_t>(y) * from.width]);
  }
  return to;
}

Plane turned(const Plane& from) {
  Plane to(from.rows, from.width);
  for (int y = 0; y < to.rows; ++y)
    for (int x = 0; x < to.width; ++x) to.at(x, y) = from.at(y, x);
  return to;
}

Plane down_columns(ResizeFilter filter, const Side& side, const Plane& from) {
  return turned(along_rows(filter, side, turned(from)));
}

Plane reduced(const ResizeReduction& by, const Plane& from) {
  Plane to((by.right - by.left + by.x - 1) / by.x, (by.bottom - by.top + by.y - 1) / by.y);
  for (int y = 0; y < to.rows; ++y) {
    for (int x = 0; x < to.width; ++x) {
      uint32_t sum = 0, count = 0;
      for (int v = by.top + y * by.y; v < std::min(by.bottom, by.top + (y + 1) * by.y); ++v) {
        for (int u = by.left + x * by.x; u < std::min(by.right, by.left + (x + 1) * by.x); ++u) {
          sum += static_cast<uint32_t>(from.at(u, v));
          ++count;
        }
      }
      const auto per = static_cast<uint32_t>(4294967296.f / static_cast<float>(256 * count));
      to.at(x, y) = static_cast<int>(((sum + count / 2) * per) >> 24);
    }
  }
  return to;
}

std::vector<int> picked(const Side& side) {
  std::vector<int> all;
  const double step = double{side.to - side.from} / side.out;
  for (double at = side.from + step * .5; all.size() < static_cast<size_t>(side.out); at += step)
    all.push_back(at < side.in ? static_cast<int>(at) : -1);
  return all;
}

Plane nearest(const Side& x, const Side& y, const Plane& from) {
  const std::vector<int> columns = picked(x), rows = picked(y);
  Plane to(x.out, y.out);
  for (int v = 0; v < y.out; ++v) {
    for (int u = 0; u < x.out; ++u) {
      const int column = columns[static_cast<size_t>(u)], row = rows[static_cast<size_t>(v)];
      to.at(u, v) = column < 0 || row < 0 ? 0 : from.at(column, row);
    }
  }
  return to;
}

Plane cropped(int left, int top, int width, int height, const Plane& from) {
  Plane to(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) to.at(x, y) = from.at(left + x, top + y);
  return to;
}

bool rows_first(ResizeOrder order, const Side& x, const Side& y) {
  if (y.in <= y.out) return false;
  if (order == ResizeOrder::kPillow13) return y.in - y.out > 2 * (x.in - x.out);
  return order == ResizeOrder::kPillow12 && y.in > 100 * x.in;
}

bool is_whole(float value) { return value == std::floor(value); }

bool is_all(const Side& side) {
  return side.from == 0 && side.to == static_cast<float>(side.in) && side.in == side.out;
}

Plane resized(const ResizeJob& job, Side x, Side y, const Plane& source) {
  const Plane from = job.reduction.exists() ? reduced(job.reduction, source) : source;
  if (is_whole(x.from) && x.to - x.from == static_cast<float>(x.out) && is_whole(y.from) &&
      y.to - y.from == static_cast<float>(y.out))
    return cropped(static_cast<int>(x.from), static_cast<int>(y.from), x.out, y.out, from);
  if (job.filter == ResizeFilter::kNearest) return nearest(x, y, from);
  if (is_all(x)) return down_columns(job.filter, y, from);
  if (is_all(y)) return along_rows(job.filter, x, from);
  return rows_first(job.order, x, y) ? along_rows(job.filter, x, down_columns(job.filter, y, from))
                                     : down_columns(job.filter, y, along_rows(job.filter, x, from));
}

template <typename Change>
void change_colors(Picture* picture, const Change& change) {
  const Plane& alpha = picture->back();
  for (size_t c = 0; c + 1 < picture->size(); ++c)
    for (size_t i = 0; i < alpha.samples.size(); ++i)
      (*picture)[c].samples[i] = change((*picture)[c].samples[i], alpha.samples[i]);
}

// The nearest of the type's numbers, which grow with their bits; of two the one with even bits.
template <typename Value>
uint16_t nearest_bits(float value, uint16_t infinity, double beyond, const Value& value_of) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double wanted = std::fabs(value);
  uint16_t best = 0;
  double error = wanted;
  for (uint16_t bits = 1; bits <= infinity; ++bits) {
    const double number = bits == infinity ? beyond : value_of(bits);
    const double off = std::fabs(number - wanted);
    if (off < error || (off == error && bits % 2 == 0)) {
      best = bits;
      error = off;
    }
  }
  return sign | best;
}

}  // namespace

Picture define_resized(const ResizeJob& job, const Picture& from) {
  const Side x = {static_cast<float>(job.box.left), static_cast<float>(job.box.right),
                  job.reduced_width(), job.to.width};
  const Side y = {static_cast<float>(job.box.top), static_cast<float>(job.box.bottom),
                  job.reduced_height(), job.to.height};
  const bool by_alpha = job.has_alpha && job.filter != ResizeFilter::kNearest &&
                        (job.reduction.exists() || !is_all(x) || !is_all(y));
  Picture picture = from;
  if (by_alpha) {
    change_colors(&picture, [](int color, int alpha) {
      const int product = color * alpha + 128;
      return (product + (product >> 8)) >> 8;
    });
  }
  for (Plane& plane : picture) plane = resized(job, x, y, plane);
  if (by_alpha) {
    change_colors(&picture, [](int color, int alpha) {
      return alpha == 0 || alpha == 255 ? color : std::min(255, 255 * color / alpha);
    });
  }
  return picture;
}

uint16_t define_float16(float value) {
  return nearest_bits(value, 0x7c00, 65536, [](int bits) {
    const int exponent = bits >> 10, fraction = bits & 1023;
    return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  });
}

uint16_t define_bfloat16(float value) {
  return nearest_bits(value, 0x7f80, std::ldexp(1, 128), [](int bits) {
    return double{std::bit_cast<float>(static_cast<uint32_t>(bits) << 16)};
  });
}

}  // namespace cudatransform::test
