// The index of a JPEG file that has several pictures: the Multi-Picture Format of CIPA DC-007.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/mpf.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "jpeg/metadata.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

// Tags and entries of the MP Index IFD (DC-007, 5.2.3).
constexpr uint16_t kVersion = 0xb000, kNumberOfImages = 0xb001, kEntries = 0xb002;
constexpr size_t kEntry = 16, kSizeInEntry = 4, kOffsetInEntry = 8;

constexpr uint32_t kPrimary = 0x030000;  // an attribute: the baseline's primary image

Status mismatch(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, "MPF index: " + what);
}

// Messages count pictures from 1.
Status mismatch_of(size_t picture, const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument,
                       "MPF entry " + std::to_string(picture) + " " + what);
}

}  // namespace

std::string FilePlace::text() const {
  return "(bytes " + std::to_string(begin) + "-" + std::to_string(end()) + ")";
}

// ---- The segment ----

Status MpfIndex::read(std::span<const uint8_t> bytes, MpfIndex* index) {
  *index = {};
  const Tiff tiff(bytes);
  if (bytes.size() < Tiff::kHeaderBytes + Tiff::kCountBytes) return mismatch("truncated");
  if (!tiff.has_header()) return mismatch("no TIFF header");
  const size_t directory = tiff.first_directory();
  if (directory < Tiff::kHeaderBytes || !tiff.has(directory, Tiff::kCountBytes))
    return mismatch("directory at byte " + std::to_string(directory) + " of " +
                    std::to_string(bytes.size()));
  const size_t fields = tiff.number(directory, Tiff::kCountBytes);
  const size_t directory_bytes = Tiff::kCountBytes + fields * Tiff::kEntryBytes;
  if (!tiff.has(directory, directory_bytes))
    return mismatch("truncated directory of " + std::to_string(fields) + " fields");

  MpfIndex found;
  found.tiff_ = tiff;
  const std::optional<TiffEntry> count = tiff.find(directory, kNumberOfImages);
  if (count && count->type == TiffEntry::kLong) found.pictures_ = tiff.number(count->value_at, 4);
  const std::optional<TiffEntry> entries = tiff.find(directory, kEntries);
  const bool has_entries = entries && entries->type == TiffEntry::kUndefined;
  const uint32_t entries_size = has_entries ? entries->count : 0;
  if (has_entries) found.entries_at_ = tiff.number(entries->value_at, 4);
  if (found.pictures_ == 0 || found.pictures_ > kMaxMpfPictures)
    return mismatch(std::to_string(found.pictures_) + " pictures, expected 1 to " +
                    std::to_string(kMaxMpfPictures));
  if (entries_size != found.pictures_ * kEntry)
    return mismatch(std::to_string(entries_size) + " bytes of entries, expected " +
                    std::to_string(found.pictures_ * kEntry) + " for " +
                    std::to_string(found.pictures_) + " pictures");
  if (found.entries_at_ < Tiff::kHeaderBytes || !tiff.has(found.entries_at_, entries_size))
    return mismatch("entries at byte " + std::to_string(found.entries_at_) + " of " +
                    std::to_string(bytes.size()));
  // New sizes would destroy the directory.
  if (found.entries_at_ < directory + directory_bytes &&
      found.entries_at_ + entries_size > directory)
    return mismatch("entries at byte " + std::to_string(found.entries_at_) +
                    " overlap the directory at byte " + std::to_string(directory));
  *index = found;
  return {};
}

MpfEntry MpfIndex::entry(uint32_t i) const {
  const size_t at = entries_at_ + i * kEntry;
  return {tiff_.number(at, 4), tiff_.number(at + kSizeInEntry, 4),
          tiff_.number(at + kOffsetInEntry, 4)};
}

std::span<const uint8_t> find_mpf(std::span<const uint8_t> file) {
  if (file.size() <= kSoiBytes) return {};
  JpegSegments segments(file.subspan(kSoiBytes));
  for (JpegSegment segment; segments.next(&segment);)
    if (segment.is_mpf()) return segment.data.subspan(kMpfHead);
  return {};
}

