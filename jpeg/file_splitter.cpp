// Finds where JPEG files begin and end in a stream of bytes, with what belongs to their pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/file_splitter.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

// SOI and the FF of the next marker.
constexpr uint8_t kStart[] = {0xff, 0xd8, 0xff};

// How many of the last bytes, from `at` on, may begin a picture.
size_t half_a_start(std::span<const uint8_t> bytes, size_t at) {
  for (size_t size = std::min(bytes.size() - at, sizeof kStart); size > 0; size--)
    if (std::equal(bytes.end() - static_cast<ptrdiff_t>(size), bytes.end(), kStart)) return size;
  return 0;
}

}  // namespace

void JpegFileSplitter::restart() { *this = JpegFileSplitter(); }

JpegFileSpan JpegFileSplitter::next(std::span<const uint8_t> bytes, const JpegFileRules& rules,
                                    bool at_end) {
  scan_new_bytes(bytes, rules);
  const bool has_found = splitter_.found();
  if (!has_found && !splitter_.inside()) {
    // An FF may be the first half of SOI.
    const bool is_half = !at_end && !bytes.empty() && bytes.back() == 0xff;
    return is_half ? skip(bytes.size() - 1) : drop(bytes.size());
  }
  if (const size_t begin = here(splitter_.begin()); begin > 0) return skip(begin);
  if (!has_found) {
    if (!at_end && bytes.size() <= rules.most) return {};
    splitter_.cut();
  }
  const size_t end = here(splitter_.end());
  // SOI and EOI alone are no picture, unless nothing else follows.
  if (splitter_.has_end() && !splitter_.has_segments()) {
    if (end == bytes.size() && !at_end && !rules.is_framed) return {};
    if (end < bytes.size()) return drop(end);
  }
  if (!find_pictures(bytes, rules, at_end)) return {};
  // In a framed stream, the rest of a file is in the same chunk.
  if (rules.is_framed && newest_ > 0) keeps_rest_ = false;
  const bool is_known = find_rest(bytes, rules, at_end);
  const uint64_t most = std::max<uint64_t>(rules.most, pictures_end_);
  if (!is_known && bytes.size() <= most) return {};
  const bool is_cut = !is_known || file_end_ > most;
  const JpegFileSpan span = {0, is_cut ? pictures_end_ : file_end_, is_cut};
  begin_anew(span.size);
  return span;
}

// After the first `size` bytes, something new begins.
void JpegFileSplitter::begin_anew(size_t size) {
  take(size);
  splitter_.restart();
  base_ = pictures_end_ = file_end_ = 0;
  has_read_index_ = false;
}

// Feeds the splitter the new bytes. In a framed stream, a chunk that begins like a picture is one,
// and any picture before it was cut off.
void JpegFileSplitter::scan_new_bytes(std::span<const uint8_t> bytes, const JpegFileRules& rules) {
  if (known_ < bytes.size()) {
    newest_ = known_;
    const std::span<const uint8_t> piece = bytes.subspan(known_);
    if (rules.is_framed && splitter_.inside() && !splitter_.found() &&
        piece.size() >= sizeof kStart &&
        std::equal(std::begin(kStart), std::end(kStart), piece.begin()))
      splitter_.cut();
    known_ = bytes.size();
  }
  while (!splitter_.found()) {
    const size_t at = here(splitter_.position());
    // In chunks, so that a picture is cut where it gets too long.
    constexpr size_t kPiece = 65536;
    const size_t size = std::min(bytes.size() - at, kPiece);
    if (size == 0) break;
    examined_ += splitter_.feed(&bytes[at], size);
    const size_t length = splitter_.position() - splitter_.begin();
    if (splitter_.inside() && !splitter_.found() && length > kMaxJpegFile) splitter_.cut();
  }
}

