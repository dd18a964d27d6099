// Conversions of every engine against the definition: all kinds of numbers, arrangements, places.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/coeffilter/definition.h"
#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"
#include "transform/coeffilter/conversions.h"

namespace cudatransform::test {
namespace {

// ---- Arrays in the engine's memory ----

constexpr uint8_t kPoison = 0xa5;
constexpr size_t kGuard = 64;

struct Side {
  CoefKinds kinds;
  std::vector<CoefArray> arrays;  // with places in `bytes` as data
  std::vector<uint8_t> bytes;     // of all of them, poisoned
  std::vector<uint8_t> covered;   // whether a byte is a coefficient's
  std::unique_ptr<Memory> memory;

  Side(const CoefKinds& its_kinds, const std::vector<std::pair<int, int>>& blocks, int gap)
      : kinds(its_kinds) {
    size_t size = kGuard;
    for (const auto& [w, h] : blocks) {
      CoefArray array;
      array.blocks_w = w;
      array.blocks_h = h;
      const int64_t rows = rows_of_blocks(kinds.arrangement);
      array.pitch = (w * (64 / rows) * bytes_of(kinds.number) + 15) / 16 * 16 + gap;
      array.data = reinterpret_cast<void*>(size);
      size += static_cast<size_t>(array.pitch * h * rows) + kGuard;
      arrays.push_back(array);
    }
    bytes.assign(size, kPoison);
  }
  uint8_t* at(size_t c, int u, int v, int bx, int by) {
    return bytes.data() + reinterpret_cast<size_t>(arrays[c].data) +
           place(kinds, arrays[c], u, v, bx, by);
  }
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t c = 0; c < arrays.size(); ++c)
      for (int by = 0; by < arrays[c].blocks_h; ++by)
        for (int bx = 0; bx < arrays[c].blocks_w; ++bx)
          for (int n = 0; n < 64; ++n) visit(c, n % 8, n / 8, bx, by);
  }
  Status upload(const Engine& engine) {
    Device& device = *engine.device;
    if (!memory) CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, bytes.size(), &memory));
    return device.upload(device.queue(QueueKind::kUpload), copy(memory->data(), bytes.data()));
  }
  Status download(const Engine& engine, std::vector<uint8_t>* to) {
    Device& device = *engine.device;
    to->resize(bytes.size());
    CT_RETURN_IF_ERROR(
        device.download(device.queue(QueueKind::kDownload), copy(to->data(), memory->data())));
    FencePtr fence;
    CT_RETURN_IF_ERROR(device.queue(QueueKind::kDownload).record(&fence));
    return fence->wait();
  }
  void describe(CoefArray* to) const {
    for (size_t c = 0; c < arrays.size(); ++c) {
      to[c] = arrays[c];
      to[c].data = static_cast<uint8_t*>(memory->data()) + reinterpret_cast<size_t>(arrays[c].data);
      to[c].table = static_cast<int32_t>(c % 4);
    }
  }

 private:
  Copy2D copy(void* to, const void* from) const {
    const auto pitch = static_cast<ptrdiff_t>(bytes.size());
    return {to, pitch, from, pitch, bytes.size(), 1};
  }
};

// ---- Cases ----

struct Kind {
  const char* name;
  CoefNumber number;
  bool quantized;
};
constexpr Kind kKinds[] = {{"level16", CoefNumber::kS16, true},
                           {"level32", CoefNumber::kS32, true},
                           {"s32", CoefNumber::kS32, false},
                           {"f32", CoefNumber::kF32, false},
                           {"f16", CoefNumber::kF16, false}};
constexpr const char* kArrangements[] = {"block", "zigzag", "plane", "band"};

struct Case {
  Kind from, to;
  CoefArrangement from_arrangement, to_arrangement;
  std::vector<std::pair<int, int>> blocks;
  int gap;

  std::string text() const {
    std::string text = std::string(from.name) + " " + kArrangements[int(from_arrangement)] +
                       " to " + to.name + " " + kArrangements[int(to_arrangement)] + ", gap " +
                       std::to_string(gap);
    for (const auto& [w, h] : blocks) text += ", " + std::to_string(w) + "x" + std::to_string(h);
    return text;
  }
};

