// libcudatransform's decoder: batches of all kinds of files, errors, limits, forks.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cudatransform.h"
#include "tests/core/support.h"
#include "tests/jpeg/libjpeg.h"
#include "tests/jpeg/streams.h"

namespace cudatransform::test {
namespace {

// Sound files of many kinds.
std::vector<Bytes> sound_files() {
  std::vector<Bytes> files;
  const StreamKind kinds[] = {
      {.width = 64, .height = 64},
      {.width = 1, .height = 1},
      {.width = 333, .height = 211, .restart_interval = 3},
      {.width = 300, .height = 200, .h = 2, .v = 1, .shape = TableShape::kRandom},
      {.width = 200, .height = 300, .h = 1, .v = 2, .sets = 1},
      {.width = 96, .height = 50, .h = 1, .v = 1, .scans = 3},
      {.width = 500, .height = 375, .shape = TableShape::kLongest, .seed = 7},
      {.width = 129, .height = 77, .components = 1},
  };
  for (const StreamKind& kind : kinds) files.push_back(make_stream(kind));
  return files;
}

TEST(Decode, EqualsTheCpuOnTheDevice) {
  if (device < 0) GTEST_SKIP() << "no device";
  const Engine cpu, gpu(device);
  std::vector<Bytes> files = sound_files();
  files.push_back(Bytes(100, 7));                                     // no JPEG file
  files.push_back(Bytes(files[2].begin(), files[2].begin() + 2000));  // cut off
  for (const CtOutput output : {CT_OUTPUT_RGB, CT_OUTPUT_GRAY, CT_OUTPUT_COEFFICIENTS}) {
    for (const int scale : {1, 2, 8}) {
      if (output == CT_OUTPUT_COEFFICIENTS && scale > 1) continue;
      CtDecodeOptions options = decode_options(output);
      options.scale = scale;
      const Pictures there = decode(gpu, files, options), here = decode(cpu, files, options);
      for (size_t i = 0; i < files.size(); ++i) {
        SCOPED_TRACE("file " + std::to_string(i) + ", scale " + std::to_string(scale));
        EXPECT_EQ(there[i].error.code, here[i].error.code);
        EXPECT_STREQ(there[i].error.text, here[i].error.text);
        EXPECT_EQ(contents(gpu, there[i]), contents(cpu, here[i]));
        EXPECT_EQ(there[i].by_device, there[i].error.code == CT_OK ? 1 : 0);
      }
    }
  }
}

TEST(Decode, AnImageIsThePicture) {
  const Engine engine(device);
  std::vector<Bytes> files = sound_files();
  files.push_back(Bytes(100, 7));                                     // no JPEG file
  files.push_back(Bytes(files[2].begin(), files[2].begin() + 2000));  // cut off
  for (const CtOutput output : {CT_OUTPUT_RGB, CT_OUTPUT_GRAY}) {
    const CtDecodeOptions options = decode_options(output);
    const Pictures pictures = decode(engine, files, options);
    for (size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE("file " + std::to_string(i));
      const CtSource source = source_of(files[i]);
      CtImage image = {};
      Pictures one(1);
      CtError error;
      ASSERT_EQ(ct_decode_image(engine, &options, &source, &image, &one[0].block, &error), CT_OK);
      EXPECT_EQ(error.code, pictures[i].error.code);
      EXPECT_STREQ(error.text, pictures[i].error.text);
      ASSERT_EQ(one[0].block != nullptr, error.code == CT_OK);
      if (error.code != CT_OK) continue;
      EXPECT_EQ(image.on_device, device >= 0 ? 1 : 0);
      one[0].data = const_cast<void*>(image.data);
      one[0].pitch = image.pitch;
      std::tie(one[0].width, one[0].height, one[0].channels) =
          std::tie(image.width, image.height, image.channels);
      EXPECT_EQ(contents(engine, one[0]), contents(engine, pictures[i]));
    }
  }
  CtDecodeOptions options = decode_options(CT_OUTPUT_COEFFICIENTS);
  const CtSource source = source_of(files[0]);
  CtImage image;
  CtBlock* block = nullptr;
  CtError error;
  const auto code_of = [&](const CtSource* from, CtImage* to) {
    return ct_decode_image(engine, &options, from, to, &block, &error);
  };
  EXPECT_EQ(code_of(&source, &image), CT_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(error.text, "an image has pixels"), nullptr) << error.text;
  options.struct_size = sizeof options.struct_size;  // without an output
  EXPECT_EQ(code_of(&source, &image), CT_OK);
  ct_block_unref(std::exchange(block, nullptr));
  options = decode_options(CT_OUTPUT_RGB);
  EXPECT_EQ(code_of(nullptr, &image), CT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(&source, nullptr), CT_INVALID_ARGUMENT);
  options.scale = 3;
  EXPECT_EQ(code_of(&source, &image), CT_INVALID_ARGUMENT);
  EXPECT_EQ(block, nullptr);
}

TEST(Decode, QcoefsAreLibjpegs) {
  const Engine engine;
  const std::vector<Bytes> files = sound_files();
  const Pictures pictures = decode(engine, files, decode_options(CT_OUTPUT_COEFFICIENTS));
  for (size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(pictures[i].error.code, CT_OK) << pictures[i].error.text;
    Decompressor libjpeg(files[i]);
    jvirt_barray_ptr* arrays = jpeg_read_coefficients(&libjpeg);
    Bytes theirs;
    for (int c = 0; c < pictures[i].components; ++c) {
      const std::vector<int16_t> qcoefs = component_qcoefs(libjpeg, arrays[c], c);
      const auto* bytes = reinterpret_cast<const uint8_t*>(qcoefs.data());
      theirs.insert(theirs.end(), bytes, bytes + qcoefs.size() * sizeof qcoefs[0]);
    }
    EXPECT_EQ(contents(engine, pictures[i]), theirs);
  }
}

TEST(Decode, BatchesComeInOrder) {
  const Engine engine(device, 3);
  const std::vector<Bytes> files = sound_files();
  CtDecodeOptions options = decode_options(CT_OUTPUT_GRAY);
  options.batches = 4;
  CtDecoder* decoder = nullptr;
  ASSERT_EQ(ct_decoder_new(engine, &options, &decoder, nullptr), CT_OK);
  constexpr size_t kBatches = 40;
  std::thread pusher([&] {
    for (size_t b = 0; b < kBatches; ++b) {
      std::vector<CtSource> sources(1 + b % 3);
      for (size_t i = 0; i < sources.size(); ++i)
        sources[i] = source_of(files[(b + i) % files.size()]);
      EXPECT_EQ(ct_decoder_push(decoder, sources.data(), sources.size(), nullptr), CT_OK);
    }
  });
  for (size_t b = 0; b < kBatches; ++b) {
    Pictures pictures(1 + b % 3);
    int32_t is_done = 0;
    while (is_done == 0) {
      // Until something has been pushed there is nothing to wait for.
      const CtCode code =
          ct_decoder_pull(decoder, pictures.data(), pictures.size(), 50, &is_done, nullptr);
      if (code != CT_OK) std::this_thread::yield();
    }
    for (size_t i = 0; i < pictures.size(); ++i) {
      Decompressor libjpeg(files[(b + i) % files.size()]);
      EXPECT_EQ(pictures[i].width, static_cast<int32_t>(libjpeg.image_width));
      EXPECT_EQ(pictures[i].height, static_cast<int32_t>(libjpeg.image_height));
    }
  }
  pusher.join();
  // Batches under way are dropped.
  const CtSource source = source_of(files[2]);
  EXPECT_EQ(ct_decoder_push(decoder, &source, 1, nullptr), CT_OK);
  ct_decoder_free(decoder);
}

TEST(Decode, StacksPicturesOfOneSize) {
  const Engine engine(device);
  CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  options.stack = 1;
  const Bytes file = make_stream({.width = 75, .height = 41});
  const Pictures alike = decode(engine, {file, file, file}, options);
  const auto at = [](const CtPicture& picture) { return static_cast<uint8_t*>(picture.data); };
  for (size_t i = 0; i < alike.size(); ++i) {
    EXPECT_EQ(alike[i].pitch, 75 * 3);
    EXPECT_EQ(at(alike[i]) - at(alike[0]), static_cast<ptrdiff_t>(i) * 75 * 41 * 3);
    EXPECT_EQ(alike[i].block, alike[0].block);
  }
  const Pictures mixed = decode(engine, {file, make_stream({.width = 74, .height = 41})}, options);
  EXPECT_NE(mixed[0].block, mixed[1].block);
}

// Of a picture's pixels, side by side.
Bytes part_of(const Bytes& pixels, int32_t width, int32_t channels, const CtCrop& crop) {
  Bytes part;
  for (int32_t y = crop.top; y < crop.bottom; ++y) {
    const auto row = pixels.begin() + ptrdiff_t{y} * width * channels;
    part.insert(part.end(), row + ptrdiff_t{crop.left} * channels,
                row + ptrdiff_t{crop.right} * channels);
  }
  return part;
}

CtCrop random_crop(std::minstd_rand& random, const CtPicture& whole) {
  const auto below = [&](int32_t side) {
    return static_cast<int32_t>(random() % static_cast<unsigned>(side));
  };
  CtCrop crop;
  crop.left = below(whole.width);
  crop.top = below(whole.height);
  crop.right = crop.left + 1 + below(whole.width - crop.left);
  crop.bottom = crop.top + 1 + below(whole.height - crop.top);
  return crop;
}

TEST(Decode, OutputsCrops) {
  const Engine engine(device);
  const std::vector<Bytes> files = sound_files();
  std::minstd_rand random(1);
  for (const CtOutput output : {CT_OUTPUT_RGB, CT_OUTPUT_GRAY}) {
    for (const int scale : {1, 2, 4, 8}) {
      CtDecodeOptions options = decode_options(output);
      options.scale = scale;
      const Pictures whole = decode(engine, files, options);
      options.stack = scale == 2 ? 1 : 0;  // it has no effect
      for (int round = 0; round < 10; ++round) {
        std::vector<CtSource> sources;
        for (size_t i = 0; i < files.size(); ++i) {
          CtSource source = source_of(files[i]);
          source.crop = random_crop(random, whole[i]);
          sources.push_back(source);
        }
        Pictures parts(files.size());
        ASSERT_EQ(
            ct_decode(engine, &options, sources.data(), sources.size(), parts.data(), nullptr),
            CT_OK);
        for (size_t i = 0; i < files.size(); ++i) {
          SCOPED_TRACE("file " + std::to_string(i) + ", scale " + std::to_string(scale));
          const CtCrop& crop = sources[i].crop;
          ASSERT_EQ(parts[i].error.code, CT_OK) << parts[i].error.text;
          EXPECT_EQ(parts[i].width, crop.right - crop.left);
          EXPECT_EQ(parts[i].height, crop.bottom - crop.top);
          EXPECT_EQ(contents(engine, parts[i]),
                    part_of(contents(engine, whole[i]), whole[i].width, whole[i].channels, crop));
        }
      }
    }
  }
}

// ---- By the Exif orientation ----

// Where a pixel of the upright picture is in the file's, of this width and height (CP-3451, 4.6.4).
void place_in_file(int orientation, int32_t width, int32_t height, int32_t* x, int32_t* y) {
  const int32_t u = *x, v = *y, right = width - 1, bottom = height - 1;
  const std::pair<int32_t, int32_t> places[] = {
      {u, v}, {right - u, v},  {right - u, bottom - v}, {u, bottom - v},
      {v, u}, {v, bottom - u}, {right - v, bottom - u}, {right - v, u}};
  std::tie(*x, *y) = places[orientation - 1];
}

Bytes upright_of(const Bytes& pixels, const CtPicture& plain, int orientation) {
  const auto channels = static_cast<size_t>(plain.channels);
  const int32_t width = orientation > 4 ? plain.height : plain.width;
  const int32_t height = orientation > 4 ? plain.width : plain.height;
  Bytes made;
  for (int32_t i = 0; i < width * height; ++i) {
    int32_t x = i % width, y = i / width;
    place_in_file(orientation, plain.width, plain.height, &x, &y);
    const auto at = pixels.begin() + ptrdiff_t{y * plain.width + x} * plain.channels;
    made.insert(made.end(), at, at + static_cast<ptrdiff_t>(channels));
  }
  return made;
}

// All orientations in a batch of pictures of different sizes; whole pictures, and crops of them.
TEST(Decode, MakesPixelsUpright) {
  const Engine cpu, engine(device);
  std::minstd_rand random(2);
  std::vector<Bytes> files;
  std::vector<int> orientations;
  for (const Bytes& file : sound_files())
    for (int orientation = files.empty() ? 0 : 1; orientation <= 8; ++orientation) {
      files.push_back(with(file, exif(static_cast<uint8_t>(orientation))));
      orientations.push_back(std::max(orientation, 1));
    }
  struct Kind {
    CtOutput output;
    int32_t scale, stack;
  };
  // Pictures have different sizes: none is stacked.
  for (const Kind& kind : {Kind{CT_OUTPUT_RGB, 1, 1}, Kind{CT_OUTPUT_RGB, 4, 0},
                           Kind{CT_OUTPUT_GRAY, 1, 0}, Kind{CT_OUTPUT_GRAY, 8, 1}}) {
    CtDecodeOptions options = decode_options(kind.output);
    options.scale = kind.scale;
    const Pictures plain = decode(cpu, files, options);
    options.upright = 1;
    options.stack = kind.stack;
    std::vector<CtSource> sources;
    std::vector<Bytes> wanted;
    const Pictures whole = decode(engine, files, options);
    for (size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE("file " + std::to_string(i) + ", scale " + std::to_string(kind.scale));
      wanted.push_back(upright_of(contents(cpu, plain[i]), plain[i], orientations[i]));
      ASSERT_EQ(whole[i].error.code, CT_OK) << whole[i].error.text;
      EXPECT_EQ(whole[i].width, orientations[i] > 4 ? plain[i].height : plain[i].width);
      EXPECT_EQ(contents(engine, whole[i]), wanted[i]);
      sources.push_back(source_of(files[i]));
      sources[i].crop = random_crop(random, whole[i]);
    }
    Pictures parts(files.size());
    ASSERT_EQ(ct_decode(engine, &options, sources.data(), sources.size(), parts.data(), nullptr),
              CT_OK);
    for (size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE("file " + std::to_string(i) + ", scale " + std::to_string(kind.scale));
      ASSERT_EQ(parts[i].error.code, CT_OK) << parts[i].error.text;
      EXPECT_EQ(parts[i].height, sources[i].crop.bottom - sources[i].crop.top);
      EXPECT_EQ(contents(engine, parts[i]),
                part_of(wanted[i], whole[i].width, whole[i].channels, sources[i].crop));
    }
  }
}

TEST(Decode, StacksUprightPicturesOfOneSize) {
  const Engine engine(device);
  CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  options.stack = options.upright = 1;
  const Bytes standing = make_stream({.width = 41, .height = 75});
  const Bytes lying = with(make_stream({.width = 75, .height = 41}), exif(6));
  const Pictures made = decode(engine, {standing, lying, standing}, options);
  options.stack = 0;
  const Pictures alone = decode(engine, {standing, lying, standing}, options);
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].block, made[0].block);
    EXPECT_EQ(static_cast<uint8_t*>(made[i].data) - static_cast<uint8_t*>(made[0].data),
              static_cast<ptrdiff_t>(i) * 75 * 41 * 3);
    EXPECT_EQ(contents(engine, made[i]), contents(engine, alone[i]));
  }
  options.upright = 0;
  options.stack = 1;
  const Pictures mixed = decode(engine, {standing, lying}, options);
  EXPECT_NE(mixed[0].block, mixed[1].block);
}

