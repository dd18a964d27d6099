// Fuzz target: libcudatransform decodes any bytes or says why not, and writes what it has decoded;
// of its header it says the same in advance.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings, then a file, which ends at an inaccessible page.
#include <cstring>

#include "core/cudatransform.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::promise;

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr uint64_t kMaxPixels = uint64_t{1} << 21;

CtEngine* engine() {
  static CtEngine* const made = [] {
    const CtEngineOptions options = {sizeof options, -1, 1, 0};
    CtEngine* one = nullptr;
    promise(ct_engine_new(&options, &one, nullptr) == CT_OK, "there is an engine for the CPU");
    return one;
  }();
  return made;
}

CtPicture decode(const CtDecodeOptions& options, const uint8_t* data, size_t size,
                 const CtCrop& crop = {}) {
  const CtSource source = {data, size, nullptr, crop};
  CtPicture picture = {};
  promise(ct_decode(engine(), &options, &source, 1, &picture, nullptr) == CT_OK,
          "a file's faults are its own");
  promise(std::memchr(picture.error.text, 0, sizeof picture.error.text) != nullptr, "texts end");
  promise(picture.error.code == CT_OK || picture.error.text[0] != 0, "an error has a text");
  promise((picture.error.code == CT_OK) == (picture.block != nullptr), "results have memory");
  return picture;
}

// One file's image is the picture of a batch, or has its error.
void decode_image(const CtDecodeOptions& options, const CtPicture& picture, const uint8_t* data,
                  size_t size) {
  const CtSource source = {data, size, nullptr, {}};
  CtImage image = {};
  CtBlock* block = nullptr;
  CtError error = {};
  promise(ct_decode_image(engine(), &options, &source, &image, &block, &error) == CT_OK,
          "a file's faults are its own");
  promise(error.code == picture.error.code && std::strcmp(error.text, picture.error.text) == 0,
          "errors agree");
  promise((error.code == CT_OK) == (block != nullptr), "results have memory");
  if (block != nullptr) {
    promise(image.width == picture.width && image.height == picture.height &&
                image.channels == picture.channels,
            "images have the size of pictures");
    const auto row_bytes = static_cast<size_t>(image.width) * static_cast<size_t>(image.channels);
    for (int32_t y = 0; y < image.height; ++y)
      promise(std::memcmp(static_cast<const uint8_t*>(image.data) + y * image.pitch,
                          static_cast<const uint8_t*>(picture.data) + y * picture.pitch,
                          row_bytes) == 0,
              "images have the pixels of pictures");
  }
  ct_block_unref(block);
}

CtInfo info_of(const uint8_t* data, size_t size) {
  const CtSource source = {data, size, nullptr, {}};
  CtInfo info = {};
  CtError error = {};
  const CtCode code = ct_info(&source, &info, &error);
  promise(code == error.code && (code == CT_OK) == (error.text[0] == 0), "an error has a text");
  promise(code == CT_OK || info.components == 0, "an error has nothing else");
  promise(info.size <= size, "no byte behind the file is counted");
  promise(info.n_tables >= 0 && info.n_tables <= CT_MAX_TABLES && info.orientation >= 0 &&
              info.orientation <= 8 && info.components <= 255,
          "numbers are in their ranges");
  return info;
}

// What is decoded, whole or concealed, is what the header says.
void compare(const CtInfo& info, const CtPicture& picture) {
  promise(info.width == picture.width && info.depth == picture.depth, "size and depth agree");
  promise(info.height == picture.height || info.height == 0, "heights agree, or DNL has it");
  promise(info.components == picture.components && info.color == picture.color,
          "components and color agree");
}

// Pixels are those of the header, reduced and, where upright, by its orientation.
void compare_sides(const CtInfo& info, const CtDecodeOptions& options, const CtPicture& picture) {
  if (info.height == 0) return;  // DNL has it
  const auto reduced = [&](int32_t side) { return (side + options.scale - 1) / options.scale; };
  const bool transposes = options.upright != 0 && info.orientation > 4;
  promise(picture.width == reduced(transposes ? info.height : info.width) &&
              picture.height == reduced(transposes ? info.width : info.height),
          "pixels have the sides of the header");
}

bool same_qcoefs(const CtPicture& a, const CtPicture& b) {
  if (a.components != b.components || a.width != b.width || a.height != b.height) return false;
  for (int c = 0; c < a.components; ++c) {
    const CtComponent &one = a.component[c], &other = b.component[c];
    if (one.blocks_w != other.blocks_w || one.blocks_h != other.blocks_h) return false;
    for (int32_t row = 0; row < one.blocks_h; ++row)
      if (std::memcmp(static_cast<const uint8_t*>(one.data) + row * one.pitch,
                      static_cast<const uint8_t*>(other.data) + row * other.pitch,
                      static_cast<size_t>(one.blocks_w) * 128) != 0)
        return false;
  }
  return true;
}

