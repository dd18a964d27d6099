// Weights of several outputs at a time, compiled for every instruction set that Highway knows here.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// First samples and counts are exact. Weights have a few units of the last place more or less than
// those of weigh_resize_outputs(), which computes them where that may make another integer of one.
#include "transform/device/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/resize/axis_vectors.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which must come first.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numbers>
#include <utility>

#include "transform/resize/axis.h"

HWY_BEFORE_NAMESPACE();
namespace cudatransform {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || !HWY_HAVE_FLOAT64

void weigh(const ResizeWeighing& of) { weigh_resize_outputs(of, 0, of.out); }

#else

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;
using Ints = hn::Rebind<int32_t, Doubles>;
using Vec = hn::Vec<Doubles>;
constexpr size_t kLanes = HWY_LANES(double);
static_assert(kResizeWeighed % kLanes == 0, "there is room for all lanes");

HWY_INLINE Vec number(double value) { return hn::Set(Doubles(), value); }
HWY_INLINE Vec zero() { return hn::Zero(Doubles()); }

// ---- Filters ----

// `then` in the lanes in which x is at most, or below, a limit.
HWY_INLINE Vec up_to(Vec x, double limit, Vec then, Vec other) {
  return hn::IfThenElse(hn::Le(x, number(limit)), then, other);
}
HWY_INLINE Vec below(Vec x, double limit, Vec then, Vec other) {
  return hn::IfThenElse(hn::Lt(x, number(limit)), then, other);
}

struct Box {
  HWY_INLINE Vec operator()(Vec x) const {
    return hn::IfThenElseZero(hn::Gt(x, number(-.5)), up_to(x, .5, number(1.), zero()));
  }
};

struct Bilinear {
  HWY_INLINE Vec operator()(Vec x) const {
    return hn::Max(hn::Sub(number(1.), hn::Abs(x)), zero());
  }
};

struct Bicubic {
  HWY_INLINE Vec operator()(Vec signed_x) const {
    const Vec x = hn::Abs(signed_x);
    const Vec a = hn::Sub(hn::Mul(number(1.5), x), number(2.5));
    const Vec inner = hn::Add(hn::Mul(hn::Mul(a, x), x), number(1.));
    const Vec b = hn::Add(hn::Mul(hn::Sub(x, number(5.)), x), number(8.));
    const Vec outer = hn::Mul(hn::Sub(hn::Mul(b, x), number(4.)), number(-.5));
    return below(x, 1., inner, below(x, 2., outer, zero()));
  }
};

// a (x - b) (x - c).
HWY_INLINE Vec product(Vec x, double a, double b, double c) {
  return hn::Mul(hn::Mul(number(a), hn::Sub(x, number(b))), hn::Sub(x, number(c)));
}
// a - b x x.
HWY_INLINE Vec parabola(Vec x, double a, double b) {
  return hn::Sub(number(a), hn::Mul(hn::Mul(number(b), x), x));
}

struct Mks2013 {
  HWY_INLINE Vec operator()(Vec signed_x) const {
    const Vec x = hn::Abs(signed_x);
    Vec weight = up_to(x, 2.5, product(x, -1. / 8., 5. / 2., 5. / 2.), zero());
    weight = up_to(x, 1.5, product(x, 1., 1., 7. / 4.), weight);
    return up_to(x, .5, parabola(x, 17. / 16., 7. / 4.), weight);
  }
};

struct Mks2021 {
  HWY_INLINE Vec operator()(Vec signed_x) const {
    const Vec x = hn::Abs(signed_x);
    Vec weight = up_to(x, 4.5, product(x, -1. / 288., 9. / 2., 9. / 2.), zero());
    weight = up_to(x, 3.5, product(x, 1. / 36., 3., 15. / 4.), weight);
    weight = up_to(x, 2.5, product(x, -1. / 6., 2., 65. / 24.), weight);
    weight = up_to(x, 1.5, product(x, 35. / 36., 1., 239. / 140.), weight);
    return up_to(x, .5, parabola(x, 577. / 576., 239. / 144.), weight);
  }
};

// sin(pi x) / x of |x| up to 1/2, by x x: the Taylor series up to the 21st power.
HWY_INLINE Vec sine_series(Vec square) {
  constexpr double kTerms[] = {
      3.141592653589793,       -5.16771278004997,       2.550164039877345,
      -.5992645293207921,      .08214588661112823,      -.00737043094571435,
      .00046630280576761255,   -2.1915353447830216e-05, 7.952054001475512e-07,
      -2.2948428997269873e-08, 5.392664662608129e-10};
  Vec sum = number(kTerms[10]);
  for (int i = 9; i >= 0; --i) sum = hn::MulAdd(sum, square, number(kTerms[i]));
  return sum;
}

// sin(pi x) / (pi x).
HWY_INLINE Vec sinc(Vec x) {
  const Vec nearest = hn::Round(x), rest = hn::Sub(x, nearest);  // sin(pi x) = +-sin(pi rest)
  const Vec half = hn::Mul(nearest, number(.5));
  const Vec is_odd = hn::Abs(hn::Sub(half, hn::Round(half)));  // 0 or 1/2
  const Vec sign = hn::Sub(number(1.), hn::Mul(number(4.), is_odd));
  const Vec sine = hn::Mul(hn::Mul(sine_series(hn::Mul(rest, rest)), rest), sign);
  const Vec divisor = hn::Mul(x, number(std::numbers::pi));
  return hn::IfThenElse(hn::Eq(x, zero()), number(1.), hn::Div(sine, divisor));
}

struct Hamming {
  HWY_INLINE Vec operator()(Vec signed_x) const {
    const Vec x = hn::Abs(signed_x);
    // cos(pi x) = sin(pi (1/2 - x)).
    const Vec y = hn::Sub(number(.5), x);
    const Vec cosine = hn::Mul(sine_series(hn::Mul(y, y)), y);
    const Vec window = hn::MulAdd(number(double{.46f}), cosine, number(double{.54f}));
    // At 0 without the window, which is 1 but for the rounding of these constants.
    const Vec weight = hn::IfThenElse(hn::Eq(x, zero()), number(1.), hn::Mul(sinc(x), window));
    return below(x, 1., weight, zero());
  }
};

struct Lanczos {
  HWY_INLINE Vec operator()(Vec x) const {
    const Vec weight = hn::Mul(sinc(x), sinc(hn::Mul(x, number(1. / 3.))));
    return below(hn::Abs(x), 3., weight, zero());
  }
};

// ---- Axes ----

// Toward 0, of numbers that 32 bits hold.
HWY_INLINE Vec truncated(Vec value) {
  return hn::PromoteTo(Doubles(), hn::DemoteTo(Ints(), value));
}

// Outputs whose weights are computed together: loops over them have independent iterations.
constexpr size_t kMaxBlock = 64;
struct Block {
  HWY_ALIGN double center[kMaxBlock];
  HWY_ALIGN double first[kMaxBlock], count[kMaxBlock], scale[kMaxBlock];
};

// Of `outputs` from `begin` on. Returns the largest count.
HWY_INLINE size_t find_samples(const ResizeWeighing& of, int32_t begin, size_t outputs,
                               Block* block) {
  const Vec half = number(.5), reach = number(of.reach);
  Vec most = zero();
  for (size_t o = 0; o < outputs; o += kLanes) {
    // Lanes behind the last output repeat it.
    const Vec output =
        hn::Min(hn::Iota(Doubles(), begin + static_cast<double>(o)), number(of.out - 1));
    const Vec center = hn::Add(number(of.from), hn::Mul(hn::Add(output, half), number(of.scale)));
    const Vec low = truncated(hn::Add(hn::Sub(center, reach), half));
    const Vec high = truncated(hn::Add(hn::Add(center, reach), half));
    const Vec first = hn::Clamp(low, zero(), number(of.in - 1));
    const Vec end = hn::Clamp(high, hn::Add(first, number(1.)), number(of.in));
    const Vec count = hn::Min(hn::Sub(end, first), number(of.taps));
    most = hn::Max(most, count);
    hn::Store(center, Doubles(), block->center + o);
    hn::Store(first, Doubles(), block->first + o);
    hn::Store(count, Doubles(), block->count + o);
    hn::Store(zero(), Doubles(), block->scale + o);
  }
  return static_cast<size_t>(hn::GetLane(hn::MaxOfLanes(Doubles(), most)));
}

// Row i: the i-th weight of each output. block->scale becomes what makes their sum one of fixed
// point.
template <typename Filter>
HWY_INLINE void weigh_samples(const ResizeWeighing& of, size_t outputs, size_t rows,
                              const Filter& filter, Block* block, double* weights) {
  const Vec half = number(.5), narrow = number(of.narrow);
  for (size_t i = 0; i < rows; ++i) {
    const Vec index = number(static_cast<double>(i));
    for (size_t o = 0; o < outputs; o += kLanes) {
      const Vec at = hn::Add(index, hn::Load(Doubles(), block->first + o));
      const Vec distance = hn::Add(hn::Sub(at, hn::Load(Doubles(), block->center + o)), half);
      const auto is_used = hn::Lt(index, hn::Load(Doubles(), block->count + o));
      const Vec weight = hn::IfThenElseZero(is_used, filter(hn::Mul(distance, narrow)));
      hn::Store(weight, Doubles(), weights + i * outputs + o);
      hn::Store(hn::Add(hn::Load(Doubles(), block->scale + o), weight), Doubles(),
                block->scale + o);
    }
  }
  const Vec one = number(1 << kResizeFraction);
  for (size_t o = 0; o < outputs; o += kLanes)
    hn::Store(hn::Div(one, hn::Load(Doubles(), block->scale + o)), Doubles(), block->scale + o);
}

// Makes them integers, in the lower half of each number. False: one of them may be another one.
HWY_INLINE bool round_weights(size_t outputs, size_t rows, const Block& block, double* weights) {
  // Sums of less than a third, which only rounding makes, are left to the other code.
  constexpr double kMaxScale = 3 << kResizeFraction;
  // Weights are at most 1.1, so those here differ from the exact ones by less than 3.3 * 2^22 *
  // 2^-46, if their errors are below a hundred units of the last place.
  constexpr double kDoubt = 1. / (1 << 20);
  constexpr double kRound = 0x1.8p52;  // which leaves no bits for a fraction
  Vec farthest = zero(), largest = zero();
  for (size_t o = 0; o < outputs; o += kLanes)
    largest = hn::Max(largest, hn::Abs(hn::Load(Doubles(), block.scale + o)));
  for (size_t i = 0; i < rows; ++i) {
    for (size_t o = 0; o < outputs; o += kLanes) {
      double* const at = weights + i * outputs + o;
      const Vec exact = hn::Mul(hn::Load(Doubles(), at), hn::Load(Doubles(), block.scale + o));
      const Vec rounded = hn::Add(exact, number(kRound));
      farthest = hn::Max(farthest, hn::Abs(hn::Sub(exact, hn::Sub(rounded, number(kRound)))));
      hn::Store(rounded, Doubles(), at);
    }
  }
  return hn::AllTrue(Doubles(), hn::And(hn::Lt(farthest, number(.5 - kDoubt)),
                                        hn::Lt(largest, number(kMaxScale))));
}

// A row's weights of kLanes outputs to their lines.
template <size_t... kLane>
HWY_INLINE void store_lanes(const double* row, int32_t* to, size_t taps,
                            std::index_sequence<kLane...>) {
  ((to[kLane * taps] = static_cast<int32_t>(std::bit_cast<int64_t>(row[kLane]))), ...);
}

HWY_INLINE void store_block(const ResizeWeighing& of, int32_t begin, size_t outputs,
                            const Block& block, const double* weights) {
  const auto taps = static_cast<size_t>(of.taps), at = static_cast<size_t>(begin);
  for (size_t o = 0; o < outputs; o += kLanes) {
    hn::StoreU(hn::DemoteTo(Ints(), hn::Load(Doubles(), block.first + o)), Ints(),
               of.first + at + o);
    hn::StoreU(hn::DemoteTo(Ints(), hn::Load(Doubles(), block.count + o)), Ints(),
               of.count + at + o);
    int32_t* const to = of.weights + (at + o) * taps;
    for (size_t i = 0; i < taps; ++i)
      store_lanes(weights + i * outputs + o, to + i, taps, std::make_index_sequence<kLanes>());
  }
}

template <typename Filter>
HWY_INLINE void weigh_by(const ResizeWeighing& of, const Filter& filter) {
  constexpr size_t kCached = 4096;  // numbers
  const auto taps = static_cast<size_t>(of.taps);
  const size_t most = std::clamp(kCached / taps / kLanes * kLanes, kLanes, kMaxBlock);
  const auto weights = hwy::AllocateAligned<double>(taps * most);
  if (weights == nullptr) throw std::bad_alloc();
  Block block;
  for (int32_t begin = 0, end = 0; begin < of.out; begin = end) {
    end = std::min(of.out, begin + static_cast<int32_t>(most));
    const size_t outputs = (static_cast<size_t>(end - begin) + kLanes - 1) / kLanes * kLanes;
    const size_t rows = find_samples(of, begin, outputs, &block);
    std::fill(weights.get() + rows * outputs, weights.get() + taps * outputs, 0.);
    weigh_samples(of, outputs, rows, filter, &block, weights.get());
    if (round_weights(outputs, rows, block, weights.get()))
      store_block(of, begin, outputs, block, weights.get());
    else
      weigh_resize_outputs(of, begin, end);
  }
}

void weigh(const ResizeWeighing& of) {
  switch (of.filter) {
    case ResizeFilter::kNearest:
      break;
    case ResizeFilter::kBox:
      return weigh_by(of, Box());
    case ResizeFilter::kBilinear:
      return weigh_by(of, Bilinear());
    case ResizeFilter::kHamming:
      return weigh_by(of, Hamming());
    case ResizeFilter::kBicubic:
      return weigh_by(of, Bicubic());
    case ResizeFilter::kLanczos:
      return weigh_by(of, Lanczos());
    case ResizeFilter::kMks2013:
      return weigh_by(of, Mks2013());
    case ResizeFilter::kMks2021:
      return weigh_by(of, Mks2021());
  }
}

#endif

ResizeWeigher choose_resize_weigher() { return weigh; }

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform {

HWY_EXPORT(choose_resize_weigher);

ResizeWeigher resize_weigher() { return HWY_DYNAMIC_DISPATCH(choose_resize_weigher)(); }

}  // namespace cudatransform

#endif  // HWY_ONCE