// Reads the index of the picture that has been found.
void JpegFileSplitter::read_index(std::span<const uint8_t> picture, const JpegFileRules& rules) {
  has_read_index_ = true;
  awaits_ = false;
  keeps_rest_ = rules.with_rest;
  doubt_.clear();
  if (!rules.with_others) return;
  examined_ += picture.size();
  FilePlaces places;
  const Status status = find_places(picture, picture.size(), &places);
  if (status.ok() && places.count == 0) return;
  if (!status.ok())
    doubt_ = status.message;
  else if (places.end() > rules.most)
    doubt_ = "MPF index of too many bytes";
  else if (examined_ahead_ > taken_ + picture.size())
    doubt_ = "MPF index after too many invalid ones";
  else
    awaits_ = true;
  if (awaits_) check_.begin(places);
}

// Finds where the pictures of the file end. False: more bytes are needed first.
bool JpegFileSplitter::find_pictures(std::span<const uint8_t> bytes, const JpegFileRules& rules,
                                     bool at_end) {
  if (pictures_end_ > 0) return true;
  const size_t end = here(splitter_.end());
  if (!has_read_index_) read_index(bytes.first(end), rules);
  if (awaits_) {
    const uint64_t before = check_.examined();
    // In a framed stream, the next chunk is the next file.
    const PlacesCheck::Verdict verdict = check_.check(bytes, at_end || rules.is_framed);
    examined_ += check_.examined() - before;
    if (verdict == PlacesCheck::Verdict::kAwaited) return false;
    awaits_ = verdict == PlacesCheck::Verdict::kMatch;
    if (!awaits_) {
      examined_ahead_ += check_.examined();
      doubt_ = "MPF index does not match the file";
    }
  }
  pictures_end_ = awaits_ ? check_.places().end() : end;
  file_end_ = pictures_end_;
  // Without its end a picture extends to the next one.
  if (!awaits_ && !splitter_.has_end()) keeps_rest_ = false;
  return true;
}

// Whether a file begins at `at`, where bytes look like it. By chance they do so in video data, but
// rarely with another marker after the first segment.
JpegFileSplitter::Begins JpegFileSplitter::begins_file(std::span<const uint8_t> bytes, size_t at) {
  constexpr size_t kHead = 6;  // SOI, a marker, a length
  examined_ += kHead + 1;
  if (bytes.size() < at + kHead) return Begins::kUnknown;
  const uint8_t* head = &bytes[at];
  if (head[3] == 0xff) return Begins::kYes;  // a fill byte
  if (head[3] < kSof0 || (head[3] >= kRst0 && head[3] <= kEoi)) return Begins::kNo;
  const size_t behind = at + 4 + (size_t{head[4]} << 8 | head[5]);
  if (bytes.size() <= behind) return Begins::kUnknown;
  return bytes[behind] == 0xff ? Begins::kYes : Begins::kNo;
}

// Moves the file's end after the bytes that follow its pictures, up to the next file. False: more
// bytes are needed to determine that.
bool JpegFileSplitter::find_rest(std::span<const uint8_t> bytes, const JpegFileRules& rules,
                                 bool at_end) {
  if (!keeps_rest_) return true;
  while (bytes.size() - file_end_ > sizeof kStart) {
    const size_t soi = find_soi(bytes, file_end_);
    examined_ += soi - file_end_;
    file_end_ = std::min(soi, bytes.size() - sizeof kStart);
    if (file_end_ < soi || bytes.size() - soi == sizeof kStart) break;
    if (bytes[soi + 2] == 0xff) {
      // What follows immediately is a file, damaged or not.
      const Begins begins = soi == pictures_end_ ? Begins::kYes : begins_file(bytes, soi);
      if (begins == Begins::kYes || (begins == Begins::kUnknown && rules.is_framed)) return true;
      if (begins == Begins::kUnknown && !at_end) return false;
    }
    file_end_ = soi + 1;
  }
  if (!rules.is_framed && !at_end) return false;
  file_end_ = bytes.size() - (rules.is_framed ? half_a_start(bytes, file_end_) : 0);
  return true;
}

// The splitter does not advance.
JpegFileSpan JpegFileSplitter::skip(size_t size) {
  take(size);
  base_ += size;
  return {size, 0, false};
}

JpegFileSpan JpegFileSplitter::drop(size_t size) {
  begin_anew(size);
  return {size, 0, false};
}

void JpegFileSplitter::take(size_t size) {
  taken_ += size;
  known_ -= size;
  newest_ -= std::min(newest_, size);
}

}  // namespace cudatransform
