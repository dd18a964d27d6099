// A TIFF structure in memory (TIFF 6.0), as Exif data have it: directories are read and edited.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cudatransform {

// Numbers of `size` bytes, 4 at most, in either byte order.
uint32_t read_number(const uint8_t* from, size_t size, bool is_big_endian);
void write_number(uint32_t value, size_t size, bool is_big_endian, uint8_t* to);

// An entry of a directory. Offsets count from the TIFF header's first byte.
struct TiffEntry {
  static constexpr uint16_t kShort = 3, kLong = 4;  // types

  size_t at = 0;  // of the entry's 12 bytes
  uint16_t type = 0;
  uint32_t count = 0;
  size_t value_at = 0;  // of the value, or of the offset of a value of more than 4 bytes

  bool is_number() const { return count == 1 && (type == kShort || type == kLong); }
};

// Any bytes may be given: what lies outside of them is not found, and nothing outside is written.
class Tiff {
 public:
  explicit Tiff(std::span<const uint8_t> bytes);

  // Offset of the first directory (IFD0), and of the one behind a directory; 0: none.
  size_t first_directory() const { return is_tiff_ ? number(4, 4) : 0; }
  size_t next_directory(size_t directory) const;
  // The directory that an entry of `directory` points to; 0: none.
  size_t sub_directory(size_t directory, uint16_t tag) const { return value(directory, tag, 0); }

  std::optional<TiffEntry> find(size_t directory, uint16_t tag) const;
  // The number of a SHORT or LONG entry.
  std::optional<uint32_t> value(size_t directory, uint16_t tag) const;
  uint32_t value(size_t directory, uint16_t tag, uint32_t otherwise) const {
    return value(directory, tag).value_or(otherwise);
  }

  // Replaces the number of a SHORT or LONG entry; nothing where there is none.
  void set(size_t directory, uint16_t tag, uint32_t value);
  void remove(size_t directory, uint16_t tag);
  // Makes `directory` the last of its chain.
  void unlink_next(size_t directory);

  uint32_t number(size_t at, size_t size) const {
    return read_number(&bytes_[at], size, !is_little_);
  }
  void put(size_t at, size_t size, uint32_t value) {
    write_number(value, size, !is_little_, &bytes_[at]);
  }
  bool has(size_t at, size_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  static constexpr size_t kCountBytes = 2, kEntryBytes = 12, kLinkBytes = 4;
  // The offset of the next directory's offset; 0 where the directory is not whole.
  size_t link_at(size_t directory) const;

  std::vector<uint8_t> bytes_;
  bool is_little_ = false, is_tiff_ = false;
};

}  // namespace cudatransform
