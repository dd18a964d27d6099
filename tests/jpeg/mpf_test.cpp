// Indices of files that have several pictures, against a builder and a reader of the test's own.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "jpeg/mpf.h"

namespace cudatransform::test {
namespace {

using Bytes = std::vector<uint8_t>;

void append(Bytes* to, const Bytes& more) { to->insert(to->end(), more.begin(), more.end()); }

Bytes number(uint32_t value, size_t size, bool big) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; i++)
    bytes[big ? size - 1 - i : i] = static_cast<uint8_t>(value >> (8 * i));
  return bytes;
}

struct Entry {
  uint32_t size, offset;
};

// A segment from its marker on.
Bytes segment(uint8_t code, const Bytes& data) {
  Bytes bytes = {0xff, code};
  append(&bytes, number(static_cast<uint32_t>(data.size() + 2), 2, true));
  append(&bytes, data);
  return bytes;
}

// As cameras write it: fields, then a next directory of none, then the entries.
Bytes index(const std::vector<Entry>& entries, bool big) {
  Bytes data = {'M', 'P', 'F', 0};
  const auto put = [&](uint32_t value, size_t size) { append(&data, number(value, size, big)); };
  append(&data, big ? Bytes{'M', 'M'} : Bytes{'I', 'I'});
  put(42, 2);
  put(8, 4);
  put(3, 2);
  put(0xb000, 2), put(7, 2), put(4, 4), append(&data, {'0', '1', '0', '0'});
  put(0xb001, 2), put(4, 2), put(1, 4), put(static_cast<uint32_t>(entries.size()), 4);
  put(0xb002, 2), put(7, 2), put(static_cast<uint32_t>(16 * entries.size()), 4), put(50, 4);
  put(0, 4);
  for (const Entry& entry : entries) {
    put(0x20002, 4), put(entry.size, 4), put(entry.offset, 4);
    put(0, 2), put(0, 2);
  }
  return data;
}

// No picture that could be decoded, but markers as one has them.
Bytes small(uint8_t fill, size_t size) {
  Bytes bytes = {0xff, 0xd8};
  append(&bytes, segment(0xda, {1, 1, 0, 0, 63, 0}));
  bytes.insert(bytes.end(), size, fill);
  append(&bytes, {0xff, 0xd9});
  return bytes;
}

// Offsets in an index count from here in pictures by with_index().
constexpr uint32_t kTiffAt = 2 + 4 + 4;

Bytes with_index(const std::vector<Entry>& entries, bool big) {
  Bytes bytes = {0xff, 0xd8};
  append(&bytes, segment(0xe2, index(entries, big)));
  const Bytes rest = small(1, 100);
  bytes.insert(bytes.end(), rest.begin() + 2, rest.end());
  return bytes;
}

// A file of consecutive pictures, with a correct index.
Bytes whole_file(const std::vector<Bytes>& others, bool big) {
  std::vector<Entry> entries(others.size() + 1, {0, 0});
  const auto first = static_cast<uint32_t>(with_index(entries, big).size());
  uint32_t at = first;
  entries[0] = {first, 0};
  for (size_t i = 0; i < others.size(); i++) {
    entries[i + 1] = {static_cast<uint32_t>(others[i].size()), at - kTiffAt};
    at += entries[i + 1].size;
  }
  Bytes file = with_index(entries, big);
  for (const Bytes& other : others) append(&file, other);
  return file;
}

std::string refusal(const Bytes& file, FilePlaces* places) {
  const Status found = find_places(file, first_picture(file).size, places);
  const Status status = found.ok() ? check_places(file, *places) : found;
  EXPECT_TRUE(status.ok() || status.code == StatusCode::kInvalidArgument);
  return status.message;
}

std::string refusal_of(const std::vector<Entry>& entries) {
  Bytes file = with_index(entries, true);
  for (int i = 0; i < 2; i++) append(&file, small(2, 50));
  FilePlaces places;
  return refusal(file, &places);
}

#define EXPECT_REFUSED(entries, words) \
  EXPECT_NE(refusal_of(entries).find(words), std::string::npos) << refusal_of(entries)

