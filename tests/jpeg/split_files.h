// Splits a stream of JPEG files that arrives in pieces, and counts the cost.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "jpeg/file_splitter.h"

namespace cudatransform::test {

struct SplitFilesCost {
  std::vector<std::pair<size_t, size_t>> files;  // where each begins and ends
  size_t end = 0;                                // of what has been split
  size_t calls = 0;
  uint64_t examined = 0;
  size_t max_held = 0;  // bytes that are awaiting others
};

// `sizes`: those of the pieces, over and over.
inline SplitFilesCost split_files(const std::vector<uint8_t>& stream,
                                  const std::vector<size_t>& sizes, const JpegFileRules& rules) {
  SplitFilesCost cost;
  JpegFileSplitter splitter;
  size_t come = 0;
  for (size_t piece = 0; come < stream.size(); ++piece) {
    come += std::min(sizes[piece % sizes.size()], stream.size() - come);
    const bool at_end = come == stream.size();
    for (bool found = true; found; ++cost.calls) {
      std::span<const uint8_t> held(stream.data() + cost.end, come - cost.end);
      // Memory of just these few bytes, so that a sanitizer detects reads past them.
      std::vector<uint8_t> copy;
      if (held.size() < 256) {
        copy.assign(held.begin(), held.end());
        held = copy;
      }
      const JpegFileSpan span = splitter.next(held, rules, at_end);
      cost.end += span.skipped;
      if (span.size > 0) cost.files.emplace_back(cost.end, cost.end + span.size);
      cost.end += span.size;
      found = span.skipped + span.size > 0 && cost.end < come;
    }
    cost.max_held = std::max(cost.max_held, come - cost.end);
  }
  cost.examined = splitter.examined();
  return cost;
}

// Each call examines the beginning of what has arrived, and again at the last bytes before it.
inline uint64_t max_examined(uint64_t bytes, uint64_t calls) {
  return JpegFileSplitter::kMaxReads * bytes + 16 * calls;
}

}  // namespace cudatransform::test