// What is decoded without faults is written, and read back as it was.
void write_again(const CtDecodeOptions& options, const CtPicture& picture, uint8_t how) {
  CtEncodeOptions encode = {};
  encode.struct_size = sizeof encode;
  encode.progressive = how & 1;
  encode.optimize = how >> 1 & 1;
  encode.leave_metadata = how >> 2 & 1;
  CtFile file = {};
  promise(ct_write(engine(), &encode, &picture, 1, &file, nullptr) == CT_OK,
          "a picture's faults are its own");
  // libjpeg before 3 codes no progressive files of 12 bits.
  promise(file.error.code == CT_OK || picture.depth == 12 || picture.error.text[0] != 0,
          "a decoded picture can be written");
  if (file.error.code == CT_OK) {
    CtPicture again = decode(options, file.data, file.size);
    promise(again.error.code == CT_OK && same_qcoefs(picture, again), "it is read as it was");
    ct_picture_clear(&again);
  }
  ct_file_clear(&file);
  encode.progressive = encode.leave_metadata = 0;
  encode.quantizer = static_cast<CtQuantizer>((how >> 3) % 3);
  encode.target_size = how >> 5;
  promise(ct_reencode(engine(), &encode, &picture, 1, &file, nullptr) == CT_OK,
          "a picture's faults are its own");
  ct_file_clear(&file);
}

// Bits of `how` choose edges and sides in eighths of the picture.
CtCrop crop_of(const CtPicture& picture, uint8_t how) {
  const auto edge = [](int32_t side, int eighths) { return side * eighths / 8; };
  CtCrop crop;
  crop.left = edge(picture.width, how & 7);
  crop.top = edge(picture.height, how >> 3 & 7);
  crop.right = crop.left + 1 + edge(picture.width - crop.left - 1, how >> 5);
  crop.bottom = crop.top + 1 + edge(picture.height - crop.top - 1, how >> 4 & 7);
  return crop;
}

// A crop of what is decoded without faults is a part of it.
void decode_part(const CtDecodeOptions& options, const CtPicture& whole, const uint8_t* data,
                 size_t size, uint8_t how) {
  const CtCrop crop = crop_of(whole, how);
  CtPicture part = decode(options, data, size, crop);
  if (whole.error.text[0] == 0) {
    promise(part.error.code == CT_OK, "a part of a sound picture is sound");
    promise(part.width == crop.right - crop.left && part.height == crop.bottom - crop.top,
            "it has the size of the crop");
    const auto row_bytes = static_cast<size_t>(part.width) * static_cast<size_t>(part.channels);
    for (int32_t y = 0; y < part.height; ++y)
      promise(std::memcmp(static_cast<const uint8_t*>(part.data) + y * part.pitch,
                          static_cast<const uint8_t*>(whole.data) + (crop.top + y) * whole.pitch +
                              int64_t{crop.left} * whole.channels,
                          row_bytes) == 0,
              "it has the pixels of the picture");
  }
  ct_picture_clear(&part);
}

void run(const uint8_t* data, size_t size) {
  static fuzzing::GuardedMemory memory(kMaxFileBytes);
  fuzzing::Input input(data, size);
  const uint8_t what = input.byte(), how = input.byte();
  if (size < 2 || size - 2 > kMaxFileBytes) return;
  const uint8_t* file = memory.copy(data + 2, size - 2);
  CtDecodeOptions options = {};
  options.struct_size = sizeof options;
  options.output = static_cast<CtOutput>(what % 3);
  options.upsampling = static_cast<CtUpsampling>(what >> 2 & 1);
  options.scale = options.output == CT_OUTPUT_COEFFICIENTS ? 1 : 1 << (what >> 3 & 3);
  options.conceal = what >> 5 & 1;
  options.keep_metadata = what >> 6 & 1;
  options.upright = options.output == CT_OUTPUT_COEFFICIENTS ? 0 : what >> 6 & 1;
  options.stack = what >> 7;
  options.max_pixels = kMaxPixels;
  const CtInfo info = info_of(file, size - 2);
  CtPicture picture = decode(options, file, size - 2);
  if (picture.error.code == CT_OK && options.output == CT_OUTPUT_COEFFICIENTS)
    compare(info, picture);
  if (picture.error.code == CT_OK && options.output == CT_OUTPUT_COEFFICIENTS)
    write_again(options, picture, how);
  if (picture.error.code == CT_OK && options.output != CT_OUTPUT_COEFFICIENTS) {
    compare_sides(info, options, picture);
    decode_part(options, picture, file, size - 2, how);
  }
  if (options.output != CT_OUTPUT_COEFFICIENTS) decode_image(options, picture, file, size - 2);
  ct_picture_clear(&picture);
}

const fuzzing::Targets targets({{"fuzz_library", run}});

}  // namespace
