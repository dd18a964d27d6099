// The segments of a JPEG file that are about its picture, kept from one file to another.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/metadata.h"

#include <cstring>
#include <utility>

#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

// Marker codes (T.81, table B.1).

constexpr size_t kHead = 4;  // marker and length

// Segments that are kept, until `with` returns false.
template <typename Function>
void for_each_kept(std::span<const uint8_t> file, const JpegKept& kept, const Function& with) {
  if (file.size() <= kSoiBytes) return;
  KeptJpegSegments segments(file.subspan(kSoiBytes), kept);
  for (JpegSegment segment; segments.next(&segment);)
    if (!with(segment)) return;
}

}  // namespace

bool JpegSegment::begins_with(const char* text, size_t length) const {
  return data.size() >= length && memcmp(data.data(), text, length) == 0;
}

bool JpegSegment::is_jfif() const {
  return code == kApp0 && data.size() >= 14 && begins_with("JFIF", 5);
}

bool JpegSegment::is_exif() const { return code == kApp1 && begins_with("Exif", 5); }

bool JpegSegment::is_mpf() const { return code == kApp2 && begins_with("MPF", 4); }

bool JpegSegment::is_adobe() const {
  return code == kApp14 && data.size() >= 12 && begins_with("Adobe", 5);
}

bool JpegSegment::stays() const {
  if (code != kCom && (code < kApp0 || code > kApp15)) return false;
  return !(code == kApp0 && begins_with("AVI1", 4)) && !is_mpf() &&
         !(code == kApp14 && begins_with("Adobe", 5));
}

bool JpegSegments::next(JpegSegment* segment) {
  while (data_.size() - at_ >= kHead) {
    const void* ff = memchr(&data_[at_], 0xff, data_.size() - at_);
    if (!ff) return false;
    at_ = static_cast<size_t>(static_cast<const uint8_t*>(ff) - data_.data());
    if (data_.size() - at_ < kHead) return false;
    const uint8_t code = data_[at_ + 1];
    if (code == 0xff) {  // a fill byte
      at_++;
      continue;
    }
    if (code == 0 || code == kTem || (code >= kRst0 && code <= kRst7)) {
      at_ += 2;
      continue;
    }
    if (code == kSoi || code == kEoi || code == kSos) {
      at_end_ = true;
      return false;
    }
    const size_t length = size_t(data_[at_ + 2]) << 8 | data_[at_ + 3];
    if (length < 2) {  // nothing is in it: libjpeg goes on after the length
      at_ += kHead;
      continue;
    }
    if (length > data_.size() - at_ - 2) return false;
    *segment = {code, data_.subspan(at_ + kHead, length - 2)};
    at_ += 2 + length;
    return true;
  }
  return false;
}

bool KeptJpegSegments::next(JpegSegment* segment) {
  while (segments_.next(segment)) {
    if (kept_.staying && segment->stays()) return true;
    if (segment->is_mpf() && std::exchange(kept_.index, false)) return true;
    if (kept_.adobe && segment->is_adobe()) return true;
  }
  return false;
}

size_t jpeg_metadata_size(std::span<const uint8_t> file, const JpegKept& kept) {
  size_t sum = 0;
  for_each_kept(file, kept, [&](const JpegSegment& segment) {
    sum += kHead + segment.data.size();
    return sum <= kMaxJpegMetadata;
  });
  return sum <= kMaxJpegMetadata ? sum : 0;
}

void copy_jpeg_metadata(std::span<const uint8_t> file, const JpegKept& kept, uint8_t* to) {
  for_each_kept(file, kept, [&](const JpegSegment& segment) {
    // Without fill bytes in front of the marker.
    memcpy(to, segment.data.data() - kHead, kHead + segment.data.size());
    to += kHead + segment.data.size();
    return true;
  });
}

bool have_adobe(std::span<const uint8_t> segments) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);)
    if (segment.is_adobe()) return true;
  return false;
}

}  // namespace cudatransform
