// Random pictures: their kinds and their contents.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/random_picture.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "dirac/levels.h"
#include "tests/dirac/encoder/coefs.h"
#include "tests/dirac/encoder/picture_definition.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::test {

namespace {

constexpr int32_t kBlockPresets[][2] = {{8, 4}, {12, 8}, {16, 12}, {24, 16}};

// Superblocks of four blocks cover the luma.
int32_t blocks_over(uint32_t size, int32_t separation) {
  int32_t superblocks = 1;
  while (superblocks * 4 * separation < static_cast<int32_t>(size)) ++superblocks;
  return 4 * superblocks;
}

void draw_weights(Dice& dice, int references, CodedPicture* picture) {
  DiracPrediction& p = picture->prediction;
  picture->writes_weights = dice.one_in(3);
  if (!picture->writes_weights) return;
  constexpr int32_t kWeights[][3] = {{1, 1, 1}, {2, 3, 1},  {3, 3, 5},      {2, 5, -1},
                                     {4, 4, 3}, {0, 1, 0},  {8, 255, -255}, {8, 1, 255},
                                     {1, 0, 0}, {3, -2, 7}, {5, 17, 15}};
  const auto& weights = dice.of(kWeights);
  p.weight_bits = weights[0];
  for (int r = 0; r < references; ++r) p.weights[r] = weights[r + 1];
}

void draw_prediction(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  DiracPrediction& p = picture->prediction;
  picture->block_preset = dice.number(0, static_cast<int>(std::size(kBlockPresets)));
  if (picture->block_preset > 0) {
    const auto& preset = kBlockPresets[picture->block_preset - 1];
    p.length_x = p.length_y = preset[0];
    p.separation_x = p.separation_y = preset[1];
  } else {
    const auto draw = [&](int32_t* length, int32_t* separation) {
      *separation = 4 * dice.number(1, 8);
      *length = 4 * dice.number(*separation / 4, *separation / 2);
    };
    draw(&p.length_x, &p.separation_x);
    draw(&p.length_y, &p.separation_y);
  }
  p.precision = dice.number(0, kMaxObmcPrecision);
  draw_weights(dice, picture->header.reference_count, picture);
  p.blocks_across = blocks_over(sequence.picture_width(0), p.separation_x);
  p.blocks_down = blocks_over(sequence.picture_height(0), p.separation_y);
}

ObmcBlock random_block(Dice& dice, const DiracSequence& sequence, int references, int64_t reach) {
  ObmcBlock block;
  block.references = static_cast<uint8_t>(dice.number(0, (1 << references) - 1));
  // Most neighbours have much in common.
  for (int r = 0; r < references; ++r) {
    if ((block.references >> r & 1) == 0) continue;
    for (int32_t& part : block.vector[r])
      part = static_cast<int32_t>(dice.one_in(2) ? reach / 2 : dice.any(-reach, reach));
  }
  for (int c = 0; c < kMaxComponents && block.references == 0; ++c) {
    const int64_t half = int64_t{1} << (sequence.depth(c) - 1);
    block.dc[c] = static_cast<int16_t>(dice.any(-half, half - 1));
  }
  return block;
}

void draw_blocks(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  const int32_t across = picture->prediction.blocks_across;
  const auto superblocks = static_cast<size_t>(picture->superblocks_across()) *
                           static_cast<size_t>(picture->superblocks_down());
  const int64_t reach = dice.one_in(10) ? 1000000 : dice.number(1, 200);
  picture->blocks.resize(16 * superblocks);
  for (size_t s = 0; s < superblocks; ++s) {
    const int split = dice.number(0, 2);
    picture->splits.push_back(static_cast<uint8_t>(split));
    const int32_t i = 4 * (static_cast<int32_t>(s) % picture->superblocks_across());
    const int32_t j = 4 * (static_cast<int32_t>(s) / picture->superblocks_across());
    const int32_t side = 4 >> split;
    for (int32_t unit = 0; unit < 16 / (side * side); ++unit) {
      const ObmcBlock block = random_block(dice, sequence, picture->header.reference_count, reach);
      const int32_t x = i + unit % (4 / side) * side, y = j + unit / (4 / side) * side;
      for (int32_t n = 0; n < side * side; ++n) {
        picture->blocks[static_cast<size_t>((y + n / side) * across + x + n % side)] = block;
      }
    }
  }
}

void draw_wavelets(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  DiracTransform& t = picture->transform;
  t.wavelet = t.wavelet_ho = static_cast<Wavelet>(dice.number(0, 6));
  t.levels = {dice.one_in(6) ? dice.number(5, kMaxDwtLevels) : dice.number(0, 4), 0};
  if (!picture->header.has_slices() || sequence.major_version < 3 || dice.one_in(2)) return;
  if (dice.one_in(2)) t.wavelet_ho = static_cast<Wavelet>(dice.number(0, 6));
  t.levels.both = dice.number(0, 4);
  t.levels.horizontal = dice.number(0, kMaxDwtLevelsHo);
}

int32_t padded(uint32_t size, int halvings) {
  const int32_t unit = 1 << halvings;
  return (static_cast<int32_t>(size) + unit - 1) / unit * unit;
}

void draw_partition(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  DiracTransform& t = picture->transform;
  std::fill(std::begin(t.columns), std::end(t.columns), 1);
  std::fill(std::begin(t.rows), std::end(t.rows), 1);
  picture->writes_partition = dice.one_in(2);
  if (!picture->writes_partition) return;
  const int32_t width = padded(sequence.picture_width(0), t.levels.both);
  const int32_t height = padded(sequence.picture_height(0), t.levels.both);
  for (int level = 0; level <= t.levels.both; ++level) {
    const int halvings = level == 0 ? t.levels.both : t.levels.both - level + 1;
    t.columns[level] = dice.number(1, std::min(6, width >> halvings));
    t.rows[level] = dice.number(1, std::min(5, height >> halvings));
  }
  t.codeblock_quantisers = dice.one_in(2);
}

void draw_matrix(Dice& dice, CodedPicture* picture) {
  DiracTransform& t = picture->transform;
  const bool has_default = default_matrix(t.wavelet, t.wavelet_ho, t.levels, t.matrix);
  picture->writes_matrix = !has_default || dice.one_in(3);
  if (!picture->writes_matrix) return;
  const int most = dice.one_in(4) ? 127 : 12;
  for (int i = 0; i < dwt_band_count(t.levels); ++i)
    t.matrix[i] = static_cast<uint8_t>(dice.number(0, most));
}

void draw_slices(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  DiracTransform& t = picture->transform;
  const int32_t width = padded(sequence.picture_width(0), t.levels.both + t.levels.horizontal);
  const int32_t height = padded(sequence.picture_height(0), t.levels.both);
  t.columns[0] = dice.number(1, std::min(dice.one_in(5) ? width : 6, width));
  t.rows[0] = dice.number(1, std::min(5, height));
  draw_matrix(dice, picture);
}

// How coarse: quantisers are near to one another.
class Quantisers {
 public:
  Quantisers(Dice& dice, int most) : dice_(dice), base_(dice.number(0, most)), most_(most) {}
  int next() { return dice_.one_in(2) ? base_ : dice_.number(0, std::min(base_ + 6, most_)); }

