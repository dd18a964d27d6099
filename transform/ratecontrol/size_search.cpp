// The search for the scale of quantization tables at which a picture has a target size.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/ratecontrol/size_search.h"

#include <algorithm>
#include <cmath>

namespace cudatransform {
namespace {

// A picture that is smaller than this part of the target is worth an additional round.
constexpr double kTooSmall = 0.99;
// How much larger pictures are expected to be after each refused one but the first.
constexpr double kMargin = 1.001;
// Around a guess: pictures of a stream are similar. Sizes of the inner ones differ by 1 %, so that
// a tolerance of as much mostly ends the search; the outer ones catch the others.
constexpr double kAroundGuess[] = {0.8, 0.96, 0.975, 0.989, 1.003, 1.017, 1.032, 1.22};
// Around a curve's result.
constexpr double kAroundCurve[] = {0.92, 0.967, 0.987, 0.996, 1.004, 1.013, 1.035, 1.09};
// Closer scales are taken side by side.
constexpr double kNear = 1.1;

// Takes scales in ascending order, of which equal ones are one.
class Candidates {
 public:
  Candidates(uint32_t least, uint32_t most) : min_(least), max_(most) {}

  void add(double scale) {
    const double limited = std::clamp(scale, double(min_), double(max_));
    const auto rounded = static_cast<uint32_t>(std::llround(limited));
    const bool is_new = all_.count == 0 || rounded > all_.scales[all_.count - 1];
    if (is_new && all_.count < SizeCandidates::kMax) all_.scales[all_.count++] = rounded;
  }
  // Goes from one end to the other by ratios: `part` is the progress after a part of the
  // steps.
  template <typename Part>
  void add_steps(double from, double to, int first, int steps, const Part& part) {
    for (int i = 0; i < SizeCandidates::kMax; ++i)
      add(from * std::pow(to / from, part(double(first + i) / steps)));
  }
  const SizeCandidates& all() const { return all_; }

 private:
  uint32_t min_, max_;
  SizeCandidates all_;
};

}  // namespace

SizeSearch::SizeSearch(const Limits& limits, double growth) : limits_(limits), growth_(growth) {
  exceeds_.scale = limits.finest - 1;
  fits_.scale = limits.coarsest + 1;
}

bool SizeSearch::add(uint32_t scale, uint64_t bytes) {
  const Point point = {scale, std::max<double>(double(bytes), 1)};
  known_.push_back(point);
  const bool is_small = fits(point);
  (is_small ? fits_ : exceeds_) = point;
  return is_small;
}

bool SizeSearch::is_close(double part) const {
  return fits_.is_known() && fits_.bytes * growth_ >= part * double(limits_.target);
}

SizeCandidates SizeSearch::next_round() {
  const uint32_t least = exceeds_.scale + 1, most = fits_.scale - 1;
  const int allowed = allowed_ + (is_close(kTooSmall) ? 0 : 1);
  if (rounds_ >= allowed || least > most || is_close(1 - limits_.tolerance)) return {};
  Candidates candidates(least, most);
  if (rounds_ == 0 && limits_.guess > 0) {
    // A guess at an end is the wish for that end.
    if (limits_.guess <= limits_.finest) {
      candidates.add(limits_.finest);
    } else {
      for (const double part : kAroundGuess) candidates.add(part * limits_.guess);
    }
    return candidates.all();
  }
  constexpr int kMax = SizeCandidates::kMax;
  const auto evenly = [](double part) { return part; };
  // An end that is not known is a candidate. Where the other one is known, steps near it are small.
  if (!exceeds_.is_known() && !fits_.is_known()) {
    candidates.add_steps(least, most, 0, kMax - 1, evenly);
    return candidates.all();
  }
  if (!fits_.is_known()) {
    candidates.add_steps(exceeds_.scale, most, 1, kMax, [](double part) { return part * part; });
    return candidates.all();
  }
  if (!exceeds_.is_known()) {
    candidates.add_steps(least, fits_.scale, 0, kMax,
                         [](double part) { return 1 - (1 - part) * (1 - part); });
    return candidates.all();
  }
  if (fits_.scale < kNear * exceeds_.scale)
    candidates.add_steps(exceeds_.scale, fits_.scale, 1, kMax + 1, evenly);
  else
    for (const double part : kAroundCurve) candidates.add(part * scale_on_curve());
  return candidates.all();
}

// The scale of the target on the curve through the two ends and the measured point that is nearest
// to them; on a line if there is none. Of logarithms, and with sizes as the curve's argument, in
// Newton's form.
double SizeSearch::scale_on_curve() const {
  const auto x_of = [](const Point& point) { return std::log(double(point.scale)); };
  const auto y_of = [](const Point& point) { return std::log(point.bytes); };
  const Point* third = nullptr;
  double nearest = 0;
  for (const Point& point : known_) {
    if (point.scale == exceeds_.scale || point.scale == fits_.scale) continue;
    const double distance =
        std::min(std::abs(x_of(point) - x_of(exceeds_)), std::abs(x_of(point) - x_of(fits_)));
    if (third == nullptr || distance < nearest) third = &point, nearest = distance;
  }
  const double x0 = x_of(exceeds_), x1 = x_of(fits_), y0 = y_of(exceeds_), y1 = y_of(fits_);
  const double y = std::log(double(limits_.target) / growth_);
  const double slope = (x1 - x0) / (y1 - y0);  // the one fits, the other does not
  double x = x0 + slope * (y - y0);
  if (third != nullptr) {
    const double x2 = x_of(*third), y2 = y_of(*third);
    const double bend = ((x2 - x1) / (y2 - y1) - slope) / (y2 - y0);
    const double bent = x + bend * (y - y0) * (y - y1);
    if (bent > x0 && bent < x1) x = bent;  // false for what is no number
  }
  return std::exp(x);
}

double SizeSearch::growth_of(uint64_t bytes) const {
  const auto point = std::find_if(known_.begin(), known_.end(),
                                  [&](const Point& known) { return known.scale == best(); });
  return point == known_.end() ? growth_ : double(bytes) / point->bytes;
}

bool SizeSearch::accepts(uint64_t bytes) const {
  if (bytes > limits_.target) return best() == limits_.coarsest;
  return double(bytes) >= kTooSmall * double(limits_.target) || best() == limits_.finest ||
         certain_ != 0;
}

bool SizeSearch::fits(const Point& point) const {
  if (point.scale <= refused_) return false;
  return (certain_ != 0 && point.scale >= certain_) ||
         point.bytes * growth_ <= double(limits_.target);
}

void SizeSearch::correct(uint64_t bytes) {
  if (bytes > limits_.target) {
    growth_ = std::max(growth_, growth_of(bytes)) * (refused_ != 0 ? kMargin : 1);
    refused_ = best();
  } else {
    growth_ = growth_of(bytes);
    certain_ = best();
  }
  exceeds_ = {limits_.finest - 1, 0};
  fits_ = {limits_.coarsest + 1, 0};
  for (const Point& known : known_)
    if (known.scale < fits_.scale && fits(known)) fits_ = known;
  for (const Point& known : known_)
    if (known.scale > exceeds_.scale && known.scale < fits_.scale) exceeds_ = known;
  allowed_ = rounds_ + 1;
}

}  // namespace cudatransform