TEST(JpegMpf, PlacesInBothByteOrders) {
  const std::vector<Bytes> others = {small(2, 30), small(3, 3000), small(4, 0)};
  for (const bool big : {false, true}) {
    const Bytes file = whole_file(others, big);
    FilePlaces places;
    ASSERT_EQ(refusal(file, &places), "");
    ASSERT_EQ(places.count, others.size());
    for (size_t i = 0; i < others.size(); i++) {
      const auto at = file.begin() + static_cast<ptrdiff_t>(places.place[i].begin);
      EXPECT_EQ(Bytes(at, at + static_cast<ptrdiff_t>(places.place[i].size)), others[i]);
    }
    EXPECT_EQ(places.begin(), first_picture(file).size);
    EXPECT_EQ(places.end(), file.size());
  }
}

TEST(JpegMpf, LooksAlone) {
  const Bytes one = small(1, 100);
  Bytes two = one, open_end = one, padded = one;
  append(&two, one);
  open_end.pop_back();
  padded.push_back(0);
  for (const Bytes& file : {one, two}) EXPECT_TRUE(may_be_single_picture(file));
  for (const Bytes& file : {open_end, padded, whole_file({one}, true), Bytes{0xff, 0xd9}, Bytes()})
    EXPECT_FALSE(may_be_single_picture(file));
}

TEST(JpegMpf, FilesWithoutOthers) {
  FilePlaces places;
  for (const Bytes& file :
       {small(1, 10), with_index({{1000, 0}}, true), with_index({{0, 0}}, false)}) {
    EXPECT_EQ(refusal(file, &places), "");
    EXPECT_EQ(places.count, 0u);
  }
}

TEST(JpegMpf, RefusesIndicesThatLie) {
  const auto first = static_cast<uint32_t>(with_index({{0, 0}, {0, 0}}, true).size());
  const auto size = static_cast<uint32_t>(small(2, 50).size());
  const uint32_t right = first - kTiffAt;
  EXPECT_EQ(refusal_of({{first, 0}, {size, right}}), "");
  EXPECT_REFUSED((std::vector<Entry>{{first, 8}, {size, right}}),
                 "MPF entry 1 is not at the start");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {0, right}}), "MPF entry 2 is empty");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {size, 0}}), "overlaps the first picture");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {size, right - 1}}), "overlaps the first picture");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {size, right + 1}}), "is not one JPEG image");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {size - 1, right}}), "is not one JPEG image");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {3 * size, right}}), "exceeds the file");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {size + 3, right}}), "is not one JPEG image");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {size, 0xffffffff}}), "exceeds the file");
  EXPECT_REFUSED((std::vector<Entry>{{first, 0}, {0xffffffff, 0xffffffff}}), "exceeds the file");
  const uint32_t first_of_three = first + 16;
  EXPECT_REFUSED((std::vector<Entry>{{first_of_three, 0}, {size, right + 16}, {size, right + 16}}),
                 "overlaps entry 2");
  const std::vector<Entry> many(257, {size, right});
  EXPECT_REFUSED(many, "257 pictures");
}

// Each number of the index alone, in the segment's own bytes.
TEST(JpegMpf, RefusesDamagedSegments) {
  const Bytes good = index({{1, 0}, {1, 1}}, false);
  const std::span<const uint8_t> tiff = std::span(good).subspan(kMpfHead);
  MpfIndex found;
  ASSERT_TRUE(MpfIndex::read(tiff, &found).ok());
  for (size_t size = 0; size < tiff.size(); size++)
    EXPECT_FALSE(MpfIndex::read(tiff.first(size), &found).ok()) << size << " bytes";
  for (const auto& [at, value] : std::vector<std::pair<size_t, uint8_t>>{
           {0, 'M'},   // the byte order
           {2, 43},    // TIFF's number
           {4, 7},     // the directory, in the header
           {7, 0xff},  // or far outside
           {9, 1},     // 259 fields
       }) {
    Bytes bad(tiff.begin(), tiff.end());
    bad[at] = value;
    EXPECT_FALSE(MpfIndex::read(bad, &found).ok()) << "byte " << at;
  }
  // Entries over the directory's last fields, which a rewriter would overwrite.
  Bytes over(tiff.begin(), tiff.end());
  over[42] = 30;
  EXPECT_NE(MpfIndex::read(over, &found).message.find("overlap the directory"), std::string::npos);
  for (const size_t at : {30, 33, 38, 42, 45}) {  // number, entries' bytes and place
    Bytes bad(tiff.begin(), tiff.end());
    bad[at] += 64;
    EXPECT_FALSE(MpfIndex::read(bad, &found).ok()) << "byte " << at;
  }
}