 private:
  Dice& dice_;
  int base_, most_;
};

void draw_quantisers(Dice& dice, bool is_natural, CodedPicture* picture) {
  Quantisers quantisers(dice, is_natural || !dice.one_in(4) ? 40 : 110);
  if (picture->header.has_slices()) {
    const auto count = static_cast<size_t>(picture->transform.columns[0]) *
                       static_cast<size_t>(picture->transform.rows[0]);
    for (size_t i = 0; i < count; ++i)
      picture->slice_quantisers.push_back(static_cast<uint8_t>(quantisers.next()));
    return;
  }
  for (auto& bands : picture->bands) {
    for (CodedBand& band : bands) {
      band.quantiser = quantisers.next();
      for (int& quantiser : band.quantisers) quantiser = quantisers.next();
      if (picture->omits_single_deltas && band.quantisers.size() == 1)
        band.quantisers[0] = band.quantiser;
    }
  }
}

// Any levels: few or many, small or large.
// Coefficients of 8 bits have 16 in some pictures, need 32 in others, and are near the border.
void draw_levels(Dice& dice, CodedBand* band) {
  const int density = 1 << dice.number(0, 6);
  const int bits = dice.one_in(4) ? (dice.one_in(2) ? 29 : 14) : dice.number(1, 8);
  for (int32_t& level : band->levels) {
    if (!dice.one_in(density)) continue;
    const int64_t most = (int64_t{1} << dice.number(1, bits)) - 1;
    level = static_cast<int32_t>(dice.any(-most, most));
  }
}

// Samples around 0 of a picture, or differences of two: noise, a ramp, the extremes.
dwt::Values random_values(Dice& dice, const CodedPicture& picture, int component, int64_t least,
                          int64_t most) {
  const CodedBand& last = picture.bands[component].back();
  dwt::Values values(last.x + last.width, last.y + last.height);
  const int kind = dice.number(0, 4);
  const int64_t slope = dice.any(-(most >> 3), most >> 3), flat = dice.any(least, most);
  for (int y = 0; y < values.rows; ++y) {
    for (int x = 0; x < values.width; ++x) {
      int64_t value = flat;
      if (kind == 0) value = dice.any(least, most);
      if (kind == 1) value = flat + slope * x / 4 - slope * y / 8 + dice.any(-2, 2);
      if (kind == 2) value = dice.one_in(2) ? least : most;
      if (kind == 3) value = (x / 3 + y / 5) % 2 != 0 ? least : most;
      values.at(x, y) = std::clamp(value, least, most);
    }
  }
  return values;
}

void draw_natural_levels(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  for (int c = 0; c < kMaxComponents; ++c) {
    const int64_t half = int64_t{1} << (sequence.depth(c) - 1);
    const int64_t most = picture->is_intra() ? half - 1 : 2 * half - 1;
    const int64_t least = picture->is_intra() ? -half : 1 - 2 * half;
    quantise_component(picture, c, random_values(dice, *picture, c, least, most));
  }
}

void draw_band_forms(Dice& dice, CodedPicture* picture) {
  for (auto& bands : picture->bands) {
    for (CodedBand& band : bands) {
      for (size_t i = 0; i < band.skips_zeros.size(); ++i) band.skips_zeros[i] = !dice.one_in(5);
      const bool is_zero = std::all_of(band.levels.begin(), band.levels.end(),
                                       [](int32_t level) { return level == 0; });
      band.is_coded = !is_zero || dice.one_in(3);
    }
  }
}

// Consequences of the codes' sizes.
void draw_slice_sizes(Dice& dice, CodedPicture* picture) {
  DiracTransform& t = picture->transform;
  picture->padding = static_cast<uint32_t>(dice.any(0, 1 << 20));
  if (picture->header.coding == DiracCoding::kHighQuality) {
    t.prefix_bytes = static_cast<uint32_t>(dice.one_in(3) ? dice.number(1, 9) : 0);
    t.size_scaler = least_size_scaler(*picture) + static_cast<uint32_t>(dice.number(0, 2));
  } else {
    t.slice_denominator = static_cast<uint32_t>(dice.number(1, 9));
    t.slice_numerator = least_slice_bytes(*picture) * t.slice_denominator +
                        static_cast<uint32_t>(dice.number(0, 12));
  }
}

}  // namespace

