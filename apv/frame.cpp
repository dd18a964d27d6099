// A frame of APV: its tiles, the chains of codes in them, and their entropy decoding on the CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/frame.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "apv/access_unit.h"
#include "apv/bits.h"

namespace cudatransform {

namespace {

Status damaged(const std::string& message) {
  return Status::error(StatusCode::kInvalidArgument, message);
}

Status damaged_tile(int tile, const std::string& message) {
  return damaged("tile " + std::to_string(tile) + ": " + message);
}

}  // namespace

Status read_apv_access_unit(std::span<const uint8_t> data, ApvAccessUnit* unit) {
  *unit = {};
  std::span<const uint8_t> units;
  CT_RETURN_IF_ERROR(open_apv_access_unit(data, &units));
  const std::span<const uint8_t> all = units;
  ApvUnit next;
  uint32_t group = 0;
  while (!units.empty()) {
    CT_RETURN_IF_ERROR(next_apv_unit(&units, &next));
    if (next.type == ApvUnitType::kPrimaryFrame && unit->frame.empty()) {
      unit->frame = next.payload;
      group = next.group;
    } else if (next.type == ApvUnitType::kPrimaryFrame || is_auxiliary_apv_frame(next.type)) {
      ++unit->skipped_frames;
    } else if (!is_known_apv_type(static_cast<uint8_t>(next.type))) {
      ++unit->unknown_units;
    }
  }
  // Metadata may precede its frame.
  for (units = all; !units.empty();) {
    CT_RETURN_IF_ERROR(next_apv_unit(&units, &next));
    if (next.type == ApvUnitType::kMetadata && next.group == group)
      read_apv_metadata(next.payload, &unit->metadata);
  }
  return {};
}

Status ApvFrame::begin(std::span<const uint8_t> payload, std::shared_ptr<const void> owner,
                       const ApvLimits& limits) {
  payload_ = payload;
  owner_ = std::move(owner);
  damage_ = kUndamaged;
  damaged_ = 0;
  tiles_.clear();
  CT_RETURN_IF_ERROR(read_apv_header(payload, &header_));
  if (info().samples() > limits.max_samples) {
    return Status::error(StatusCode::kUnsupported, "frame of " + std::to_string(info().width) +
                                                       "x" + std::to_string(info().height) +
                                                       " has " + std::to_string(info().samples()) +
                                                       " samples, expected up to " +
                                                       std::to_string(limits.max_samples));
  }
  if (info().blocks() * kMinBlockBits > kMaxOverclaim * 8 * payload.size()) {
    return damaged("frame of " + std::to_string(info().width) + "x" +
                   std::to_string(info().height) + " in " + std::to_string(payload.size()) +
                   " bytes");
  }
  try {
    return read_tiles();
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for tiles");
  }
}

Status ApvFrame::read_tiles() {
  tiles_.reserve(static_cast<size_t>(header_.tiles()));
  size_t at = header_.bytes;
  for (int i = 0; i < header_.tiles(); ++i) CT_RETURN_IF_ERROR(read_tile(&at, i));
  return {};
}

Status ApvFrame::read_tile(size_t* at, int tile) {
  constexpr size_t kSizeBytes = 4;
  const auto components = static_cast<size_t>(info().components());
  const size_t header_bytes = 5 + 5 * components;
  const size_t left = payload_.size() - *at;
  if (left < kSizeBytes) return damaged_tile(tile, "its size is missing");
  const uint32_t size = read_be32(&payload_[*at]);
  if (size < header_bytes || size > left - kSizeBytes) {
    return damaged_tile(tile, "size " + std::to_string(size) + ", expected " +
                                  std::to_string(header_bytes) + " to " +
                                  std::to_string(left - kSizeBytes));
  }
  const size_t begin = *at + kSizeBytes;
  ApvFields fields(payload_.subspan(begin, header_bytes));
  if (const uint32_t said = fields.number(16); said != header_bytes) {
    return damaged_tile(tile, "header of " + std::to_string(said) + " bytes, expected " +
                                  std::to_string(header_bytes));
  }
  if (const uint32_t index = fields.number(16); index != static_cast<uint32_t>(tile))
    return damaged_tile(tile, "has index " + std::to_string(index));
  ApvTile read = {};
  static_cast<ApvTileArea&>(read) = header_.area(tile);
  size_t end = header_bytes;
  for (size_t c = 0; c < components; ++c) {
    read.bytes[c] = fields.number(32);
    read.offset[c] = static_cast<uint32_t>(begin + end);
    if (read.bytes[c] == 0 || read.bytes[c] > size - end) {
      return damaged_tile(tile, "component " + std::to_string(c) + " of " +
                                    std::to_string(read.bytes[c]) + " bytes, expected 1 to " +
                                    std::to_string(size - end));
    }
    end += read.bytes[c];
  }
  for (size_t c = 0; c < components; ++c) {
    read.qp[c] = static_cast<uint8_t>(fields.number(8));
    if (read.qp[c] > max_apv_qp(info().depth)) {
      return damaged_tile(tile, "quantization parameter " + std::to_string(read.qp[c]) +
                                    ", expected up to " + std::to_string(max_apv_qp(info().depth)));
    }
  }
  fields.zeros(8);
  if (fields.has_reserved()) return damaged_tile(tile, "reserved bits are not zero");
  tiles_.push_back(read);
  *at = begin + size;
  return {};
}

uint64_t ApvFrame::coef_offset(int component) const {
  uint64_t blocks = 0;
  for (int c = 0; c < component; ++c) blocks += info().blocks(c);
  return 64 * blocks;
}

ApvInverseJob ApvFrame::inverse_job() const {
  ApvInverseJob job;
  job.depth = info().depth;
  job.components = info().components();
  job.tile_columns = header_.tile_columns;
  job.tile_rows = header_.tile_rows;
  for (int c = 0; c < job.components; ++c) {
    ApvPlane& plane = job.plane[c];
    plane.blocks_across = static_cast<int32_t>(blocks_across(c));
    plane.blocks_down = static_cast<int32_t>(info().mbs_down() * ApvFrameInfo::kMbBlocksDown);
    plane.width = static_cast<int32_t>(info().width_of(c));
    plane.height = static_cast<int32_t>(info().height);
    plane.tile_across = static_cast<int32_t>(header_.tile_mbs_across * info().mb_blocks_across(c));
    plane.tile_down = static_cast<int32_t>(header_.tile_mbs_down * ApvFrameInfo::kMbBlocksDown);
    std::copy(std::begin(header_.matrix[c]), std::end(header_.matrix[c]), plane.matrix);
    for (size_t i = 0; i < tiles_.size(); ++i) plane.qp[i] = tiles_[i].qp[c];
  }
  return job;
}

uint64_t ApvFrame::first_block(const ApvTile& tile, int component) const {
  return coef_offset(component) / 64 +
         uint64_t{blocks_across(component)} * tile.mb_y * ApvFrameInfo::kMbBlocksDown +
         uint64_t{tile.mb_x} * info().mb_blocks_across(component);
}

void ApvFrame::decode_chain(size_t chain, int16_t* coefs) {
  const auto components = static_cast<size_t>(info().components());
  const ApvTile& from = tiles_[chain / components];
  const auto c = static_cast<int>(chain % components);
  ApvChainPlaces places;
  places.first = coefs + 64 * first_block(from, c);
  places.row_pitch = ptrdiff_t{64} * blocks_across(c);
  places.mbs_across = from.mbs_across;
  places.mbs_down = from.mbs_down;
  places.mb_blocks_across = info().mb_blocks_across(c);
  note(chain, decode_apv_chain(payload_.subspan(from.offset[c], from.bytes[c]), places));
}

void ApvFrame::note(size_t chain, ApvChainError error) {
  if (error == ApvChainError::kNone) return;
  const uint64_t damage = uint64_t{chain} << kErrorBits | static_cast<uint64_t>(error);
  uint64_t first = damage_.load(std::memory_order_relaxed);
  while (damage < first &&
         !damage_.compare_exchange_weak(first, damage, std::memory_order_relaxed)) {
  }
  damaged_.fetch_add(1, std::memory_order_relaxed);
}

const char* ApvFrame::damage() const {
  const uint64_t damage = damage_.load(std::memory_order_relaxed);
  if (damage == kUndamaged) return nullptr;
  return describe(static_cast<ApvChainError>(damage & ((1 << kErrorBits) - 1)));
}

}  // namespace cudatransform
