// Access units, headers, metadata, and the splitter of raw streams.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/access_unit.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "apv/frame.h"
#include "apv/frame_writer.h"
#include "tests/apv/encoder.h"

namespace cudatransform::test {
namespace {

ApvBytes small_frame() { return encode_apv_frame({}); }
ApvBytes small_stream(int frames) {
  ApvBytes stream;
  for (int i = 0; i < frames; ++i) {
    const ApvBytes unit = apv_access_unit({apv_unit(1, small_frame())});
    stream.insert(stream.end(), unit.begin(), unit.end());
  }
  return stream;
}

Status begin_frame(const ApvBytes& payload, const ApvLimits& limits = {}) {
  ApvFrame frame;
  return frame.begin(payload, nullptr, limits);
}

// ---- Access units ----

TEST(ApvAccessUnit, WithAndWithoutSize) {
  const ApvBytes sized = apv_access_unit({apv_unit(1, small_frame())});
  const ApvBytes bare(sized.begin() + 4, sized.end());
  for (const ApvBytes& bytes : {sized, bare}) {
    ApvAccessUnit unit;
    ASSERT_TRUE(read_apv_access_unit(bytes, &unit).ok());
    EXPECT_EQ(ApvBytes(unit.frame.begin(), unit.frame.end()), small_frame());
  }
}

TEST(ApvAccessUnit, OfOldStreams) {
  ApvBytes bytes = apv_access_unit({apv_unit(1, small_frame())});
  bytes.erase(bytes.begin() + 4, bytes.begin() + 8);
  bytes[3] = static_cast<uint8_t>(bytes[3] - 4);
  ApvAccessUnit unit;
  ASSERT_TRUE(read_apv_access_unit(bytes, &unit).ok());
  EXPECT_EQ(unit.frame.size(), small_frame().size());
}

TEST(ApvAccessUnit, OtherUnits) {
  const ApvBytes bytes = apv_access_unit(
      {apv_unit(67, {0xff, 0xff}), apv_unit(25, {1}), apv_unit(90, {2}), apv_unit(27, {}, 1),
       apv_unit(1, small_frame()), apv_unit(1, {3}), apv_unit(2, {4})});
  ApvAccessUnit unit;
  ASSERT_TRUE(read_apv_access_unit(bytes, &unit).ok());
  EXPECT_EQ(unit.frame.size(), small_frame().size());
  EXPECT_EQ(unit.skipped_frames, 4);
  EXPECT_EQ(unit.unknown_units, 1);
}

TEST(ApvAccessUnit, SizesThatLie) {
  const ApvBytes sound = apv_access_unit({apv_unit(1, small_frame()), apv_unit(66, {0, 0, 0, 0})});
  ApvAccessUnit unit;
  for (size_t size = 0; size < sound.size(); ++size)
    EXPECT_FALSE(read_apv_access_unit({sound.data(), size}, &unit).ok()) << size;
  for (const size_t at : {size_t{0}, size_t{8}}) {
    for (const uint8_t high : {0x01, 0x7f, 0xff}) {
      ApvBytes bytes = sound;
      bytes[at] = high;
      EXPECT_FALSE(read_apv_access_unit(bytes, &unit).ok());
    }
  }
}

// ---- Metadata ----

ApvBytes metadata_of(const ApvBytes& payloads) {
  ApvBytes bytes = {0, 0, 0, static_cast<uint8_t>(payloads.size())};
  bytes.insert(bytes.end(), payloads.begin(), payloads.end());
  return bytes;
}

TEST(ApvMetadata, IsOfTheFramesGroup) {
  const ApvBytes light = metadata_of({6, 4, 0x03, 0xe8, 0x01, 0x90});
  for (const uint16_t group : {1, 2}) {
    ApvAccessUnit unit;
    ASSERT_TRUE(
        read_apv_access_unit(
            apv_access_unit({apv_unit(66, light, group), apv_unit(1, small_frame(), 1)}), &unit)
            .ok());
    ASSERT_EQ(unit.metadata.light.has_value(), group == 1);
    if (group == 1) {
      EXPECT_EQ(*unit.metadata.light, (ApvContentLight{1000, 400}));
    }
  }
}

TEST(ApvMetadata, Kinds) {
  ApvBytes payloads = {5, 24};
  for (uint8_t i = 0; i < 24; ++i) payloads.push_back(i);
  for (const ApvBytes& more :
       {ApvBytes{4, 2, 0xb5, 0}, ApvBytes{255, 255, 46, 1, 7}, ApvBytes{10, 1, 0xff}})
    payloads.insert(payloads.end(), more.begin(), more.end());
  ApvMetadata metadata;
  read_apv_metadata(metadata_of(payloads), &metadata);
  ASSERT_TRUE(metadata.mastering.has_value());
  EXPECT_EQ(metadata.mastering->primaries[1][0], 0x0405);
  EXPECT_EQ(metadata.mastering->white[1], 0x0e0f);
  EXPECT_EQ(metadata.mastering->max_luminance, 0x10111213u);
  EXPECT_EQ(metadata.mastering->min_luminance, 0x14151617u);
  EXPECT_EQ(metadata.t35, 1);
  EXPECT_EQ(metadata.unknown, 1);
  EXPECT_FALSE(metadata.is_damaged);
}

// What is kept of a unit is written again as it was; hashes and what exceeds the limits are not.
TEST(ApvMetadata, KeptPayloads) {
  const auto user = [](uint8_t first, size_t bytes) {
    ApvBytes payload(kApvUuidBytes + bytes, 3);
    payload[0] = first;
    return payload;
  };
  const ApvBytes t35 = {0xb5, 0, 0x3c, 0, 1, 4, 1}, first = user(1, 300), second = user(2, 0);
  ApvMetadata metadata;
  metadata.light = {1000, 400};
  metadata.keep({ApvPayloadType::kUser, first});
  metadata.keep({ApvPayloadType::kT35, t35});
  metadata.keep({ApvPayloadType::kUser, second});
  const ApvBytes unit = make_apv_metadata(metadata, ApvBytes(16));
  constexpr size_t kHeader = 8;  // pbu_size, and the header of the PBU
  ApvMetadata read;
  read_apv_metadata({unit.data() + kHeader, unit.size() - kHeader}, &read);
  EXPECT_FALSE(read.is_damaged);
  EXPECT_EQ(read.t35, 1);
  EXPECT_EQ(read.user, 3);
  ASSERT_EQ(read.payloads().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read.kept[i].type, metadata.kept[i].type);
    EXPECT_EQ(ApvBytes(read.kept[i].bytes.begin(), read.kept[i].bytes.end()),
              ApvBytes(metadata.kept[i].bytes.begin(), metadata.kept[i].bytes.end()));
  }
}

TEST(ApvMetadata, KeepsLittle) {
  ApvMetadata many;
  const ApvBytes small(20);
  for (int i = 0; i < 3 * ApvMetadata::kMaxPayloads; ++i) many.keep({ApvPayloadType::kT35, small});
  EXPECT_EQ(many.kept_count, ApvMetadata::kMaxPayloads);
  EXPECT_EQ(many.dropped_count, 2 * ApvMetadata::kMaxPayloads);
  ApvMetadata large;
  const ApvBytes half(ApvMetadata::kMaxPayloadBytes / 2);
  for (int i = 0; i < 3; ++i) large.keep({ApvPayloadType::kT35, half});
  EXPECT_EQ(large.kept_count, 2);
  EXPECT_EQ(large.dropped_count, 1);
}

TEST(ApvMetadata, Damaged) {
  for (const ApvBytes& bytes :
       {ApvBytes{0, 0}, ApvBytes{0, 0, 0, 9, 6, 4, 0, 0}, metadata_of({6, 9, 1}),
        metadata_of({255, 255}), metadata_of({6, 3, 1, 2, 3})}) {
    ApvMetadata metadata;
    read_apv_metadata(bytes, &metadata);
    EXPECT_TRUE(metadata.is_damaged);
  }
}

// ---- The frame header and tiles ----

TEST(ApvHeader, Fields) {
  ApvPictureToWrite picture;
  picture.width = 530;
  picture.height = 299;
  const ApvBytes payload = encode_apv_frame(picture);
  ApvFrame frame;
  ASSERT_TRUE(frame.begin(payload, nullptr, {}).ok());
  EXPECT_EQ(frame.header().tile_columns, 3);
  EXPECT_EQ(frame.header().tile_rows, 3);
  EXPECT_EQ(frame.info().profile, 33);
  EXPECT_EQ(frame.info().width_of(1), 265u);
  EXPECT_EQ(frame.tiles().back().mbs_across, 2u);
  EXPECT_EQ(frame.tiles().back().mbs_down, 3u);
  EXPECT_EQ(frame.tiles().back().qp[2], 20);
}

TEST(ApvHeader, ColorsAndMatrices) {
  ApvPictureToWrite picture;
  picture.color = {9, 16, 9, true};
  for (uint8_t i = 1; i <= 64; ++i) picture.matrix.push_back(i);
  const ApvBytes payload = encode_apv_frame(picture);
  ApvFrame frame;
  ASSERT_TRUE(frame.begin(payload, nullptr, {}).ok());
  EXPECT_EQ(frame.header().color, picture.color);
  EXPECT_EQ(frame.header().matrix[2][8], 9);
  EXPECT_EQ(frame.inverse_job().plane[1].matrix[63], 64);
}

TEST(ApvHeader, CutAnywhere) {
  const ApvBytes payload = small_frame();
  for (size_t size = 0; size < payload.size(); ++size) {
    const ApvBytes cut(payload.begin(), payload.begin() + static_cast<ptrdiff_t>(size));
    const Status status = begin_frame(cut);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << size;
    EXPECT_FALSE(status.message.empty());
  }
}

// A byte of the header, its value, and a word of the message.
TEST(ApvHeader, Faults) {
  struct Fault {
    size_t at;
    uint8_t value;
    const char* word;
  };
  constexpr size_t kTile = 20;
  for (const Fault& fault :
       {Fault{2, 0x41, "reserved"}, Fault{5, 0, "size 0x48"}, Fault{5, 63, "width 63"},
        Fault{9, 0x12, "chroma format 1"}, Fault{9, 0x52, "chroma format 5"},
        Fault{9, 0x21, "9 bits"}, Fault{9, 0x29, "17 bits"}, Fault{11, 1, "reserved"},
        Fault{12, 1, "reserved"}, Fault{19, 1, "reserved"}, Fault{kTile, 1, "size"},
        Fault{kTile + 5, 21, "header of 21"}, Fault{kTile + 7, 1, "index"},
        Fault{kTile + 8, 1, "component 0"}, Fault{kTile + 20, 64, "quantization parameter 64"},
        Fault{kTile + 23, 1, "reserved"}}) {
    ApvBytes payload = small_frame();
    payload[fault.at] = fault.value;
    const Status status = begin_frame(payload);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << fault.at;
    EXPECT_NE(status.message.find(fault.word), std::string::npos) << status.message;
  }
}

TEST(ApvHeader, TooLarge) {
  ApvLimits limits;
  limits.max_samples = 64 * 48 * 2 - 1;
  EXPECT_EQ(begin_frame(small_frame(), limits).code, StatusCode::kUnsupported);
  limits.max_samples = 64 * 48 * 2;
  EXPECT_TRUE(begin_frame(small_frame(), limits).ok());
}

// 20x20 tiles of the largest size, in a few bytes.
TEST(ApvHeader, ClaimsMuchInFewBytes) {
  ApvPictureToWrite picture;
  ApvBytes payload = encode_apv_frame(picture);
  payload[3] = payload[6] = 0x7f;
  payload[13] = payload[14] = payload[15] = payload[16] = 0x3f;
  ApvLimits limits;
  limits.max_samples = UINT64_MAX;
  const Status status = begin_frame(payload, limits);
  EXPECT_EQ(status.code, StatusCode::kInvalidArgument);
  EXPECT_NE(status.message.find("bytes"), std::string::npos) << status.message;
}

// ---- The splitter ----

struct Split {
  std::vector<size_t> sizes;
  size_t skipped = 0;
};

Split split(const ApvBytes& stream, size_t piece, uint64_t max_bytes = 1 << 20) {
  ApvSplitter splitter;
  Split result;
  size_t at = 0, come = 0;
  uint64_t calls = 0;
  while (at < stream.size()) {
    const ApvSpan span =
        splitter.next({stream.data() + at, come - at}, come == stream.size(), max_bytes);
    ++calls;
    at += span.skipped + span.size;
    result.skipped += span.skipped;
    if (span.size > 0) result.sizes.push_back(span.size);
    if (span.skipped + span.size == 0) {
      if (come == stream.size()) {
        ADD_FAILURE() << "no progress at the end";
        break;
      }
      come = std::min(stream.size(), come + piece);
    }
  }
  EXPECT_LE(splitter.examined(), ApvSplitter::max_examined(stream.size(), calls));
  return result;
}

TEST(ApvSplitter, AnyPieces) {
  const ApvBytes stream = small_stream(5);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{100}, stream.size()}) {
    const Split result = split(stream, piece);
    EXPECT_EQ(result.sizes, std::vector<size_t>(5, stream.size() / 5));
    EXPECT_EQ(result.skipped, 0u);
  }
}

