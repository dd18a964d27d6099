// A TIFF structure in memory (TIFF 6.0), as Exif data have it: directories are read and edited.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cudatransform {

// Numbers of `size` bytes, 4 at most, in either byte order.
uint32_t read_number(const uint8_t* from, size_t size, bool is_big_endian);
void write_number(uint32_t value, size_t size, bool is_big_endian, uint8_t* to);

// An entry of a directory. Offsets count from the TIFF header's first byte.
struct TiffEntry {
  static constexpr uint16_t kShort = 3, kLong = 4, kUndefined = 7;  // types

  size_t at = 0;  // of the entry's 12 bytes
  uint16_t type = 0;
  uint32_t count = 0;
  size_t value_at = 0;  // of the value, or of the offset of a value of more than 4 bytes

  bool is_number() const { return count == 1 && (type == kShort || type == kLong); }
};

// Refers to bytes, which must stay. Any bytes may be given: what is outside of them is not found.
class Tiff {
 public:
  static constexpr uint32_t kMagic = 42;
  // A header; a directory's count of entries, an entry, and the offset of the next directory.
  static constexpr size_t kHeaderBytes = 8, kCountBytes = 2, kEntryBytes = 12, kLinkBytes = 4;

  Tiff() = default;
  explicit Tiff(std::span<const uint8_t> bytes);

  bool has_header() const { return is_tiff_; }
  bool is_big_endian() const { return is_big_endian_; }

  // Offset of the first directory (IFD0), and of the one after a directory; 0: none.
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

  uint32_t number(size_t at, size_t size) const {
    return read_number(&bytes_[at], size, is_big_endian_);
  }
  bool has(size_t at, size_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }

 protected:
  // The offset of the next directory's offset; 0 where the directory is not whole.
  size_t link_at(size_t directory) const;

  std::span<const uint8_t> bytes_;

 private:
  bool is_big_endian_ = true, is_tiff_ = false;
};

// Edits its own bytes; nothing outside of them is written.
class TiffEditor : public Tiff {
 public:
  explicit TiffEditor(std::vector<uint8_t> bytes);
  TiffEditor(const TiffEditor&) = delete;
  TiffEditor& operator=(const TiffEditor&) = delete;

  // Replaces the number of a SHORT or LONG entry; does nothing where there is none.
  void set(size_t directory, uint16_t tag, uint32_t value);
  void remove(size_t directory, uint16_t tag);
  // Makes `directory` the last of its chain.
  void unlink_next(size_t directory);

  void put(size_t at, size_t size, uint32_t value) {
    write_number(value, size, is_big_endian(), &own_[at]);
  }

  std::span<uint8_t> bytes() { return own_; }
  void resize(size_t size);

 private:
  std::vector<uint8_t> own_;
};

}  // namespace cudatransform
