// JPEG scans decoded in parallel, and by JpegScanDecoder: every quantized coefficient equal to
// libjpeg-turbo's, and damage never missed.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The test makes files itself; files in the folders of CUDATRANSFORM_JPEGS (separated by ':',
// searched through) come on top.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/check/fakecuda/fakecuda.h"
#include "tests/jpeg/codec.h"
#include "tests/jpeg/scans_decoders.h"
#include "tests/jpeg/streams.h"

namespace cudatransform::test {
namespace {

// The decoder decodes a sound file of a supported kind, and its quantized coefficients are right.
ScansOutcome expect_decoded(const std::vector<uint8_t>& file, ScansDecoder& decoder,
                            const std::string& what) {
  const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
  EXPECT_EQ(outcome.wrong, "") << what;
  EXPECT_TRUE(outcome.judged_sound && outcome.was_fast) << what;
  EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(ScansVerdict::kSound))
      << what << ": " << outcome.reported;
  return outcome;
}

StreamKind random_kind(uint32_t seed) {
  std::mt19937 random(seed);
  StreamKind kind;
  kind.seed = seed;
  static constexpr int kComponents[] = {1, 3, 3, 4};
  kind.components = kComponents[random() % std::size(kComponents)];
  static constexpr int kFactors[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
  const auto& factors = kFactors[random() % std::size(kFactors)];
  kind.h = factors[0];
  kind.v = factors[1];
  kind.sets = 1 + static_cast<int>(random() % static_cast<uint32_t>(std::min(kind.components, 3)));
  kind.shape = kTableShapes[random() % std::size(kTableShapes)];
  kind.scans = kind.components == 1 ? 1 : 1 + static_cast<int>(random() % 3);
  static constexpr int kIntervals[] = {0, 0, 1, 3, 7, 9, 100};
  kind.restart_interval = kIntervals[random() % std::size(kIntervals)];
  kind.extended = kind.sets > 2 || random() % 8 == 0;
  kind.depth = random() % 3 == 0 ? 12 : 8;
  kind.sparse = random() % 2 == 0;
  const int most = quick() ? 80 : 300;
  kind.width = 1 + static_cast<int>(random() % static_cast<uint32_t>(most));
  kind.height = 1 + static_cast<int>(random() % static_cast<uint32_t>(most));
  return kind;
}

TEST(JpegScans, TablesOfEveryShape) {
  for_each_decoder([](ScansDecoder& decoder) {
    int fallen_back = 0, all = 0;
    for (const TableShape shape : kTableShapes) {
      for (const int sets : {1, 2, 3}) {
        StreamKind kind;
        kind.width = quick() ? 70 : 500;
        kind.height = quick() ? 50 : 300;
        kind.shape = shape;
        kind.sets = sets;
        kind.extended = sets > 2;
        ++all;
        fallen_back += expect_decoded_or_left(kind, decoder) ? 0 : 1;
      }
    }
    EXPECT_LT(fallen_back, all / 2);
  });
}

// The worst cases of parallel decoding: always right, by the CPU if nothing synchronizes.
void expect_right_or_refused(TableShape shape, bool refused) {
  for_each_decoder([&](ScansDecoder& decoder) {
    for (const int sets : {1, 2}) {
      for (const int interval : {0, 1, 7, 100}) {
        StreamKind kind;
        kind.width = quick() ? 333 : 1500;
        kind.height = quick() ? 222 : 900;
        kind.shape = shape;
        kind.sets = sets;
        kind.restart_interval = interval;
        EXPECT_TRUE(expect_decoded_or_left(kind, decoder) || refused) << kind.text();
      }
    }
  });
}
TEST(JpegScans, OneCodeOnly) { expect_right_or_refused(TableShape::kFewSymbols, true); }
TEST(JpegScans, CodesOf16BitsOnly) { expect_right_or_refused(TableShape::kLongest, true); }
TEST(JpegScans, PrefixesOfOnes) { expect_right_or_refused(TableShape::kUnary, true); }
TEST(JpegScans, WhatNeverSynchronizes) { expect_right_or_refused(TableShape::kEqual, true); }
TEST(JpegScans, CodesByChance) { expect_right_or_refused(TableShape::kRandom, true); }
TEST(JpegScans, AnnexKIsNeverRefused) { expect_right_or_refused(TableShape::kAnnexK, false); }

TEST(JpegScans, StreamsOfEveryKind) {
  for_each_decoder([](ScansDecoder& decoder) {
    int decoded = 0;
    const uint32_t count = quick() ? 60 : 600;
    for (uint32_t seed = 1; seed <= count && !testing::Test::HasFailure(); ++seed) {
      decoded += expect_decoded_or_left(random_kind(seed), decoder) ? 1 : 0;
    }
    EXPECT_GT(decoded, static_cast<int>(count) * 3 / 4);
  });
}

// Pictures as most are, with ends of blocks: a device decodes them in parts, unless they are large.
TEST(JpegScans, SparseStreams) {
  for_each_decoder([](ScansDecoder& decoder) {
    StreamKind kind;
    kind.sparse = true;
    for (const int components : {1, 3, 4}) {
      for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
        for (const int interval : {0, 1, 7, 100}) {
          kind.components = components;
          kind.h = h;
          kind.v = v;
          kind.restart_interval = interval;
          kind.scans = components > 1 ? 1 + static_cast<int>(kind.seed % 2) : 1;
          kind.width = quick() ? 161 : 777;
          kind.height = quick() ? 97 : 555;
          (void)expect_decoded(make_stream(kind), decoder, kind.text());
          ++kind.seed;
        }
      }
    }
  });
}

// Just below and far above the limits for parts, with and without other work: kPartLimits.
TEST(JpegScans, SizesOfSparseStreams) {
  for_each_decoder([](ScansDecoder& decoder) {
    for (const bool is_alone : {false, true}) {
      for (const uint32_t subsequences : {1000u, 1800u, 6000u, 7000u}) {
        StreamKind kind;
        kind.sparse = true;
        kind.width = static_cast<int>(subsequences);
        kind.height = 500;
        decoder.is_alone = is_alone;
        const int before = count_launches("jpeg_decode_parts");
        const ScansOutcome outcome = expect_decoded(make_stream(kind), decoder, kind.text());
        const bool is_in_parts = subsequences <= (is_alone ? 6144 : 1024);
        if (decoder.is_device() && before >= 0) {
          EXPECT_EQ(count_launches("jpeg_decode_parts") - before, is_in_parts ? 1 : 0)
              << kind.text() << (is_alone ? ", alone" : "");
        }
        EXPECT_NEAR(outcome.subsequences, subsequences, subsequences / 40) << kind.text();
      }
    }
  });
}

// Four components as all factors and numbers of scans have them.
TEST(JpegScans, FourComponents) {
  for_each_decoder([](ScansDecoder& decoder) {
    for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
      for (const int scans : {1, 2, 4}) {
        for (const int sets : {1, 2}) {
          StreamKind kind;
          kind.components = 4;
          kind.width = quick() ? 83 : 331;
          kind.height = quick() ? 57 : 201;
          kind.h = h;
          kind.v = v;
          kind.scans = scans;
          kind.sets = sets;
          kind.restart_interval = scans == 2 ? 3 : 0;
          (void)expect_decoded(make_stream(kind), decoder, kind.text());
        }
      }
    }
  });
}

