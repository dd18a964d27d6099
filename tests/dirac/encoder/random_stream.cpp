// Random streams of Dirac and VC-2 with their meaning, and the comparison of decoded pictures with
// it.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/dirac/encoder/random_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dirac/qcoefs.h"
#include "dirac/sequence.h"
#include "tests/dirac/encoder/picture.h"
#include "tests/dirac/encoder/picture_definition.h"
#include "tests/dirac/encoder/stream.h"
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
  // Most neighbors have much in common.
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
  t.codeblock_quantizers = dice.one_in(2);
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

// How coarse: quantizers are near to one another.
class Quantizers {
 public:
  Quantizers(Dice& dice, int most) : dice_(dice), base_(dice.number(0, most)), max_(most) {}
  int next() { return dice_.one_in(2) ? base_ : dice_.number(0, std::min(base_ + 6, max_)); }

 private:
  Dice& dice_;
  int base_, max_;
};

void draw_quantizers(Dice& dice, bool is_natural, CodedPicture* picture) {
  Quantizers quantizers(dice, is_natural || !dice.one_in(4) ? 40 : 110);
  if (picture->header.has_slices()) {
    const auto count = static_cast<size_t>(picture->transform.columns[0]) *
                       static_cast<size_t>(picture->transform.rows[0]);
    for (size_t i = 0; i < count; ++i)
      picture->slice_quantizers.push_back(static_cast<uint8_t>(quantizers.next()));
    return;
  }
  for (auto& bands : picture->bands) {
    for (CodedBand& band : bands) {
      band.quantizer = quantizers.next();
      for (int& quantizer : band.quantizers) quantizer = quantizers.next();
      if (picture->omits_single_deltas && band.quantizers.size() == 1)
        band.quantizers[0] = band.quantizer;
    }
  }
}

