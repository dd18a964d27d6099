// The Exif data of a JPEG file (JEITA CP-3451): the orientation, and what follows a flipped
// picture.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/exif.h"

#include <algorithm>
#include <iterator>

#include "jpeg/metadata.h"
#include "jpeg/splitter.h"

namespace cudatransform {
namespace {

// Tags of IFD0 and IFD1, and of the Exif IFD that kExifIfd points to.
constexpr uint16_t kImageWidth = 0x100, kImageLength = 0x101, kStripOffsets = 0x111;
constexpr uint16_t kOrientation = 0x112, kStripByteCounts = 0x117, kExifIfd = 0x8769;
constexpr uint16_t kXResolution = 0x11a, kYResolution = 0x11b;
constexpr uint16_t kFocalPlaneXResolution = 0xa20e, kFocalPlaneYResolution = 0xa20f;
constexpr uint16_t kThumbnailOffset = 0x201, kThumbnailBytes = 0x202;
constexpr uint16_t kSubjectArea = 0x9214, kPixelXDimension = 0xa002, kPixelYDimension = 0xa003;
constexpr uint16_t kSubjectLocation = 0xa214;

constexpr size_t kMaxBytes = JpegSegment::kMaxData - kExifHead;  // in a segment

struct Range {
  size_t begin = 0, size = 0;
  size_t end() const { return begin + size; }
};

void clear(TiffEditor* tiff, const Range& range) {
  if (range.end() == tiff->bytes().size())
    tiff->resize(range.begin);
  else
    std::ranges::fill(tiff->bytes().subspan(range.begin, range.size), uint8_t{0});
}

// The bytes that two entries of a directory, an offset and a size, name; none outside of the data.
Range range_of(const Tiff& tiff, size_t directory, uint16_t offset, uint16_t size) {
  const Range range = {tiff.value(directory, offset, 0), tiff.value(directory, size, 0)};
  return range.begin >= Tiff::kHeaderBytes && tiff.has(range.begin, range.size) ? range : Range();
}

// Replaces the thumbnail in place, or stores it after all data if it is larger. False: the segment
// has no room.
bool put_thumbnail(const std::vector<uint8_t>& image, size_t ifd1, Range old, TiffEditor* tiff) {
  const size_t size = tiff->bytes().size();
  const bool is_last = old.end() == size;
  const size_t begin = image.size() <= old.size || is_last ? old.begin : size;
  if (begin + image.size() > kMaxBytes) return false;
  clear(tiff, old);
  tiff->resize(std::max(tiff->bytes().size(), begin + image.size()));
  std::ranges::copy(image, &tiff->bytes()[begin]);
  tiff->set(ifd1, kThumbnailOffset, static_cast<uint32_t>(begin));
  tiff->set(ifd1, kThumbnailBytes, static_cast<uint32_t>(image.size()));
  return true;
}

// True: a thumbnail was removed. `orientation`: of the picture before. A thumbnail with another one
// is rotated by another angle.
bool flip_thumbnail(const ExifFlip& flip, uint32_t orientation, TiffEditor* tiff) {
  const size_t ifd0 = tiff->first_directory(), ifd1 = tiff->next_directory(ifd0);
  if (ifd1 == 0) return false;
  const Range image = range_of(*tiff, ifd1, kThumbnailOffset, kThumbnailBytes);
  const Range strip = range_of(*tiff, ifd1, kStripOffsets, kStripByteCounts);
  std::vector<uint8_t> made;
  const bool is_alike =
      !flip.is_upright || tiff->value(ifd1, kOrientation, orientation) == orientation;
  if (image.size > 0 && strip.size == 0 && is_alike &&
      flip.image(tiff->bytes().subspan(image.begin, image.size), &made) == EmbeddedImage::kMade &&
      put_thumbnail(made, ifd1, image, tiff)) {
    if (flip.is_upright) tiff->set(ifd1, kOrientation, 1);
    return false;
  }
  tiff->unlink_next(ifd0);
  // The strip first: the image may be what the data end with.
  if (strip.size > 0) clear(tiff, strip);
  if (image.size > 0 && tiff->has(image.begin, image.size)) clear(tiff, image);
  return true;
}

// Previews in maker notes: how long they are is known by their markers alone, and where they are
// by entries that we cannot read, so they keep their places. True: one was removed.
bool flip_previews(const ExifFlip& flip, Range thumbnail, TiffEditor* tiff) {
  // What looks like the beginning of an image may be none, and overlap one.
  constexpr int kMaxFalse = 32;
  bool is_lost = false;
  const std::span<uint8_t> bytes = tiff->bytes();
  int wrong = 0;
  for (size_t at = 0; at < bytes.size() && wrong < kMaxFalse;) {
    JpegSplitter splitter;
    splitter.feed(&bytes[at], bytes.size() - at);
    if (!splitter.found() && !splitter.inside()) break;
    const size_t begin_at = at + splitter.begin();
    const Range image = {begin_at, splitter.found() ? at + splitter.end() - begin_at : 0};
    at = begin_at + kSoiBytes;
    if (image.size == 0 || !splitter.has_end()) {
      wrong++;
      continue;
    }
    if (image.begin == thumbnail.begin) {
      at = image.end();
      continue;
    }
    std::vector<uint8_t> made;
    const EmbeddedImage became = flip.image({&bytes[image.begin], image.size}, &made);
    if (became == EmbeddedImage::kNoImage) {
      wrong++;
      continue;
    }
    at = image.end();
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(image.begin);
    std::fill_n(begin, image.size, uint8_t{0});
    if (became == EmbeddedImage::kMade && made.size() <= image.size)
      std::copy(made.begin(), made.end(), begin);
    else
      is_lost = true;
  }
  return is_lost;
}

// SubjectLocation and SubjectArea: a point, a circle (point and diameter) or a rectangle (center,
// width and height), in samples.
void flip_subject(const ExifFlip& flip, size_t directory, uint16_t tag, TiffEditor* tiff) {
  const std::optional<TiffEntry> entry = tiff->find(directory, tag);
  if (!entry || entry->type != TiffEntry::kShort || entry->count < 2 || entry->count > 4) return;
  const size_t at = entry->count == 2 ? entry->value_at : tiff->number(entry->value_at, 4);
  if (!tiff->has(at, 2 * size_t{entry->count})) return;
  auto x = static_cast<int32_t>(tiff->number(at, 2)),
       y = static_cast<int32_t>(tiff->number(at + 2, 2));
  if (!flip.point(&x, &y)) {
    tiff->remove(directory, tag);
    return;
  }
  tiff->put(at, 2, static_cast<uint32_t>(x));
  tiff->put(at + 2, 2, static_cast<uint32_t>(y));
  if (entry->count != 4 || !flip.transposes) return;
  const uint32_t width = tiff->number(at + 4, 2);
  tiff->put(at + 4, 2, tiff->number(at + 6, 2));
  tiff->put(at + 6, 2, width);
}

// Both are fractions, so that the entries have their offsets.
void exchange(size_t directory, uint16_t x_tag, uint16_t y_tag, TiffEditor* tiff) {
  const std::optional<TiffEntry> x = tiff->find(directory, x_tag);
  const std::optional<TiffEntry> y = tiff->find(directory, y_tag);
  if (!x || !y || x->type != y->type || x->count != y->count) return;
  const uint32_t offset = tiff->number(x->value_at, 4);
  tiff->put(x->value_at, 4, tiff->number(y->value_at, 4));
  tiff->put(y->value_at, 4, offset);
}

}  // namespace

std::optional<int> segment_orientation(const JpegSegment& segment) {
  if (!segment.is_exif() || segment.data.size() < kExifHead) return {};
  const Tiff tiff(segment.data.subspan(kExifHead));
  const uint32_t value = tiff.value(tiff.first_directory(), kOrientation, 0);
  return value <= 8 ? static_cast<int>(value) : 0;
}

int exif_orientation(std::span<const uint8_t> segments) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);)
    if (const std::optional<int> orientation = segment_orientation(segment)) return *orientation;
  return 0;
}

