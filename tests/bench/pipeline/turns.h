// Pairs of contestants that take turns, and what of the processor's time they use.
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

// Moves the calling thread to another of the processors that it may run on; numbers wrap at their
// count. It is not bound there.
void move_to_processor(int number);

// How long independent additions take on the processor that the calling thread is on, in units of
// as many multiplications that wait for each other. The clock's frequency cancels out. A core whose
// other hardware thread is busy has fewer units left for the additions, while the multiplications
// leave most of them idle in any case: the value is then larger by a fifth to four fifths (Intel
// Xeon, 2.1 GHz). Takes half a millisecond.
double core_width();

// A thread was alone on its core if core_width() was at most this many times the lowest decile of
// many values: not the minimum, which is often 5 to 10 % lower because of an interruption. Where
// more than nine tenths shared their cores, or cores differ, this cannot tell.
inline constexpr double kAloneWidth = 1.1;

}  // namespace cudatransform::bench