// Blocks of one set that have more places in an MCU than there are components, next to a scan of
// two sets: its kernels have no room for them.
TEST(JpegScans, ManyBlocksOfOneSetBesideTwoSets) {
  StreamKind kind;
  kind.components = 4;
  kind.sets = 2;
  kind.scans = 2;
  kind.in_first = 2;
  const auto file = make_stream(kind);
  for_each_decoder([&](ScansDecoder& decoder) {
    const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
    EXPECT_EQ(outcome.wrong, "");
    EXPECT_TRUE(outcome.judged_sound && outcome.was_fast);
    EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(ScansVerdict::kNo));
  });
}

TEST(JpegScans, RestartsAndSizes) {
  for_each_decoder([](ScansDecoder& decoder) {
    for (const int interval : {0, 1, 2, 5, 8, 9, 64}) {
      for (const auto& [width, height] :
           {std::pair{1, 1}, {8, 8}, {17, 33}, {200, 3}, {3, 200}, {quick() ? 700 : 65500, 1}}) {
        StreamKind kind;
        kind.width = width;
        kind.height = height;
        kind.restart_interval = interval;
        (void)expect_decoded(make_stream(kind), decoder, kind.text());
      }
    }
  });
}

TEST(JpegScans, Photographs) {
  for_each_decoder([](ScansDecoder& decoder) {
    uint32_t subsequences = 0;
    for (const JpegSampling sampling : {JpegSampling{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}}) {
      for (const int quality : {1, 50, 90, 100}) {
        const int width = quick() ? 161 : 1283, height = quick() ? 97 : 641;
        std::mt19937 random(static_cast<uint32_t>(quality));
        const Source source =
            make_source("photograph", sampling, 3, width, height, [&](size_t, int x, int y) {
              return (x * x / 50 + y * 3 + (x / 40 % 2) * 60 + static_cast<int>(random() % 9)) %
                     256;
            });
        const auto file = jpeg_from_planes(source.planes, sampling, width, height,
                                           tables_for(3, quality), Method::kIslow);
        subsequences +=
            expect_decoded(file, decoder, source.name + ", quality " + std::to_string(quality))
                .subsequences;
      }
    }
    EXPECT_GT(subsequences, 1000u);
  });
}

