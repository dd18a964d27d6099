// Quantized coefficients with other tables on every engine, against whole numbers of 128 bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/engine/coeffilter/definition.h"
#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

using Wide = __int128;

int64_t define(int64_t qcoef, int64_t before, int64_t after, int64_t least, uint64_t* sse) {
  const Wide size = qcoef < 0 ? -Wide{qcoef} : Wide{qcoef};
  Wide made = (2 * size * before + after) / (2 * Wide{after});
  if (qcoef < 0) made = -made;
  made = std::clamp(made, Wide{least}, -Wide{least} - 1);
  const Wide error = Wide{qcoef} * before - made * after;
  *sse += static_cast<uint64_t>(error * error);
  return static_cast<int64_t>(made);
}

TEST(CoefFilters, RequantizedQcoefsAreRoundedQuotients) {
  std::mt19937 random(3);
  const auto check = [](int32_t qcoef, uint32_t before, uint32_t after) {
    uint64_t sse = 0;
    int32_t error;
    const int32_t made = requantized16(qcoef, make_requant_entry(before, after), &error);
    ASSERT_EQ(made, define(qcoef, before, after, -32768, &sse))
        << qcoef << " x " << before << " / " << after;
    ASSERT_EQ(static_cast<uint64_t>(int64_t{error} * error), sse);
  };
  // Every divisor, at multiples of it and next to them, where quotients change.
  for (uint32_t after = 1; after <= 65535; after += quick() ? 37 : 1)
    for (const int32_t qcoef : {0, 1, -1, 2, 1023, -2048, 32767, -32768})
      for (const uint32_t before :
           {1u, after, after / 2 + 1, uint32_t(random() % 65535 + 1), 65535u})
        check(qcoef, before, after);
  for (int i = 0; i < (quick() ? 20000 : 1000000); ++i)
    check(static_cast<int16_t>(random()), random() % 65535 + 1, random() % 65535 + 1);
}

QuantTable random_table(std::mt19937& random) {
  const uint32_t most = random() % 3 == 0 ? 65535 : 255;
  QuantTable table;
  const uint32_t ends[] = {1, most};
  for (uint16_t& entry : table.q)
    entry = static_cast<uint16_t>(random() % 8 == 0 ? ends[random() % 2] : random() % most + 1);
  return table;
}

// "" or the first fault.
std::string fault_of(const Engine& engine, CoefNumber number, CoefArrangement arrangement,
                     uint32_t measure, uint32_t seed) {
  std::mt19937 random(seed);
  RequantJob job;
  job.number = number;
  job.arrangement = arrangement;
  job.components = 1 + static_cast<int>(random() % kMaxCoefArrays);
  job.measure = measure;
  for (int t = 0; t < kMaxCoefArrays; ++t) {
    job.before[t] = random_table(random);
    job.after[t] = random() % 4 == 0 ? job.before[t] : random_table(random);
    job.before[t].q[random() % 64] = 0;
  }
  const bool is_short = number == CoefNumber::kS16;
  CoefComponents from, expected;
  PictureSums sums = {};
  int tables[kMaxCoefArrays][2];
  for (int c = 0; c < job.components; ++c) {
    from.emplace_back(1 + static_cast<int>(random() % 20), 1 + static_cast<int>(random() % 9));
    expected.emplace_back(from.back().blocks_w, from.back().blocks_h);
    for (int& table : tables[c]) table = static_cast<int>(random() % kMaxCoefArrays);
    for (size_t i = 0; i < from.back().values.size(); ++i) {
      const auto any = static_cast<int32_t>(random());
      int64_t& qcoef = from.back().values[i];
      const int64_t least = is_short ? INT16_MIN : INT32_MIN;
      qcoef = random() % 4 != 0 ? any % 6 : is_short ? int64_t{static_cast<int16_t>(any)} : any;
      if (random() % 8 == 0) qcoef = any % 2 != 0 ? least : -least - 1;
      uint64_t sse = 0;
      expected.back().values[i] = define(qcoef, job.before[tables[c][0]].q[i % 64],
                                         job.after[tables[c][1]].q[i % 64], least, &sse);
      if (c >= kMaxComponents) continue;
      if ((measure & kMeasureSse) != 0) sums.sse[c] += sse;
      if ((measure & kMeasureZeros) != 0) sums.zeros[c] += expected.back().values[i] == 0;
    }
  }
  CoefPlanes input(engine, from, number, arrangement, false, seed);
  CoefPlanes output(engine, expected, number, arrangement, true, seed + 1);
  input.fill(from);
  input.describe(job.from);
  output.describe(job.to);
  for (int c = 0; c < job.components; ++c) {
    job.from[c].table = tables[c][0];
    job.to[c].table = tables[c][1];
  }
  PictureSums got_sums = {};
  const std::string failed =
      run_job(engine, *engine.requant_ops, job, input, output, nullptr, &got_sums);
  if (!failed.empty()) return failed;
  const CoefComponents got = output.read();
  for (size_t c = 0; c < got.size(); ++c)
    for (size_t i = 0; i < got[c].values.size(); ++i)
      if (got[c].values[i] != expected[c].values[i])
        return "component " + std::to_string(c) + " coefficient " + std::to_string(i) + ": " +
               std::to_string(got[c].values[i]) + ", expected " +
               std::to_string(expected[c].values[i]) + " of " + std::to_string(from[c].values[i]);
  for (int c = 0; measure != 0 && c < std::min(job.components, kMaxComponents); ++c) {
    if ((measure & kMeasureSse) != 0 && got_sums.sse[c] != sums.sse[c]) return "another SSE";
    if ((measure & kMeasureZeros) != 0 && got_sums.zeros[c] != sums.zeros[c])
      return std::to_string(got_sums.zeros[c]) + " zeros, expected " +
             std::to_string(sums.zeros[c]);
  }
  return "";
}

