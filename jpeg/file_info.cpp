// What the markers of a JPEG file say in front of its first scan, whatever its kind.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/file_info.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "jpeg/exif.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

constexpr int kMaxMarkers = 1 << 20;  // no file has as many, which take some milliseconds

uint32_t big_endian(const uint8_t* bytes) { return uint32_t{bytes[0]} << 8 | bytes[1]; }

bool is_frame(uint8_t code) {  // the others are DHT, JPG and DAC
  return code >= kSof0 && code <= kSof0 + 15 && code != kDht && code != 0xc8 && code != 0xcc;
}

class InfoReader {
 public:
  explicit InfoReader(JpegFileInfo* info) : info_(*info) {}

  Status read(std::span<const uint8_t> file) {
    CT_RETURN_IF_ERROR(check_begin(file));
    JpegSegments segments(file.subspan(kSoiBytes));
    JpegSegment segment;
    int count = 0;
    Status status;
    while (status.ok() && segments.next(&segment))
      status = ++count <= kMaxMarkers ? take(segment) : too_many_markers();
    if (segments.at_end() || !status.ok()) info_.size = kSoiBytes + segments.position();
    CT_RETURN_IF_ERROR(status);
    return finish();
  }

 private:
  static Status too_many_markers() {
    // Not one sum: GCC 12 warns of a literal before a number's digits.
    std::string what = "more than ";
    what += std::to_string(kMaxMarkers);
    return damaged(what + " segments");
  }

  static Status damaged(const std::string& what) {
    return Status::error(StatusCode::kInvalidArgument, what);
  }

  Status check_begin(std::span<const uint8_t> file) {
    if (file.size() >= kSoiBytes && file[0] == 0xff && file[1] == kSoi) return {};
    std::string found;
    for (const uint8_t byte : file.first(std::min(file.size(), kSoiBytes))) {
      char text[8];
      std::snprintf(text, sizeof text, " 0x%02x", byte);
      found += text;
    }
    info_.size = file.size();
    return damaged(found.empty() ? "it has 0 bytes" : "Not a JPEG file: starts with" + found);
  }

  Status take(const JpegSegment& segment) {
    if (segment.code == kDqt) return take_tables(segment.data);
    if (is_frame(segment.code) && info_.marker == 0) {
      info_.marker = segment.code;
      frame_ = segment.data;
    } else if (segment.is_exif()) {
      if (!orientation_) orientation_ = segment_orientation(segment);
    } else if (segment.is_mpf()) {
      MpfIndex index;
      if (MpfIndex::read(segment.data.subspan(kMpfHead), &index).ok())
        info_.pictures = index.pictures();
    } else if (segment.is_adobe()) {
      adobe_ = segment.data[11];
    } else if (segment.is_jfif()) {
      is_jfif_ = true;
    }
    return {};
  }

  Status take_tables(std::span<const uint8_t> data) {
    while (!data.empty()) {
      const size_t entry = data[0] >> 4 != 0 ? 2 : 1, number = data[0] & 15;
      if (number >= std::size(quantizers_))
        return damaged("quantization table " + std::to_string(number) + ", expected 0 to 3");
      if (data.size() < 1 + 64 * entry)
        return damaged("a quantization table of " + std::to_string(data.size() - 1) +
                       " bytes, expected " + std::to_string(64 * entry));
      QuantTable& table = quantizers_[number].emplace();
      for (size_t i = 0; i < 64; ++i) {
        const uint8_t* const from = &data[1 + i * entry];
        table.q[kNaturalOfZigzag[i]] =
            static_cast<uint16_t>(entry == 2 ? big_endian(from) : from[0]);
      }
      data = data.subspan(1 + 64 * entry);
    }
    return {};
  }

  Status finish() {
    constexpr size_t kHead = 6, kComponent = 3;
    if (info_.marker == 0) return damaged("JPEG datastream contains no image");
    const size_t count = frame_.size() >= kHead ? frame_[5] : 0;
    if (count == 0 || frame_.size() < kHead + kComponent * count)
      return damaged("a frame header of " + std::to_string(frame_.size()) + " bytes with " +
                     std::to_string(count) + " components, expected " +
                     std::to_string(kHead + kComponent * std::max<size_t>(count, 1)));
    info_.depth = frame_[0];
    info_.height = big_endian(&frame_[1]);
    info_.width = big_endian(&frame_[3]);
    info_.components = static_cast<int>(count);
    for (int c = 0; c < std::min(info_.components, kJpegMaxComponents); ++c) {
      const uint8_t* const from = &frame_[kHead + kComponent * static_cast<size_t>(c)];
      JpegFileInfo::Component& component = info_.component[c];
      component = {from[0], static_cast<uint8_t>(from[1] >> 4), static_cast<uint8_t>(from[1] & 15)};
      if (from[2] >= std::size(quantizers_) || !quantizers_[from[2]]) continue;
      info_.tables.add(c, *quantizers_[from[2]], from[2]);
      component.table = info_.tables.table_of[c];
    }
    info_.color = color();
    info_.orientation = orientation_.value_or(0);
    return {};
  }

  // As libjpeg's default_decompress_parms().
  JpegColor color() const {
    const JpegFileInfo::Component(&c)[kJpegMaxComponents] = info_.component;
    switch (info_.components) {
      case 2:
        return JpegColor::kTwo;
      case 3:
        if (is_jfif_ || adobe_.value_or(0) > 0) return JpegColor::kYcbcr;
        return adobe_ || (c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B') ? JpegColor::kRgb
                                                                              : JpegColor::kYcbcr;
      case 4:
        return adobe_.value_or(0) > 0 ? JpegColor::kYcck : JpegColor::kCmyk;
      default:
        return JpegColor::kGray;
    }
  }

  JpegFileInfo& info_;
  std::span<const uint8_t> frame_;
  std::optional<QuantTable> quantizers_[4];
  std::optional<int> orientation_;  // of the first Exif data
  bool is_jfif_ = false;
  std::optional<uint8_t> adobe_;  // the transform code of Adobe's segment
};

}  // namespace

Status read_jpeg_info(std::span<const uint8_t> file, JpegFileInfo* info) {
  *info = {};
  return InfoReader(info).read(file);
}

}  // namespace cudatransform
