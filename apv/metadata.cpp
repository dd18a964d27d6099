// Metadata of APV frames: mastering display, content light level, and how many others there are.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/metadata.h"

#include "apv/bits.h"

namespace cudatransform {

namespace {

constexpr uint64_t kT35 = 4, kMastering = 5, kLight = 6, kFiller = 10, kUser = 170;
constexpr size_t kMasteringBytes = 24, kLightBytes = 4, kUuidBytes = 16;

// A sum of bytes, in which 255 continues. False: incomplete.
bool read_sum(std::span<const uint8_t>* bytes, uint64_t* sum) {
  constexpr uint8_t kContinues = 255;
  *sum = 0;
  while (!bytes->empty()) {
    const uint8_t byte = bytes->front();
    *bytes = bytes->subspan(1);
    *sum += byte;
    if (byte != kContinues) return true;
  }
  return false;
}

ApvMasteringDisplay read_mastering(std::span<const uint8_t> bytes) {
  ApvFields fields(bytes);
  ApvMasteringDisplay display;
  for (auto& primary : display.primaries)
    for (uint16_t& coordinate : primary) coordinate = static_cast<uint16_t>(fields.number(16));
  for (uint16_t& coordinate : display.white) coordinate = static_cast<uint16_t>(fields.number(16));
  display.max_luminance = fields.number(32);
  display.min_luminance = fields.number(32);
  return display;
}

void read_payload(uint64_t type, std::span<const uint8_t> bytes, ApvMetadata* metadata) {
  if (type == kMastering && bytes.size() >= kMasteringBytes) {
    metadata->mastering = read_mastering(bytes);
  } else if (type == kLight && bytes.size() >= kLightBytes) {
    ApvFields fields(bytes);
    const auto content = static_cast<uint16_t>(fields.number(16));
    metadata->light = {content, static_cast<uint16_t>(fields.number(16))};
  } else if (type == kT35) {
    ++metadata->t35;
  } else if (type == kUser && bytes.size() >= kUuidBytes) {
    ++metadata->user;
  } else if (type == kMastering || type == kLight || type == kUser) {
    metadata->is_damaged = true;
  } else if (type != kFiller) {
    ++metadata->unknown;
  }
}

}  // namespace

void read_apv_metadata(std::span<const uint8_t> payload, ApvMetadata* metadata) {
  constexpr size_t kSizeBytes = 4;
  if (payload.size() < kSizeBytes || read_be32(payload.data()) > payload.size() - kSizeBytes) {
    metadata->is_damaged = true;
    return;
  }
  std::span<const uint8_t> bytes = payload.subspan(kSizeBytes, read_be32(payload.data()));
  while (!bytes.empty()) {
    uint64_t type, size;
    if (!read_sum(&bytes, &type) || !read_sum(&bytes, &size) || size > bytes.size()) {
      metadata->is_damaged = true;
      return;
    }
    read_payload(type, bytes.first(static_cast<size_t>(size)), metadata);
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
}

}  // namespace cudatransform