std::vector<Case> all_cases() {
  // Parts of a tile, a tile, several; components of their own sizes. Their number and 16 have no
  // common factor, so each of them meets each pair of arrangements.
  const std::vector<std::pair<int, int>> sizes[] = {{{1, 1}},
                                                    {{9, 2}, {5, 1}, {5, 1}},
                                                    {{64, 1}},
                                                    {{33, 3}, {33, 3}, {33, 3}, {33, 3}},
                                                    {{130, 2}, {65, 2}, {65, 2}},
                                                    {{72, 3}, {8, 1}},
                                                    {{23, 5}}};
  std::vector<Case> cases;
  size_t i = 0;
  for (const Kind& from : kKinds)
    for (const Kind& to : kKinds)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
          Case test = {from, to, CoefArrangement(a), CoefArrangement(b), {}, 0};
          if (conversion_of({from.number, {}, from.quantized}, {to.number, {}, to.quantized}) < 0)
            continue;
          test.blocks = sizes[i % std::size(sizes)];
          test.gap = i % 5 < 2 ? 48 : 0;
          ++i;
          cases.push_back(test);
        }
  return cases;
}

// Numbers of a kind, with all special values.
class Numbers {
 public:
  Numbers(const Kind& kind, uint32_t seed) : kind_(kind), random_(seed) {}

  void write(uint8_t* to) {
    const uint32_t any = static_cast<uint32_t>(random_());
    switch (kind_.number) {
      case CoefNumber::kS16:
        return write_as(static_cast<int16_t>(any % 5 == 0 ? any >> 8 : int(any % 63) - 31), to);
      case CoefNumber::kF16:
        return write_as(static_cast<uint16_t>(any), to);
      case CoefNumber::kS32:
        return write_as(static_cast<int32_t>(any) >> random_() % 32, to);
      case CoefNumber::kF32:
        return write_as(number(any), to);
    }
  }

 private:
  float number(uint32_t any) {
    // Halfway between two integers and around the limits of halves and integers.
    static constexpr float kOdd[] = {
        0.5F,          1.5F,          -2.5F,         65503.9F,      65504,         65519.996F,
        65520,         -65520,        2147483520,    2147483648.F,  -2147483648.F, -2147483904.F,
        5.9604645e-8F, 2.9802322e-8F, 2.9802326e-8F, 6.1035156e-5F, 6.1005e-5F,    -0.F,
        32767.49F,     -32768.5F,     8388607.5F};
    if (any % 4 == 0) return kOdd[any / 4 % std::size(kOdd)];
    if (any % 4 == 1) return read_as<float>(reinterpret_cast<const uint8_t*>(&any));
    return std::ldexp(static_cast<float>(static_cast<int32_t>(any)), -int(random_() % 34));
  }

  Kind kind_;
  std::mt19937 random_;
};

std::string check(const Engine& engine, const Case& test, uint32_t seed) {
  // A host's rows need to be aligned to a number only.
  const int odd = engine.is_cuda ? 0 : 4;
  Side from({test.from.number, test.from_arrangement, test.from.quantized}, test.blocks,
            test.gap + odd);
  Side to({test.to.number, test.to_arrangement, test.to.quantized}, test.blocks, 48 - test.gap);
  ConvertJob job;
  job.from_kinds = from.kinds;
  job.to_kinds = to.kinds;
  job.components = static_cast<int>(test.blocks.size());
  std::mt19937 random(seed);
  for (QuantTable& table : job.tables)
    for (uint16_t& q : table.q)
      q = static_cast<uint16_t>(random() % 8 == 0 ? 1 + random() % 65535 : 1 + random() % 64);
  Numbers numbers(test.from, seed + 1);
  from.for_each([&](auto... where) { numbers.write(from.at(where...)); });

  uint64_t saturated = 0;
  std::vector<uint8_t> wanted = to.bytes;
  from.for_each([&](size_t c, int u, int v, int bx, int by) {
    uint8_t* result = wanted.data() + (to.at(c, u, v, bx, by) - to.bytes.data());
    convert_one(from.kinds, from.at(c, u, v, bx, by), to.kinds, result,
                job.tables[c % 4].q[8 * v + u], &saturated);
  });

  std::unique_ptr<Memory> count;
  Status status = engine.device->allocate(MemoryKind::kPinned, sizeof(uint64_t), &count);
  if (status.ok()) status = from.upload(engine);
  if (status.ok()) status = to.upload(engine);
  if (!status.ok()) return status.message;
  job.saturated = static_cast<uint64_t*>(count->data());
  *job.saturated = 7;
  from.describe(job.from);
  to.describe(job.to);
  std::vector<uint8_t> source, got;
  status = submit_and_wait(engine, *engine.convert_ops, job);
  if (status.ok()) status = to.download(engine, &got);
  if (status.ok()) status = from.download(engine, &source);
  if (!status.ok()) return status.message;
  if (source != from.bytes) return "the source has changed";
  if (got != wanted) {
    const auto at = std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin();
    return "byte " + std::to_string(at) + " is " + std::to_string(got[size_t(at)]) + ", not " +
           std::to_string(wanted[size_t(at)]);
  }
  if (*job.saturated != 7 + saturated)
    return std::to_string(*job.saturated - 7) + " numbers saturated, not " +
           std::to_string(saturated);
  return "";
}

