// libcudatransform's encoder and writer: libjpeg's files, errors, what belongs to a picture.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/cudatransform.h"
#include "tests/core/support.h"
#include "tests/jpeg/libjpeg.h"
#include "tests/jpeg/streams.h"

namespace cudatransform::test {
namespace {

struct Pixels {
  int32_t width, height, channels;
  Bytes data;

  CtImage image() const {
    return {data.data(), int64_t{width} * channels, width, height, channels, 0};
  }
};

// A picture with edges, smooth parts and noise.
Pixels make_pixels(int32_t width, int32_t height, int32_t channels) {
  Pixels pixels = {width, height, channels, {}};
  std::mt19937 random(static_cast<uint32_t>(width * 100 + height));
  for (int32_t y = 0; y < height; ++y)
    for (int32_t x = 0; x < width; ++x)
      for (int32_t c = 0; c < channels; ++c)
        pixels.data.push_back(static_cast<uint8_t>(
            (x * (3 + c) + y * 2 + (x / 20 % 2) * 90 + static_cast<int32_t>(random() % 9)) % 256));
  return pixels;
}

std::vector<Pixels> all_pixels() {
  std::vector<Pixels> all;
  for (const int32_t channels : {1, 3})
    for (const auto& [width, height] :
         {std::pair{1, 1}, {8, 8}, {17, 9}, {100, 75}, {333, 211}, {16, 300}})
      all.push_back(make_pixels(width, height, channels));
  return all;
}

struct Files : std::vector<CtFile> {
  using std::vector<CtFile>::vector;
  ~Files() { ct_files_clear(data(), size()); }
};

Files encode(CtEngine* engine, const std::vector<Pixels>& pixels, const CtEncodeOptions& options) {
  std::vector<CtImage> images;
  for (const Pixels& each : pixels) images.push_back(each.image());
  Files files(images.size());
  CtError error;
  EXPECT_EQ(ct_encode(engine, &options, images.data(), images.size(), files.data(), &error), CT_OK)
      << error.text;
  return files;
}

Bytes bytes_of(const CtFile& file) { return {file.data, file.data + file.size}; }

CtEncodeOptions encode_options() {
  CtEncodeOptions options = {};
  options.struct_size = sizeof options;
  return options;
}

// What cjpeg makes of it.
Bytes libjpegs_file(const Pixels& pixels, const CtEncodeOptions& options) {
  Compressor libjpeg;
  libjpeg.open();
  libjpeg.image_width = static_cast<JDIMENSION>(pixels.width);
  libjpeg.image_height = static_cast<JDIMENSION>(pixels.height);
  libjpeg.input_components = pixels.channels;
  libjpeg.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&libjpeg);
  if (options.sampling == CT_SAMPLING_RGB && pixels.channels == 3)
    jpeg_set_colorspace(&libjpeg, JCS_RGB);
  jpeg_set_quality(&libjpeg, options.quality != 0 ? options.quality : 85, TRUE);
  if (pixels.channels == 3 && options.sampling != CT_SAMPLING_RGB) {
    const bool wide = options.sampling == CT_SAMPLING_420 || options.sampling == CT_SAMPLING_422;
    const bool high = options.sampling == CT_SAMPLING_420 || options.sampling == CT_SAMPLING_440;
    libjpeg.comp_info[0].h_samp_factor = wide ? 2 : 1;
    libjpeg.comp_info[0].v_samp_factor = high ? 2 : 1;
  }
  libjpeg.optimize_coding = options.optimize != 0;
  libjpeg.restart_interval = static_cast<unsigned>(options.restart);
  if (options.progressive != 0) jpeg_simple_progression(&libjpeg);
  jpeg_start_compress(&libjpeg, TRUE);
  for (int32_t y = 0; y < pixels.height; ++y) {
    auto* row = const_cast<JSAMPROW>(pixels.data.data()) + y * pixels.width * pixels.channels;
    jpeg_write_scanlines(&libjpeg, &row, 1);
  }
  return libjpeg.finish();
}

void expect_libjpegs_files(CtEngine* engine) {
  const std::vector<Pixels> pixels = all_pixels();
  std::vector<CtEncodeOptions> kinds(7, encode_options());
  kinds[1].sampling = CT_SAMPLING_444;
  kinds[1].quality = 100;
  kinds[2].sampling = CT_SAMPLING_422;
  kinds[2].quality = 1;
  kinds[3].sampling = CT_SAMPLING_440;
  kinds[3].restart = 5;
  kinds[4].sampling = CT_SAMPLING_RGB;
  kinds[5].optimize = 1;
  kinds[6].progressive = 1;
  for (size_t k = 0; k < kinds.size(); ++k) {
    const Files files = encode(engine, pixels, kinds[k]);
    for (size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE("kind " + std::to_string(k) + ", image " + std::to_string(i));
      ASSERT_EQ(files[i].error.code, CT_OK) << files[i].error.text;
      EXPECT_EQ(bytes_of(files[i]), libjpegs_file(pixels[i], kinds[k]));
    }
  }
}

TEST(Encode, FilesAreLibjpegs) { expect_libjpegs_files(Engine()); }

TEST(Encode, FilesOfTheDeviceAreLibjpegs) {
  if (device < 0) GTEST_SKIP() << "no device";
  expect_libjpegs_files(Engine(device));
}

// Sizes of files by the CPU, for pixels in any memory.
TEST(Encode, KeepsToSizes) {
  const Engine engine(device);
  const std::vector<Pixels> pixels = {make_pixels(200, 150, 3), make_pixels(150, 99, 1)};
  CtEncodeOptions options = encode_options();
  const Files whole = encode(engine, pixels, options);
  for (const CtQuantizer quantizer : {CT_QUANTIZER_ROUND, CT_QUANTIZER_RD}) {
    options.quantizer = quantizer;
    for (size_t i = 0; i < pixels.size(); ++i) {
      options.target_size = static_cast<int64_t>(whole[i].size * 2 / 3);
      const Files files = encode(engine, {pixels[i]}, options);
      ASSERT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
      EXPECT_STREQ(files[0].error.text, "");
      EXPECT_LE(static_cast<int64_t>(files[0].size), options.target_size);
      EXPECT_GE(static_cast<int64_t>(files[0].size), options.target_size * 9 / 10);
    }
  }
  // A file that fits stays as it is.
  options = encode_options();
  options.max_size = static_cast<int64_t>(whole[0].size);
  EXPECT_EQ(bytes_of(encode(engine, {pixels[0]}, options)[0]), bytes_of(whole[0]));
  options.max_size -= 1;
  EXPECT_LE(encode(engine, {pixels[0]}, options)[0].size, whole[0].size - 1);
  options.max_size = 100;
  const Files none = encode(engine, {pixels[0]}, options);
  EXPECT_EQ(none[0].error.code, CT_INVALID_ARGUMENT);
  EXPECT_NE(std::string(none[0].error.text).find("max_size=100 exceeded: "), std::string::npos);
  options.max_size = 0;
  options.target_size = 100;
  const Files least = encode(engine, {pixels[0]}, options);
  EXPECT_EQ(least[0].error.code, CT_OK);
  EXPECT_NE(std::string(least[0].error.text).find("target_size=100 exceeded: "), std::string::npos);
  options = encode_options();
  options.quality = 1;
  EXPECT_EQ(bytes_of(least[0]), bytes_of(encode(engine, {pixels[0]}, options)[0]));
}

TEST(Encode, RefusesSizesOfOtherFiles) {
  const Engine engine;
  const Pixels pixels = make_pixels(10, 10, 3);
  const CtImage image = pixels.image();
  const auto text_of = [&](const auto& change) {
    CtEncodeOptions options = encode_options();
    options.target_size = 1000;
    change(options);
    Files files(1);
    CtError error;
    EXPECT_EQ(ct_encode(engine, &options, &image, 1, files.data(), &error), CT_INVALID_ARGUMENT);
    return std::string(error.text);
  };
  EXPECT_EQ(text_of([](CtEncodeOptions& o) { o.progressive = 1; }),
            "target_size excludes progressive");
  EXPECT_EQ(text_of([](CtEncodeOptions& o) { o.arithmetic = 1; }),
            "target_size excludes arithmetic");
  EXPECT_EQ(text_of([](CtEncodeOptions& o) { o.max_size = 999; }),
            "target_size is at most max_size, not 1000");
  EXPECT_EQ(text_of([](CtEncodeOptions& o) { o.target_size = -1; }),
            "target_size is 0 or more, not -1");
  EXPECT_EQ(text_of([](CtEncodeOptions& o) { o.method = static_cast<CtMethod>(9); }),
            "method is one of CtMethod, not 9");
}

// Where the samples are the pixels, the file is that of the pixels.
TEST(Reencode, EqualsTheFileOfThePixels) {
  const Engine engine(device);
  for (const int channels : {1, 3}) {
    CtEncodeOptions options = encode_options();
    options.sampling = CT_SAMPLING_RGB;
    options.quality = 70;
    const Bytes first = bytes_of(encode(engine, {make_pixels(77, 45, channels)}, options)[0]);
    const Pictures qcoefs = decode(engine, {first}, decode_options(CT_OUTPUT_COEFFICIENTS));
    const Engine cpu;
    const Pictures pixels =
        decode(cpu, {first}, decode_options(channels == 1 ? CT_OUTPUT_GRAY : CT_OUTPUT_RGB));
    const CtImage image = {pixels[0].data, pixels[0].pitch, 77, 45, channels, 0};
    for (const CtQuantizer quantizer : {CT_QUANTIZER_ROUND, CT_QUANTIZER_DEAD_ZONE}) {
      options.quality = 40;
      options.quantizer = quantizer;
      Files files(2);
      ASSERT_EQ(ct_reencode(engine, &options, qcoefs.data(), 1, &files[0], nullptr), CT_OK);
      ASSERT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
      ASSERT_EQ(ct_encode(engine, &options, &image, 1, &files[1], nullptr), CT_OK);
      EXPECT_EQ(bytes_of(files[0]), bytes_of(files[1]));
    }
  }
}

TEST(Reencode, KeepsTheSampling) {
  const Engine engine;
  const Bytes file = make_stream({.width = 50, .height = 41, .h = 2, .v = 1});
  const Pictures pictures = decode(engine, {file}, decode_options(CT_OUTPUT_COEFFICIENTS));
  const CtEncodeOptions options = encode_options();
  Files files(1);
  ASSERT_EQ(ct_reencode(engine, &options, pictures.data(), 1, files.data(), nullptr), CT_OK);
  ASSERT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
  const Pictures again =
      decode(engine, {bytes_of(files[0])}, decode_options(CT_OUTPUT_COEFFICIENTS));
  EXPECT_EQ(again[0].component[0].h_samp, 2);
  EXPECT_EQ(again[0].component[0].v_samp, 1);
  EXPECT_EQ(again[0].width, 50);
}

using Factors = std::vector<std::pair<int32_t, int32_t>>;

// A file of smooth blocks.
Bytes file_of(CtColor color, const Factors& factors, int32_t width, int32_t height) {
  const auto part = [](int32_t size, int32_t factor, int32_t most) {
    return (size * factor + most - 1) / most;
  };
  CtPicture picture = {};
  picture.width = width;
  picture.height = height;
  picture.depth = 8;
  picture.color = color;
  picture.components = static_cast<int32_t>(factors.size());
  picture.n_tables = 2;
  std::fill_n(picture.tables[0], 64, uint16_t{7});
  std::fill_n(picture.tables[1], 64, uint16_t{11});
  std::mt19937 random(static_cast<uint32_t>(width));
  std::vector<std::vector<int16_t>> qcoefs(factors.size());
  int32_t most_h = 1, most_v = 1;
  for (const auto& [h, v] : factors) most_h = std::max(most_h, h), most_v = std::max(most_v, v);
  for (size_t c = 0; c < factors.size(); ++c) {
    const auto [h, v] = factors[c];
    CtComponent& to = picture.component[c];
    to = {.id = static_cast<int32_t>(c + 1), .h_samp = h, .v_samp = v};
    to.width = part(width, h, most_h);
    to.height = part(height, v, most_v);
    to.blocks_w = part(to.width, 1, 8);
    to.blocks_h = part(to.height, 1, 8);
    to.table = c > 0 ? 1 : 0;
    qcoefs[c].resize(static_cast<size_t>(to.blocks_w * to.blocks_h) * 64);
    for (size_t i = 0; i < qcoefs[c].size(); ++i)
      if (i % 64 < 20) qcoefs[c][i] = static_cast<int16_t>(static_cast<int>(random() % 13) - 6);
    to.data = qcoefs[c].data();
    to.pitch = int64_t{to.blocks_w} * 64 * 2;
  }
  const CtEncodeOptions options = encode_options();
  Files files(1);
  EXPECT_EQ(ct_write(Engine(), &options, &picture, 1, files.data(), nullptr), CT_OK);
  EXPECT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
  return bytes_of(files[0]);
}

// The file of a picture whose components are transformed one by one.
Bytes reencoded_by_parts(const Bytes& file, const CtEncodeOptions& options) {
  const Engine engine;
  const Pictures pictures = decode(engine, {file}, decode_options(CT_OUTPUT_COEFFICIENTS));
  CtPicture picture = pictures[0];
  const CtPicture& from = pictures[0];
  picture.n_tables = from.color == CT_YCBCR ? 2 : 1;
  EXPECT_EQ(ct_quality_tables(options.preset, options.quality, 2, 2, picture.tables[0],
                              picture.tables[1], nullptr),
            CT_OK);
  std::vector<Bytes> qcoefs(static_cast<size_t>(from.components));
  for (int c = 0; c < from.components; ++c) {
    const CtComponent& old = from.component[c];
    CtComponent& made = picture.component[c];
    Bytes samples(static_cast<size_t>(old.width * old.height));
    const CtSamples plane = {samples.data(), old.width, old.width, old.height};
    CtDctOptions how = {.struct_size = sizeof how, .table = from.tables[old.table]};
    const CtCoefficients before = {old.data, old.pitch, old.blocks_w, old.blocks_h};
    EXPECT_EQ(ct_idct(engine, &how, &before, &plane, nullptr), CT_OK);
    Bytes& to = qcoefs[static_cast<size_t>(c)];
    to.resize(static_cast<size_t>(old.blocks_w * old.blocks_h) * 128);
    made.data = to.data();
    made.pitch = int64_t{old.blocks_w} * 128;
    made.table = c > 0 ? picture.n_tables - 1 : 0;
    how.table = picture.tables[made.table];
    const CtCoefficients after = {made.data, made.pitch, made.blocks_w, made.blocks_h};
    EXPECT_EQ(ct_dct(engine, &how, &plane, &after, nullptr), CT_OK);
  }
  Files files(1);
  EXPECT_EQ(ct_write(engine, &options, &picture, 1, files.data(), nullptr), CT_OK);
  EXPECT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
  return bytes_of(files[0]);
}

CtFile reencode(CtEngine* engine, const Bytes& file, const CtEncodeOptions& options) {
  const Pictures qcoefs = decode(engine, {file}, decode_options(CT_OUTPUT_COEFFICIENTS));
  EXPECT_EQ(qcoefs[0].error.code, CT_OK) << qcoefs[0].error.text;
  CtFile made;
  EXPECT_EQ(ct_reencode(engine, &options, qcoefs.data(), 1, &made, nullptr), CT_OK);
  return made;
}

TEST(Reencode, TakesAnySamplingFactors) {
  const Engine engine(device);
  const Factors all[] = {{{1, 2}, {1, 1}, {1, 2}}, {{4, 4}, {1, 1}, {1, 1}},
                         {{4, 2}, {1, 1}, {1, 1}}, {{1, 1}, {2, 2}, {1, 2}},
                         {{3, 2}, {1, 2}, {3, 1}}, {{2, 2}, {3, 1}, {1, 1}}};
  for (const Factors& factors : all)
    for (const CtColor color : {CT_YCBCR, CT_RGB})
      for (const auto& [width, height] : {std::pair{77, 45}, {1, 1}, {8, 33}})
        for (const CtPreset preset : {CT_PRESET_ANNEX_K, CT_PRESET_PERCEPTUAL}) {
          const Bytes file = file_of(color, factors, width, height);
          CtEncodeOptions options = encode_options();
          options.quality = 60;
          options.preset = preset;
          options.optimize = width % 2;
          Files made(1);
          made[0] = reencode(engine, file, options);
          ASSERT_EQ(made[0].error.code, CT_OK) << made[0].error.text;
          EXPECT_EQ(bytes_of(made[0]), reencoded_by_parts(file, options))
              << factors[0].first << "x" << factors[0].second << " " << width << "x" << height;
        }
}

TEST(Reencode, KeepsToSizesWithAnySamplingFactors) {
  const Bytes file = file_of(CT_YCBCR, {{1, 2}, {1, 1}, {1, 2}}, 177, 145);
  CtEncodeOptions options = encode_options();
  options.target_size = static_cast<int64_t>(file.size() / 3);
  Files files(1);
  files[0] = reencode(Engine(device), file, options);
  ASSERT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
  EXPECT_LE(static_cast<int64_t>(files[0].size), options.target_size);
  EXPECT_GE(static_cast<int64_t>(files[0].size), options.target_size * 9 / 10);
}

TEST(Reencode, RefusesWhatItHasNoSamplesOf) {
  const Engine engine(device);
  const auto text_of = [&](const Bytes& file, int64_t target_size) {
    CtEncodeOptions options = encode_options();
    options.target_size = target_size;
    Files files(1);
    files[0] = reencode(engine, file, options);
    EXPECT_EQ(files[0].error.code, CT_UNSUPPORTED);
    return std::string(files[0].error.text);
  };
  EXPECT_EQ(text_of(make_stream({.width = 40, .height = 24, .depth = 12}), 0),
            "re-encoding samples of 12 bits is not supported, expected 8");
  EXPECT_EQ(text_of(file_of(CT_TWO, {{2, 1}, {1, 1}}, 40, 24), 0),
            "re-encoding samples of 2 components is not supported, expected 1 or 3");
  EXPECT_EQ(text_of(file_of(CT_CMYK, {{1, 1}, {1, 1}, {1, 1}, {1, 1}}, 40, 24), 0),
            "re-encoding samples of 4 components is not supported, expected 1 or 3");
  EXPECT_EQ(text_of(file_of(CT_YCBCR, {{4, 4}, {1, 1}, {1, 1}}, 40, 24), 900),
            "sampling factors 4x4, 1x1, 1x1 of a scan, expected at most 10 blocks in an MCU");
}

TEST(Encode, TakesPixelsOfTheDevice) {
  if (device < 0) GTEST_SKIP() << "no device";
  const Engine engine(device);
  const Bytes file = make_stream({.width = 120, .height = 90});
  const CtDecodeOptions decode = {.struct_size = sizeof decode};
  const CtSource source = {file.data(), file.size(), nullptr};
  CtPicture picture = {};
  ASSERT_EQ(ct_decode(engine, &decode, &source, 1, &picture, nullptr), CT_OK);
  ASSERT_EQ(picture.error.code, CT_OK) << picture.error.text;
  Pixels host = {picture.width, picture.height, 3, Bytes(120 * 90 * 3)};
  ASSERT_EQ(
      ct_copy_to_host(engine, host.data.data(), 360, picture.data, picture.pitch, 360, 90, nullptr),
      CT_OK);
  const CtImage image = {picture.data, picture.pitch, picture.width, picture.height, 3, 1};
  for (const int32_t optimize : {0, 1}) {
    CtEncodeOptions options = encode_options();
    options.optimize = optimize;
    Files files(1);
    ASSERT_EQ(ct_encode(engine, &options, &image, 1, files.data(), nullptr), CT_OK);
    ASSERT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
    EXPECT_EQ(bytes_of(files[0]), libjpegs_file(host, options));
    EXPECT_EQ(files[0].by_device, 1 - optimize);
  }
  ct_picture_clear(&picture);
}

TEST(Encode, RefusesWrongImages) {
  const Engine engine(device);
  Pixels pixels = make_pixels(10, 10, 3);
  CtImage images[5] = {pixels.image(), pixels.image(), pixels.image(), pixels.image(),
                       pixels.image()};
  images[0].channels = 4;
  images[1].width = 0;
  images[2].height = 70000;
  images[3].pitch = 29;
  Files files(5);
  const CtEncodeOptions options = encode_options();
  ASSERT_EQ(ct_encode(engine, &options, images, 5, files.data(), nullptr), CT_OK);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(files[i].error.code, CT_INVALID_ARGUMENT) << i;
  EXPECT_EQ(files[4].error.code, CT_OK);
  EXPECT_STREQ(files[0].error.text, "pixels have 1 or 3 channels, not 4");
  CtEncodeOptions wrong = encode_options();
  wrong.quality = 101;
  CtError error;
  Files none(5);
  EXPECT_EQ(ct_encode(engine, &wrong, images, 5, none.data(), &error), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "quality is 1 to 100, not 101");
}

// A file with a comment and trailing data.
Bytes file_with_rest() {
  Bytes file = make_stream({.width = 50, .height = 40});
  const std::string comment = "hello";
  const uint8_t segment[] = {0xff, 0xfe, 0, static_cast<uint8_t>(2 + comment.size())};
  file.insert(file.begin() + 2, comment.begin(), comment.end());
  file.insert(file.begin() + 2, segment, segment + 4);
  file.insert(file.end(), 20, 0x55);
  return file;
}

TEST(Write, GivesThePictureBack) {
  const Engine engine(device);
  for (const StreamKind& kind :
       {StreamKind{.width = 64, .height = 48}, StreamKind{.width = 33, .height = 7, .h = 2, .v = 1},
        StreamKind{.width = 20, .height = 20, .components = 1},
        StreamKind{.width = 40, .height = 24, .depth = 12}}) {
    const Bytes file = make_stream(kind);
    const Pictures pictures = decode(engine, {file}, decode_options(CT_OUTPUT_COEFFICIENTS));
    ASSERT_EQ(pictures[0].error.code, CT_OK) << pictures[0].error.text;
    const CtEncodeOptions options = encode_options();
    Files files(1);
    ASSERT_EQ(ct_write(engine, &options, pictures.data(), 1, files.data(), nullptr), CT_OK);
    ASSERT_EQ(files[0].error.code, CT_OK) << files[0].error.text;
    const Pictures again =
        decode(engine, {bytes_of(files[0])}, decode_options(CT_OUTPUT_COEFFICIENTS));
    EXPECT_EQ(contents(engine, again[0]), contents(engine, pictures[0]));
    EXPECT_EQ(std::memcmp(again[0].tables, pictures[0].tables, sizeof again[0].tables), 0);
  }
}

TEST(Write, KeepsWhatBelongsToThePicture) {
  const Engine engine;
  CtDecodeOptions options = decode_options(CT_OUTPUT_COEFFICIENTS);
  options.keep_metadata = 1;
  const Pictures pictures = decode(engine, {file_with_rest()}, options);
  ASSERT_EQ(pictures[0].error.code, CT_OK) << pictures[0].error.text;
  EXPECT_EQ(pictures[0].markers_size, 9u);
  EXPECT_EQ(pictures[0].trailing_size, 20u);
  for (const int32_t leaves : {0, 1}) {
    CtEncodeOptions how = encode_options();
    how.leave_metadata = leaves;
    Files files(1);
    ASSERT_EQ(ct_write(engine, &how, pictures.data(), 1, files.data(), nullptr), CT_OK);
    const Pictures again = decode(engine, {bytes_of(files[0])}, options);
    constexpr size_t kJfif = 18;  // which a file without one gets
    EXPECT_EQ(again[0].markers_size, kJfif + (leaves != 0 ? 0 : 9));
    EXPECT_EQ(again[0].trailing_size, leaves != 0 ? 0u : 20u);
  }
}

TEST(Write, RefusesContradictions) {
  const Engine engine;
  const Pictures pictures = decode(engine, {make_stream({.width = 64, .height = 48})},
                                   decode_options(CT_OUTPUT_COEFFICIENTS));
  const CtEncodeOptions options = encode_options();
  const auto text_of = [&](const auto& change) {
    CtPicture picture = pictures[0];
    change(picture);
    Files files(1);
    EXPECT_EQ(ct_write(engine, &options, &picture, 1, files.data(), nullptr), CT_OK);
    EXPECT_NE(files[0].error.code, CT_OK);
    return std::string(files[0].error.text);
  };
  EXPECT_EQ(text_of([](CtPicture& p) { p.components = 1; }),
            "a picture of coefficients has 3 components, not 1");
  EXPECT_EQ(text_of([](CtPicture& p) { p.n_tables = 5; }), "there are 1 to 4 tables, not 5");
  EXPECT_EQ(text_of([](CtPicture& p) { std::fill_n(p.tables[0], 64, uint16_t{0}); }),
            "all entries of the quantization table of component 0 are 0");
  EXPECT_NE(text_of([](CtPicture& p) { p.component[1].blocks_w = 1; }), "");
  EXPECT_NE(text_of([](CtPicture& p) { p.component[2].table = -1; }), "");
  EXPECT_NE(text_of([](CtPicture& p) { p.component[0].data = nullptr; }), "");
  EXPECT_NE(text_of([](CtPicture& p) { p.width = 70000; }), "");
  const CtPlace place = {0, 100};
  EXPECT_NE(text_of([&](CtPicture& p) {
              p.attachments = &place;
              p.n_attachments = 1;
            }),
            "");
}

}  // namespace
}  // namespace cudatransform::test
