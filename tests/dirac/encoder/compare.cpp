// Compares a decoder's picture with the writer's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/compare.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudatransform::test {

namespace {

class Judge {
 public:
  template <typename Value>
  Judge& equal(const char* what, const Value& wanted, const Value& found) {
    if (text_.empty() && wanted != found)
      text_ = std::string(what) + ": wrote " + std::to_string(static_cast<int64_t>(wanted)) +
              ", found " + std::to_string(static_cast<int64_t>(found));
    return *this;
  }
  bool has_found() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  void name_place(const std::string& place) {
    if (has_found()) text_ += " (" + place + ")";
  }

 private:
  std::string text_;
};

void judge_headers(const DiracPictureHeader& a, const DiracPictureHeader& b, Judge& judge) {
  judge.equal("number", a.number, b.number).equal("coding", a.coding, b.coding);
  judge.equal("is_reference", a.is_reference, b.is_reference);
  judge.equal("references", a.reference_count, b.reference_count);
  for (int r = 0; r < a.reference_count; ++r)
    judge.equal("reference", a.references[r], b.references[r]);
  judge.equal("retires", a.retires, b.retires);
  if (a.retires) judge.equal("retired", a.retired, b.retired);
}

void judge_predictions(const CodedPicture& coded, const DiracPrediction& b, Judge& judge) {
  const DiracPrediction& a = coded.prediction;
  judge.equal("length_x", a.length_x, b.length_x).equal("length_y", a.length_y, b.length_y);
  judge.equal("separation_x", a.separation_x, b.separation_x);
  judge.equal("separation_y", a.separation_y, b.separation_y);
  judge.equal("precision", a.precision, b.precision);
  judge.equal("weight_bits", a.weight_bits, b.weight_bits);
  for (int r = 0; r < 2; ++r) judge.equal("weight", a.weights[r], b.weights[r]);
  judge.equal("blocks_across", a.blocks_across, b.blocks_across);
  judge.equal("blocks_down", a.blocks_down, b.blocks_down);
}

void judge_blocks(const CodedPicture& coded, const ObmcBlock* found, Judge& judge) {
  for (size_t i = 0; i < coded.blocks.size() && !judge.has_found(); ++i) {
    const ObmcBlock &a = coded.blocks[i], &b = found[i];
    judge.equal("mode", a.references, b.references);
    for (int r = 0; r < 2; ++r) {
      for (int axis = 0; axis < 2 && (a.references >> r & 1) != 0; ++axis)
        judge.equal("vector", a.vector[r][axis], b.vector[r][axis]);
    }
    for (int c = 0; c < kMaxComponents && a.references == 0; ++c)
      judge.equal("DC value", a.dc[c], b.dc[c]);
    judge.name_place("block " + std::to_string(i));
  }
}

void judge_transforms(const CodedPicture& coded, const DiracTransform& b, Judge& judge) {
  const DiracTransform& a = coded.transform;
  judge.equal("wavelet", a.wavelet, b.wavelet).equal("wavelet_ho", a.wavelet_ho, b.wavelet_ho);
  judge.equal("levels", a.levels.both, b.levels.both);
  judge.equal("horizontal levels", a.levels.horizontal, b.levels.horizontal);
  const int grids = coded.header.has_slices() ? 0 : a.levels.both;
  for (int level = 0; level <= grids; ++level) {
    judge.equal("columns", a.columns[level], b.columns[level]);
    judge.equal("rows", a.rows[level], b.rows[level]);
  }
  judge.equal("codeblock quantisers", a.codeblock_quantisers, b.codeblock_quantisers);
  judge.equal("slice numerator", a.slice_numerator, b.slice_numerator);
  judge.equal("slice denominator", a.slice_denominator, b.slice_denominator);
  judge.equal("prefix bytes", a.prefix_bytes, b.prefix_bytes);
  judge.equal("size scaler", a.size_scaler, b.size_scaler);
  for (int i = 0; i < kMaxDwtBands; ++i) judge.equal("matrix", a.matrix[i], b.matrix[i]);
}

// The levels of a row, dense, and the number of those that are not zero.
std::vector<int32_t> row_of(const DiracBand& band, bool is_wide, int32_t y, uint32_t* count) {
  std::vector<int32_t> row(static_cast<size_t>(band.width));
  const ptrdiff_t begin = ptrdiff_t{y} * band.width;
  *count = 0;
  for (int32_t x = 0; x < band.width; ++x) {
    if ((band.map_row(y)[x / 64] >> (x % 64) & 1) == 0) continue;
    const ptrdiff_t at = begin + static_cast<ptrdiff_t>((*count)++);
    row[static_cast<size_t>(x)] = is_wide ? static_cast<const int32_t*>(band.levels)[at]
                                          : static_cast<const int16_t*>(band.levels)[at];
  }
  return row;
}

void judge_band(const CodedPicture& coded, int component, int index, const DiracBand& found,
                bool is_wide, Judge& judge) {
  const CodedBand& band = coded.bands[component][static_cast<size_t>(index)];
  judge.equal("width", band.width, found.width).equal("height", band.height, found.height);
  judge.equal("x", band.x, found.x).equal("y", band.y, found.y);
  for (int32_t y = 0; y < band.height && !judge.has_found(); ++y) {
    uint32_t count = 0;
    const std::vector<int32_t> row = row_of(found, is_wide, y, &count);
    judge.equal("count", count, found.counts[y]);
    for (int32_t x = 0; x < band.width && !judge.has_found(); ++x) {
      const int32_t level = band.is_coded ? band.at(x, y) : 0;
      judge.equal("level", level, row[static_cast<size_t>(x)]);
      const int column = part_of(x, band.width, band.columns);
      const int grid_row = part_of(y, band.height, band.rows);
      if (level != 0)
        judge.equal("quantiser", quantiser_at(coded, component, index, x, y),
                    found.quantiser(column, grid_row));
      judge.name_place("at " + std::to_string(x) + ", " + std::to_string(y));
    }
  }
  judge.name_place("component " + std::to_string(component) + ", band " + std::to_string(index));
}

void judge_levels(const CodedPicture& coded, const DiracLevels& found, Judge& judge) {
  judge.equal("bands", static_cast<int>(coded.bands[0].size()), found.band_count());
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < found.band_count() && !judge.has_found(); ++i)
      judge_band(coded, c, i, found.band(c, i), found.is_wide(), judge);
  }
}

}  // namespace

std::string judge_parsed(const CodedPicture& coded, const DiracPicture& found) {
  if (found.damage() != nullptr) return found.damage();
  Judge judge;
  judge_headers(coded.header, found.header(), judge);
  judge.equal("has residual", coded.has_residual, found.has_residual());
  if (!coded.is_intra()) {
    judge_predictions(coded, found.prediction(), judge);
    if (!judge.has_found()) judge_blocks(coded, found.blocks(), judge);
  }
  if (coded.has_residual) {
    judge_transforms(coded, found.transform(), judge);
    // The renderer may decode the slices.
    if (!judge.has_found() && found.deferred_slices().data == nullptr)
      judge_levels(coded, found.levels(), judge);
  }
  return judge.text();
}

}  // namespace cudatransform::test
