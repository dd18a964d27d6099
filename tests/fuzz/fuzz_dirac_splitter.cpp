// Fuzz target: splitting a stream of Dirac takes time linear in its bytes and holds no more than
// the largest allowed unit, for any claims and any cuts.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings, how many sizes of pieces follow, those sizes (0 = 256), then the
// stream.
#include <vector>

#include "tests/dirac/split.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cudatransform;
  using fuzzing::promise;
  fuzzing::Input input(data, size);
  const bool in_step = input.byte() % 2 != 0;
  const std::vector<size_t> sizes = fuzzing::sizes_of_pieces(&input);
  const std::vector<uint8_t> stream(input.data(), input.data() + input.size());
  constexpr DiracUnitLimits kLimits = {1000, 300};
  for (const std::vector<size_t>& pieces : {sizes, {1}, {stream.size() + 1}}) {
    const test::DiracSplitCost cost = test::split_dirac(stream, pieces, in_step, kLimits);
    promise(cost.end == stream.size(), "all of the stream is split");
    promise(cost.looked <= DiracSplitter::most_looked(stream.size(), cost.calls), "time is linear");
    promise(cost.calls <= 2 * stream.size() + 2, "there is progress");
    const size_t piece = *std::max_element(pieces.begin(), pieces.end());
    if (piece <= 256) {
      promise(cost.most_held <= 2 * (kLimits.picture + kDiracParseInfoBytes) + piece,
              "no more is held than a unit and the next");
    }
    size_t last = 0;
    for (size_t i = 0; i < cost.units.size(); i += 2) {
      const size_t begin = cost.units[i], end = cost.units[i + 1];
      promise(begin >= last && end > begin, "units do not overlap");
      promise(end - begin <= kLimits.picture, "a unit is no larger than it may be");
      last = end;
    }
  }
  return 0;
}
