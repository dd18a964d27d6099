// Bands of core pictures: the fast decoders against the definition, on random bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/codes.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "dirac/arithmetic.h"
#include "tests/dirac/definition.h"
#include "tests/dirac/encoder/arithmetic_encoder.h"

namespace cudatransform::test {
namespace {

using Random = std::mt19937;

// Memory for a DiracBand of one kind of quantized coefficient.
struct FastBand {
  DiracBand band;
  std::vector<uint64_t> map, signs;
  std::vector<uint32_t> counts;
  std::vector<uint8_t> quantizers;
  std::vector<int32_t> wide;
  std::vector<int16_t> narrow;

  FastBand(const SlowBand& like, bool is_wide) {
    band.width = like.width;
    band.height = like.height;
    band.columns = like.columns;
    band.rows = like.rows;
    band.map_words = (like.width + 63) / 64;
    const size_t coefs = static_cast<size_t>(like.width) * static_cast<size_t>(like.height);
    map.resize(static_cast<size_t>(band.map_words) * static_cast<size_t>(like.height));
    signs = map;
    counts.resize(static_cast<size_t>(like.height));
    quantizers.resize(static_cast<size_t>(like.columns) * static_cast<size_t>(like.rows));
    wide.resize(is_wide ? coefs : 0);
    narrow.resize(is_wide ? 0 : coefs);
    band.map = map.data();
    band.signs = signs.data();
    band.counts = counts.data();
    band.quantizers = quantizers.data();
    band.qcoefs = is_wide ? static_cast<void*>(wide.data()) : narrow.data();
  }

  // The quantized coefficient by the map and the packed rows.
  int64_t qcoef(int32_t x, int32_t y) const {
    const uint64_t* row = band.map_row(y);
    if ((row[x / 64] >> (x % 64) & 1) == 0) return 0;
    size_t before = static_cast<size_t>(y) * static_cast<size_t>(band.width);
    for (int32_t word = 0; word < x / 64; ++word) before += std::popcount(row[word]);
    before += std::popcount(row[x / 64] & ((uint64_t{1} << x % 64) - 1));
    return wide.empty() ? narrow[before] : wide[before];
  }
  uint32_t qcoefs_in_row(int32_t y) const {
    uint32_t count = 0;
    for (int32_t word = 0; word < band.map_words; ++word) {
      count += static_cast<uint32_t>(std::popcount(band.map_row(y)[word]));
    }
    return count;
  }
};

void expect_equal(const FastBand& fast, const SlowBand& slow) {
  for (int32_t y = 0; y < slow.height; ++y) {
    EXPECT_EQ(fast.counts[static_cast<size_t>(y)], fast.qcoefs_in_row(y));
    for (int32_t x = 0; x < slow.width; ++x) {
      ASSERT_EQ(fast.qcoef(x, y), slow.at(x, y)) << "at " << x << ", " << y;
      const bool negative =
          (fast.signs[static_cast<size_t>(y * fast.band.map_words + x / 64)] >> x % 64 & 1) != 0;
      ASSERT_EQ(negative, slow.at(x, y) < 0) << "at " << x << ", " << y;
    }
  }
  for (size_t i = 0; i < slow.quantizers.size(); ++i) {
    EXPECT_EQ(fast.quantizers[i], slow.quantizers[i]) << "codeblock " << i;
  }
}

// Bytes that decode to few quantized coefficients other than zero, or to many.
std::vector<uint8_t> random_bytes(Random& random, size_t size) {
  std::vector<uint8_t> bytes(size);
  const unsigned kind = random() % 4;
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random());
    if (kind == 1) byte |= static_cast<uint8_t>(random() | random());
    if (kind == 2) byte = random() % 8 != 0 ? 0xff : byte;
  }
  return bytes;
}