TEST(CoefFilters, EveryConversionIsTheDefinitions) {
  const std::vector<Case> cases = all_cases();
  size_t jobs = 0;
  for (const Engine& engine : engines_with(&Engine::convert_ops))
    for (size_t i = 0; i < cases.size(); i += quick() ? 3 : 1) {
      ++jobs;
      EXPECT_EQ(check(engine, cases[i], static_cast<uint32_t>(i)), "")
          << engine.name << ": " << cases[i].text();
    }
  std::printf("  %zu jobs\n", jobs);
}

// Many rows of tiles: 720p in 4:2:0.
TEST(CoefFilters, LargePicturesAreTheDefinitions) {
  const Case test = {kKinds[0],
                     kKinds[4],
                     CoefArrangement::kBlock,
                     CoefArrangement::kBand,
                     {{160, 90}, {80, 45}, {80, 45}},
                     0};
  for (const Engine& engine : engines_with(&Engine::convert_ops)) {
    if (engine.highway_target != 0) continue;
    EXPECT_EQ(check(engine, test, 1), "") << engine.name << ": " << test.text();
  }
}

// What a job of one component with such sides writes; nothing if it fails.
std::vector<uint8_t> converted(const Engine& engine, Side& from, Side& to, ConvertJob job) {
  job.from_kinds = from.kinds;
  job.to_kinds = to.kinds;
  job.components = 1;
  std::vector<uint8_t> got;
  Status status = from.upload(engine);
  if (status.ok()) status = to.upload(engine);
  if (!status.ok()) return {};
  from.describe(job.from);
  to.describe(job.to);
  status = submit_and_wait(engine, *engine.convert_ops, job);
  if (status.ok()) status = to.download(engine, &got);
  EXPECT_EQ(status.message, "");
  return got;
}

// Every half, and every float that lies around it.
TEST(CoefFilters, EveryHalfIsRight) {
  for (const Engine& engine : engines_with(&Engine::convert_ops))
    for (int step = -1; step <= 1; ++step) {
      Side from({CoefNumber::kF32, CoefArrangement::kBlock, false}, {{1024, 1}}, 0);
      Side to({CoefNumber::kF16, CoefArrangement::kBlock, false}, {{1024, 1}}, 0);
      std::vector<uint8_t> wanted = to.bytes;
      uint64_t ignored = 0;
      for (uint32_t bits = 0; bits < 65536; ++bits) {
        const int n = static_cast<int>(bits % 64), block = static_cast<int>(bits / 64);
        // Halfway to the next half, and the floats next to that.
        const Exact half = exact_half(static_cast<uint16_t>(bits));
        Exact next = exact_half(static_cast<uint16_t>(bits + 1));
        if (!std::isfinite(next)) next = half;
        auto value = static_cast<float>((half + next) / 2);
        if (step != 0) value = std::nextafter(value, step * std::numeric_limits<float>::max());
        write_as(value, from.at(0, n % 8, n / 8, block, 0));
        convert_one(from.kinds, from.at(0, n % 8, n / 8, block, 0), to.kinds,
                    wanted.data() + (to.at(0, n % 8, n / 8, block, 0) - to.bytes.data()), 1,
                    &ignored);
      }
      EXPECT_TRUE(converted(engine, from, to, {}) == wanted) << engine.name << ", step " << step;
    }
}