void make_mpf(uint32_t pictures, uint8_t* to) {
  constexpr uint8_t kHead[] = {'M', 'P', 'F', 0, 'M', 'M'};
  constexpr uint32_t kFields = 3, kNoNextDirectory = 0;
  memset(to, 0, new_mpf_size(pictures));
  to = std::copy(std::begin(kHead), std::end(kHead), to);
  const auto put_next = [&to](uint32_t value, size_t bytes) {
    write_number(value, bytes, true, to);
    to += bytes;
  };
  const auto put_field = [&](uint32_t tag, uint32_t type, uint32_t count, uint32_t value) {
    put_next(tag, 2);
    put_next(type, 2);
    put_next(count, 4);
    put_next(value, 4);
  };
  constexpr uint32_t kVersion0100 = 0x30313030;  // four characters
  put_next(Tiff::kMagic, 2);
  put_next(Tiff::kHeaderBytes, 4);
  put_next(kFields, 2);
  put_field(kVersion, TiffEntry::kUndefined, 4, kVersion0100);
  put_field(kNumberOfImages, TiffEntry::kLong, 1, pictures);
  put_field(kEntries, TiffEntry::kUndefined, pictures * static_cast<uint32_t>(kEntry),
            Tiff::kHeaderBytes + Tiff::kCountBytes + kFields * Tiff::kEntryBytes +
                sizeof kNoNextDirectory);
  put_next(kNoNextDirectory, 4);
  put_next(kPrimary, 4);
}

std::vector<uint8_t> shorter_mpf(std::span<const uint8_t> tiff, std::span<const uint32_t> kept) {
  MpfIndex old, made;
  if (!MpfIndex::read(tiff, &old).ok()) return {};
  const auto pictures = static_cast<uint32_t>(kept.size() + 1);
  std::vector<uint8_t> bytes(new_mpf_size(pictures));
  make_mpf(pictures, bytes.data());
  if (!MpfIndex::read(std::span(bytes).subspan(kMpfHead), &made).ok()) return {};
  uint8_t* entries = &bytes[kMpfHead + made.entries_at()];
  write_number(old.entry(0).attribute, 4, true, entries);
  for (size_t i = 0; i < kept.size(); i++)
    if (kept[i] + 1 < old.pictures())
      write_number(old.entry(kept[i] + 1).attribute, 4, true, entries + (i + 1) * kEntry);
  return bytes;
}

// ---- Places in a file ----

uint64_t FilePlaces::begin() const {
  uint64_t first = count > 0 ? place[0].begin : 0;
  for (const FilePlace& one : all()) first = std::min(first, one.begin);
  return first;
}

uint64_t FilePlaces::end() const {
  uint64_t last = 0;
  for (const FilePlace& one : all()) last = std::max(last, one.end());
  return last;
}

Status find_places(std::span<const uint8_t> file, uint64_t picture_end, FilePlaces* places) {
  places->count = 0;
  const std::span<const uint8_t> tiff = find_mpf(file);
  if (tiff.empty()) return {};
  MpfIndex index;
  CT_RETURN_IF_ERROR(MpfIndex::read(tiff, &index));
  const auto tiff_at = static_cast<uint64_t>(tiff.data() - file.data());
  places->count = index.pictures() - 1;
  for (uint32_t i = 1; i < index.pictures(); i++) {
    const MpfEntry entry = index.entry(i);
    places->place[i - 1] = {tiff_at + entry.offset, entry.size};
  }
  if (index.entry(0).offset != 0) return mismatch_of(1, "is not at the start of the file");
  for (uint32_t i = 1; i < index.pictures(); i++) {
    const FilePlace& place = places->place[i - 1];
    if (place.size == 0) return mismatch_of(i + 1, "is empty");
    if (place.begin < picture_end)
      return mismatch_of(i + 1, place.text() + " overlaps the first picture, which ends at byte " +
                                    std::to_string(picture_end));
    for (uint32_t other = 1; other < i; other++) {
      const FilePlace& before = places->place[other - 1];
      if (place.overlaps(before))
        return mismatch_of(i + 1, place.text() + " overlaps entry " + std::to_string(other + 1) +
                                      " " + before.text());
    }
  }
  return {};
}

Status check_places(std::span<const uint8_t> file, const FilePlaces& places) {
  for (uint32_t i = 0; i < places.count; i++)
    if (places.place[i].end() > file.size())
      return mismatch_of(i + 2, places.place[i].text() + " exceeds the file of " +
                                    std::to_string(file.size()) + " bytes");
  if (places.count == 0) return {};
  PlacesCheck check;
  check.begin(places);
  if (check.check(file, true) == PlacesCheck::Verdict::kMatch) return {};
  return mismatch_of(check.missing() + 2,
                     places.place[check.missing()].text() + " is not one JPEG image");
}

void PlacesCheck::begin(const FilePlaces& places) {
  places_.count = places.count;
  std::copy_n(places.place.begin(), places.count, places_.place.begin());
  const auto end = order_.begin() + places.count;
  std::iota(order_.begin(), end, uint8_t{0});
  std::sort(order_.begin(), end, [this](uint8_t a, uint8_t b) {
    return places_.place[a].begin < places_.place[b].begin;
  });
  splitter_.restart();
  done_ = 0;
  position_ = examined_ = 0;
}

