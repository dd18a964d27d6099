// Sequence and picture headers: their contents, and refused headers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dirac/picture_header.h"
#include "dirac/sequence.h"
#include "tests/dirac/bit_writer.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::test {
namespace {

// A sequence header with every field written: the fields' numbers in order.
struct HeaderText {
  uint64_t version = 2, profile = 3, base = 14;
  uint64_t width = 333, height = 217, chroma = 0, scan = 1;
  uint64_t rate = 0, rate_n = 30000, rate_d = 1001, aspect = 0, aspect_n = 12, aspect_d = 11;
  uint64_t clean[4] = {300, 200, 10, 8};
  uint64_t range = 0, ranges[4] = {64, 876, 512, 900};
  uint64_t color = 0, primaries = 2, matrix = 1, transfer = 3;
  uint64_t fields = 1;

  std::vector<uint8_t> bytes() const {
    BitWriter w;
    const auto codes = [&](std::initializer_list<uint64_t> values) {
      for (const uint64_t value : values) w.unsigned_code(value);
    };
    codes({version, 0, profile, 1, base});
    w.bit(true);
    codes({width, height});
    w.bit(true);
    codes({chroma});
    w.bit(true);
    codes({scan});
    w.bit(true);
    codes({rate});
    if (rate == 0) codes({rate_n, rate_d});
    w.bit(true);
    codes({aspect});
    if (aspect == 0) codes({aspect_n, aspect_d});
    w.bit(true);
    codes({clean[0], clean[1], clean[2], clean[3]});
    w.bit(true);
    codes({range});
    if (range == 0) codes({ranges[0], ranges[1], ranges[2], ranges[3]});
    w.bit(true);
    codes({color});
    for (const uint64_t value : {primaries, matrix, transfer}) {
      if (color == 0) w.bit(true);
      if (color == 0) codes({value});
    }
    codes({fields});
    return w.bytes();
  }
};

Status read(const std::vector<uint8_t>& bytes, DiracSequence* sequence,
            const DiracLimits& limits = {}) {
  return read_sequence(bytes, limits, sequence);
}

// Only the base format is written.
std::vector<uint8_t> plain_header(uint64_t base, uint64_t profile = 3) {
  BitWriter w;
  for (const uint64_t value : {uint64_t{2}, uint64_t{0}, profile, uint64_t{0}, base}) {
    w.unsigned_code(value);
  }
  for (int i = 0; i < 8; ++i) w.bit(false);
  w.unsigned_code(0);
  return w.bytes();
}

TEST(DiracSequence, EverythingThatAHeaderSays) {
  DiracSequence s;
  ASSERT_TRUE(read(HeaderText().bytes(), &s).ok());
  EXPECT_EQ(s.width, 333u);
  EXPECT_EQ(s.height, 217u);
  EXPECT_EQ(s.chroma, DiracChroma::k444);
  EXPECT_TRUE(s.interlaced && s.field_coding && s.top_field_first);
  EXPECT_EQ(s.frame_rate, (DiracRational{30000, 1001}));
  EXPECT_EQ(s.pixel_aspect_ratio, (DiracRational{12, 11}));
  EXPECT_EQ(s.clean_width, 300u);
  EXPECT_EQ(s.clean_top, 8u);
  EXPECT_EQ(s.range[1], (DiracSignalRange{512, 900}));
  EXPECT_EQ(s.depth(0), 10);
  EXPECT_EQ(s.color, (DiracColor{2, 1, 3}));
  EXPECT_EQ(s.picture_height(0), 108u);
}

TEST(DiracSequence, BaseFormatsAndPresets) {
  DiracSequence s;
  ASSERT_TRUE(read(plain_header(8), &s).ok());
  EXPECT_EQ(s.width, 720u);
  EXPECT_EQ(s.height, 576u);
  EXPECT_EQ(s.chroma, DiracChroma::k422);
  EXPECT_TRUE(s.interlaced && s.top_field_first);
  EXPECT_EQ(s.frame_rate, (DiracRational{25, 1}));
  EXPECT_EQ(s.pixel_aspect_ratio, (DiracRational{12, 11}));
  EXPECT_EQ(s.clean_width, 704u);
  EXPECT_EQ(s.clean_left, 8u);
  EXPECT_EQ(s.depth(0), 10);
  EXPECT_EQ(s.color, (DiracColor{2, 1, 0}));
  ASSERT_TRUE(read(plain_header(18), &s).ok());
  EXPECT_EQ(s.color.primaries, 4u) << "BT.2020 in VC-2";
  ASSERT_TRUE(read(plain_header(18, 8), &s).ok());
  EXPECT_EQ(s.color.primaries, 0u) << "BT.709 in Dirac";

  HeaderText presets;
  presets.rate = 16;
  presets.aspect = 4;
  presets.range = 8;
  presets.color = 6;
  ASSERT_TRUE(read(presets.bytes(), &s).ok());
  EXPECT_EQ(s.frame_rate, (DiracRational{120, 1}));
  EXPECT_EQ(s.pixel_aspect_ratio, (DiracRational{40, 33}));
  EXPECT_EQ(s.depth(1), 16);
  EXPECT_EQ(s.color.transfer, 4u);
}

TEST(DiracSequence, SizesOfChroma) {
  HeaderText text;
  text.fields = 0;
  text.chroma = 2;
  DiracSequence s;
  ASSERT_TRUE(read(text.bytes(), &s).ok());
  EXPECT_EQ(s.picture_width(1), 167u);
  EXPECT_EQ(s.picture_height(2), 109u);
  text.fields = 1;
  text.height = 288;
  ASSERT_TRUE(read(text.bytes(), &s).ok());
  EXPECT_EQ(s.picture_height(0), 144u);
  EXPECT_EQ(s.picture_height(1), 72u);
  EXPECT_EQ(s.frame_height(1), 144u);
}

TEST(DiracSequence, RefusesWhatCannotBe) {
  using Change = void (*)(HeaderText&);
  const std::pair<const char*, Change> changes[] = {
      {"base format", [](HeaderText& h) { h.base = 23; }},
      {"no width", [](HeaderText& h) { h.width = 0; }},
      {"chroma", [](HeaderText& h) { h.chroma = 3; }},
      {"scan", [](HeaderText& h) { h.scan = 2; }},
      {"rate preset", [](HeaderText& h) { h.rate = 17; }},
      {"rate 0", [](HeaderText& h) { h.rate_d = 0; }},
      {"aspect preset", [](HeaderText& h) { h.aspect = 7; }},
      {"aspect 0", [](HeaderText& h) { h.aspect_n = 0; }},
      {"range preset", [](HeaderText& h) { h.range = 9; }},
      {"17 bits", [](HeaderText& h) { h.ranges[1] = 65536; }},
      {"0 bits", [](HeaderText& h) { h.ranges[3] = 0; }},
      {"color preset", [](HeaderText& h) { h.color = 8; }},
      {"coding mode", [](HeaderText& h) { h.fields = 2; }},
      {"a field without rows", [](HeaderText& h) { h.height = 1; }},
      {"a number of 33 bits", [](HeaderText& h) { h.clean[0] = uint64_t{1} << 33; }},
  };
  for (const auto& [name, change] : changes) {
    HeaderText text;
    change(text);
    DiracSequence s;
    const Status status = read(text.bytes(), &s);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << name;
    EXPECT_GT(status.message.size(), 20u) << name;
  }
}

TEST(DiracSequence, RefusesWhatIsCutOff) {
  const std::vector<uint8_t> whole = HeaderText().bytes();
  DiracSequence s;
  for (size_t size = 0; size < whole.size() - 1; ++size) {
    EXPECT_FALSE(read_sequence({whole.data(), size}, {}, &s).ok()) << size << " bytes";
  }
}

TEST(DiracSequence, LimitsAreTheCallers) {
  const std::vector<uint8_t> bytes = HeaderText().bytes();
  DiracSequence s;
  DiracLimits limits;
  limits.max_width = 332;
  EXPECT_EQ(read(bytes, &s, limits).code, StatusCode::kUnsupported);
  limits = {};
  limits.max_height = 216;
  EXPECT_EQ(read(bytes, &s, limits).code, StatusCode::kUnsupported);
  limits = {};
  limits.max_samples = 3 * 333 * 217 - 1;
  EXPECT_EQ(read(bytes, &s, limits).code, StatusCode::kUnsupported);
  limits.max_samples = 3 * 333 * 217;
  EXPECT_TRUE(read(bytes, &s, limits).ok());
}

TEST(DiracPictureHeader, NumbersGoRound) {
  BitWriter w;
  w.number(1, 32);
  for (const int64_t value : {-2, 3, -5}) w.signed_code(value);
  DiracParseInfo info;
  info.code = 0x0e;
  DiracBits bits(w.bytes());
  DiracPictureHeader h;
  ASSERT_TRUE(read_picture_header(info, bits, &h).ok());
  EXPECT_EQ(h.references[0], 0xffffffffu);
  EXPECT_EQ(h.references[1], 4u);
  EXPECT_TRUE(h.is_reference && h.retires);
  EXPECT_EQ(h.retired, 0xfffffffcu);
}

struct PredictionText {
  uint64_t preset = 0, length_x = 16, length_y = 12, apart_x = 8, apart_y = 12, precision = 3;
  bool global = false;
  uint64_t mode = 0, weight_bits = 3;
  int64_t weights[2] = {5, -1};

