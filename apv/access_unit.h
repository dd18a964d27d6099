// Access units of APV (RFC 9924): where they begin in a raw stream, and the units inside them.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A raw stream repeats au_size, 32 bits, and an access unit of that many bytes: "aPv1", then PBUs
// (primitive bitstream units). A PBU is pbu_size, 32 bits, a header of 4 bytes, and a payload.
// All fields are big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transform/device/status.h"

namespace cudatransform {

enum class ApvUnitType : uint8_t {
  kPrimaryFrame = 1,
  kNonPrimaryFrame = 2,
  kPreviewFrame = 25,
  kDepthFrame = 26,
  kAlphaFrame = 27,
  kAccessUnitInfo = 65,
  kMetadata = 66,
  kFiller = 67,
};
bool is_known_apv_type(uint8_t type);
// Frames that a player skips: alpha, depth, preview, and further ones.
bool is_auxiliary_apv_frame(ApvUnitType type);

struct ApvUnit {
  ApvUnitType type;  // any value
  uint16_t group;
  std::span<const uint8_t> payload;
};

// Whether the bytes begin with au_size and "aPv1": the signature for type finders and demuxers.
bool begins_with_apv_size(std::span<const uint8_t> bytes);

// The PBUs of an access unit, with or without its au_size. Streams of OpenAPV before version 0.2
// lack "aPv1"; they need au_size.
Status open_apv_access_unit(std::span<const uint8_t> data, std::span<const uint8_t>* units);
// Takes the first PBU off `*units`, which is not empty.
Status next_apv_unit(std::span<const uint8_t>* units, ApvUnit* unit);

// A span of a raw stream.
struct ApvSpan {
  size_t skipped = 0;  // bytes before the access unit that belong to none
  size_t size = 0;     // of the access unit, au_size included; 0: more bytes are needed
};

// Finds the access units of a raw stream that comes in pieces. An au_size is believed if "aPv1"
// follows, or where the unit before ended also if a unit of an old stream follows. Otherwise the
// next "aPv1" is searched. Each byte is searched once, for any claimed sizes.
class ApvSplitter {
 public:
  // The maximum number of bytes examined in splitting `bytes` in this many calls.
  static constexpr uint64_t max_examined(uint64_t bytes, uint64_t calls) {
    return 2 * bytes + 32 * calls;
  }

  // The next access unit in `bytes`, which begin where the last span ended. If that takes bytes
  // that have not come, more are needed, unless `at_end` says that none follow: a cut unit is
  // returned as far as it goes. No unit is larger than `max_bytes`.
  ApvSpan next(std::span<const uint8_t> bytes, bool at_end, uint64_t max_bytes);
  // The size of the access unit whose end is awaited, or 0.
  uint64_t wanted() const { return wanted_; }
  uint64_t examined() const { return examined_; }

 private:
  size_t search(std::span<const uint8_t> bytes, bool at_end);

  bool in_step_ = true;  // a unit begins where the bytes do
  size_t from_ = 1;      // where a search continues
  uint64_t wanted_ = 0;
  uint64_t examined_ = 0;
};

}  // namespace cudatransform
