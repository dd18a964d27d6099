// A frame of APV: its tiles, the chains of codes in them, and their entropy decoding on the CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "apv/entropy.h"
#include "apv/frame_header.h"
#include "apv/metadata.h"
#include "transform/device/status.h"

namespace cudatransform {

// What an access unit has.
struct ApvAccessUnit {
  std::span<const uint8_t> frame;  // the payload of the first primary frame; empty: there is none
  ApvMetadata metadata;            // of the frame's group
  int skipped_frames = 0;          // alpha, depth, preview, further ones
  int unknown_units = 0;
};
Status read_apv_access_unit(std::span<const uint8_t> data, ApvAccessUnit* unit);

struct ApvLimits {
  uint64_t max_samples = uint64_t{1} << 29;  // of a frame, all components
};

struct ApvTile : ApvTileArea {
  // Of a component: its chain's bytes in the payload.
  uint32_t offset[kMaxApvComponents], bytes[kMaxApvComponents];
  uint8_t qp[kMaxApvComponents];
};

// For any bytes, no call reads outside of them, memory follows from their number and the limits,
// and time is linear in them.
class ApvFrame {
 public:
  // No block takes fewer bits: one of the difference of DC, 13 of a run of 63. A frame with more
  // than eight times the blocks that its chains can have is refused, so that little data does not
  // cause much work; less than that is damage of its chains.
  static constexpr uint64_t kMinBlockBits = 14, kMaxOverclaim = 8;

  // `payload` of a frame, which stays as it is while `owner` is held. kInvalidArgument: damaged;
  // kUnsupported: beyond the limits.
  Status begin(std::span<const uint8_t> payload, std::shared_ptr<const void> owner,
               const ApvLimits& limits);

  const ApvFrameHeader& header() const { return header_; }
  const ApvFrameInfo& info() const { return header_.info; }
  const std::vector<ApvTile>& tiles() const { return tiles_; }
  std::span<const uint8_t> payload() const { return payload_; }
  // A component of a tile each: those of the first tile, then those of the next one.
  size_t chain_count() const { return tiles_.size() * static_cast<size_t>(info().components()); }

  // Coefficients as the inverse transform reads them: one component after the other.
  uint64_t coef_count() const { return 64 * info().blocks(); }
  uint64_t coef_offset(int component) const;
  // The first of a chain, among those of all components.
  uint64_t first_block(const ApvTile& tile, int component) const;
  // Of a chain.
  const ApvTile& tile_of(size_t chain) const { return tiles_[chain / components()]; }
  int component_of(size_t chain) const { return static_cast<int>(chain % components()); }
  uint32_t bytes_of(size_t chain) const { return tile_of(chain).bytes[component_of(chain)]; }
  uint32_t blocks_across(int component) const {
    return info().mbs_across() * info().mb_blocks_across(component);
  }
  // The job, except addresses, pitches and `shift`.
  ApvInverseJob inverse_job() const;

  // `coefs`: coef_count() of them. Different chains may be decoded at the same time.
  void decode_chain(size_t chain, int16_t* coefs);
  // An engine's result for a chain. Any thread.
  void note(size_t chain, ApvChainError error);
  // The damage of the first chain that has any, as text; null: none. Blocks that could not be
  // decoded are zero.
  const char* damage() const;
  int damaged_chains() const { return damaged_.load(std::memory_order_relaxed); }

 private:
  size_t components() const { return static_cast<size_t>(info().components()); }
  Status read_tiles();
  Status read_tile(size_t* at, int tile);

  ApvFrameHeader header_;
  std::vector<ApvTile> tiles_;
  std::span<const uint8_t> payload_;
  std::shared_ptr<const void> owner_;
  // The first damaged chain, and its error in the lowest bits.
  static constexpr uint64_t kUndamaged = UINT64_MAX, kErrorBits = 3;
  std::atomic<uint64_t> damage_ = kUndamaged;
  std::atomic<int> damaged_{0};
};

}  // namespace cudatransform
