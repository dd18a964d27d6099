// The orientation and the size in a JPEG file's Exif data (JEITA CP-3451).
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/exif.h"

#include <cstring>
#include <span>
#include <vector>

namespace cudatransform {
namespace {

using Bytes = std::span<guint8>;

constexpr guint kOrientation = 0x112, kExifPointer = 0x8769;
constexpr guint kWidth = 0xa002, kHeight = 0xa003;
constexpr guint kShort = 3, kLong = 4;  // types of values

// The TIFF structure of Exif data: numbers in the byte order that it begins with.
class Tiff {
 public:
  explicit Tiff(Bytes bytes) : bytes_(bytes) {
    if (bytes.size() < 8) return;
    is_little_ = bytes[0] == 'I' && bytes[1] == 'I';
    is_tiff_ = (is_little_ || (bytes[0] == 'M' && bytes[1] == 'M')) && number(2, 2) == 42;
  }

  gsize first_directory() const { return is_tiff_ ? number(4, 4) : 0; }
  // The place of an entry's only number, whose size it gives; 0: there is none.
  gsize find(gsize directory, guint tag, gsize* size) const {
    if (directory == 0 || !has(directory, 2)) return 0;
    const guint count = number(directory, 2);
    for (guint i = 0; i < count; i++) {
      const gsize entry = directory + 2 + 12 * gsize{i};
      if (!has(entry, 12)) return 0;
      if (number(entry, 2) != tag || number(entry + 4, 4) != 1) continue;
      const guint type = number(entry + 2, 2);
      *size = type == kShort ? 2 : 4;
      return type == kShort || type == kLong ? entry + 8 : 0;
    }
    return 0;
  }
  guint number(gsize at, gsize size) const {
    guint value = 0;
    for (gsize i = 0; i < size; i++) value |= guint{bytes_[at + i]} << shift(i, size);
    return value;
  }
  void write(gsize at, gsize size, guint value) {
    for (gsize i = 0; i < size; i++) bytes_[at + i] = static_cast<guint8>(value >> shift(i, size));
  }

 private:
  bool has(gsize at, gsize size) const { return at <= bytes_.size() && size <= bytes_.size() - at; }
  guint shift(gsize i, gsize size) const {
    return static_cast<guint>(8 * (is_little_ ? i : size - 1 - i));
  }

  Bytes bytes_;
  bool is_little_ = false, is_tiff_ = false;
};

// The Exif data among segments: the first, as others read it; empty if there is none.
Bytes exif_of(Bytes segments) {
  constexpr char kName[] = "Exif\0";  // and another zero
  while (segments.size() >= 4 && segments[0] == 0xff) {
    const gsize length = gsize{segments[2]} << 8 | segments[3];
    if (length < 2 || length + 2 > segments.size()) break;
    const Bytes segment = segments.first(length + 2);
    if (segment[1] == 0xe1 && segment.size() >= 10 &&
        std::memcmp(&segment[4], kName, sizeof kName) == 0)
      return segment.subspan(10);
    segments = segments.subspan(length + 2);
  }
  return {};
}

std::vector<guint8> copy_of(GBytes* segments) {
  gsize size = 0;
  const auto* data = static_cast<const guint8*>(g_bytes_get_data(segments, &size));
  return {data, data + size};
}

}  // namespace

int exif_orientation(GBytes* segments) {
  if (!segments) return 0;
  std::vector<guint8> copy = copy_of(segments);
  const Tiff tiff(exif_of(copy));
  gsize size = 0;
  const gsize at = tiff.find(tiff.first_directory(), kOrientation, &size);
  const guint value = at ? tiff.number(at, size) : 0;
  return value <= 8 ? static_cast<int>(value) : 0;
}

GBytes* corrected_exif(GBytes* segments, bool is_upright, guint width, guint height) {
  if (!segments) return nullptr;
  std::vector<guint8> copy = copy_of(segments);
  Tiff tiff(exif_of(copy));
  const auto set = [&](gsize directory, guint tag, guint value) {
    gsize size = 0;
    if (const gsize at = tiff.find(directory, tag, &size)) tiff.write(at, size, value);
  };
  const gsize first = tiff.first_directory();
  if (is_upright) set(first, kOrientation, 1);
  gsize size = 0;
  const gsize pointer = tiff.find(first, kExifPointer, &size);
  const gsize details = pointer ? tiff.number(pointer, size) : 0;
  set(details, kWidth, width);
  set(details, kHeight, height);
  return g_bytes_new(copy.data(), copy.size());
}

}  // namespace cudatransform
