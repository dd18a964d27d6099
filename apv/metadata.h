// Metadata of APV frames: mastering display, content light level, and how many others there are.
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

struct ApvMetadata {
  std::optional<ApvMasteringDisplay> mastering;
  std::optional<ApvContentLight> light;
  int t35 = 0;   // ITU-T T.35, such as HDR10+
  int user = 0;  // with a UUID
  int unknown = 0;
  bool is_damaged = false;  // what follows was not read
};

// Adds what a metadata unit has.
void read_apv_metadata(std::span<const uint8_t> payload, ApvMetadata* metadata);

}  // namespace cudatransform
