// Rate control: the search for a scale, the bucket, and tables at scales between whole qualities.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "transform/dct8x8/quant_table.h"
#include "transform/ratecontrol/leaky_bucket.h"
#include "transform/ratecontrol/size_search.h"

namespace cudatransform::test {
namespace {

using SizeOf = std::function<double(uint32_t scale)>;

// What a search has found, and what it took.
struct Found {
  uint32_t scale = 0;
  double bytes = 0;
  bool fits = false;
  int rounds = 0, measured = 0, corrections = 0;
};

// Files are `excess` times as large as they are measured.
Found find(const SizeOf& size_of, const SizeSearch::Limits& limits, double excess = 1,
           double growth = 1) {
  Found found;
  SizeSearch search(limits, growth);
  for (;; found.corrections++) {
    for (;;) {
      const SizeCandidates candidates = search.next_round();
      if (candidates.count == 0) break;
      for (int i = 0; i < candidates.count; i++) {
        EXPECT_GE(candidates.scales[i], limits.finest);
        EXPECT_LE(candidates.scales[i], limits.coarsest);
        EXPECT_TRUE(i == 0 || candidates.scales[i - 1] < candidates.scales[i]);
      }
      EXPECT_TRUE(search
                      .narrow(candidates,
                              [&](int i, uint64_t* bytes) -> Status {
                                found.measured++;
                                *bytes = uint64_t(size_of(candidates.scales[i]));
                                return {};
                              })
                      .ok());
    }
    found.scale = search.best();
    found.bytes = std::floor(std::floor(size_of(found.scale)) * excess);
    found.fits = search.found();
    found.rounds = search.rounds();
    if (search.accepts(uint64_t(found.bytes))) return found;
    if (found.corrections == 20) {
      ADD_FAILURE() << "corrected again and again";
      return found;
    }
    search.correct(uint64_t(found.bytes));
  }
}

constexpr uint32_t kFinest = TableScale::kFinest, kCoarsest = 5000 * TableScale::kUnit;

double power(double from, double exponent, uint32_t scale) {
  return from * std::pow(double(scale) / kFinest, -exponent);
}
// Nearly a power, with an exponent that changes, as files are.
double bent(uint32_t scale) {
  const double x = std::log(double(scale) / kFinest);
  return 2e6 * std::exp(-0.25 * x - 0.035 * x * x) + 600;
}
// Equal entries of tables jump together.
double stairs(uint32_t scale) { return bent(scale - scale % (1 + scale / 64)); }

TEST(SizeSearch, FindsSizes) {
  const SizeOf kinds[] = {[](uint32_t s) { return power(3e6, 0.7, s); },
                          [](uint32_t s) { return power(3e6, 0.3, s); }, bent};
  for (const SizeOf& size_of : kinds)
    for (double target = size_of(kCoarsest) * 1.05; target < size_of(kFinest); target *= 1.07) {
      for (const uint32_t guess : {0u, 3 * kFinest, 100 * TableScale::kUnit, kCoarsest / 2}) {
        const Found found = find(size_of, {kFinest, kCoarsest, guess, uint64_t(target)});
        EXPECT_TRUE(found.fits);
        EXPECT_LE(found.bytes, target);
        EXPECT_GE(found.bytes, 0.99 * target) << "of " << target << ", guess " << guess;
        EXPECT_LE(found.rounds, SizeSearch::kRounds + (guess > 0 ? 1 : 0));
        EXPECT_LE(found.measured, 4 * found.rounds) << "in halves";
      }
    }
}

TEST(SizeSearch, AGoodGuessSavesRounds) {
  for (const double tolerance : {1.0 / 256, 0.01})
    for (double near = 0.967; near < 1.031; near *= 1.001) {
      const uint32_t guess = 80 * TableScale::kUnit;
      const uint64_t target = uint64_t(bent(uint32_t(guess * near)));
      const Found found = find(bent, {kFinest, kCoarsest, guess, target, tolerance});
      EXPECT_LE(found.rounds, tolerance == 0.01 ? 1 : 2) << near;
      EXPECT_GE(found.bytes, 0.99 * double(target));
    }
}

TEST(SizeSearch, StaysBelowOnStairs) {
  for (uint64_t target = 12'000; target < 1'000'000; target = target * 21 / 20) {
    const Found found = find(stairs, {kFinest, kCoarsest, 0, target});
    EXPECT_TRUE(found.fits);
    EXPECT_LE(found.bytes, double(target));
    EXPECT_GE(found.bytes, 0.95 * double(target));
  }
}

// Stuffed bytes, which are not measured, or not as many; and quantized coefficients that take fewer
// bits than measured.
TEST(SizeSearch, CorrectedSizes) {
  for (const double excess : {0.9, 0.97, 1.0001, 1.004, 1.02})
    for (const double growth : {1.0, 1.0035, 1.03})
      for (uint64_t target = 12'000; target < 1'500'000; target = target * 6 / 5) {
        const Found found = find(bent, {kFinest, kCoarsest, 0, target}, excess, growth);
        EXPECT_TRUE(found.fits);
        EXPECT_LE(found.bytes, double(target));
        EXPECT_GE(found.bytes, 0.99 * double(target));
        EXPECT_LE(found.corrections, 2) << target << " excess " << excess;
      }
}

TEST(SizeSearch, Ends) {
  const Found small = find(bent, {kFinest, kCoarsest, 0, 100'000'000});
  EXPECT_TRUE(small.fits);
  EXPECT_EQ(small.scale, kFinest);
  for (const uint32_t guess : {0u, kFinest, 2 * kFinest, kCoarsest}) {
    const Found large = find(bent, {kFinest, kCoarsest, guess, 10});
    EXPECT_FALSE(large.fits);
    EXPECT_EQ(large.scale, kCoarsest);
  }
  const Found one = find(bent, {1000, 1000, 0, uint64_t(bent(1000))});
  EXPECT_TRUE(one.fits);
  EXPECT_EQ(one.measured, 1);
  // A guess at the finest end costs nothing where that fits.
  EXPECT_EQ(find(bent, {1000, kCoarsest, 1000, uint64_t(bent(1000))}).measured, 1);
  EXPECT_FALSE(find(bent, {kFinest, kCoarsest, 0, 0}).fits);
}

TEST(SizeSearch, SizesThatRise) {
  const SizeOf rising = [](uint32_t s) { return 1000 + s % 700; };
  for (uint64_t target = 900; target < 1800; target += 50) {
    const Found found = find(rising, {kFinest, kCoarsest, 0, target});
    EXPECT_TRUE(!found.fits || found.bytes <= double(target));
  }
}

TEST(LeakyBucket, KeepsTheRate) {
  constexpr double kRate = 1e6, kSecond = 0.6, kFrame = 0.04;
  for (const double precision : {0.99, 1.0}) {
    LeakyBucket bucket;
    bucket.set(kRate, kSecond);
    double all = 0;
    for (int n = 0; n < 250; n++) {
      if (n > 0) bucket.wait(kFrame);
      // A picture in the middle needs three times its share.
      const double bytes = n == 120 ? 3 * kRate * kFrame : precision * bucket.budget(kFrame);
      EXPECT_LE(bytes, 3 * kRate * kFrame);
      EXPECT_TRUE(bucket.add(bytes));
      all += bytes;
    }
    EXPECT_NEAR(all / (250 * kRate * kFrame), 1, 0.001);
    EXPECT_NEAR(bucket.fill(), 0.5, 0.07);
  }
}

// Sizes with steps of 10 %, of which the closest is taken, and black pictures that take nothing.
TEST(LeakyBucket, CoarseSizes) {
  constexpr double kRate = 1e6, kFrame = 0.04;
  constexpr int kPictures = 250;
  for (const double seconds : {0.2, 0.6, 10.0}) {
    for (const int black : {0, 6}) {
      LeakyBucket bucket;
      bucket.set(kRate, seconds);
      double all = 0;
      for (int n = 0; n < kPictures; n++) {
        if (n > 0) bucket.wait(kFrame);
        const double size_at_1 = n / 25 % 2 == 0 ? 3456 : 789, budget = bucket.budget(kFrame);
        const double step = std::round(std::log(budget / size_at_1) / std::log(1.1));
        const double bytes = n >= 50 && n < 50 + black ? 0 : size_at_1 * std::pow(1.1, step);
        EXPECT_TRUE(bucket.add(bytes));
        all += bytes;
      }
      // A buffer of five pictures runs empty, and has no room for what is missing.
      const bool makes_up = black == 0 || seconds > 0.5;
      EXPECT_NEAR(all / (kRate * kFrame * kPictures), 1, makes_up ? 0.001 : 0.015)
          << seconds << " s, " << black;
    }
  }
}

TEST(LeakyBucket, RunsOverOrEmpty) {
  LeakyBucket bucket;
  bucket.set(1000, 1);
  EXPECT_TRUE(bucket.add(500));
  EXPECT_EQ(bucket.budget(0.1), 0) << "it is full";
  EXPECT_FALSE(bucket.add(1000));
  EXPECT_EQ(bucket.fill(), 1) << "no debts";
  bucket.set(3000, 0.5);
  EXPECT_EQ(bucket.fill(), 1) << "another rate leaves it as full";
  bucket.wait(100);
  EXPECT_EQ(bucket.fill(), 0);
  EXPECT_DOUBLE_EQ(bucket.budget(0.1), 360) << "more than its share";
  EXPECT_LE(bucket.budget(100), 1500) << "no more than there is room for";
}

constexpr QuantComponent kComponents[] = {QuantComponent::kLuma, QuantComponent::kChroma,
                                          QuantComponent::kHalfChroma, QuantComponent::kFullChroma};

TEST(TableScale, IsThatOfQualities) {
  for (const QuantPreset preset : {QuantPreset::kAnnexK, QuantPreset::kPerceptual})
    for (const QuantComponent component : kComponents)
      for (int quality = 1; quality <= 100; quality++)
        EXPECT_TRUE(scaled_table(preset, component, scale_of_quality(quality)) ==
                    preset_table(preset, component, quality))
            << quality;
  for (int quality = 1; quality <= 100; quality++)
    EXPECT_NEAR(quality_of_scale(scale_of_quality(quality)), quality, quality < 50 ? 0.5 : 0);
}

int differing(const QuantTable& a, const QuantTable& b) {
  int differing = 0;
  for (int i = 0; i < 64; i++) differing += a.q[i] != b.q[i];
  return differing;
}

// Annex K's chroma has 99 in most places.
TEST(TableScale, EqualEntriesChangeOneAfterTheOther) {
  for (const QuantPreset preset : {QuantPreset::kAnnexK, QuantPreset::kPerceptual})
    for (const QuantComponent component : kComponents) {
      int most[2] = {0, 0};
      for (const bool is_staggered : {false, true}) {
        uint32_t before = 30 * TableScale::kUnit;
        for (uint32_t scale = before; scale < 200 * TableScale::kUnit; scale += scale / 2000) {
          const QuantTable a = scaled_table(preset, component, {before, is_staggered});
          const QuantTable b = scaled_table(preset, component, {scale, is_staggered});
          most[is_staggered] = std::max(most[is_staggered], differing(a, b));
          before = scale;
        }
      }
      EXPECT_LE(most[true], 12);
      EXPECT_GT(most[false], most[true]);
    }
}

// Entries grow with the scale.
TEST(TableScale, Between) {
  for (const QuantPreset preset : {QuantPreset::kAnnexK, QuantPreset::kPerceptual}) {
    EXPECT_TRUE(is_scalable(preset));
    for (const QuantComponent component : kComponents) {
      QuantTable before = scaled_table(preset, component, {TableScale::kFinest});
      for (uint32_t scale = TableScale::kFinest; scale < kCoarsest; scale += scale / 50 + 1) {
        const QuantTable table = scaled_table(preset, component, {scale});
        for (int i = 0; i < 64; i++) {
          EXPECT_GE(table.q[i], before.q[i]);
          EXPECT_LE(table.q[i], 255);
        }
        before = table;
      }
    }
  }
  for (const QuantPreset preset :
       {QuantPreset::kFlat, QuantPreset::kWhitepaper, QuantPreset::kMpeg})
    EXPECT_FALSE(is_scalable(preset));
}

}  // namespace
}  // namespace cudatransform::test
