// Metadata of APV frames: mastering display, content light level, and payloads of other kinds.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/metadata.h"

#include <algorithm>
#include <iterator>

#include "apv/bits.h"

namespace cudatransform {

namespace {

constexpr size_t kMasteringBytes = 24, kLightBytes = 4;

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

void read_payload(ApvPayloadType type, std::span<const uint8_t> bytes, ApvMetadata* metadata) {
  switch (type) {
    case ApvPayloadType::kMastering:
      if (bytes.size() >= kMasteringBytes)
        metadata->mastering = read_mastering(bytes);
      else
        metadata->is_damaged = true;
      break;
    case ApvPayloadType::kLight:
      if (bytes.size() >= kLightBytes) {
        ApvFields fields(bytes);
        const auto content = static_cast<uint16_t>(fields.number(16));
        metadata->light = {content, static_cast<uint16_t>(fields.number(16))};
      } else {
        metadata->is_damaged = true;
      }
      break;
    case ApvPayloadType::kT35:
      ++metadata->t35;
      metadata->keep({type, bytes});
      break;
    case ApvPayloadType::kUser:
      if (bytes.size() >= kApvUuidBytes) {
        ++metadata->user;
        metadata->keep({type, bytes});
      } else {
        metadata->is_damaged = true;
      }
      break;
    case ApvPayloadType::kFiller:
      break;
    default:
      ++metadata->unknown;
  }
}

bool is_hash(const ApvPayload& payload) {
  return payload.type == ApvPayloadType::kUser && payload.bytes.size() >= kApvUuidBytes &&
         std::equal(std::begin(kApvHashUuid), std::end(kApvHashUuid), payload.bytes.begin());
}

}  // namespace

void ApvMetadata::keep(const ApvPayload& payload) {
  size_t bytes = payload.bytes.size();
  for (const ApvPayload& one : payloads()) bytes += one.bytes.size();
  if (is_hash(payload)) return;
  if (kept_count == kMaxPayloads || bytes > kMaxPayloadBytes)
    ++dropped_count;
  else
    kept[kept_count++] = payload;
}

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
    if (type <= UINT8_MAX)
      read_payload(ApvPayloadType(type), bytes.first(static_cast<size_t>(size)), metadata);
    else
      ++metadata->unknown;
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
}

}  // namespace cudatransform
