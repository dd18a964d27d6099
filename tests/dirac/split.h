// Splits a stream that comes in pieces, and counts the cost.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "dirac/units.h"

namespace cudatransform::test {

// Part of a stream, and the number of bytes that the splitter has read.
class PartOfStream final : public DiracBytes {
 public:
  PartOfStream(const std::vector<uint8_t>& part, size_t* looked) : part_(part), looked_(looked) {}
  size_t size() const override { return part_.size(); }
  void copy(size_t at, size_t count, uint8_t* to) const override {
    for (size_t i = 0; i < count; ++i) to[i] = part_.at(at + i);
    *looked_ += count;
  }
  size_t find_prefix(size_t from) const override {
    static constexpr uint8_t kPrefix[] = {'B', 'B', 'C', 'D'};
    const auto begin = part_.begin() + static_cast<ptrdiff_t>(std::min(from, size()));
    const auto found = std::search(begin, part_.end(), std::begin(kPrefix), std::end(kPrefix));
    *looked_ += static_cast<size_t>(found - begin);
    return static_cast<size_t>(found - part_.begin());
  }

 private:
  const std::vector<uint8_t>& part_;
  size_t* looked_;
};

struct DiracSplitCost {
  std::vector<size_t> units;  // where each begins and ends
  size_t end = 0;             // of the split part
  size_t calls = 0, looked = 0;
  size_t most_held = 0;  // bytes received without any known unit
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
      const DiracUnitSpan span =
          splitter.next(PartOfStream(held, &cost.looked), come == stream.size(), limits);
      cost.end += span.skipped;
      if (span.size > 0) cost.units.insert(cost.units.end(), {cost.end, cost.end + span.size});
      cost.end += span.size;
      found = span.skipped + span.size > 0;
      held.erase(held.begin(), held.begin() + static_cast<ptrdiff_t>(span.skipped + span.size));
    }
    cost.most_held = std::max(cost.most_held, held.size());
  }
  return cost;
}

// The parse info of each unit and each prefix, and its offsets; likewise for each call.
inline size_t most_looked(size_t bytes, size_t calls) { return 8 * bytes + 80 * calls; }

}  // namespace cudatransform::test