// The bytes that a file's picture needs, by the words of an error.
uint64_t bytes_needed(CtEngine* engine, const Bytes& file, CtDecodeOptions options) {
  options.max_memory = 1;
  const std::string words = decode(engine, {file}, options)[0].error.text;
  const std::string needs = "picture needs ";
  const size_t at = words.find(needs);
  return at == std::string::npos ? 0 : std::stoull(words.substr(at + needs.size()));
}

// What is transposed needs memory before and after, others no more than without the option.
TEST(Decode, LimitsUprightPictures) {
  const Engine engine(device);
  const Bytes plain = make_stream({.width = 100, .height = 60}), lying = with(plain, exif(8));
  CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  const uint64_t least = bytes_needed(engine, plain, options);
  options.upright = 1;
  EXPECT_EQ(bytes_needed(engine, plain, options), least);
  options.max_memory = bytes_needed(engine, lying, options);
  EXPECT_GE(options.max_memory, least + 100 * 60 * 3);
  EXPECT_EQ(decode(engine, {lying}, options)[0].error.code, CT_OK);
  --options.max_memory;
  EXPECT_EQ(decode(engine, {lying}, options)[0].error.code, CT_LIMIT);
  // A structure that ends before it has no such option.
  options.struct_size = offsetof(CtDecodeOptions, upright);
  EXPECT_EQ(decode(engine, {lying}, options)[0].width, 100);
  options = decode_options(CT_OUTPUT_COEFFICIENTS);
  options.upright = 1;
  CtDecoder* decoder = nullptr;
  EXPECT_EQ(ct_decoder_new(engine, &options, &decoder, nullptr), CT_INVALID_ARGUMENT);
}

