// libcudatransform's filters of pictures: the quantized coefficients, tables and metadata of their
// results.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/cudatransform.h"
#include "jpeg/exif.h"
#include "jpeg/flip_file.h"
#include "jpeg/metadata.h"
#include "tests/core/support.h"
#include "tests/jpeg/streams.h"
#include "transform/coeffilter/flip.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::test {
namespace {

// In the order of CtDirection.
constexpr Orientation kOrientations[] = {{},
                                         {true, true, false},
                                         {false, true, true},
                                         {true, false, true},
                                         {false, true, false},
                                         {false, false, true},
                                         {true, false, false},
                                         {true, true, true}};

Pictures qcoefs_of(CtEngine* engine, const std::vector<Bytes>& files) {
  CtDecodeOptions options = {};
  options.struct_size = sizeof options;
  options.output = CT_OUTPUT_COEFFICIENTS;
  options.keep_metadata = 1;
  return decode(engine, files, options);
}

CtFlipOptions flip_options(CtDirection direction) {
  CtFlipOptions options = {};
  options.struct_size = sizeof options;
  options.direction = direction;
  return options;
}

Pictures flipped(CtEngine* engine, const CtPicture& picture, const CtFlipOptions& options) {
  Pictures made(1);
  CtError error;
  EXPECT_EQ(ct_flip(engine, &options, &picture, made.data(), &error), CT_OK) << error.text;
  return made;
}

std::vector<int16_t> component_qcoefs(CtEngine* engine, const CtPicture& picture, int c) {
  CtPicture one = {};
  one.components = 1;
  one.component[0] = picture.component[c];
  return numbers_of<int16_t>(contents(engine, one));
}

const uint16_t* table_of(const CtPicture& picture, int c) {
  return picture.tables[picture.component[c].table];
}

void expect_equal(CtEngine* engine, const CtPicture& a, const CtPicture& b) {
  EXPECT_EQ(std::pair(a.width, a.height), std::pair(b.width, b.height));
  EXPECT_EQ(a.color, b.color);
  ASSERT_EQ(a.components, b.components);
  for (int c = 0; c < a.components; ++c) {
    SCOPED_TRACE("component " + std::to_string(c));
    const CtComponent &one = a.component[c], &other = b.component[c];
    EXPECT_EQ(std::tuple(one.id, one.h_samp, one.v_samp, one.width, one.height),
              std::tuple(other.id, other.h_samp, other.v_samp, other.width, other.height));
    EXPECT_TRUE(std::equal(table_of(a, c), table_of(a, c) + 64, table_of(b, c)));
  }
  EXPECT_TRUE(contents(engine, a) == contents(engine, b));
}

std::vector<StreamKind> kinds() {
  return {{.width = 64, .height = 48},
          {.width = 1, .height = 1},
          {.width = 101, .height = 67},
          {.width = 90, .height = 50, .h = 2, .v = 1, .sets = 1},
          {.width = 50, .height = 90, .h = 1, .v = 2},
          {.width = 77, .height = 41, .components = 1},
          {.width = 70, .height = 37, .h = 1, .v = 1, .seed = 9},
          {.width = 90, .height = 50, .h = 4, .v = 1},
          {.width = 40, .height = 30, .components = 4, .h = 1, .v = 1},
          {.width = 40, .height = 30, .depth = 12}};
}

// What JpegFileFlipper, which is tested against libjpeg, makes of the file.
Bytes flipped_file(const Bytes& file, const FlipRequest& request) {
  JpegFileFlipper flipper;
  uint64_t pixels = 1 << 20;
  FlipPicture picture;
  EXPECT_TRUE(flipper.open(file, &pixels, &picture).ok());
  JpegBytes made;
  const Status status = flipper.flip(request, {}, &made);
  EXPECT_TRUE(status.ok()) << status.message;
  return {made.data(), made.data() + made.size()};
}

TEST(Filters, FlipsAsFiles) {
  const Engine engine(device);
  for (const StreamKind& kind : kinds()) {
    const Bytes file = make_stream(kind);
    const Pictures from = qcoefs_of(engine, {file});
    for (int direction = CT_FLIP_NONE; direction < CT_FLIP_AUTO; ++direction) {
      for (const bool trim : {false, true}) {
        SCOPED_TRACE(kind.text() + ", direction " + std::to_string(direction) +
                     (trim ? ", trim" : ""));
        const FlipRequest request = {.orientation = kOrientations[direction], .trim = trim};
        CtFlipOptions options = flip_options(CtDirection(direction));
        options.trim = trim;
        const Pictures wanted = qcoefs_of(engine, {flipped_file(file, request)});
        const Pictures made = flipped(engine, from[0], options);
        expect_equal(engine, made[0], wanted[0]);
        EXPECT_NE(made[0].block, from[0].block);
      }
    }
  }
}

TEST(Filters, MakesPixelsOfTheFile) {
  const Engine engine(device);
  for (const StreamKind& kind : kinds()) {
    const Bytes file = with(make_stream(kind), exif(6));
    const Pictures from = qcoefs_of(engine, {file});
    for (const CtOutput output : {CT_OUTPUT_RGB, CT_OUTPUT_GRAY}) {
      for (const int scale : {1, 2, 8}) {
        SCOPED_TRACE(kind.text() + ", scale " + std::to_string(scale));
        CtDecodeOptions options = decode_options(output);
        options.scale = scale;
        options.upright = scale == 2 ? 1 : 0;
        const Pictures wanted = decode(engine, {file}, options);
        Pictures made(1);
        const CtCode code = ct_pixels(engine, &options, &from[0], &made[0], nullptr);
        ASSERT_EQ(code, wanted[0].error.code) << wanted[0].error.text;
        EXPECT_EQ(made[0].width, wanted[0].width);
        EXPECT_EQ(contents(engine, made[0]), contents(engine, wanted[0]));
      }
    }
    CtPicture none;
    const CtDecodeOptions qcoefs = decode_options(CT_OUTPUT_COEFFICIENTS);
    EXPECT_EQ(ct_pixels(engine, &qcoefs, &from[0], &none, nullptr), CT_INVALID_ARGUMENT);
    EXPECT_EQ(none.block, nullptr);
  }
}

TEST(Filters, Crops) {
  const Engine engine(device);
  const Bytes file = make_stream({.width = 101, .height = 67});
  const Pictures from = qcoefs_of(engine, {file});
  for (const CtDirection direction : {CT_FLIP_NONE, CT_FLIP_90R}) {
    SCOPED_TRACE(direction);
    CtFlipOptions options = flip_options(direction);
    options.left = 17;
    options.top = 5;
    options.width = 40;
    const FlipRequest request = {
        .orientation = kOrientations[direction], .left = 17, .top = 5, .width = 40};
    const Pictures made = flipped(engine, from[0], options);
    EXPECT_EQ(made[0].width, 41);  // from the MCU at 16 on
    expect_equal(engine, made[0], qcoefs_of(engine, {flipped_file(file, request)})[0]);
  }
  CtPicture none;
  CtError error;
  CtFlipOptions options = flip_options(CT_FLIP_NONE);
  options.left = 101;
  EXPECT_EQ(ct_flip(engine, &options, &from[0], &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "crop-left 101 is outside the width of 101");
  EXPECT_STREQ(none.error.text, error.text);
  EXPECT_EQ(none.block, nullptr);
  options.direction = CtDirection(9);
  EXPECT_EQ(ct_flip(engine, &options, &from[0], &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "direction is one of CtDirection, not 9");
  options = flip_options(CT_FLIP_180);
  options.perfect = 1;
  EXPECT_EQ(ct_flip(engine, &options, &from[0], &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.text, "perfect"), nullptr) << error.text;
}

int orientation_of(const CtPicture& picture) {
  return exif_orientation({picture.markers, picture.markers_size});
}

TEST(Filters, MakesPicturesUpright) {
  const Engine engine(device);
  constexpr uint8_t kApp0 = 0xe0;
  const Bytes jfif_with_thumbnail = {'J', 'F', 'I', 'F', 0, 1, 2, 0, 0, 1, 0, 1, 1, 1, 9, 9, 9};
  const Bytes plain = make_stream({.width = 101, .height = 64});
  const Bytes file = with(with(plain, exif(6)), segment(kApp0, jfif_with_thumbnail));
  const Pictures from = qcoefs_of(engine, {file});
  ASSERT_EQ(orientation_of(from[0]), 6);
  const Pictures turned = flipped(engine, from[0], flip_options(CT_FLIP_90R));
  EXPECT_EQ(orientation_of(turned[0]), 6);
  EXPECT_STREQ(turned[0].error.text,
               "dropped metadata that cannot be transformed losslessly: JFIF thumbnail");
  const Pictures upright = flipped(engine, from[0], flip_options(CT_FLIP_AUTO));
  EXPECT_EQ(orientation_of(upright[0]), 1);
  EXPECT_EQ(upright[0].error.code, CT_OK);
  expect_equal(engine, upright[0], turned[0]);
  // At 90 degrees clockwise columns are mirrored, and there are no partial MCUs among 64 rows.
  const Pictures mirrored =
      qcoefs_of(engine, {with(make_stream({.width = 101, .height = 64}), exif(2))});
  EXPECT_STREQ(flipped(engine, mirrored[0], flip_options(CT_FLIP_AUTO))[0].error.text,
               "partial MCUs left untransformed at the right edge; trim drops them");
  // All of the picture stays as it is, with everything.
  const Pictures same = flipped(engine, from[0], flip_options(CT_FLIP_NONE));
  EXPECT_STREQ(same[0].error.text, "");
  EXPECT_TRUE(std::equal(from[0].markers, from[0].markers + from[0].markers_size, same[0].markers,
                         same[0].markers + same[0].markers_size));
}

TEST(Filters, FlipsAttachments) {
  const Engine engine(device);
  const Bytes file = make_stream({.width = 64, .height = 32}),
              other = make_stream({.width = 32, .height = 16, .seed = 3});
  Pictures from = qcoefs_of(engine, {file});
  const CtPlace place = {1, other.size()};
  Bytes behind(1, 0);
  behind.insert(behind.end(), other.begin(), other.end());
  from[0].trailing = behind.data();
  from[0].trailing_size = behind.size();
  from[0].attachments = &place;
  from[0].n_attachments = 1;
  const Pictures made = flipped(engine, from[0], flip_options(CT_FLIP_90L));
  EXPECT_STREQ(made[0].error.text, "");
  ASSERT_EQ(made[0].n_attachments, 1);
  const CtPlace& moved = made[0].attachments[0];
  EXPECT_EQ(moved.offset, 1u);
  ASSERT_LE(moved.offset + moved.size, made[0].trailing_size);
  const uint8_t* begin = made[0].trailing + moved.offset;
  EXPECT_TRUE(Bytes(begin, begin + moved.size) ==
              flipped_file(other, {.orientation = kOrientations[CT_FLIP_90L], .perfect = true}));
}

TEST(Filters, Requantizes) {
  const Engine engine(device);
  for (const StreamKind& kind : kinds()) {
    SCOPED_TRACE(kind.text());
    const Pictures from = qcoefs_of(engine, {make_stream(kind)});
    ASSERT_EQ(from[0].error.code, CT_OK) << from[0].error.text;
    CtPicture to;
    CtError error;
    ASSERT_EQ(ct_requantize(engine, 20, &from[0], &to, &error), CT_OK) << error.text;
    for (int c = 0; c < to.components; ++c) {
      const bool is_chroma = (to.color == CT_YCBCR || to.color == CT_YCCK) && (c == 1 || c == 2);
      const QuantTable quality = preset_table(
          QuantPreset::kAnnexK, is_chroma ? QuantComponent::kChroma : QuantComponent::kLuma, 20);
      const uint16_t *before = table_of(from[0], c), *after = table_of(to, c);
      for (int i = 0; i < 64; ++i) EXPECT_EQ(after[i], std::max(before[i], quality.q[i]));
      std::vector<int16_t> wanted = component_qcoefs(engine, from[0], c);
      for (size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = static_cast<int16_t>(std::clamp(
            std::round(double(wanted[i]) * before[i % 64] / after[i % 64]), -32768.0, 32767.0));
      EXPECT_TRUE(component_qcoefs(engine, to, c) == wanted);
    }
    ct_picture_clear(&to);
  }
  CtPicture none;
  const Pictures from = qcoefs_of(engine, {make_stream({})});
  EXPECT_EQ(ct_requantize(engine, 0, &from[0], &none, nullptr), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(none.error.text, "a quality is 1 to 100, not 0");
}

// Rows of blocks with gaps, in the caller's memory.
TEST(Filters, TakesPicturesOfTheCaller) {
  const Engine engine(device);
  const Pictures from = qcoefs_of(engine, {make_stream({.width = 101, .height = 67})});
  CtPicture own = from[0];
  own.block = own.rest = nullptr;
  std::vector<Buffer> memory;
  for (int c = 0; c < own.components; ++c) {
    CtComponent& component = own.component[c];
    const size_t row = static_cast<size_t>(component.blocks_w) * 128, pitch = row + 48;
    const Bytes qcoefs = bytes_of(component_qcoefs(engine, from[0], c));
    Bytes with_gaps(pitch * static_cast<size_t>(component.blocks_h), 0x77);
    for (size_t y = 0; y < static_cast<size_t>(component.blocks_h); ++y)
      std::copy_n(qcoefs.begin() + static_cast<ptrdiff_t>(y * row), row,
                  with_gaps.begin() + static_cast<ptrdiff_t>(y * pitch));
    component.data = memory.emplace_back(with_gaps).data();
    component.pitch = static_cast<int64_t>(pitch);
  }
  const CtFlipOptions options = flip_options(CT_FLIP_UR_LL);
  expect_equal(engine, flipped(engine, own, options)[0], flipped(engine, from[0], options)[0]);

  CtPicture none;
  CtError error;
  const auto text_of = [&](const CtPicture& wrong) {
    EXPECT_EQ(ct_flip(engine, &options, &wrong, &none, &error), CT_INVALID_ARGUMENT);
    return std::string(error.text);
  };
  CtPicture wrong = own;
  wrong.component[1].blocks_w = 8;
  EXPECT_EQ(text_of(wrong), "component 1 has 8x5 blocks, not 7x5");
  wrong = own;
  wrong.component[2].table = 4;
  EXPECT_EQ(text_of(wrong), "component 2 has table 4 of " + std::to_string(own.n_tables));
  wrong = own;
  wrong.components = 1;
  EXPECT_EQ(text_of(wrong), "a picture of coefficients has 3 components, not 1");
  wrong = own;
  wrong.component[0].h_samp = 1;
  EXPECT_NE(text_of(wrong), "");
  wrong = own;
  wrong.width = 0;
  EXPECT_EQ(text_of(wrong), "a picture of 0x67");
  EXPECT_EQ(ct_flip(engine, &options, nullptr, &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_EQ(ct_flip(engine, &options, &own, nullptr, &error), CT_INVALID_ARGUMENT);
}

float value_of_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const float fraction = static_cast<float>(bits & 1023) / 1024;
  const float size =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return bits >> 15 != 0 ? -size : size;
}

// The k-th coefficients of a component as doubles, from any type.
std::vector<double> plane_of(CtEngine* engine, const CtBands& bands, CtType type, int k) {
  const int size = type == CT_INT16 || type == CT_FLOAT16 ? 2 : 4;
  Bytes bytes(static_cast<size_t>(int64_t{bands.blocks_w} * bands.blocks_h * size));
  const auto row = static_cast<size_t>(bands.blocks_w * size);
  const auto* from = static_cast<const uint8_t*>(bands.data) + k * bands.blocks_h * bands.pitch;
  EXPECT_EQ(ct_copy_to_host(engine, bytes.data(), static_cast<int64_t>(row), from, bands.pitch, row,
                            static_cast<size_t>(bands.blocks_h), nullptr),
            CT_OK);
  std::vector<double> values;
  const auto append = [&](const auto& numbers) { values.assign(numbers.begin(), numbers.end()); };
  if (type == CT_INT16) append(numbers_of<int16_t>(bytes));
  if (type == CT_INT32) append(numbers_of<int32_t>(bytes));
  if (type == CT_FLOAT32) append(numbers_of<float>(bytes));
  if (type == CT_FLOAT16)
    for (const uint16_t half : numbers_of<uint16_t>(bytes)) values.push_back(value_of_half(half));
  return values;
}

TEST(Filters, MakesPlanesByFrequency) {
  const Engine engine(device);
  const Pictures from = qcoefs_of(engine, {make_stream({.width = 101, .height = 67})});
  for (const CtType type : {CT_INT16, CT_INT32, CT_FLOAT32, CT_FLOAT16}) {
    SCOPED_TRACE(type);
    CtPlanes planes;
    CtError error;
    ASSERT_EQ(ct_planes(engine, type, &from[0], &planes, &error), CT_OK) << error.text;
    ASSERT_EQ(planes.components, 3);
    for (int c = 0; c < planes.components; ++c) {
      const std::vector<int16_t> qcoefs = component_qcoefs(engine, from[0], c);
      for (int k = 0; k < 64; ++k) {
        const size_t natural = kNaturalOfZigzag[k];
        const std::vector<double> made = plane_of(engine, planes.bands[c], type, k);
        ASSERT_EQ(made.size() * 64, qcoefs.size());
        for (size_t i = 0; i < made.size(); ++i) {
          const int by = type == CT_INT16 ? 1 : table_of(from[0], c)[natural];
          double wanted = double(qcoefs[64 * i + natural]) * by;
          double most = 0;
          if (type == CT_FLOAT16) {
            wanted = std::clamp(wanted, -65504.0, 65504.0);
            most = std::fabs(wanted) / 2048;
          }
          EXPECT_NEAR(made[i], wanted, most);
        }
      }
    }
    ct_planes_clear(&planes);
  }
  CtPlanes none;
  EXPECT_EQ(ct_planes(engine, CT_UINT8, &from[0], &none, nullptr), CT_INVALID_ARGUMENT);
}

TEST(Filters, GivesTablesOfQualities) {
  uint16_t luma[64], chroma[64];
  CtError error;
  ASSERT_EQ(ct_quality_tables(CT_PRESET_ANNEX_K, 50, 2, 2, luma, chroma, &error), CT_OK);
  EXPECT_EQ(luma[0], 16);  // ITU-T T.81, tables K.1 and K.2
  EXPECT_EQ(luma[63], 99);
  EXPECT_EQ(chroma[1], 18);
  const std::pair<std::pair<int, int>, QuantComponent> samplings[] = {
      {{1, 1}, QuantComponent::kFullChroma},
      {{2, 1}, QuantComponent::kHalfChroma},
      {{1, 2}, QuantComponent::kHalfChroma},
      {{2, 2}, QuantComponent::kChroma},
      {{4, 1}, QuantComponent::kChroma}};
  for (const auto& [factors, component] : samplings) {
    const auto [h, v] = factors;
    ASSERT_EQ(ct_quality_tables(CT_PRESET_PERCEPTUAL, 80, h, v, luma, chroma, &error), CT_OK);
    const QuantTable wanted = preset_table(QuantPreset::kPerceptual, component, 80);
    EXPECT_TRUE(std::equal(chroma, chroma + 64, wanted.q)) << h << "x" << v;
  }
  EXPECT_EQ(ct_quality_tables(CT_PRESET_ANNEX_K, 101, 2, 2, luma, chroma, &error),
            CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "a quality is 1 to 100, not 101");
  EXPECT_EQ(ct_quality_tables(CT_PRESET_ANNEX_K, 50, 3, 1, luma, chroma, &error),
            CT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cudatransform::test