// Bytes in which one of `rare` bits of one context is a 0, sometimes cut off or with a wrong byte.
// `first`: a bit of another context before them.
std::vector<uint8_t> bytes_of_long_runs(Random& random, bool first, int bits, unsigned rare) {
  ArithmeticEncoder encoder;
  uint16_t context = kDiracEvenProbability, of_first = context;
  encoder.encode(&of_first, first);
  for (int i = 0; i < bits; ++i) encoder.encode(&context, random() % rare != 0);
  std::vector<uint8_t> bytes = encoder.finish();
  if (!bytes.empty() && random() % 3 == 0) bytes.resize(random() % bytes.size());
  if (!bytes.empty() && random() % 3 == 0)
    bytes[random() % bytes.size()] ^= static_cast<uint8_t>(random());
  return bytes;
}

SlowBand random_band(Random& random, int32_t width, int32_t height) {
  SlowBand band;
  band.width = width;
  band.height = height;
  if (random() % 2 != 0) {
    band.columns = 1 + static_cast<int32_t>(random() % 9);
    band.rows = 1 + static_cast<int32_t>(random() % 5);
  }
  return band;
}

DiracBandCode code_of(Random& random, const std::vector<uint8_t>& bytes) {
  DiracBandCode code;
  code.data = bytes.data();
  code.size = bytes.size();
  code.quantizer = static_cast<int>(random() % 60);
  code.is_coded = true;
  code.has_quantizer_deltas = random() % 2 != 0;
  return code;
}

void check(Random& random, bool is_arithmetic) {
  const auto width = static_cast<int32_t>(1 + random() % 150);
  const auto height = static_cast<int32_t>(1 + random() % 20);
  const int index = static_cast<int>(random() % 7);
  SlowBand slow_parent = random_band(random, width, height);
  SlowBand slow =
      random_band(random, index > 3 ? 2 * width : width, index > 3 ? 2 * height : height);
  FastBand fast_parent(slow_parent, true), fast(slow, true);
  const bool has_parent = is_arithmetic && index > 3;
  if (has_parent) {
    const std::vector<uint8_t> bytes = random_bytes(random, random() % 200);
    const DiracBandCode code = code_of(random, bytes);
    define_band(code, true, index - 3, nullptr, &slow_parent);
    EXPECT_EQ(decode_dirac_band(code, true, true, index - 3, nullptr, fast_parent.band),
              slow_parent.is_sound);
    if (!slow_parent.is_sound) return;  // the remains belong to the decoder
    expect_equal(fast_parent, slow_parent);
  }
  const std::vector<uint8_t> bytes = random_bytes(random, random() % 400);
  const DiracBandCode code = code_of(random, bytes);
  define_band(code, is_arithmetic, index, has_parent ? &slow_parent : nullptr, &slow);
  const bool sound = decode_dirac_band(code, is_arithmetic, true, index,
                                       has_parent ? &fast_parent.band : nullptr, fast.band);
  ASSERT_EQ(sound, slow.is_sound);
  if (sound) expect_equal(fast, slow);
}

TEST(DiracArithmetic, EqualsTheDefinition) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<uint8_t> bytes = random_bytes(random, random() % 60);
    DiracArithmetic fast(bytes.data(), bytes.size());
    SlowArithmetic slow(bytes.data(), bytes.size());
    DiracContext of_fast[4];
    uint16_t of_slow[4];
    std::fill_n(of_fast, 4, kDiracEvenContext);
    std::fill_n(of_slow, 4, kDiracEvenProbability);
    for (int i = 0; i < 1500; ++i) {
      const size_t context = random() % 4;
      if (random() % 3 == 0) {
        const size_t most = random() % 40;
        size_t ones = 0;
        while (ones < most && slow.decode(&of_slow[context])) ++ones;
        ASSERT_EQ(fast.run_of_ones(&of_fast[context], most), ones);
      } else {
        ASSERT_EQ(fast.decode(&of_fast[context]), slow.decode(&of_slow[context]));
      }
      ASSERT_EQ(of_fast[context], uint32_t{of_slow[context]} << 16);
      ASSERT_GT(of_fast[context], 0);
    }
  }
}