TEST(Decode, RefusesWrongCrops) {
  const Engine engine(device);
  const Bytes file = make_stream({.width = 40, .height = 30});
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  for (const CtCrop& crop : {CtCrop{0, 0, 41, 30}, CtCrop{0, 0, 40, 31}, CtCrop{-1, 0, 40, 30},
                             CtCrop{0, -1, 40, 30}, CtCrop{5, 5, 5, 9}, CtCrop{5, 9, 9, 5},
                             CtCrop{kMax, 0, kMax, 1}, CtCrop{0, 0, kMax, kMax}}) {
    CtSource source = source_of(file);
    source.crop = crop;
    Pictures pictures(1);
    const CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
    ASSERT_EQ(ct_decode(engine, &options, &source, 1, pictures.data(), nullptr), CT_OK);
    EXPECT_EQ(pictures[0].error.code, CT_DAMAGED);
    EXPECT_NE(std::strstr(pictures[0].error.text, "reaches beyond the 40x30 picture"), nullptr)
        << pictures[0].error.text;
  }
}

TEST(Decode, DraftsAsPillow) {
  const Engine engine(device);
  const Bytes file = make_stream({.width = 333, .height = 211});
  struct Draft {
    int32_t width, height, scale;
  };
  for (const Draft& draft : {Draft{333, 211, 1}, Draft{167, 105, 1}, Draft{166, 105, 2},
                             Draft{166, 106, 1}, Draft{83, 52, 4}, Draft{42, 26, 4},
                             Draft{41, 26, 8}, Draft{1, 1, 8}, Draft{1 << 30, 1, 1}}) {
    CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
    options.draft_width = draft.width;
    options.draft_height = draft.height;
    const Pictures pictures = decode(engine, {file}, options);
    options = decode_options(CT_OUTPUT_RGB);
    options.scale = draft.scale;
    EXPECT_EQ(contents(engine, pictures[0]), contents(engine, decode(engine, {file}, options)[0]));
  }
}

