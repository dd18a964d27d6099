// Turns that contestants take, so that whatever slows a machine slows all of them: rounds, times
// and their medians, and whether a thread shares its core.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "transform/device/device.h"

namespace cudatransform::bench {

// The value that a `share` (0 to below 1) of a list is below. The list is not empty.
double quantile(std::vector<double> list, double share);
double median(std::vector<double> list);

// By the clock.
double seconds_of(const std::function<void()>& work);

// Of what `work` enqueues, by the queue's clock; waits for it.
double seconds_on(Device& device, Queue& queue, const std::function<void()>& work);

// Calls `round` with 0, 1, ... until `seconds` are up, at least this many times. How often it did.
int take_rounds(double seconds, int least, const std::function<void(int)>& round);

// Seconds of a job: one reading after the other.
class Times {
 public:
  void add(double seconds) { sorted_.insert(upper_bound(seconds), seconds); }

  bool empty() const { return sorted_.empty(); }
  double least() const { return sorted_.front(); }
  double most() const { return sorted_.back(); }
  double mean() const;
  double median() const;
  double spread() const;  // the middle half from end to end, over the median

 private:
  std::vector<double>::const_iterator upper_bound(double seconds) const;

  std::vector<double> sorted_;
};

// `turn` returns the seconds of one turn.
Times repeat(double seconds, int least, const std::function<double()>& turn);

// Median seconds of each contestant's job; each turn has `jobs` of them. Contestants take turns
// until `seconds` are up, at least three times. `repeat_before`: an untimed job before each turn,
// so that each starts with its own data in the cache.
std::vector<double> medians_of_turns(double seconds, int jobs,
                                     const std::vector<std::function<void()>>& contestants,
                                     bool repeat_before = false);

// Seconds for a frame: by the clock, and of the processor in the pushing thread alone, where
// sleeping takes none.
struct Reading {
  double seconds = 0, host_seconds = 0;
};

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
// many values: not the minimum, which is often 5 to 10 % lower because of an interruption.
// Unreliable where more than nine tenths shared their cores, or cores differ.
inline constexpr double kAloneWidth = 1.1;

}  // namespace cudatransform::bench
