// A picture of Dirac or VC-2 before it is coded: its bands and quantisers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/picture.h"

#include <algorithm>

namespace cudatransform::test {

namespace {

int32_t divided_up(int32_t size, int32_t divisor) { return (size + divisor - 1) / divisor; }

int32_t chroma_side(uint32_t side, bool is_halved) {
  return divided_up(static_cast<int32_t>(side), is_halved ? 2 : 1);
}

}  // namespace

void lay_out_bands(const DiracSequence& sequence, CodedPicture* picture) {
  const DiracTransform& t = picture->transform;
  const int both = t.levels.both, across = both + t.levels.horizontal;
  const bool has_slices = picture->header.has_slices();
  for (int c = 0; c < kMaxComponents; ++c) {
    const int32_t width =
        chroma_side(sequence.width, c > 0 && sequence.chroma != DiracChroma::k444);
    const int32_t height =
        chroma_side(sequence.field_coding ? sequence.height / 2 : sequence.height,
                    c > 0 && sequence.chroma == DiracChroma::k420);
    std::vector<CodedBand>& bands = picture->bands[c];
    bands.clear();
    const auto add = [&](int level, int orientation) {
      CodedBand band;
      band.level = level;
      band.orientation = orientation;
      // Halvings that remain below this level.
      const int right = across - std::max(level - 1, 0);
      const int down = level <= t.levels.horizontal ? both : across - (level - 1);
      band.width = divided_up(width, 1 << across) << (across - right);
      band.height = divided_up(height, 1 << both) << (both - down);
      band.x = (orientation & 1) != 0 ? band.width : 0;
      band.y = (orientation & 2) != 0 ? band.height : 0;
      band.columns = t.columns[has_slices ? 0 : level];
      band.rows = t.rows[has_slices ? 0 : level];
      band.levels.assign(static_cast<size_t>(band.width) * static_cast<size_t>(band.height), 0);
      const auto blocks = static_cast<size_t>(band.columns) * static_cast<size_t>(band.rows);
      if (!has_slices) {
        band.quantisers.assign(blocks, 0);
        band.skips_zeros.assign(blocks, true);
      }
      bands.push_back(std::move(band));
    };
    add(0, 0);
    for (int level = 1; level <= t.levels.horizontal; ++level) add(level, 1);
    for (int level = t.levels.horizontal + 1; level <= across; ++level) {
      for (const int orientation : {1, 2, 3}) add(level, orientation);
    }
  }
}

int32_t part_of(int32_t at, int32_t size, int32_t count) {
  int32_t part = static_cast<int32_t>(static_cast<int64_t>(at) * count / size);
  while (part_begin(size, part + 1, count) <= at) ++part;
  return part;
}

int quantiser_at(const CodedPicture& picture, int component, int band, int32_t x, int32_t y) {
  const CodedBand& b = picture.bands[component][static_cast<size_t>(band)];
  const int32_t at = part_of(y, b.height, b.rows) * b.columns + part_of(x, b.width, b.columns);
  if (picture.header.has_slices()) {
    const int index = picture.slice_quantisers[static_cast<size_t>(at)];
    return std::max(index - picture.transform.matrix[band], 0);
  }
  return picture.transform.codeblock_quantisers ? b.quantisers[static_cast<size_t>(at)]
                                                : b.quantiser;
}

}  // namespace cudatransform::test
