// Fuzz target: splitting a stream into JPEG files takes time linear in its bytes and holds no more
// than may be awaited, for any claims and any cuts.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings (1: all pictures are files, 2: the bytes behind stay, 4: framed),
// how many sizes of pieces follow, those sizes (0 = 256), then the stream.
#include <vector>

#include "tests/fuzz/fuzzing.h"
#include "tests/jpeg/split_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cudatransform;
  using fuzzing::promise;
  fuzzing::Input input(data, size);
  const uint8_t settings = input.byte();
  const std::vector<size_t> sizes = fuzzing::sizes_of_pieces(&input);
  const std::vector<uint8_t> stream(input.data(), input.data() + input.size());
  const JpegFileRules rules = {.with_others = (settings & 1) == 0,
                               .with_rest = (settings & 3) == 2,
                               .is_framed = (settings & 4) != 0,
                               .most = 1000};
  const test::SplitFilesCost whole = test::split_files(stream, {stream.size() + 1}, rules);
  for (const std::vector<size_t>& pieces : {sizes, {1}, {stream.size() + 1}}) {
    const test::SplitFilesCost cost = test::split_files(stream, pieces, rules);
    promise(cost.end == stream.size(), "all of the stream is split");
    promise(cost.looked <= test::most_looked(stream.size(), cost.calls), "time is linear");
    promise(cost.calls <= 2 * stream.size() + 2, "there is progress");
    const size_t piece = *std::max_element(pieces.begin(), pieces.end());
    promise(cost.most_held <= rules.most + piece, "no more is held than may be awaited");
    size_t last = 0;
    for (const auto& [begin, end] : cost.files) {
      promise(begin >= last && end >= begin + 2 && end <= stream.size(), "files do not overlap");
      promise(stream[begin] == 0xff && stream[begin + 1] == 0xd8, "a file begins with SOI");
      last = end;
    }
    // Pieces are files in a framed stream, and where more is awaited than may be.
    if (!rules.is_framed && stream.size() <= rules.most)
      promise(cost.files == whole.files, "files do not depend on how the stream is cut");
  }
  return 0;
}