// Validation refuses jobs that could make a kernel leave its buffers.
TEST(JpegScans, JobsThatCannotBe) {
  const auto file = make_stream({});
  JpegScanReader reader;
  const size_t bytes = reader.measure(file);
  ASSERT_GT(bytes, 0u);
  std::vector<uint8_t> memory(bytes + 16);
  uint8_t* const block =
      memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
  JpegScans scans;
  ASSERT_TRUE(reader.read(block, &scans));
  JpegHeader header;
  JpegReader judge;
  ASSERT_TRUE(judge.read_header(file, &header).ok());
  const QcoefsMemory qcoefs(header);
  JpegDecodeResult result;
  JpegDecodeJob job;
  job.scans = &scans;
  job.block = block;
  job.result = &result;
  std::copy_n(qcoefs.qcoefs(), header.components, job.qcoefs);
  EXPECT_TRUE(validate(job).ok());
  const auto refused = [&](auto&& change) {
    JpegDecodeJob changed = job;
    change(changed);
    return validate(changed).code == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.block += 4; }));
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.result = nullptr; }));
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.qcoefs[2].data = nullptr; }));
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.qcoefs[1].data += 4; }));
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.qcoefs[0].stride += 8; }));
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.qcoefs[0].stride -= 128; }));
  EXPECT_TRUE(refused([](JpegDecodeJob& changed) { changed.qcoefs[1].blocks_h -= 1; }));
}

// All blocks came: every decoder has libjpeg's quantized coefficients, and reports the
// irregularity.
TEST(JpegScans, OddFilesAreDecoded) {
  for_each_decoder([](ScansDecoder& decoder) {
    std::mt19937 random(11);
    int more_mcus = 0;
    const uint32_t count = quick() ? 200 : 3000;
    for (uint32_t i = 0; i < count; ++i) {
      StreamKind kind = random_kind(5000 + i);
      kind.shape = TableShape::kAnnexK;
      kind.width = 1 + kind.width % 200;
      kind.height = 1 + kind.height % 200;
      auto file = make_stream(kind);
      const uint32_t expected = add_oddity(&file, static_cast<Oddity>(i % 6), random);
      const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
      ASSERT_EQ(outcome.wrong, "") << kind.text() << ", oddity " << i % 6;
      // Junk forms MCUs by chance: much of it, or junk whose end alone the parallel decoder sees.
      if ((outcome.reported & kJpegMoreMcus) != 0) {
        ++more_mcus;
        EXPECT_TRUE(outcome.judged_sound || i % 6 == 1) << kind.text();
        continue;
      }
      EXPECT_TRUE(outcome.judged_sound && outcome.was_fast) << kind.text() << ", oddity " << i % 6;
      EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(ScansVerdict::kSound))
          << kind.text() << ", oddity " << i % 6 << ": " << outcome.reported;
      EXPECT_EQ(outcome.irregular, expected) << kind.text() << ", oddity " << i % 6;
    }
    EXPECT_LT(more_mcus, static_cast<int>(count) / 50);
  });
}

// A header that claims fewer MCUs than there are is damage, though every code is valid.
TEST(JpegScans, MoreMcusAreDamage) {
  for_each_decoder([](ScansDecoder& decoder) {
    int damaged = 0;
    constexpr int kCount = 60;
    for (uint32_t i = 0; i < kCount; ++i) {
      StreamKind kind;
      kind.seed = 100 + i;
      kind.components = i % 3 == 0 ? 1 : 3;
      kind.restart_interval = i % 2 == 0 ? 0 : 4;
      kind.width = 64;
      kind.height = 48 + 16 * static_cast<int>(i % 4);
      auto file = make_stream(kind);
      const size_t sof = markers_of(file, 0xc0, 0xc0).front();
      file[sof + 6] = static_cast<uint8_t>(kind.height - 16);
      const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
      ASSERT_EQ(outcome.wrong, "") << kind.text();
      EXPECT_FALSE(outcome.was_fast) << kind.text();
      EXPECT_NE(static_cast<int>(outcome.verdict), static_cast<int>(ScansVerdict::kSound));
      damaged += outcome.judged_sound ? 0 : 1;
    }
    EXPECT_EQ(damaged, kCount);
  });
}