TEST(Decode, ReadsFiles) {
  const Engine engine(device);
  const std::string path = testing::TempDir() + "/decode_test.jpg";
  const Bytes file = make_stream({.width = 40, .height = 30});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  const std::string folder = testing::TempDir(), missing = path + ".missing";
  const CtSource sources[] = {{nullptr, 0, path.c_str()},
                              {nullptr, 0, missing.c_str()},
                              {nullptr, 0, folder.c_str()},
                              {nullptr, 0, nullptr}};
  Pictures pictures(std::size(sources));
  const CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  ASSERT_EQ(ct_decode(engine, &options, sources, std::size(sources), pictures.data(), nullptr),
            CT_OK);
  EXPECT_EQ(pictures[0].width, 40);
  EXPECT_STREQ(pictures[1].error.text, "No such file or directory");
  EXPECT_STREQ(pictures[2].error.text, "it is a directory");
  EXPECT_STREQ(pictures[3].error.text, "it has 0 bytes");
  for (size_t i = 1; i < pictures.size(); ++i) EXPECT_EQ(pictures[i].error.code, CT_UNREADABLE);
  std::remove(path.c_str());
}

TEST(Decode, KeepsLimits) {
  const Engine engine(device);
  const Bytes file = make_stream({.width = 100, .height = 100});
  CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  options.max_pixels = 9999;
  EXPECT_EQ(decode(engine, {file}, options)[0].error.code, CT_LIMIT);
  options.max_pixels = 10000;
  EXPECT_EQ(decode(engine, {file}, options)[0].error.code, CT_OK);
  options.max_memory = 1000;
  const Pictures pictures = decode(engine, {file}, options);
  EXPECT_EQ(pictures[0].error.code, CT_LIMIT);
  EXPECT_NE(std::strstr(pictures[0].error.text, "max_memory=1000"), nullptr)
      << pictures[0].error.text;
  const Engine small(device, 2, 4096);
  EXPECT_EQ(decode(small, {file}, decode_options(CT_OUTPUT_RGB))[0].error.code, CT_OUT_OF_MEMORY);
}

