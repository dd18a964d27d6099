// The index of a JPEG file that has several pictures: the Multi-Picture Format of CIPA DC-007.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jpeg/splitter.h"
#include "jpeg/tiff.h"
#include "transform/device/status.h"

namespace cudatransform {

// Stereo pairs, gain maps and previews follow the first picture of their file. Its segment
// APP2 "MPF" has a TIFF header and an index with the size and the offset of each. Offsets count
// from the TIFF header's first byte; the first picture's is 0.

// Pictures of a file. Cameras write two or three; all the views of a panorama are some dozens.
inline constexpr uint32_t kMaxMpfPictures = 256;

struct MpfEntry {
  uint32_t attribute = 0;  // the kind of picture, and flags
  uint32_t size = 0;       // bytes
  uint32_t offset = 0;
};

// Refers to the segment's bytes, which must stay.
class MpfIndex {
 public:
  // `bytes`: the segment's, from the TIFF header on. kInvalidArgument: why there is no index.
  static Status read(std::span<const uint8_t> bytes, MpfIndex* index);

  uint32_t pictures() const { return pictures_; }
  MpfEntry entry(uint32_t i) const;
  // Where the entries are in the bytes, and how the bytes of a number are ordered.
  size_t entries_at() const { return entries_at_; }
  bool is_big_endian() const { return tiff_.is_big_endian(); }

 private:
  Tiff tiff_;
  size_t entries_at_ = 0;
  uint32_t pictures_ = 0;
};

// Bytes of a file.
struct FilePlace {
  uint64_t begin = 0, size = 0;

  uint64_t end() const { return begin + size; }
  bool overlaps(const FilePlace& other) const { return begin < other.end() && other.begin < end(); }
  std::string text() const;  // "(bytes 2-100)"
  bool operator==(const FilePlace&) const = default;
};

// The pictures of a file except the first, in the order of its index.
struct FilePlaces {
  std::array<FilePlace, kMaxMpfPictures> place;
  uint32_t count = 0;

  std::span<const FilePlace> all() const { return {place.data(), count}; }
  uint64_t begin() const;  // of the one that is first in the file; 0 without any
  uint64_t end() const;    // after the last; 0 without any
};

// The bytes of the first MPF segment of `file` from its TIFF header on; none without such a segment
// in front of the first scan.
std::span<const uint8_t> find_mpf(std::span<const uint8_t> file);

// Where the other pictures of a file are, by its index. `file` has at least the segments of its
// first picture, whose end is `picture_end`. No byte after that is read. Ok without places:
// the file has no index, or one of one picture. kInvalidArgument: it has one that cannot be true;
// `places` is its content, as far as it can be read.
Status find_places(std::span<const uint8_t> file, uint64_t picture_end, FilePlaces* places);
// Whether one JPEG picture, complete as far as its markers show, is at each place of `file`. Bytes
// that are no picture may follow it there.
// kInvalidArgument: why not.
Status check_places(std::span<const uint8_t> file, const FilePlaces& places);

// The same for a file whose bytes are still coming. Each of them is examined once, and an index
// that is not true is recognized at the first byte that shows it.
class PlacesCheck {
 public:
  enum class Verdict { kAwaited, kMatch, kMismatch };
  // `places` as find_places() gives them, one at least.
  void begin(const FilePlaces& places);
  // `file`: all bytes received. `at_end`: no more will follow.
  Verdict check(std::span<const uint8_t> file, bool at_end);
  const FilePlaces& places() const { return places_; }
  // How many bytes it has examined.
  uint64_t examined() const { return examined_; }
  // kMismatch: which of the pictures, counted from 0, is not at its place.
  uint32_t missing() const { return order_[done_]; }

 private:
  Verdict check_place(const FilePlace& place, std::span<const uint8_t> file);

  FilePlaces places_;
  std::array<uint8_t, kMaxMpfPictures> order_;  // as they come in the file
  uint32_t done_ = 0;                           // of them
  JpegSplitter splitter_;                       // of the next
  uint64_t position_ = 0;                       // in the file, of what comes next
  uint64_t examined_ = 0;
};

// Whether one of these pictures, by its size, is the end of `picture`: a picture that is cut off in
// a segment has the next one's beginning in that, and continues as the next.
bool ends_with_another(std::span<const uint8_t> picture, const FilePlaces& places);
// Whether a file is one picture at first glance: it has no index, and an EOI at its end.
bool may_be_single_picture(std::span<const uint8_t> file);

// The first picture of a file, which begins with it.
struct FirstPicture {
  size_t size = 0;       // up to EOI, or to the next SOI or the file's end where it has no EOI
  bool has_end = false;  // an EOI, that is
};
FirstPicture first_picture(std::span<const uint8_t> file);

// Writes into the index of `picture`, which is the whole first picture of a file, its size, and the
// sizes and offsets of those after it. `others` are places that count from the picture's end, in
// the order of the index. kInvalidArgument, and nothing is written: no index, or one of another
// number of pictures, or a file of more than 4 GiB.
Status rewrite_mpf(std::span<uint8_t> picture, std::span<const FilePlace> others);

// The bytes after the length of a new segment, for `pictures` pictures, 2 to kMaxMpfPictures,
// of sizes and offsets that rewrite_mpf() fills in.
inline constexpr size_t kMpfHead = 4;  // "MPF" and a zero
constexpr size_t new_mpf_size(uint32_t pictures) { return kMpfHead + 50 + size_t{16} * pictures; }
void make_mpf(uint32_t pictures, uint8_t* to);
// The same, of the first picture and those others, counted from 0, of the index `tiff` that are
// `kept`, with their attributes. Empty where that is no index.
std::vector<uint8_t> shorter_mpf(std::span<const uint8_t> tiff, std::span<const uint32_t> kept);

}  // namespace cudatransform