void draw_kind(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  DiracPictureHeader& h = picture->header;
  const bool may_predict = sequence.depth(0) < 16 && sequence.depth(1) < 16;
  if (dice.one_in(4)) {
    // Before version 3 the code of a fragment is that of a low delay reference.
    constexpr uint8_t kCodes[] = {0xe8, 0xe8, 0xc8, 0x88, 0xcc};
    picture->parse_code = dice.of(kCodes);
    if (picture->parse_code == 0xcc && sequence.major_version >= 3) picture->parse_code = 0xc8;
    const bool is_low_delay = picture->parse_code != 0xe8;
    h.coding = is_low_delay ? DiracCoding::kLowDelay : DiracCoding::kHighQuality;
    if (sequence.major_version >= 3 && picture->parse_code != 0x88 && dice.one_in(2))
      picture->fragments = dice.number(1, 9);
    return;
  }
  const bool is_arithmetic = !dice.one_in(3);
  h.coding = is_arithmetic ? DiracCoding::kArithmetic : DiracCoding::kVlc;
  h.is_reference = !dice.one_in(3);
  h.reference_count = may_predict ? dice.number(0, 2) : 0;
  picture->parse_code = static_cast<uint8_t>((is_arithmetic ? 0x08 : 0x48) |
                                             (h.is_reference ? 0x04 : 0) | h.reference_count);
}

bool draw_content(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  const bool is_natural = dice.one_in(2);
  picture->trims = dice.one_in(2);
  if (!picture->is_intra()) {
    draw_prediction(dice, sequence, picture);
    draw_blocks(dice, sequence, picture);
    picture->has_residual = !dice.one_in(5);
    if (!picture->has_residual) return is_natural;
  }
  draw_wavelets(dice, sequence, picture);
  const bool has_slices = picture->header.has_slices();
  has_slices ? draw_slices(dice, sequence, picture) : draw_partition(dice, sequence, picture);
  lay_out_bands(sequence, picture);
  draw_quantisers(dice, is_natural, picture);
  if (is_natural) {
    draw_natural_levels(dice, sequence, picture);
  } else {
    for (auto& bands : picture->bands) {
      for (CodedBand& band : bands) draw_levels(dice, &band);
    }
  }
  if (has_slices) {
    draw_slice_sizes(dice, picture);
  } else {
    draw_band_forms(dice, picture);
  }
  return is_natural;
}

}  // namespace cudatransform::test