PlacesCheck::Verdict PlacesCheck::check(std::span<const uint8_t> file, bool at_end) {
  for (; done_ < places_.count; done_++) {
    const Verdict verdict = check_place(places_.place[order_[done_]], file);
    if (verdict == Verdict::kAwaited && at_end) return Verdict::kMismatch;
    if (verdict != Verdict::kMatch) return verdict;
    splitter_.restart();
  }
  return Verdict::kMatch;
}

PlacesCheck::Verdict PlacesCheck::check_place(const FilePlace& place,
                                              std::span<const uint8_t> file) {
  constexpr uint8_t kStart[] = {0xff, kSoi};
  const uint64_t end = std::min<uint64_t>(file.size(), place.end());
  if (position_ < place.begin + sizeof kStart) {
    position_ = place.begin;
    if (place.size < sizeof kStart) return Verdict::kMismatch;
    if (end < place.begin + sizeof kStart) return Verdict::kAwaited;
    if (!std::equal(std::begin(kStart), std::end(kStart), &file[place.begin]))
      return Verdict::kMismatch;
  }
  if (position_ < end && !splitter_.found()) {
    const size_t fed = splitter_.feed(&file[position_], end - position_);
    position_ += fed;
    examined_ += fed;
    const bool is_open = splitter_.found() && !splitter_.has_end();
    if (is_open || splitter_.begin() > 0) return Verdict::kMismatch;
  }
  // A place that is too long reaches into other pictures.
  if (position_ < end) {
    const size_t from = std::max(place.begin + splitter_.end(), position_ - 1);
    const size_t soi = find_soi(file.first(end), from);
    position_ = end;
    examined_ += soi - from;
    if (soi < end) return Verdict::kMismatch;
  }
  if (position_ < place.end()) return Verdict::kAwaited;
  return splitter_.found() ? Verdict::kMatch : Verdict::kMismatch;
}

bool ends_with_another(std::span<const uint8_t> picture, const FilePlaces& places) {
  constexpr uint8_t kStart[] = {0xff, 0xd8, 0xff};
  const std::span<const FilePlace> all = places.all();
  return std::any_of(all.begin(), all.end(), [&](const FilePlace& place) {
    if (place.size >= picture.size() || place.size < sizeof kStart) return false;
    const std::span<const uint8_t> end = picture.last(place.size);
    return std::equal(std::begin(kStart), std::end(kStart), end.begin());
  });
}

bool may_be_single_picture(std::span<const uint8_t> file) {
  constexpr uint8_t kEnd[] = {0xff, kEoi};
  return file.size() > sizeof kEnd && std::ranges::equal(file.last(sizeof kEnd), kEnd) &&
         find_mpf(file).empty();
}

FirstPicture first_picture(std::span<const uint8_t> file) {
  JpegSplitter splitter;
  splitter.feed(file.data(), file.size());
  if (!splitter.found() || splitter.begin() != 0) return {file.size(), false};
  return {splitter.end(), splitter.has_end()};
}

Status rewrite_mpf(std::span<uint8_t> picture, std::span<const FilePlace> others) {
  const std::span<const uint8_t> tiff = find_mpf(picture);
  if (tiff.empty()) return mismatch("missing");
  MpfIndex index;
  CT_RETURN_IF_ERROR(MpfIndex::read(tiff, &index));
  if (index.pictures() != others.size() + 1)
    return mismatch(std::to_string(index.pictures()) + " pictures, expected " +
                    std::to_string(others.size() + 1));
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  for (const FilePlace& other : others)
    if (other.begin > kMax || other.size > kMax || picture.size() + other.end() > kMax)
      return mismatch("file exceeds 4 GiB");
  const auto tiff_at = static_cast<size_t>(tiff.data() - picture.data());
  const auto put_entry = [&](size_t i, uint64_t size, uint64_t offset) {
    uint8_t* entry = &picture[tiff_at + index.entries_at() + i * kEntry];
    write_number(static_cast<uint32_t>(size), 4, index.is_big_endian(), entry + kSizeInEntry);
    write_number(static_cast<uint32_t>(offset), 4, index.is_big_endian(), entry + kOffsetInEntry);
  };
  put_entry(0, picture.size(), 0);
  for (size_t i = 0; i < others.size(); i++)
    put_entry(i + 1, others[i].size, picture.size() + others[i].begin - tiff_at);
  return {};
}

}  // namespace cudatransform