// Any quantized coefficients: few or many, small or large.
// Coefficients of 8 bits have 16 in some pictures, need 32 in others, and are near the border.
void draw_qcoefs(Dice& dice, CodedBand* band) {
  const int density = 1 << dice.number(0, 6);
  const int bits = dice.one_in(4) ? (dice.one_in(2) ? 29 : 14) : dice.number(1, 8);
  for (int32_t& qcoef : band->qcoefs) {
    if (!dice.one_in(density)) continue;
    const int64_t most = (int64_t{1} << dice.number(1, bits)) - 1;
    qcoef = static_cast<int32_t>(dice.any(-most, most));
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

void draw_natural_qcoefs(Dice& dice, const DiracSequence& sequence, CodedPicture* picture) {
  for (int c = 0; c < kMaxComponents; ++c) {
    const int64_t half = int64_t{1} << (sequence.depth(c) - 1);
    const int64_t most = picture->is_intra() ? half - 1 : 2 * half - 1;
    const int64_t least = picture->is_intra() ? -half : 1 - 2 * half;
    quantize_component(picture, c, random_values(dice, *picture, c, least, most));
  }
}

void draw_band_forms(Dice& dice, CodedPicture* picture) {
  for (auto& bands : picture->bands) {
    for (CodedBand& band : bands) {
      for (size_t i = 0; i < band.skips_zeros.size(); ++i) band.skips_zeros[i] = !dice.one_in(5);
      const bool is_zero = std::all_of(band.qcoefs.begin(), band.qcoefs.end(),
                                       [](int32_t qcoef) { return qcoef == 0; });
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
    t.size_scaler = min_size_scaler(*picture) + static_cast<uint32_t>(dice.number(0, 2));
  } else {
    t.slice_denominator = static_cast<uint32_t>(dice.number(1, 9));
    t.slice_numerator =
        min_slice_bytes(*picture) * t.slice_denominator + static_cast<uint32_t>(dice.number(0, 12));
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
  draw_quantizers(dice, is_natural, picture);
  if (is_natural) {
    draw_natural_qcoefs(dice, sequence, picture);
  } else {
    for (auto& bands : picture->bands) {
      for (CodedBand& band : bands) draw_qcoefs(dice, &band);
    }
  }
  if (has_slices) {
    draw_slice_sizes(dice, picture);
  } else {
    draw_band_forms(dice, picture);
  }
  return is_natural;
}

namespace {

constexpr int kMaxReferences = 8;  // that a decoder keeps

DiracSignalRange random_range(Dice& dice, int depth) {
  const int64_t least = int64_t{1} << (depth - 1), most = (int64_t{1} << depth) - 1;
  return {static_cast<uint32_t>(dice.any(0, most)), static_cast<uint32_t>(dice.any(least, most))};
}

void draw_ranges(Dice& dice, DiracSequence* s) {
  if (dice.one_in(3)) {
    const auto& preset = dice.of(kDiracSignalRanges);
    std::copy_n(preset, 2, s->range);
    return;
  }
  constexpr int kDepths[] = {8, 8, 8, 8, 10, 10, 12, 15, 16, 9, 1, 5};
  const int depth = dice.of(kDepths);
  s->range[0] = random_range(dice, depth);
  s->range[1] = random_range(dice, dice.one_in(4) ? dice.of(kDepths) : depth);
}

void draw_sizes(Dice& dice, DiracSequence* s) {
  s->width = static_cast<uint32_t>(dice.one_in(8) ? dice.number(65, 140) : dice.number(1, 64));
  s->height = static_cast<uint32_t>(dice.number(2, 48));
  s->chroma = static_cast<DiracChroma>(dice.number(0, 2));
  s->field_coding = dice.one_in(4);
  s->clean_width = s->width;
  s->clean_height = s->height;
  if (!dice.one_in(4)) return;
  s->clean_width = static_cast<uint32_t>(dice.number(1, static_cast<int>(s->width)));
  s->clean_left = s->width - s->clean_width;
  s->clean_top = static_cast<uint32_t>(dice.number(0, 1));
  s->clean_height = s->height - s->clean_top;
}

void draw_colors(Dice& dice, DiracSequence* s) {
  s->color = {static_cast<uint32_t>(dice.number(0, 4)), static_cast<uint32_t>(dice.number(0, 4)),
              static_cast<uint32_t>(dice.number(0, 5))};
}

DiracRational random_ratio(Dice& dice) {
  return {static_cast<uint32_t>(dice.any(1, 100000)), static_cast<uint32_t>(dice.any(1, 2000))};
}

// Keeps the pictures that later ones may refer to, as a decoder does.
class Streamer {
 public:
  explicit Streamer(uint32_t seed) : dice_(seed) {}

  RandomStream make(int pictures) {
    stream_.sequence = make_random_sequence(static_cast<uint32_t>(dice_.any(0, UINT32_MAX)));
    const SequenceForm form = {dice_.one_in(2), dice_.one_in(2)};
    writer_.add_sequence(stream_.sequence, form);
    if (dice_.one_in(4)) add_encoder_name();
    // Numbers are even for pictures of fields, and may wrap.
    first_ = static_cast<uint32_t>(dice_.one_in(4) ? -2 * dice_.any(0, 4) : 2 * dice_.any(0, 1000));
    for (int i = 0; i < pictures; ++i) {
      if (dice_.one_in(10)) add_what_is_skipped(form);
      add_picture(i);
    }
    if (!dice_.one_in(4)) writer_.add_unit(0x10, {});
    stream_.bytes = writer_.take();
    return std::move(stream_);
  }

 private:
  // References by the picture's place in the stream.
  using Reference = std::pair<uint32_t, size_t>;

  // The first eight releases had different quantizers.
  void add_encoder_name() {
    const int release = dice_.number(0, 12);
    const std::string name = "\x01Schroedinger 1.0." + std::to_string(release);
    writer_.add_unit(0x20, {name.begin(), name.end()});
    omits_single_deltas_ = release < 8;
  }

  void add_what_is_skipped(const SequenceForm& form) {
    std::vector<uint8_t> data(static_cast<size_t>(dice_.number(0, 40)));
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(dice_.number(0, 255));
    constexpr uint8_t kCodes[] = {0x21, 0x30, 0x70};
    if (dice_.one_in(2)) return writer_.add_sequence(stream_.sequence, form);
    writer_.add_unit(dice_.of(kCodes), data);
  }

  void add_picture(int index) {
    CodedPicture picture;
    draw_kind(dice_, stream_.sequence, &picture);
    picture.omits_single_deltas = omits_single_deltas_;
    picture.header.number = number_of(index);
    const DefinedPicture* defined[kMaxObmcReferences] = {};
    draw_references(&picture, defined);
    const bool is_natural = draw_content(dice_, stream_.sequence, &picture);
    writer_.add_picture(picture);
    const dwt::Rule rule = is_natural ? dwt::Rule::kUnbounded : dwt::Rule::kS32;
    stream_.defined.push_back(define_picture(stream_.sequence, picture, defined, rule));
    keep(picture.header);
    stream_.pictures.push_back(std::move(picture));
  }

  // Groups of three whose coding order differs from the order of showing.
  uint32_t number_of(int index) {
    if (stream_.sequence.field_coding) return first_ + static_cast<uint32_t>(index);
    const int place = index % 3;
    return first_ + static_cast<uint32_t>(index - place + (place == 0 ? 2 : place - 1));
  }

  void draw_references(CodedPicture* picture, const DefinedPicture** defined) {
    DiracPictureHeader& header = picture->header;
    for (int r = 0; r < header.reference_count; ++r) {
      if (references_.empty() || dice_.one_in(40)) {
        header.references[r] = header.number + 5000 + static_cast<uint32_t>(dice_.number(0, 9));
        missing_.push_back(std::make_unique<DefinedPicture>(define_gray(stream_.sequence)));
        defined[r] = missing_.back().get();
        continue;
      }
      const auto at =
          static_cast<size_t>(dice_.any(0, static_cast<int64_t>(references_.size()) - 1));
      header.references[r] = references_[at].first;
      defined[r] = &stream_.defined[references_[at].second];
    }
    if (!header.is_reference || !dice_.one_in(2)) return;
    // An existing one, or none.
    header.retires = true;
    header.retired = header.number - static_cast<uint32_t>(dice_.number(1, 12));
    const auto* used = header.references;
    if (std::find(used, used + header.reference_count, header.retired) !=
        used + header.reference_count)
      header.retires = false;  // decoders disagree whether it still exists
  }

  void keep(const DiracPictureHeader& header) {
    const auto drop = [&](uint32_t number) {
      std::erase_if(references_, [&](const Reference& r) { return r.first == number; });
    };
    if (header.retires) drop(header.retired);
    if (!header.is_reference) return;
    if (references_.size() == kMaxReferences) references_.erase(references_.begin());
    references_.emplace_back(header.number, stream_.defined.size() - 1);
  }

  Dice dice_;
  StreamWriter writer_;
  RandomStream stream_;
  uint32_t first_ = 0;
  bool omits_single_deltas_ = false;
  std::vector<Reference> references_;  // oldest first
  std::vector<std::unique_ptr<DefinedPicture>> missing_;
};

}  // namespace

DiracSequence make_random_sequence(uint32_t seed) {
  Dice dice(seed);
  DiracSequence s;
  s.major_version = static_cast<uint32_t>(dice.number(1, 3));
  s.minor_version = static_cast<uint32_t>(dice.one_in(3) ? 2 : 0);
  constexpr uint32_t kProfiles[] = {0, 1, 2, 3, 8};
  s.profile = dice.of(kProfiles);
  if (s.profile == 3) s.minor_version = 0;
  s.level = static_cast<uint32_t>(dice.number(0, 128));
  s.base_format = static_cast<uint32_t>(dice.number(0, std::size(kDiracBaseFormats) - 1));
  s.interlaced = dice.one_in(2);
  s.top_field_first = kDiracBaseFormats[s.base_format].top_field_first;
  s.frame_rate = dice.one_in(2) ? dice.of(kDiracFrameRates) : random_ratio(dice);
  s.pixel_aspect_ratio = dice.one_in(2) ? dice.of(kDiracAspectRatios) : random_ratio(dice);
  draw_sizes(dice, &s);
  draw_ranges(dice, &s);
  draw_colors(dice, &s);
  return s;
}

RandomStream make_random_stream(uint32_t seed, int pictures) {
  return Streamer(seed).make(pictures);
}

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
  judge.equal("codeblock quantizers", a.codeblock_quantizers, b.codeblock_quantizers);
  judge.equal("slice numerator", a.slice_numerator, b.slice_numerator);
  judge.equal("slice denominator", a.slice_denominator, b.slice_denominator);
  judge.equal("prefix bytes", a.prefix_bytes, b.prefix_bytes);
  judge.equal("size scaler", a.size_scaler, b.size_scaler);
  for (int i = 0; i < kMaxDwtBands; ++i) judge.equal("matrix", a.matrix[i], b.matrix[i]);
}

// The quantized coefficients of a row, dense, and the number of those that are not zero.
std::vector<int32_t> row_of(const DiracBand& band, bool is_wide, int32_t y, uint32_t* count) {
  std::vector<int32_t> row(static_cast<size_t>(band.width));
  const ptrdiff_t begin = ptrdiff_t{y} * band.width;
  *count = 0;
  for (int32_t x = 0; x < band.width; ++x) {
    if ((band.map_row(y)[x / 64] >> (x % 64) & 1) == 0) continue;
    const ptrdiff_t at = begin + static_cast<ptrdiff_t>((*count)++);
    row[static_cast<size_t>(x)] = is_wide ? static_cast<const int32_t*>(band.qcoefs)[at]
                                          : static_cast<const int16_t*>(band.qcoefs)[at];
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
      const int32_t qcoef = band.is_coded ? band.at(x, y) : 0;
      judge.equal("level", qcoef, row[static_cast<size_t>(x)]);
      const int column = part_of(x, band.width, band.columns);
      const int grid_row = part_of(y, band.height, band.rows);
      if (qcoef != 0)
        judge.equal("quantizer", quantizer_at(coded, component, index, x, y),
                    found.quantizer(column, grid_row));
      judge.name_place("at " + std::to_string(x) + ", " + std::to_string(y));
    }
  }
  judge.name_place("component " + std::to_string(component) + ", band " + std::to_string(index));
}

void judge_qcoefs(const CodedPicture& coded, const DiracQcoefs& found, Judge& judge) {
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
      judge_qcoefs(coded, found.qcoefs(), judge);
  }
  return judge.text();
}

}  // namespace cudatransform::test
