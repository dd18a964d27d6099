// A TIFF structure in memory (TIFF 6.0), as Exif data have it: directories are read and edited.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/tiff.h"

#include <algorithm>
#include <utility>

namespace cudatransform {

uint32_t read_number(const uint8_t* from, size_t size, bool is_big_endian) {
  uint32_t value = 0;
  for (size_t i = 0; i < size; i++) value = value << 8 | from[is_big_endian ? i : size - 1 - i];
  return value;
}

void write_number(uint32_t value, size_t size, bool is_big_endian, uint8_t* to) {
  for (size_t i = 0; i < size; i++, value >>= 8)
    to[is_big_endian ? size - 1 - i : i] = static_cast<uint8_t>(value);
}

Tiff::Tiff(std::span<const uint8_t> bytes) : bytes_(bytes) {
  if (bytes_.size() < kHeaderBytes || bytes_[0] != bytes_[1]) return;
  is_big_endian_ = bytes_[0] != 'I';
  is_tiff_ = (bytes_[0] == 'M' || bytes_[0] == 'I') && number(2, 2) == kMagic;
}

std::optional<TiffEntry> Tiff::find(size_t directory, uint16_t tag) const {
  if (directory == 0 || !has(directory, kCountBytes)) return {};
  const uint32_t count = number(directory, kCountBytes);
  for (size_t i = 0, at = directory + kCountBytes; i < count; i++, at += kEntryBytes) {
    if (!has(at, kEntryBytes)) return {};
    if (number(at, 2) == tag)
      return TiffEntry{at, static_cast<uint16_t>(number(at + 2, 2)), number(at + 4, 4), at + 8};
  }
  return {};
}

std::optional<uint32_t> Tiff::value(size_t directory, uint16_t tag) const {
  const std::optional<TiffEntry> entry = find(directory, tag);
  if (!entry || !entry->is_number()) return {};
  return number(entry->value_at, entry->type == TiffEntry::kShort ? 2 : 4);
}

size_t Tiff::link_at(size_t directory) const {
  if (directory == 0 || !has(directory, kCountBytes)) return 0;
  const size_t at = directory + kCountBytes + number(directory, kCountBytes) * kEntryBytes;
  return has(at, kLinkBytes) ? at : 0;
}

size_t Tiff::next_directory(size_t directory) const {
  const size_t at = link_at(directory);
  return at ? number(at, kLinkBytes) : 0;
}

TiffEditor::TiffEditor(std::vector<uint8_t> bytes) : Tiff(bytes), own_(std::move(bytes)) {}

void TiffEditor::resize(size_t size) {
  own_.resize(size);
  bytes_ = own_;
}

void TiffEditor::set(size_t directory, uint16_t tag, uint32_t value) {
  const std::optional<TiffEntry> entry = find(directory, tag);
  if (entry && entry->is_number())
    put(entry->value_at, entry->type == TiffEntry::kShort ? 2 : 4, value);
}

void TiffEditor::unlink_next(size_t directory) {
  if (const size_t at = link_at(directory)) put(at, kLinkBytes, 0);
}

void TiffEditor::remove(size_t directory, uint16_t tag) {
  const std::optional<TiffEntry> entry = find(directory, tag);
  if (!entry) return;
  const size_t count = number(directory, kCountBytes);
  // With the link to the next directory, as far as that is there.
  const size_t size = kCountBytes + count * kEntryBytes + kLinkBytes;
  const size_t end_at = std::min(directory + size, own_.size());
  if (end_at < entry->at + kEntryBytes) return;
  const auto begin = own_.begin() + static_cast<ptrdiff_t>(entry->at);
  const auto end = own_.begin() + static_cast<ptrdiff_t>(end_at);
  std::fill(std::move(begin + kEntryBytes, end, begin), end, uint8_t{0});
  put(directory, kCountBytes, static_cast<uint32_t>(count - 1));
}

}  // namespace cudatransform