TEST(Decode, ConcealsDamage) {
  const Engine engine(device);
  const Bytes whole = make_stream({.width = 200, .height = 200});
  const Bytes half(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(whole.size() / 2));
  CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  EXPECT_EQ(decode(engine, {half}, options)[0].error.code, CT_DAMAGED);
  options.conceal = 1;
  const Pictures pictures = decode(engine, {half, whole}, options);
  EXPECT_EQ(pictures[0].error.code, CT_OK);
  EXPECT_STRNE(pictures[0].error.text, "");
  EXPECT_STREQ(pictures[1].error.text, "");
}

TEST(Decode, RefusesWrongOptions) {
  const Engine engine;
  CtDecoder* decoder = nullptr;
  CtError error;
  CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  options.scale = 3;
  EXPECT_EQ(ct_decoder_new(engine, &options, &decoder, &error), CT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text, "scale is 1, 2, 4 or 8, not 3");
  options.struct_size = 1;
  EXPECT_EQ(ct_decoder_new(engine, &options, &decoder, &error), CT_INVALID_ARGUMENT);
  // A program that knows the first members alone.
  options = decode_options(CT_OUTPUT_GRAY);
  options.scale = 3;
  options.struct_size = offsetof(CtDecodeOptions, scale);
  ASSERT_EQ(ct_decoder_new(engine, &options, &decoder, &error), CT_OK) << error.text;
  EXPECT_EQ(ct_decoder_pull(decoder, nullptr, 0, -1, nullptr, &error), CT_INVALID_ARGUMENT);
  ct_decoder_free(decoder);
  const CtEngineOptions wrong = {sizeof wrong, -1, -5, 0};
  CtEngine* none = nullptr;
  EXPECT_EQ(ct_engine_new(&wrong, &none, &error), CT_INVALID_ARGUMENT);
  EXPECT_EQ(ct_engine_new(nullptr, nullptr, &error), CT_INVALID_ARGUMENT);
}

