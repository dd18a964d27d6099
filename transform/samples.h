// Samples in memory: packing, clamping, addresses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transform/device/host_device_macros.h"
#include "transform/picture.h"

namespace cudatransform {

// A sample from its 16-bit container. Bits above the depth, which only a broken source sets, clamp.
CT_HD int32_t unpack_sample16(uint16_t container, int shift, int32_t peak) {
  const int32_t sample = container >> shift;
  return sample < peak ? sample : peak;
}
CT_HD int32_t clamp_int(int32_t x, int32_t low, int32_t high) {
  return x < low ? low : x > high ? high : x;
}

inline int32_t load_sample(const uint8_t* address, const SamplePlane& plane, int32_t peak) {
  if (plane.type == SampleType::kU8) return *address;
  uint16_t container;
  std::memcpy(&container, address, sizeof container);
  return unpack_sample16(container, plane.shift, peak);
}

inline void store_sample(uint8_t* address, const SamplePlane& plane, int32_t sample) {
  if (plane.type == SampleType::kU8) {
    *address = uint8_t(sample);
  } else {
    const uint16_t container = uint16_t(uint32_t(sample) << plane.shift);
    std::memcpy(address, &container, sizeof container);
  }
}

inline uint8_t* sample_address(const SamplePlane& plane, int x, int row) {
  return static_cast<uint8_t*>(plane.data) + row * plane.pitch + ptrdiff_t{x} * plane.stride;
}

}  // namespace cudatransform
