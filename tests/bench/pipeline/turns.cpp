// The times of a contestant of the pipelines' benchmark, turn by turn, and medians of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline/turns.h"

#include <algorithm>

#include "tests/bench/common.h"
#include "tests/bench/pipeline/processor.h"

namespace cudatransform::bench {
namespace {

Reading medians_of(const std::vector<Reading>& readings) {
  std::vector<double> seconds, host;
  for (const Reading& reading : readings) {
    seconds.push_back(reading.seconds);
    host.push_back(reading.host_seconds);
  }
  return {median(seconds), median(host)};
}

}  // namespace

Core Turns::Taken::core(double alone_width) const {
  return width <= alone_width ? Core::kAlone : Core::kShared;
}

void Turns::take(const std::function<Reading()>& turn) {
  const double before = core_width();
  const Reading reading = turn();
  taken_.push_back({reading, std::max(before, core_width())});
}

std::vector<double> Turns::widths() const {
  std::vector<double> result;
  for (const Taken& turn : taken_) result.push_back(turn.width);
  return result;
}

std::optional<Reading> Turns::medians(Core core, double alone_width) const {
  std::vector<Reading> readings;
  for (const Taken& turn : taken_)
    if (turn.core(alone_width) == core) readings.push_back(turn.reading);
  if (readings.size() < kEnough) return std::nullopt;
  return medians_of(readings);
}

Reading Turns::medians() const {
  std::vector<Reading> readings;
  for (const Taken& turn : taken_) readings.push_back(turn.reading);
  return medians_of(readings);
}

double Turns::quotient(const Turns& over, const Turns& under, double alone_width) {
  std::vector<double> all, alone;
  for (size_t round = 0; round < under.taken_.size(); ++round) {
    const Taken &a = over.taken_[round], &b = under.taken_[round];
    all.push_back(a.reading.seconds / b.reading.seconds);
    if (a.core(alone_width) == Core::kAlone && b.core(alone_width) == Core::kAlone)
      alone.push_back(all.back());
  }
  return median(alone.size() < kEnough ? all : alone);
}

}  // namespace cudatransform::bench
