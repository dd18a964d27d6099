// JPEG scans of 12 bits a sample, judged by a bit-by-bit decoder.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/jpeg/scans_decoders.h"
#include "tests/jpeg/slow_codec.h"

namespace cudatransform::test {
namespace {

// JpegReader has the quantized coefficients and tables of a decoder that shares no code with
// anybody.
void expect_slow_qcoefs(const std::vector<uint8_t>& file, const std::string& what) {
  const SlowPicture expected = slow_decode(file);
  JpegReader reader;
  JpegHeader header;
  ASSERT_TRUE(reader.read_header(file, &header).ok()) << what;
  EXPECT_EQ(header.depth, static_cast<uint32_t>(expected.depth)) << what;
  ASSERT_EQ(header.components, static_cast<int>(expected.components.size())) << what;
  QcoefsMemory qcoefs(header);
  JpegTables tables;
  JpegFindings found;
  ASSERT_TRUE(reader.read_coefficients(qcoefs.qcoefs(), &tables, &found).ok()) << what;
  for (int c = 0; c < header.components; ++c) {
    const SlowComponent& component = expected.components[static_cast<size_t>(c)];
    const auto& memory = qcoefs.memory(c);
    EXPECT_TRUE(std::equal(memory.begin() + QcoefsMemory::kMargin,
                           memory.end() - QcoefsMemory::kMargin, component.qcoefs.begin(),
                           component.qcoefs.end()))
        << what << ", component " << c;
    EXPECT_TRUE(std::equal(component.table.begin(), component.table.end(),
                           tables.tables[tables.table_of[c]].q))
        << what << ", component " << c;
  }
}

// Quantized coefficients of 12 bits, in all samplings, with tables of all shapes: those of a
// bit-by-bit decoder. Then tables and quantized coefficients that only 12 bits can have.
TEST(JpegScans, TwelveBits) {
  for_each_decoder([](ScansDecoder& decoder) {
    uint32_t seed = 1;
    for (const auto& [components, h, v] :
         {std::tuple{1, 1, 1}, {3, 1, 1}, {3, 2, 1}, {3, 2, 2}, {3, 1, 2}, {3, 4, 1}, {4, 2, 2}}) {
      for (const TableShape shape : kTableShapes) {
        StreamKind kind;
        kind.depth = 12;
        kind.width = quick() ? 45 : 181;
        kind.height = quick() ? 37 : 123;
        kind.components = components;
        kind.h = h;
        kind.v = v;
        kind.sets = std::min(components, 2);
        kind.shape = shape;
        kind.scans = seed % 2 == 0 ? 1 : components;
        kind.restart_interval = seed % 3 == 0 ? 5 : 0;
        kind.seed = seed++;
        const auto file = make_stream(kind);
        (void)expect_decoded_or_left(kind, decoder);
        expect_slow_qcoefs(file, kind.text());
      }
    }
  });
}

// A quantized coefficient of more bits than samples of the depth have is damage to every decoder, a
// category of 15 among AC quantized coefficients and a DC quantized coefficient that goes beyond
// -16384 to 16383 among them.
TEST(JpegScans, QcoefsThatNoSampleHas) {
  for_each_decoder([](ScansDecoder& decoder) {
    for (const int depth : {8, 12}) {
      const int most = depth == 8 ? 1023 : 16383;
      for (const auto& [k, qcoef, is_sound] : {std::tuple{5, most, true},
                                               {5, -most, true},
                                               {5, most + 1, false},
                                               {63, -most - 1, false},
                                               {0, most, true},
                                               {0, -most - 1, true}}) {
        SlowPicture picture = slow_picture(24, 16, depth, 3, 2, 1);
        picture.components[1].qcoefs[static_cast<size_t>(64 + k)] = static_cast<int16_t>(qcoef);
        // One category more than the depth has.
        SlowPicture coded = picture;
        coded.depth = is_sound ? depth : depth + 1;
        auto file = slow_encode(coded);
        file[markers_of(file, 0xc1, 0xc1).front() + 4] = static_cast<uint8_t>(depth);
        const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
        EXPECT_EQ(outcome.wrong, "") << depth << " bits, coefficient " << qcoef;
        EXPECT_EQ(outcome.judged_sound, is_sound) << depth << " bits, coefficient " << qcoef;
        EXPECT_EQ(outcome.was_fast, is_sound) << depth << " bits, coefficient " << qcoef;
        EXPECT_EQ(outcome.verdict == ScansVerdict::kSound, is_sound) << depth << ", " << qcoef;
        if (is_sound) expect_slow_qcoefs(file, std::to_string(qcoef));
      }
    }
  });
}

}  // namespace
}  // namespace cudatransform::test