TEST(Decode, ALimitOfMemoryIsNamed) {
  const Engine engine(device);
  const std::vector<Bytes> files = {make_stream({.width = 64, .height = 64}),
                                    make_stream({.width = 256, .height = 256})};
  const CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  ASSERT_EQ(decode(engine, files, options)[1].error.code, CT_OK);
  ASSERT_EQ(ct_engine_set_max_device_memory(engine, 40000, nullptr), CT_OK);
  const Pictures limited = decode(engine, files, options);
  EXPECT_EQ(limited[0].error.code, CT_OK) << limited[0].error.text;
  EXPECT_EQ(limited[1].error.code, CT_OUT_OF_MEMORY);
  EXPECT_NE(std::strstr(limited[1].error.text, "max_device_memory=40000"), nullptr)
      << limited[1].error.text;
  EXPECT_EQ(decode(engine, {files[0]}, options)[0].error.code, CT_OK);
  ASSERT_EQ(ct_engine_set_max_device_memory(engine, 0, nullptr), CT_OK);
  EXPECT_EQ(decode(engine, files, options)[1].error.code, CT_OK);
  EXPECT_EQ(ct_engine_set_max_device_memory(nullptr, 0, nullptr), CT_INVALID_ARGUMENT);
}

TEST(Decode, BlocksOutliveTheirEngine) {
  CtPicture picture;
  {
    const Engine engine(device);
    Pictures pictures =
        decode(engine, {make_stream({.width = 16, .height = 16})}, decode_options(CT_OUTPUT_RGB));
    picture = pictures[0];
    pictures[0] = {};
  }
  ASSERT_EQ(picture.error.code, CT_OK);
  ct_picture_clear(&picture);
}

TEST(Decode, SurvivesAFork) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer lets no child of a process with threads have threads";
#endif
  const Engine engine(device);
  const Bytes file = make_stream({.width = 64, .height = 48});
  const CtDecodeOptions options = decode_options(CT_OUTPUT_RGB);
  ASSERT_EQ(decode(engine, {file}, options)[0].error.code, CT_OK);
  const CtSource source = source_of(file);
  const int exit_code = in_child([&] {
    CtPicture picture = {};
    if (ct_decode(engine, &options, &source, 1, &picture, nullptr) != CT_FORKED) return 1;
    const Engine own;
    if (ct_decode(own, &options, &source, 1, &picture, nullptr) != CT_OK) return 2;
    if (picture.error.code != CT_OK || picture.width != 64) return 3;
    ct_picture_clear(&picture);
    if (device >= 0) {
      const CtEngineOptions cuda = {sizeof cuda, device, 0, 0};
      CtEngine* none = nullptr;
      if (ct_engine_new(&cuda, &none, nullptr) != CT_NOT_FOUND) return 4;
    }
    return 0;
  });
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(decode(engine, {file}, options)[0].error.code, CT_OK);
}

}  // namespace
}  // namespace cudatransform::test