TEST(ApvSplitter, FindsItsPlaceAgain) {
  const ApvBytes unit = small_stream(1);
  ApvBytes stream = {'a', 'P', 'v', '1', 'a', 'P', 'v', '1', 0, 9};
  stream.insert(stream.end(), unit.begin(), unit.end());
  const size_t lost = stream.size();
  stream.insert(stream.end(), unit.begin(), unit.end());
  stream[lost + 4] = 'b';  // this one is skipped
  stream.insert(stream.end(), unit.begin(), unit.end());
  for (const size_t piece : {size_t{1}, size_t{13}, stream.size()}) {
    const Split result = split(stream, piece);
    EXPECT_EQ(result.sizes, std::vector<size_t>(2, unit.size()));
    EXPECT_EQ(result.skipped, 10 + unit.size());
  }
}

TEST(ApvSplitter, SizeBeyondTheLimit) {
  ApvBytes stream = small_stream(2);
  stream[0] = 1;
  EXPECT_EQ(split(stream, 50).sizes, std::vector<size_t>(1, stream.size() / 2));
}

TEST(ApvSplitter, RandomBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    ApvBytes stream(random() % 400);
    for (uint8_t& byte : stream) byte = static_cast<uint8_t>("aPv1\0\0\0\1"[random() % 8]);
    (void)split(stream, 1 + random() % 50);
  }
}

}  // namespace
}  // namespace cudatransform::test