TEST(CoefFilters, RequantizedPlanesEqualTheDefinition) {
  const uint32_t count = quick() ? 2 : 12;
  for (const Engine& engine : engines_with(&Engine::requant_ops)) {
    uint32_t seed = 1;
    for (const CoefNumber number : {CoefNumber::kS16, CoefNumber::kS32})
      for (const CoefArrangement arrangement :
           {CoefArrangement::kBlock, CoefArrangement::kZigzagBlock, CoefArrangement::kPlane})
        for (uint32_t measure = 0; measure < 4; ++measure)
          for (uint32_t i = 0; i < count; ++i, ++seed)
            ASSERT_EQ(fault_of(engine, number, arrangement, measure, seed), "")
                << engine.name << " number " << static_cast<int>(number) << " arrangement "
                << static_cast<int>(arrangement) << " measure " << measure << " seed " << seed;
  }
}

TEST(CoefFilters, RequantizingRefusesWhatWouldLeaveItsBuffers) {
  alignas(16) static int16_t memory[2][2 * 64];
  RequantJob good;
  good.components = 1;
  good.from[0] = {memory[0], 256, 2, 1, 0};
  good.to[0] = {memory[1], 256, 2, 1, 3};
  std::fill_n(good.before[0].q, 64, 3);
  std::fill_n(good.after[3].q, 64, 5);
  EXPECT_TRUE(validate(good).ok()) << validate(good).message;
  const std::pair<const char*, void (*)(RequantJob&)> faults[] = {
      {"no memory", [](RequantJob& job) { job.to[0].data = nullptr; }},
      {"pitch too small", [](RequantJob& job) { job.from[0].pitch = 254; }},
      {"floating point", [](RequantJob& job) { job.number = CoefNumber::kF32; }},
      {"band", [](RequantJob& job) { job.arrangement = CoefArrangement::kBand; }},
      {"other blocks", [](RequantJob& job) { job.to[0].blocks_w = 1; }},
      {"a zero", [](RequantJob& job) { job.after[3].q[63] = 0; }},
      {"no such table", [](RequantJob& job) { job.from[0].table = 4; }},
      {"no sums", [](RequantJob& job) { job.measure = kMeasureZeros; }},
      {"five components", [](RequantJob& job) { job.components = 5; }},
  };
  for (const auto& [name, spoil] : faults) {
    RequantJob job = good;
    spoil(job);
    EXPECT_EQ(validate(job).code, StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace cudatransform::test
