// Splits a stream that comes in pieces, and counts the cost.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dirac/units.h"

namespace cudatransform::test {

struct DiracSplitCost {
  std::vector<size_t> units;  // where each begins and ends
  size_t end = 0;             // of the split part
  size_t calls = 0, examined = 0;
  size_t max_held = 0;  // bytes received without any known unit
};

// `sizes`: those of the pieces, over and over.
inline DiracSplitCost split_dirac(const std::vector<uint8_t>& stream,
                                  const std::vector<size_t>& sizes, bool in_step,
                                  const DiracUnitLimits& limits) {
  DiracSplitCost cost;
  DiracSplitter splitter(in_step);
  std::vector<uint8_t> held;
  size_t come = 0;
  for (size_t piece = 0; come < stream.size(); ++piece) {
    const size_t size = std::min(sizes[piece % sizes.size()], stream.size() - come);
    const auto first = stream.begin() + static_cast<ptrdiff_t>(come);
    held.insert(held.end(), first, first + static_cast<ptrdiff_t>(size));
    come += size;
    for (bool found = true; found; ++cost.calls) {
      const DiracUnitSpan span = splitter.next(held, come == stream.size(), limits);
      cost.end += span.skipped;
      if (span.size > 0) cost.units.insert(cost.units.end(), {cost.end, cost.end + span.size});
      cost.end += span.size;
      found = span.skipped + span.size > 0;
      held.erase(held.begin(), held.begin() + static_cast<ptrdiff_t>(span.skipped + span.size));
    }
    cost.max_held = std::max(cost.max_held, held.size());
  }
  cost.examined = splitter.examined();
  return cost;
}

}  // namespace cudatransform::test
