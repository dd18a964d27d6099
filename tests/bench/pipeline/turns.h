// The times of a contestant of the pipelines' benchmark, turn by turn, and medians of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/bench/pipeline/line.h"

namespace cudatransform::bench {

// Whether the pushing thread had a core to itself.
enum class Core { kAlone, kShared };

class Turns {
 public:
  // Takes a turn, and checks before and after whether others use the core.
  void take(const std::function<Reading()>& turn);
  // core_width() of each turn.
  std::vector<double> widths() const;

  // Over the turns that were alone or shared their core; `alone_width`: the limit for the first.
  // Nothing if there are fewer than kEnough.
  std::optional<Reading> medians(Core core, double alone_width) const;
  // Of all turns.
  Reading medians() const;

  // The median of the quotients of two contestants' times, round by round: over the rounds where
  // both were alone, or over all if these are fewer than kEnough.
  static double quotient(const Turns& over, const Turns& under, double alone_width);

 private:
  static constexpr size_t kEnough = 5;
  struct Taken {
    Reading reading;
    double width;
    Core core(double alone_width) const;
  };

  std::vector<Taken> taken_;
};

}  // namespace cudatransform::bench
