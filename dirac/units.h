// Data units of a Dirac or VC-2 stream: parse codes, and the beginnings and ends of units.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A unit begins with a parse info of 13 bytes: "BBCD", a code, the distance to the next parse info,
// the distance from the one before (SMPTE ST 2042-1, clause 10.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cudatransform {

inline constexpr size_t kDiracParseInfoBytes = 13;
// The first byte of auxiliary data that names the encoder.
inline constexpr uint8_t kDiracEncoderName = 1;

struct DiracParseInfo {
  uint8_t code = 0;
  uint32_t next = 0;      // 0: not said
  uint32_t previous = 0;  // 0: none

  bool is_sequence_header() const { return code == 0x00; }
  bool is_end() const { return code == 0x10; }
  bool is_auxiliary() const { return (code & 0xf8) == 0x20; }
  bool is_slices() const { return (code & 0x88) == 0x88; }
  bool is_low_delay() const { return (code & 0xf8) == 0xc8 || code == 0x88; }
  bool is_high_quality() const { return (code & 0xf8) == 0xe8; }
  // A fragment where the stream has fragments (major version 3), else a low delay reference.
  bool may_be_fragment() const { return is_slices() && (code & 0x0c) == 0x0c; }
  bool is_core_picture() const { return (code & 0x88) == 0x08 && reference_count() < 3; }
  bool is_picture() const {
    return is_core_picture() || (is_slices() && (is_low_delay() || is_high_quality()));
  }
  int reference_count() const { return is_slices() ? 0 : code & 0x03; }
  bool is_reference() const { return (code & 0x0c) == 0x0c; }
  bool is_arithmetic() const { return (code & 0x48) == 0x08; }
};

// False where the bytes are no parse info.
bool read_parse_info(std::span<const uint8_t> unit, DiracParseInfo* info);

// The place of a unit in the bytes that were searched.
struct DiracUnitSpan {
  size_t skipped = 0;  // bytes before the unit that belong to none
  size_t size = 0;     // of the unit; 0: more bytes are needed
};

// The largest units: one that claims more is not believed.
struct DiracUnitLimits {
  uint64_t picture = uint64_t{1} << 28;
  uint64_t other = uint64_t{1} << 28;

  uint64_t of(const DiracParseInfo& info) const { return info.is_picture() ? picture : other; }
};

// Finds the units of a stream that comes in chunks. A parse info is believed only if the one that
// it or the next points to confirms it, since coded data may hold its first four bytes. Each byte
// is searched once, even if units state wrong sizes.
class DiracSplitter {
 public:
  // The maximum number of bytes examined in splitting `bytes` in this many calls.
  static constexpr uint64_t max_examined(uint64_t bytes, uint64_t calls) {
    return 8 * bytes + 80 * calls;
  }

  // `in_step`: the stream begins with a unit, so that a parse info there needs no confirmation.
  explicit DiracSplitter(bool in_step = false) : in_step_(in_step) {}

  // The next unit in `bytes`, which begin where the last span ended: after its unit, or after
  // the bytes skipped. If that takes bytes that are missing, more are needed, unless `at_end` says
  // that none follow. No unit is larger than `limits`; bytes after that belong to none.
  DiracUnitSpan next(std::span<const uint8_t> bytes, bool at_end, const DiracUnitLimits& limits);
  // The size that the unit states whose end is awaited; 0: it states none, or no end is awaited.
  uint64_t wanted() const { return wanted_; }
  // How many bytes have been examined so far.
  uint64_t examined() const { return examined_; }

 private:
  class Search;

  bool in_step_;
  bool inside_ = false;  // a unit begins where the bytes do
  uint64_t wanted_ = 0;
  uint64_t examined_ = 0;
  size_t from_ = 0;  // where the search for a beginning, or for the unit's end, goes on
};

// The first unit in `data`, a part of a stream.
DiracUnitSpan find_dirac_unit(std::span<const uint8_t> data, bool at_end, bool in_step,
                              uint64_t max_bytes);

}  // namespace cudatransform