// Sizes and offsets of a file that is made of its first picture and pieces at other places.
TEST(JpegMpf, RewritesForNewSizes) {
  for (const bool big : {false, true}) {
    const Bytes one = small(2, 30), two = small(3, 77);
    Bytes picture = with_index({{7, 0}, {7, 7}, {7, 7}}, big);
    const size_t size = picture.size();
    // The second one is in front, and padding between.
    const std::vector<FilePlace> others = {{two.size() + 5, one.size()}, {0, two.size()}};
    ASSERT_TRUE(rewrite_mpf(picture, others).ok());
    const auto at = [&](const FilePlace& place) {
      return static_cast<uint32_t>(size + place.begin) - kTiffAt;
    };
    EXPECT_EQ(picture, with_index({{static_cast<uint32_t>(size), 0},
                                   {static_cast<uint32_t>(one.size()), at(others[0])},
                                   {static_cast<uint32_t>(two.size()), at(others[1])}},
                                  big));
    const Bytes before = picture;
    EXPECT_FALSE(rewrite_mpf(picture, {}).ok());
    const std::vector<FilePlace> far = {{0, 10}, {0xfffffff0, 10}};
    EXPECT_FALSE(rewrite_mpf(picture, far).ok());
    EXPECT_EQ(picture, before);
  }
}

// By their sizes the other pictures are known wherever a damaged file has them.
TEST(JpegMpf, SizesOfPicturesElsewhere) {
  const std::vector<Bytes> others = {small(2, 30), small(3, 3000)};
  Bytes file = whole_file(others, true);
  const auto end = static_cast<ptrdiff_t>(first_picture(file).size);
  file.insert(file.begin() + end - 10, 5, 0);
  FilePlaces places;
  EXPECT_NE(refusal(file, &places), "");
  ASSERT_EQ(places.count, others.size());
  for (size_t i = 0; i < others.size(); i++) EXPECT_EQ(places.place[i].size, others[i].size());
  const std::span<const uint8_t> bytes(file);
  const size_t first = static_cast<size_t>(end) + 5;
  EXPECT_FALSE(ends_with_another(bytes.first(first), places));
  EXPECT_TRUE(ends_with_another(bytes.first(first + others[0].size()), places));
  EXPECT_FALSE(ends_with_another(bytes.first(first + others[0].size() + 1), places));
  EXPECT_FALSE(ends_with_another(bytes.first(0), places));
}

TEST(JpegMpf, MakesNewIndices) {
  for (const uint32_t pictures : {2u, 3u, kMaxMpfPictures}) {
    Bytes data(new_mpf_size(pictures));
    make_mpf(pictures, data.data());
    Bytes expected = index(std::vector<Entry>(pictures, {0, 0}), true);
    for (uint32_t i = 0; i < pictures; i++) {
      const Bytes attribute = number(i == 0 ? 0x30000 : 0, 4, true);
      std::copy(attribute.begin(), attribute.end(), expected.begin() + 54 + 16 * i);
    }
    EXPECT_EQ(data, expected);
  }
}

TEST(JpegMpf, MutatedFiles) {
  std::mt19937 random(1);
  const std::vector<Bytes> others = {small(2, 30), small(3, 3)};
  const Bytes files[] = {whole_file(others, false), whole_file(others, true)};
  int refused = 0, taken = 0;
  for (int i = 0; i < 10000; i++) {
    Bytes file = files[i % 2];
    // Most of them in the index.
    for (uint32_t n = 1 + random() % 3; n > 0; n--)
      file[random() % (n > 1 || i % 4 != 0 ? size_t{120} : file.size())] =
          static_cast<uint8_t>(random());
    if (random() % 16 == 0) file.resize(random() % file.size());
    // Memory of just these bytes, so that a sanitizer detects reads past them.
    const Bytes exact(file.begin(), file.end());
    FilePlaces places;
    const bool is_refused = !refusal(exact, &places).empty();
    (is_refused ? refused : taken)++;
    if (is_refused || places.count == 0) continue;
    EXPECT_GE(places.begin(), first_picture(exact).size);
    EXPECT_LE(places.end(), exact.size());
    for (const FilePlace& place : places.all()) EXPECT_EQ(exact[place.begin + 1], 0xd8);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace cudatransform::test
