// Access units of APV (RFC 9924): where they begin in a raw stream, and the units inside them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/access_unit.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "apv/bits.h"

namespace cudatransform {

namespace {

constexpr uint8_t kSignature[] = {'a', 'P', 'v', '1'};
constexpr size_t kSizeBytes = 4;        // au_size and pbu_size
constexpr size_t kUnitHeaderBytes = 4;  // of a PBU
// au_size, "aPv1", pbu_size, and the header of a PBU.
constexpr size_t kBeginBytes = 16;
// The frame header without matrices, and around it "aPv1", pbu_size and the header of a PBU.
constexpr uint32_t kMinUnitBytes = 24;

bool is_signature(std::span<const uint8_t> bytes, size_t at) {
  return bytes.size() >= at + sizeof kSignature &&
         std::memcmp(&bytes[at], kSignature, sizeof kSignature) == 0;
}

// au_size, and a PBU without "aPv1".
bool begins_old_unit(std::span<const uint8_t> bytes) {
  constexpr size_t kUnit = 2 * kSizeBytes;
  if (bytes.size() < kUnit + kUnitHeaderBytes) return false;
  const uint32_t size = read_be32(bytes.data());
  const uint32_t unit_size = read_be32(&bytes[kSizeBytes]);
  return size >= kMinUnitBytes && unit_size >= kUnitHeaderBytes && unit_size <= size - kSizeBytes &&
         is_known_apv_type(bytes[kUnit]) && bytes[kUnit + 3] == 0;
}

Status damaged(const std::string& message) {
  return Status::error(StatusCode::kInvalidArgument, message);
}

}  // namespace

bool is_known_apv_type(uint8_t type) {
  static constexpr ApvUnitType kTypes[] = {
      ApvUnitType::kPrimaryFrame, ApvUnitType::kNonPrimaryFrame, ApvUnitType::kPreviewFrame,
      ApvUnitType::kDepthFrame,   ApvUnitType::kAlphaFrame,      ApvUnitType::kAccessUnitInfo,
      ApvUnitType::kMetadata,     ApvUnitType::kFiller};
  return std::find(std::begin(kTypes), std::end(kTypes), ApvUnitType{type}) != std::end(kTypes);
}

bool is_auxiliary_apv_frame(ApvUnitType type) {
  return type == ApvUnitType::kNonPrimaryFrame || type == ApvUnitType::kPreviewFrame ||
         type == ApvUnitType::kDepthFrame || type == ApvUnitType::kAlphaFrame;
}

bool begins_with_apv_size(std::span<const uint8_t> bytes) {
  return is_signature(bytes, kSizeBytes) && read_be32(bytes.data()) >= kMinUnitBytes;
}

Status open_apv_access_unit(std::span<const uint8_t> data, std::span<const uint8_t>* units) {
  if (is_signature(data, 0)) {
    *units = data.subspan(sizeof kSignature);
    return {};
  }
  const bool is_old = !is_signature(data, kSizeBytes);
  if (is_old && !begins_old_unit(data)) return damaged("no access unit: \"aPv1\" is missing");
  const uint32_t size = read_be32(data.data());
  if (size > data.size() - kSizeBytes) {
    return damaged("access unit of " + std::to_string(size) + " bytes, of which " +
                   std::to_string(data.size() - kSizeBytes) + " are there");
  }
  *units = data.subspan(kSizeBytes, size).subspan(is_old ? 0 : sizeof kSignature);
  return {};
}

Status next_apv_unit(std::span<const uint8_t>* units, ApvUnit* unit) {
  constexpr size_t kBegin = kSizeBytes + kUnitHeaderBytes;
  if (units->size() < kBegin) return damaged("incomplete header of a PBU");
  const uint8_t* const begin = units->data();
  const uint32_t size = read_be32(begin);
  if (size < kUnitHeaderBytes || size > units->size() - kSizeBytes) {
    return damaged("PBU of " + std::to_string(size) + " bytes, of which " +
                   std::to_string(units->size() - kSizeBytes) + " are there");
  }
  if (begin[kBegin - 1] != 0) return damaged("reserved byte of a PBU header is not zero");
  unit->type = ApvUnitType{begin[kSizeBytes]};
  unit->group = static_cast<uint16_t>(begin[kSizeBytes + 1] << 8 | begin[kSizeBytes + 2]);
  unit->payload = units->subspan(kBegin, size - kUnitHeaderBytes);
  *units = units->subspan(kSizeBytes + size);
  return {};
}

// The next place, from byte 1 on, where an access unit may begin, or may begin with what follows.
size_t ApvSplitter::search(std::span<const uint8_t> bytes, bool at_end) {
  const size_t begin = from_ + kSizeBytes;
  if (bytes.size() > begin) {
    const void* found = memmem(&bytes[begin], bytes.size() - begin, kSignature, sizeof kSignature);
    const size_t at = found == nullptr
                          ? bytes.size()
                          : static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data());
    examined_ += at - begin;
    if (found != nullptr) return at - kSizeBytes;
  }
  const size_t kept = at_end ? 0 : kSizeBytes + sizeof kSignature - 1;
  return bytes.size() - std::min(bytes.size(), kept);
}

ApvSpan ApvSplitter::next(std::span<const uint8_t> bytes, bool at_end, uint64_t max_bytes) {
  wanted_ = 0;
  if (bytes.empty() || (bytes.size() < kBeginBytes && !at_end)) return {};
  examined_ += kBeginBytes;
  if (begins_with_apv_size(bytes) || (in_step_ && begins_old_unit(bytes))) {
    const uint64_t size = uint64_t{read_be32(bytes.data())} + kSizeBytes;
    if (size <= max_bytes) {
      if (size > bytes.size() && !at_end) {
        wanted_ = size;
        return {};
      }
      in_step_ = true;
      return {0, static_cast<size_t>(std::min<uint64_t>(size, bytes.size()))};
    }
  }
  in_step_ = false;
  return {std::max<size_t>(search(bytes, at_end), at_end ? 1 : 0), 0};
}

}  // namespace cudatransform