  Status read(DiracPrediction* prediction) const {
    BitWriter w;
    w.unsigned_code(preset);
    if (preset == 0) {
      for (const uint64_t value : {length_x, length_y, apart_x, apart_y}) w.unsigned_code(value);
    }
    w.unsigned_code(precision);
    w.bit(global);
    w.unsigned_code(mode);
    w.bit(true);
    w.unsigned_code(weight_bits);
    for (const int64_t weight : weights) w.signed_code(weight);
    DiracSequence sequence;
    sequence.width = 100;
    sequence.height = 50;
    DiracBits bits(w.bytes());
    return read_prediction(sequence, 2, bits, prediction);
  }
};

TEST(DiracPrediction, BlocksAndWeights) {
  DiracPrediction p;
  ASSERT_TRUE(PredictionText().read(&p).ok());
  EXPECT_EQ(p.length_x, 16);
  EXPECT_EQ(p.separation_y, 12);
  EXPECT_EQ(p.blocks_across, 16);
  EXPECT_EQ(p.blocks_down, 8);
  EXPECT_EQ(p.weights[0], 5);
  EXPECT_EQ(p.weights[1], -1);
  PredictionText preset;
  preset.preset = 4;
  ASSERT_TRUE(preset.read(&p).ok());
  EXPECT_EQ(p.length_y, 24);
  EXPECT_EQ(p.separation_x, 16);
}

TEST(DiracPrediction, RefusesWhatCannotBe) {
  using Change = void (*)(PredictionText&);
  const std::pair<const char*, Change> changes[] = {
      {"preset", [](PredictionText& t) { t.preset = 5; }},
      {"length 0", [](PredictionText& t) { t.length_x = 0; }},
      {"odd length", [](PredictionText& t) { t.length_x = 10; }},
      {"gaps", [](PredictionText& t) { t.length_y = 8; }},
      {"three deep", [](PredictionText& t) { t.length_x = 20; }},
      {"huge", [](PredictionText& t) { t.length_x = t.apart_x = 1 << 20; }},
      {"precision", [](PredictionText& t) { t.precision = 4; }},
      {"global motion", [](PredictionText& t) { t.global = true; }},
      {"mode", [](PredictionText& t) { t.mode = 1; }},
      {"weight bits", [](PredictionText& t) { t.weight_bits = 9; }},
      {"weight", [](PredictionText& t) { t.weights[1] = -256; }},
  };
  for (const auto& [name, change] : changes) {
    PredictionText text;
    change(text);
    DiracPrediction p;
    EXPECT_FALSE(text.read(&p).ok()) << name;
  }
}

Status read_transform_of(DiracCoding coding, uint32_t version, std::vector<uint64_t> codes,
                         DiracTransform* transform) {
  // ~0 and ~1 are flags that are set and not set.
  BitWriter w;
  for (const uint64_t value : codes) {
    if (~value <= 1) {
      w.bit(~value == 0);
    } else {
      w.unsigned_code(value);
    }
  }
  DiracSequence sequence;
  sequence.major_version = version;
  sequence.width = 64;
  sequence.height = 32;
  DiracBits bits(w.bytes());
  return read_transform(sequence, coding, bits, transform);
}
constexpr uint64_t kSet = ~uint64_t{0}, kClear = ~uint64_t{1};

TEST(DiracTransform, OfEveryCoding) {
  DiracTransform t;
  ASSERT_TRUE(read_transform_of(DiracCoding::kVlc, 2, {0, 2, kSet, 1, 2, 3, 4, 5, 6, 1}, &t).ok());
  EXPECT_EQ(t.columns[2], 5);
  EXPECT_EQ(t.rows[0], 2);
  EXPECT_TRUE(t.codeblock_quantizers);
  ASSERT_TRUE(
      read_transform_of(DiracCoding::kLowDelay, 3, {1, 1, kSet, 1, kClear, 4, 2, 7, 3, kClear}, &t)
          .ok());
  EXPECT_EQ(t.slice_numerator, 7u);
  EXPECT_EQ(t.matrix[0], 4);
  EXPECT_EQ(t.matrix[1], 2);
  ASSERT_TRUE(read_transform_of(DiracCoding::kHighQuality, 3,
                                {3, 1, kClear, kSet, 1, 4, 2, 1, 9, kSet, 9, 8, 7, 6, 5}, &t)
                  .ok());
  EXPECT_EQ(t.levels.horizontal, 1);
  EXPECT_EQ(t.size_scaler, 9u);
  EXPECT_EQ(t.matrix[4], 5);
}

TEST(DiracTransform, RefusesWhatCannotBe) {
  const std::vector<uint64_t> vlc[] = {
      {7, 2, kClear},                // wavelet
      {0, 7, kClear},                // levels
      {0, 1, kSet, 0, 1, 1, 1, 0},   // no codeblocks
      {0, 1, kSet, 1, 1, 33, 1, 0},  // more than coefficients
      {0, 0, kSet, 1, 1, 2},         // mode
  };
  DiracTransform t;
  for (const auto& codes : vlc) {
    EXPECT_FALSE(read_transform_of(DiracCoding::kVlc, 2, codes, &t).ok());
  }
  const std::vector<uint64_t> slices[] = {
      {1, 1, 0, 2, 0, 1, kClear},     // no slices
      {1, 1, 65, 2, 0, 1, kClear},    // more than coefficients
      {1, 1, 4, 2, 0, 0, kClear},     // scaler
      {1, 5, 1, 1, 0, 1, kClear},     // no default matrix
      {1, 0, 4, 2, 0, 1, kSet, 256},  // matrix
  };
  for (const auto& codes : slices) {
    EXPECT_FALSE(read_transform_of(DiracCoding::kHighQuality, 2, codes, &t).ok());
  }
  EXPECT_FALSE(read_transform_of(DiracCoding::kLowDelay, 1, {1, 1, 4, 2, 2, 3, kClear}, &t).ok());
  EXPECT_FALSE(read_transform_of(DiracCoding::kLowDelay, 1, {1, 1, 4, 2, 2, 0, kClear}, &t).ok());
}

// SMPTE ST 2042-1, annex D, where tables and the rule of Haar meet.
TEST(DiracTransform, DefaultMatrices) {
  uint8_t m[kMaxDwtBands] = {};
  ASSERT_TRUE(default_matrix(Wavelet::kHaar, Wavelet::kHaar, {2, 2}, m));
  EXPECT_EQ(std::vector<uint8_t>(m, m + 9), (std::vector<uint8_t>{16, 12, 10, 8, 8, 4, 4, 4, 0}));
  ASSERT_TRUE(default_matrix(Wavelet::kHaar, Wavelet::kLegall53, {0, 1}, m));
  EXPECT_EQ(std::vector<uint8_t>(m, m + 2), (std::vector<uint8_t>{2, 0}));
  ASSERT_TRUE(default_matrix(Wavelet::kFidelity, Wavelet::kFidelity, {0, 0}, m));
  EXPECT_EQ(m[0], 0);
  ASSERT_TRUE(default_matrix(Wavelet::kDd137, Wavelet::kDd137, {3, 2}, m));
  EXPECT_EQ(std::vector<uint8_t>(m, m + 12),
            (std::vector<uint8_t>{3, 0, 3, 5, 5, 2, 6, 6, 4, 7, 7, 5}));
  EXPECT_FALSE(default_matrix(Wavelet::kDd97, Wavelet::kLegall53, {1, 0}, m));
  EXPECT_FALSE(default_matrix(Wavelet::kDd97, Wavelet::kDd97, {4, 2}, m));
  EXPECT_FALSE(default_matrix(Wavelet::kDaub97, Wavelet::kDaub97, {5, 0}, m));
}

}  // namespace
}  // namespace cudatransform::test