// CUDATRANSFORM_TEST_PICTURES: how many damaged files, instead of as many as are quick.
uint32_t damaged_count() {
  const char* wanted = std::getenv("CUDATRANSFORM_TEST_PICTURES");
  if (wanted != nullptr) return static_cast<uint32_t>(std::atoi(wanted));
  return quick() ? 150 : 4000;
}

// One fault at a time: no decoder takes a file for sound if libjpeg warns of damage, and it reports
// oddities wherever libjpeg warns at all.
TEST(JpegScans, DamageIsNeverMissed) {
  for_each_decoder([](ScansDecoder& decoder) {
    std::mt19937 random(7);
    int damaged = 0, sound = 0, irregular = 0;
    const uint32_t count = damaged_count();
    for (uint32_t i = 0; i < count; ++i) {
      StreamKind kind = random_kind(1000 + i);
      kind.width = 1 + kind.width % 64;
      kind.height = 1 + kind.height % 64;
      auto file = make_stream(kind);
      if (random() % 4 == 0) (void)add_oddity(&file, static_cast<Oddity>(random() % 6), random);
      const size_t at = random() % file.size();
      switch (random() % 5) {
        case 0:
          file[at] ^= static_cast<uint8_t>(1u << random() % 8);
          break;
        case 1:
          file.resize(at);
          break;
        case 2:
          file.erase(file.begin() + static_cast<ptrdiff_t>(at));
          break;
        case 3:
          file.insert(file.begin() + static_cast<ptrdiff_t>(at), static_cast<uint8_t>(random()));
          break;
        default:
          file[at] = 0xff;
          if (at + 1 < file.size()) file[at + 1] = static_cast<uint8_t>(0xd0 + random() % 10);
          break;
      }
      const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder, size_t{1} << 22);
      ASSERT_EQ(outcome.wrong, "") << kind.text() << ", changed at " << at;
      damaged += outcome.verdict == ScansVerdict::kDamaged ? 1 : 0;
      sound += outcome.verdict == ScansVerdict::kSound ? 1 : 0;
      irregular += outcome.verdict == ScansVerdict::kSound && outcome.irregular != 0 ? 1 : 0;
    }
    // Every kind has been tested.
    EXPECT_GT(irregular, static_cast<int>(count) / 40);
    EXPECT_GT(damaged, static_cast<int>(count) / 20);
    EXPECT_GT(sound, static_cast<int>(count) / 20);
  });
}

TEST(JpegScans, FilesOfOthers) {
  const char* folders = std::getenv("CUDATRANSFORM_JPEGS");
  if (folders == nullptr) GTEST_SKIP() << "CUDATRANSFORM_JPEGS names no folder";
  std::vector<std::filesystem::path> paths;
  for (std::string rest = folders; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(rest.substr(0, end))) {
      const auto extension = entry.path().extension();
      if (extension == ".jpg" || extension == ".jpeg") paths.push_back(entry.path());
    }
    rest.erase(0, end + 1);
  }
  std::sort(paths.begin(), paths.end());
  for_each_decoder([&](ScansDecoder& decoder) {
    int decoded = 0, fallen_back = 0, fast = 0;
    for (const auto& path : paths) {
      std::ifstream stream(path, std::ios::binary);
      const std::vector<uint8_t> file((std::istreambuf_iterator<char>(stream)), {});
      if (quick() && file.size() > 40'000) continue;
      const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
      EXPECT_EQ(outcome.wrong, "") << path;
      const bool is_decoded = outcome.verdict == ScansVerdict::kSound;
      if (outcome.for_us && outcome.judged_sound && !is_decoded) {
        ++fallen_back;
        ADD_FAILURE() << path << " is sound, but was left to the CPU: " << outcome.reported;
      }
      EXPECT_TRUE(outcome.was_fast || !outcome.for_us || !outcome.judged_sound)
          << path << " is sound, but was left to libjpeg";
      decoded += is_decoded ? 1 : 0;
      fast += outcome.was_fast ? 1 : 0;
    }
    std::printf("%d of %zu files decoded, %d left to the CPU; %d by JpegScanDecoder\n", decoded,
                paths.size(), fallen_back, fast);
    EXPECT_GT(decoded, 0);
  });
}

}  // namespace
}  // namespace cudatransform::test
