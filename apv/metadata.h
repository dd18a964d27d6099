// Metadata of APV frames: mastering display, content light level, and payloads of other kinds.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cudatransform {

// SMPTE ST 2086. Chromaticities in 1/65536, red, green and blue first.
struct ApvMasteringDisplay {
  uint16_t primaries[3][2], white[2];  // x and y
  uint32_t max_luminance;              // cd/m2, in 1/256
  uint32_t min_luminance;              // cd/m2, in 1/16384

  bool operator==(const ApvMasteringDisplay&) const = default;
};

// CTA-861.3, in cd/m2.
struct ApvContentLight {
  uint16_t max_content, max_average;

  bool operator==(const ApvContentLight&) const = default;
};

// payload_type.
enum class ApvPayloadType : uint8_t {
  kT35 = 4,  // ITU-T T.35, such as captions and HDR10+
  kMastering = 5,
  kLight = 6,
  kFiller = 10,
  kUser = 170,  // a UUID, then anything
};
inline constexpr size_t kApvUuidBytes = 16;

struct ApvPayload {
  ApvPayloadType type = ApvPayloadType::kFiller;
  std::span<const uint8_t> bytes;  // owned by others
};

struct ApvMetadata {
  // Of a frame, so that a stream cannot make much of little.
  static constexpr int kMaxPayloads = 16;
  static constexpr size_t kMaxPayloadBytes = size_t{1} << 16;

  // Adds a payload of T.35 or with a UUID, unless that exceeds the limits. A hash of the frame
  // (make_apv_metadata()), which does not hold for other samples, is not kept.
  void keep(const ApvPayload& payload);
  std::span<const ApvPayload> payloads() const { return {kept, static_cast<size_t>(kept_count)}; }

  std::optional<ApvMasteringDisplay> mastering;
  std::optional<ApvContentLight> light;
  int t35 = 0;  // how many, also those that are not kept
  int user = 0;
  int unknown = 0;
  bool is_damaged = false;  // what follows was not read
  ApvPayload kept[kMaxPayloads];
  int kept_count = 0;
  int dropped_count = 0;  // beyond the limits
};

// Adds what a metadata unit has; payloads point into it.
void read_apv_metadata(std::span<const uint8_t> payload, ApvMetadata* metadata);

// The UUID of OpenAPV's hashes.
inline constexpr uint8_t kApvHashUuid[kApvUuidBytes] = {
    0xf8, 0x72, 0x1b, 0x3e, 0xcd, 0xee, 0x47, 0x21, 0x98, 0x0d, 0x9b, 0x9e, 0x39, 0x20, 0x28, 0x49};

}  // namespace cudatransform
