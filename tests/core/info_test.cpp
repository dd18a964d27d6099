// libcudatransform's headers of files: what ct_decode() says, without decoding.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/cudatransform.h"
#include "tests/core/support.h"
#include "tests/jpeg/streams.h"

namespace cudatransform::test {
namespace {

struct Read {
  CtCode code;
  CtInfo info;
  CtError error;

  explicit Read(const CtSource& source) { code = ct_info(&source, &info, &error); }
};

Read read(const Bytes& file) { return Read(source_of(file)); }

size_t scan_of(const Bytes& file) {
  size_t at = 2;
  while (file[at + 1] != 0xda) at += 2 + (size_t{file[at + 2]} << 8 | file[at + 3]);
  return at;
}

TEST(Info, IsWhatIsDecoded) {
  const Engine engine;
  std::vector<Bytes> files;
  for (const StreamKind& kind : {StreamKind{.width = 64, .height = 65},
                                 StreamKind{.width = 300, .height = 2, .h = 2, .v = 1},
                                 StreamKind{.width = 129, .height = 77, .components = 1}})
    files.push_back(make_stream(kind));
  const Pictures pictures = decode(engine, files, decode_options(CT_OUTPUT_COEFFICIENTS));
  for (size_t i = 0; i < files.size(); ++i) {
    const CtPicture& picture = pictures[i];
    const Read got = read(files[i]);
    ASSERT_EQ(got.code, CT_OK) << got.error.text;
    const CtInfo& info = got.info;
    EXPECT_EQ(info.width, picture.width);
    EXPECT_EQ(info.height, picture.height);
    EXPECT_EQ(info.depth, 8);
    EXPECT_EQ(info.marker, 0xc0);
    EXPECT_EQ(info.color, picture.color);
    ASSERT_EQ(info.components, picture.components);
    ASSERT_EQ(info.n_tables, picture.n_tables);
    EXPECT_EQ(std::memcmp(info.tables, picture.tables, sizeof info.tables), 0);
    for (int c = 0; c < info.components; ++c) {
      EXPECT_EQ(info.id[c], c + 1);
      EXPECT_EQ(info.table[c], picture.component[c].table);
      if (info.components == 1) continue;  // whose factors mean nothing
      EXPECT_EQ(info.h_samp[c], picture.component[c].h_samp);
      EXPECT_EQ(info.v_samp[c], picture.component[c].v_samp);
    }
    EXPECT_EQ(info.orientation, 0);
    EXPECT_EQ(info.pictures, 1);
    EXPECT_EQ(info.size, scan_of(files[i]));
  }
}

TEST(Info, LooksAtTheHeaderAlone) {
  const Bytes file = make_stream({.width = 40, .height = 30});
  const size_t scan = scan_of(file);
  Bytes head(file.begin(), file.begin() + static_cast<ptrdiff_t>(scan));
  EXPECT_EQ(read(head).code, CT_OK);
  EXPECT_EQ(read(head).info.size, 0u) << "the scan may be behind more segments";
  append(&head, {0xff, 0xda, 0, 0});
  EXPECT_EQ(read(head).info.size, scan);
  // By path, with a large segment in front, in a file of which most is a hole.
  const std::string path = testing::TempDir() + "/info_test.jpg";
  const Bytes large = with(file, segment(0xe2, Bytes(65000)));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(large.data()),
             static_cast<std::streamsize>(large.size()));
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 33), 0);
  const Read got(CtSource{nullptr, 0, path.c_str(), {}});
  EXPECT_EQ(got.code, CT_OK) << got.error.text;
  EXPECT_EQ(got.info.size, scan + 65004);
  std::remove(path.c_str());
}

TEST(Info, FirstExifDataCount) {
  const Bytes file = make_stream({.width = 40, .height = 30});
  for (uint8_t orientation = 0; orientation < 10; ++orientation) {
    Bytes both = exif(orientation);
    append(&both, exif(6));
    EXPECT_EQ(read(with(file, both)).info.orientation, orientation <= 8 ? orientation : 0);
  }
  // libjpeg goes on behind the length of a segment that claims less than that.
  EXPECT_EQ(read(with(with(file, exif(3)), {0xff, 0xe5, 0, 1})).info.orientation, 3);
}

TEST(Info, ErrorsSayWhatWasFound) {
  const Bytes file = make_stream({.width = 40, .height = 30});
  const struct {
    Bytes bytes;
    CtCode code;
    const char* text;
    int marker;
  } cases[] = {
      {{}, CT_UNREADABLE, "it has 0 bytes", 0},
      {{'t', 'e', 'x', 't'}, CT_DAMAGED, "Not a JPEG file: starts with 0x74 0x65", 0},
      {{0xff, 0xd8}, CT_DAMAGED, "JPEG datastream contains no image", 0},
      {{0xff, 0xd8, 0xff, 0xd9}, CT_DAMAGED, "JPEG datastream contains no image", 0},
      {with({0xff, 0xd8}, segment(0xc1, {8, 0, 9, 0, 9, 3, 1, 0x11, 0})), CT_DAMAGED,
       "a frame header of 9 bytes with 3 components, expected 15", 0xc1},
      {with(file, segment(0xdb, {4, 1})), CT_DAMAGED, "quantization table 4, expected 0 to 3", 0},
      {with(file, segment(0xdb, {0x10, 1, 1})), CT_DAMAGED,
       "a quantization table of 2 bytes, expected 128", 0},
  };
  for (const auto& [bytes, code, text, marker] : cases) {
    const Read got = read(bytes);
    EXPECT_EQ(got.code, code);
    EXPECT_STREQ(got.error.text, text);
    EXPECT_EQ(got.info.components, 0);
    EXPECT_EQ(got.info.marker, marker);
  }
  const std::string folder = testing::TempDir(), missing = folder + "/missing.jpg";
  EXPECT_STREQ(Read(CtSource{nullptr, 0, folder.c_str(), {}}).error.text, "it is a directory");
  EXPECT_STREQ(Read(CtSource{nullptr, 0, missing.c_str(), {}}).error.text,
               "No such file or directory");
  EXPECT_EQ(ct_info(nullptr, nullptr, nullptr), CT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cudatransform::test