Orientation upright_orientation(int orientation) {
  // By where the first row and the first column are (CP-3451, 4.6.4).
  static constexpr Orientation kOrientations[] = {{},
                                                  {},
                                                  {false, true, false},
                                                  {false, true, true},
                                                  {false, false, true},
                                                  {true, false, false},
                                                  {true, true, false},
                                                  {true, true, true},
                                                  {true, false, true}};
  return orientation >= 0 && orientation < static_cast<int>(std::size(kOrientations))
             ? kOrientations[orientation]
             : Orientation();
}

ExifLost flip_exif(const ExifFlip& flip, TiffEditor* tiff) {
  const size_t ifd0 = tiff->first_directory(), exif = tiff->sub_directory(ifd0, kExifIfd);
  const uint32_t orientation = tiff->value(ifd0, kOrientation, 1);
  if (flip.is_upright) tiff->set(ifd0, kOrientation, 1);
  tiff->set(ifd0, kImageWidth, flip.width);
  tiff->set(ifd0, kImageLength, flip.height);
  tiff->set(exif, kPixelXDimension, flip.width);
  tiff->set(exif, kPixelYDimension, flip.height);
  for (const uint16_t tag : {kSubjectArea, kSubjectLocation}) flip_subject(flip, exif, tag, tiff);
  if (flip.transposes) {
    exchange(ifd0, kXResolution, kYResolution, tiff);
    exchange(exif, kFocalPlaneXResolution, kFocalPlaneYResolution, tiff);
    exchange(tiff->next_directory(ifd0), kXResolution, kYResolution, tiff);
  }
  ExifLost lost;
  lost.thumbnail = flip_thumbnail(flip, orientation, tiff);
  const size_t ifd1 = tiff->next_directory(ifd0);
  lost.preview =
      flip_previews(flip, range_of(*tiff, ifd1, kThumbnailOffset, kThumbnailBytes), tiff);
  return lost;
}

}  // namespace cudatransform