// Divisors near the largest half: quantized coefficients of 1 times 65519 are the last that it
// holds. Each is alone among zeros: kernels take another path with eight numbers that are all too
// large.
TEST(CoefFilters, QcoefsTimesLargeDivisorsAreTheDefinitions) {
  constexpr int16_t kQcoefs[] = {-32768, -2, -1, 0, 1, 2, 32767};
  constexpr int kBlocks = static_cast<int>(std::size(kQcoefs));
  for (const Engine& engine : engines_with(&Engine::convert_ops))
    for (int first = 65536 - 48 * 8; first < 65536; first += 8) {
      Side from({CoefNumber::kS16, CoefArrangement::kBlock, true}, {{kBlocks, 1}}, 0);
      Side to({CoefNumber::kF16, CoefArrangement::kBlock, false}, {{kBlocks, 1}}, 0);
      std::vector<uint8_t> wanted = to.bytes;
      ConvertJob job;
      uint64_t ignored = 0;
      for (int block = 0; block < kBlocks; ++block)
        for (int n = 0; n < 64; ++n) {
          const int u = n % 8, v = n / 8;
          const auto divisor = static_cast<uint16_t>(u == v ? first + v : 1);
          job.tables[0].q[n] = divisor;
          write_as(u == v ? kQcoefs[block] : int16_t{0}, from.at(0, u, v, block, 0));
          convert_one(from.kinds, from.at(0, u, v, block, 0), to.kinds,
                      wanted.data() + (to.at(0, u, v, block, 0) - to.bytes.data()), divisor,
                      &ignored);
        }
      EXPECT_TRUE(converted(engine, from, to, job) == wanted)
          << engine.name << ", divisors from " << first << " on";
    }
}

TEST(CoefFilters, BadConversionsAreRefused) {
  alignas(64) static uint8_t memory[2][16384];
  ConvertJob sound;
  sound.from_kinds = {CoefNumber::kS16, CoefArrangement::kBlock, true};
  sound.to_kinds = {CoefNumber::kF16, CoefArrangement::kBand, false};
  sound.components = 1;
  sound.from[0] = {memory[0], 512, 3, 2, 0};
  sound.to[0] = {memory[1], 16, 3, 2, 0};
  for (QuantTable& table : sound.tables) std::fill(std::begin(table.q), std::end(table.q), 1);
  ASSERT_EQ(validate(sound).message, "");
  const std::pair<const char*, void (*)(ConvertJob&)> errors[] = {
      {"no component", [](ConvertJob& job) { job.components = 0; }},
      {"five", [](ConvertJob& job) { job.components = 5; }},
      {"coefficients as floats", [](ConvertJob& job) { job.to_kinds.quantized = true; }},
      {"values of 16 bits", [](ConvertJob& job) { job.from_kinds.quantized = false; }},
      {"coefficients of two sizes",
       [](ConvertJob& job) {
         job.to_kinds = {CoefNumber::kS32, CoefArrangement::kBand, true};
       }},
      {"an unknown type", [](ConvertJob& job) { job.to_kinds.number = CoefNumber(4); }},
      {"an unknown arrangement",
       [](ConvertJob& job) { job.from_kinds.arrangement = CoefArrangement(4); }},
      {"no memory", [](ConvertJob& job) { job.to[0].data = nullptr; }},
      {"a short pitch", [](ConvertJob& job) { job.from[0].pitch = 382; }},
      {"an odd pitch", [](ConvertJob& job) { job.from[0].pitch = 513; }},
      {"an odd address",
       [](ConvertJob& job) { job.to[0].data = static_cast<uint8_t*>(job.to[0].data) + 1; }},
      {"no blocks", [](ConvertJob& job) { job.from[0].blocks_w = job.to[0].blocks_w = 0; }},
      {"other blocks", [](ConvertJob& job) { job.to[0].blocks_h = 1; }},
      {"too many rows",
       [](ConvertJob& job) { job.from[0].blocks_h = job.to[0].blocks_h = INT32_MAX; }},
      {"a table that is not there", [](ConvertJob& job) { job.from[0].table = 4; }},
      {"a zero that divides",
       [](ConvertJob& job) {
         job.from_kinds = {CoefNumber::kF32, CoefArrangement::kBlock, false};
         job.to_kinds = {CoefNumber::kS16, CoefArrangement::kBlock, true};
         job.from[0].pitch = 1024;
         job.to[0].pitch = 512;
         job.tables[0].q[63] = 0;
       }},
  };
  for (const auto& [name, plant] : errors) {
    ConvertJob job = sound;
    plant(job);
    EXPECT_FALSE(validate(job).ok()) << name;
    for (const Engine& engine : engines_with(&Engine::convert_ops)) {
      const Status status = engine.convert_ops->submit(
          *engine.device, engine.device->queue(QueueKind::kCompute), job, nullptr);
      EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << engine.name << ": " << name;
    }
  }
  // A row of planes that a step of 32 bits does not reach.
  sound.from[0] = {memory[0], 1 << 28, 3, 1, 0};
  sound.to[0].blocks_h = 1;
  for (const Engine& engine : engines_with(&Engine::convert_ops)) {
    if (!engine.is_cuda) continue;
    const Status status = engine.convert_ops->submit(
        *engine.device, engine.device->queue(QueueKind::kCompute), sound, nullptr);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << status.message;
  }
}

}  // namespace
}  // namespace cudatransform::test