TEST(DiracArithmetic, LongRunsEqualTheDefinition) {
  Random random(4);
  size_t still = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<uint8_t> bytes =
        bytes_of_long_runs(random, true, 20000, 100 + random() % 3000);
    DiracArithmetic fast(bytes.data(), bytes.size());
    SlowArithmetic slow(bytes.data(), bytes.size());
    DiracContext of_fast = kDiracEvenContext;
    uint16_t of_slow = kDiracEvenProbability;
    for (int i = 0; i < 400; ++i) {
      still += of_fast < kDiracStillContexts;
      const size_t most = random() % 150;
      size_t ones = 0;
      while (ones < most && slow.decode(&of_slow)) ++ones;
      ASSERT_EQ(fast.run_of_ones(&of_fast, most), ones);
      ASSERT_EQ(fast.decode_ahead(&of_fast), slow.decode(&of_slow));
      ASSERT_EQ(of_fast, uint32_t{of_slow} << 16);
    }
  }
  EXPECT_GT(still, 300u * 100);
}

TEST(DiracBands, ArithmeticEqualsTheDefinition) {
  Random random(2);
  for (int round = 0; round < 400 && !HasFatalFailure(); ++round) check(random, true);
}

// Two wide codeblocks in which most rows have only zeros around them, but single parents next to
// the edge, which goes through the middle of a parent.
TEST(DiracBands, SingleParentsEqualTheDefinition) {
  constexpr int kIndex = 4;
  Random random(5);
  for (int round = 0; round < 1500 && !HasFatalFailure(); ++round) {
    const auto width = static_cast<int32_t>(65 + random() % 60) | 1;
    const auto height = static_cast<int32_t>(1 + random() % 4);
    SlowBand parent, slow;
    parent.width = width;
    parent.height = height;
    parent.qcoefs.assign(static_cast<size_t>(width) * static_cast<size_t>(height), 0);
    slow.width = 2 * width;
    slow.height = 2 * height;
    slow.columns = 2;
    FastBand fast_parent(parent, true), fast(slow, true);
    for (auto left = random() % 4; left > 0; --left) {
      const auto y = static_cast<int32_t>(random() % static_cast<uint32_t>(height));
      const int32_t x = width / 2 - 1 + static_cast<int32_t>(random() % 3);
      parent.qcoefs[static_cast<size_t>(y * width + x)] = 1;
      fast_parent.map[static_cast<size_t>(y * fast_parent.band.map_words + x / 64)] |= uint64_t{1}
                                                                                       << x % 64;
    }
    // The first codeblock is not zero.
    const std::vector<uint8_t> bytes = bytes_of_long_runs(random, false, 1500, 50 + random() % 300);
    DiracBandCode code = code_of(random, bytes);
    code.has_quantizer_deltas = false;
    define_band(code, true, kIndex, &parent, &slow);
    ASSERT_EQ(decode_dirac_band(code, true, true, kIndex, &fast_parent.band, fast.band),
              slow.is_sound);
    if (slow.is_sound) expect_equal(fast, slow);
  }
}

TEST(DiracBands, VlcEqualsTheDefinition) {
  Random random(3);
  for (int round = 0; round < 400 && !HasFatalFailure(); ++round) check(random, false);
}

TEST(DiracBands, BandsThatAreNotCodedAreZero) {
  SlowBand like;
  like.width = 70;
  like.height = 3;
  FastBand fast(like, false);
  EXPECT_TRUE(decode_dirac_band({}, true, false, 1, nullptr, fast.band));
  for (const uint32_t count : fast.counts) EXPECT_EQ(count, 0u);
}

TEST(DiracBands, QuantizersOutOfRangeAreRefused) {
  SlowBand like;
  like.width = like.height = 4;
  FastBand fast(like, false);
  const std::vector<uint8_t> bytes = {0, 0, 0, 0};
  DiracBandCode code;
  code.data = bytes.data();
  code.size = bytes.size();
  code.is_coded = true;
  code.quantizer = kMaxQuantIndex + 1;
  EXPECT_FALSE(decode_dirac_band(code, false, false, 1, nullptr, fast.band));
}

}  // namespace
}  // namespace cudatransform::test
