// The segments of a JPEG file that are about its picture, kept from one file to another.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cudatransform {

// A marker segment: the bytes after its length.
struct JpegSegment {
  static constexpr size_t kMaxData = 65533;

  uint8_t code = 0;
  std::span<const uint8_t> data;

  bool begins_with(const char* text, size_t length) const;  // a zero at the end included
  bool is_jfif() const;                                     // as libjpeg takes one for it
  bool is_exif() const;
  bool is_mpf() const;    // an index of pictures (jpeg/mpf.h)
  bool is_adobe() const;  // as libjpeg takes one for it
  // APPn and COM, except segments without a meaning in the next file: those about the coding
  // (Adobe's APP14) or about the file's place among others (AVI1, MPF's offsets).
  bool stays() const;
};

inline constexpr size_t kSoiBytes = 2;  // in front of a file's segments

// Steps through segments, in time that is linear in their bytes. libjpeg can keep them itself, but
// its list takes time that is quadratic in their number.
class JpegSegments {
 public:
  explicit JpegSegments(std::span<const uint8_t> data) : data_(data) {}
  // False at the first scan, at the end, or at a segment that reaches beyond it.
  bool next(JpegSegment* segment);
  // Bytes before what comes next.
  size_t position() const { return at_; }
  // After next() was false: whether that was at a scan, or at a marker that no segment follows.
  bool at_end() const { return at_end_; }

 private:
  std::span<const uint8_t> data_;
  size_t at_ = 0;
  bool at_end_ = false;
};

// Which segments are kept.
struct JpegKept {
  bool staying = true;  // those that stay
  bool index = false;   // the first index of pictures
  bool adobe = false;   // Adobe's
};

// Steps through segments that are kept.
class KeptJpegSegments {
 public:
  KeptJpegSegments(std::span<const uint8_t> data, const JpegKept& kept)
      : segments_(data), kept_(kept) {}
  bool next(JpegSegment* segment);

 private:
  JpegSegments segments_;
  JpegKept kept_;
};

// No file has as much; all of it is dropped then.
inline constexpr size_t kMaxJpegMetadata = size_t{1} << 24;

// Bytes of the segments in front of the first scan of `file` that are kept, markers and lengths
// included; 0 above kMaxJpegMetadata.
size_t jpeg_metadata_size(std::span<const uint8_t> file, const JpegKept& kept);
// Those segments, concatenated in their order.
void copy_jpeg_metadata(std::span<const uint8_t> file, const JpegKept& kept, uint8_t* to);
// Whether Adobe's is among segments.
bool have_adobe(std::span<const uint8_t> segments);

}  // namespace cudatransform
