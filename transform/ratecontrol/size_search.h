// The search for the scale of quantization tables at which a picture has a target size.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Scales are integers: larger ones make coarser tables and smaller files. A round measures up to
// eight of them, between the coarsest that is known to be too large and the finest that is known to
// fit: first wide apart, then around a curve through those two, then side by side. The curve is one
// of logarithms, as sizes are nearly a power of the scale.
#pragma once

#include <cstdint>
#include <vector>

#include "transform/device/status.h"

namespace cudatransform {

// Scales that one round may measure, ascending, and how large each one's picture is.
struct SizeCandidates {
  static constexpr int kMax = 8;
  int count = 0;
  uint32_t scales[kMax] = {};
};

class SizeSearch {
 public:
  // At most three rounds; one more where no picture of 99 % of the target has been found, and after
  // each correct().
  static constexpr int kRounds = 3;

  struct Limits {
    uint32_t finest = 1, coarsest = 1;  // scales, both allowed
    uint32_t guess = 0;                 // a scale to begin around; 0: none
    uint64_t target = 0;                // bytes
    // A picture that is smaller by no more than this part of the target ends the search.
    double tolerance = 1.0 / 256;
  };
  // `growth`: how much larger pictures are than they are measured.
  SizeSearch(const Limits& limits, double growth);

  // The scales of the next round; none: the search is over.
  SizeCandidates next_round();
  // Takes the results of a round. measure(i, &bytes) returns a Status and is called for those
  // candidates that the result depends on, in halves: an engine may measure all of them first, or
  // each on request.
  template <typename Measure>
  Status narrow(const SizeCandidates& candidates, const Measure& measure) {
    ++rounds_;
    for (int low = -1, high = candidates.count; high - low > 1;) {
      const int middle = (low + high) / 2;
      uint64_t bytes = 0;
      CT_RETURN_IF_ERROR(measure(middle, &bytes));
      (add(candidates.scales[middle], bytes) ? high : low) = middle;
    }
    return {};
  }

  // The finest scale that fits; the coarsest allowed where none is known to.
  uint32_t best() const { return fits_.is_known() ? fits_.scale : limits_.coarsest; }
  bool found() const { return fits_.is_known(); }
  // Whether best() is the result where its picture actually has `bytes`. If not, correct()
  // continues: with pictures as much larger or smaller than measured as this one is. Once only for
  // a finer one, while this one fits and is too small.
  bool accepts(uint64_t bytes) const;
  void correct(uint64_t bytes);
  // Of the picture of best(): how much larger it is than it was measured.
  double growth_of(uint64_t bytes) const;
  int rounds() const { return rounds_; }

 private:
  struct Point {
    uint32_t scale = 0;
    double bytes = 0;  // as measured; 0: not known

    bool is_known() const { return bytes > 0; }
  };

  bool add(uint32_t scale, uint64_t bytes);
  bool is_close(double part) const;
  bool fits(const Point& point) const;
  double scale_on_curve() const;

  Limits limits_;
  double growth_;
  int rounds_ = 0, allowed_ = kRounds;
  // The last scales that are known for certain: of a picture that is too large, and of one that
  // fits; 0: none.
  uint32_t refused_ = 0, certain_ = 0;
  // No scale between them has been measured.
  Point exceeds_, fits_;
  std::vector<Point> known_;
};

}  // namespace cudatransform
