// The encoder for tests against the decoder: numbers, sequence headers. Whole pictures are
// tests/conformance's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <vector>

#include "dirac/arithmetic.h"
#include "dirac/sequence.h"
#include "tests/dirac/definition.h"
#include "tests/dirac/encoder/arithmetic_encoder.h"
#include "tests/dirac/encoder/random_stream.h"
#include "tests/dirac/encoder/stream.h"

namespace cudatransform::test {
namespace {

constexpr int kContexts = 5;
struct Symbol {
  int context;
  bool one;
};

// Bits, some of them rare; sometimes with long carries.
std::vector<Symbol> random_symbols(Dice& dice) {
  std::vector<Symbol> symbols;
  const int count = dice.number(0, 3000), rare = dice.number(2, 200);
  const bool most = dice.one_in(2);
  for (int i = 0; i < count; ++i)
    symbols.push_back({dice.number(0, kContexts - 1), dice.one_in(rare) != most});
  return symbols;
}

TEST(DiracEncoder, ArithmeticCodesComeBack) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Dice dice(seed);
    const std::vector<Symbol> symbols = random_symbols(dice);
    std::array<uint16_t, kContexts> coding, slow;
    std::array<DiracContext, kContexts> fast;
    for (auto* contexts : {&coding, &slow}) contexts->fill(kDiracEvenProbability);
    fast.fill(kDiracEvenContext);
    ArithmeticEncoder encoder;
    for (const Symbol& s : symbols) encoder.encode(&coding[static_cast<size_t>(s.context)], s.one);
    const std::vector<uint8_t> bytes = encoder.finish();
    SlowArithmetic definition(bytes.data(), bytes.size());
    DiracArithmetic decoder(bytes.data(), bytes.size());
    for (size_t i = 0; i < symbols.size(); ++i) {
      const auto context = static_cast<size_t>(symbols[i].context);
      ASSERT_EQ(definition.decode(&slow[context]), symbols[i].one) << "seed " << seed << ", " << i;
      ASSERT_EQ(decoder.decode(&fast[context]), symbols[i].one) << "seed " << seed << ", " << i;
    }
    EXPECT_EQ(coding, slow);
  }
}

void expect_read_back(const DiracSequence& sequence, const SequenceForm& form) {
  BitWriter writer;
  write_sequence(sequence, form, &writer);
  DiracSequence found;
  const Status status = read_sequence(writer.bytes(), {}, &found);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(found, sequence);
  // The header needs its last byte.
  EXPECT_FALSE(read_sequence({writer.bytes().data(), writer.bytes().size() - 1}, {}, &found).ok() &&
               writer.count() % 8 == 1);
}

constexpr SequenceForm kForms[] = {{false, true}, {true, true}, {true, false}};

TEST(DiracEncoder, BaseFormatsAndPresetsAreReadBack) {
  for (uint32_t format = 0; format < std::size(kDiracBaseFormats); ++format) {
    for (const uint32_t profile : {0u, 3u, 8u}) {
      const DiracBaseFormat& base = kDiracBaseFormats[format];
      SCOPED_TRACE("format " + std::to_string(format) + ", profile " + std::to_string(profile));
      DiracSequence s;
      s.major_version = 2;
      s.minor_version = profile == 8 ? 2 : 0;
      s.profile = profile;
      s.base_format = format;
      s.width = base.width;
      s.height = base.height;
      s.chroma = base.chroma;
      s.interlaced = base.interlaced;
      s.top_field_first = base.top_field_first;
      s.frame_rate = kDiracFrameRates[base.frame_rate - 1];
      s.pixel_aspect_ratio = kDiracAspectRatios[base.pixel_aspect_ratio - 1];
      s.clean_width = base.clean_width != 0 ? base.clean_width : base.width;
      s.clean_height = base.clean_height != 0 ? base.clean_height : base.height;
      s.clean_left = base.clean_left;
      for (int i = 0; i < 2; ++i) s.range[i] = kDiracSignalRanges[base.signal_range - 1][i];
      s.color = kDiracColors[base.color == kDiracColorUhd && profile == 8 ? 3 : base.color];
      if (base.color == kDiracColorDcinema && profile == 8) s.color.matrix = 0;
      for (const SequenceForm& form : kForms) expect_read_back(s, form);
      s.field_coding = true;
      for (const DiracRational& rate : kDiracFrameRates) {
        s.frame_rate = rate;
        expect_read_back(s, {});
      }
      for (const auto& range : kDiracSignalRanges) {
        std::copy_n(range, 2, s.range);
        expect_read_back(s, {});
      }
    }
  }
}

TEST(DiracEncoder, AnySequenceIsReadBack) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const SequenceForm& form : kForms) expect_read_back(make_random_sequence(seed), form);
  }
}

}  // namespace
}  // namespace cudatransform::test
