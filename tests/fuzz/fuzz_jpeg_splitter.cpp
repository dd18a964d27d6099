// Fuzz target: JpegSplitter finds the same pictures for every division of the stream.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: how many sizes of pieces follow, those sizes (0 = 256), then the stream.
#include <algorithm>
#include <utility>
#include <vector>

#include "jpeg/splitter.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using cudatransform::JpegSplitter;
using fuzzing::promise;

using Pictures = std::vector<std::pair<size_t, size_t>>;  // begin, end

bool is_soi(const uint8_t* data) { return data[0] == 0xff && data[1] == 0xd8; }

// Splits as an element does: the splitter starts anew after each picture. `sizes` are those of the
// pieces, over and over; none: one piece.
Pictures split(const uint8_t* stream, size_t size, const std::vector<size_t>& sizes) {
  Pictures pictures;
  JpegSplitter splitter;
  size_t start = 0, piece = 0;  // of the wanted picture; of the sizes
  for (;;) {
    const size_t seen = start + splitter.position(), left = size - seen;
    if (!splitter.found() && left > 0) {
      const size_t wanted = sizes.empty() ? left : std::min(left, sizes[piece++ % sizes.size()]);
      // Separate memory, so that a read outside of the piece is seen.
      const std::vector<uint8_t> bytes(stream + seen, stream + seen + wanted);
      const size_t used = splitter.feed(bytes.data(), bytes.size());
      promise(used <= wanted, "feed() uses no more than there is");
      promise(used == wanted || splitter.found(), "feed() looks at everything unless it finds");
      promise(start + splitter.position() == seen + used, "the position is that of the bytes used");
      continue;
    }
    if (!splitter.found()) {
      if (!splitter.inside()) return pictures;
      splitter.cut();
    }
    const size_t begin = splitter.begin(), end = splitter.end();
    promise(splitter.found(), "a picture that was cut has been found");
    promise(end >= begin + 2 && end <= splitter.position(), "a picture lies in what was seen");
    promise(is_soi(stream + start + begin), "a picture begins with SOI");
    pictures.emplace_back(start + begin, start + end);
    start += end;
    splitter.restart();
    promise(splitter.position() == 0 && !splitter.found() && !splitter.inside(),
            "a splitter that starts anew knows nothing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const std::vector<size_t> sizes = fuzzing::sizes_of_pieces(&input);
  const Pictures whole = split(input.data(), input.size(), {});
  promise(split(input.data(), input.size(), sizes) == whole,
          "pictures do not depend on how the stream is cut");
  promise(split(input.data(), input.size(), {1}) == whole,
          "pictures do not depend on how the stream is cut into bytes");
  size_t last = 0;
  for (const auto& [begin, end] : whole) {
    promise(begin >= last, "pictures do not overlap");
    last = end;
  }
  return 0;
}
