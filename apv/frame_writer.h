// An access unit of APV around the chains of a frame: headers, sizes, metadata; and what follows
// from the kind of a frame: profile and level.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "apv/bits.h"
#include "apv/frame_header.h"
#include "apv/metadata.h"
#include "transform/device/status.h"

namespace cudatransform {

// profile_idc, and its name. kUnsupported: no profile has such frames.
Status choose_apv_profile(ApvChroma chroma, int depth, uint8_t* profile);
const char* apv_profile_name(uint8_t profile);
inline constexpr int kApvBands = 4;
// level_idc of the lowest level for a rate of luma samples and, unless it is 0, of coded bits in a
// band; above all levels that of the highest.
uint8_t choose_apv_level(double luma_samples_per_second, double bits_per_second, int band);
// The macroblocks across or down of tiles that are `wanted` samples large, or as much larger as the
// `mbs` of the frame in the largest number of tiles.
uint32_t apv_tile_mbs(uint32_t wanted, uint32_t mbs);

// A frame to be written: a header with tiles, and the quantization parameter of each component.
struct ApvFrameFormat {
  ApvFrameHeader header;
  uint8_t qp[kMaxApvComponents] = {};

  size_t chain_count() const {
    return static_cast<size_t>(header.tiles()) * static_cast<size_t>(header.info.components());
  }
  // Of a tile before its chains, its size included.
  size_t tile_header_bytes() const {
    return 4 + 5 + 5 * static_cast<size_t>(header.info.components());
  }
};

// A frame with its metadata, which make_apv_metadata() writes; may be empty. Its chains are
// numbered tile by tile, in each by component.
class ApvUnitWriter {
 public:
  // Throws std::bad_alloc.
  void begin(const ApvFrameFormat& format, std::span<const uint8_t> metadata);
  // Bytes before the first tile, au_size included.
  size_t begin_bytes() const { return begin_.size(); }
  // Of the unit, au_size included. kUnsupported: it does not fit into its sizes.
  Status measure(std::span<const uint32_t> chain_bytes, size_t* bytes) const;
  // Writes all but the chains; visit(chain, at) is called for the place of each.
  template <typename Visit>
  void write(std::span<const uint32_t> chain_bytes, uint8_t* to, const Visit& visit) const {
    size_t at = write_begin(chain_bytes, to);
    const auto components = static_cast<size_t>(format_.header.info.components());
    for (size_t chain = 0; chain < chain_bytes.size(); ++chain) {
      if (chain % components == 0) {
        write_tile_header(chain / components, chain_bytes.subspan(chain, components), to + at);
        at += format_.tile_header_bytes();
      }
      visit(chain, to + at);
      at += chain_bytes[chain];
    }
    write_end(to + at);
  }

 private:
  size_t write_begin(std::span<const uint32_t> chain_bytes, uint8_t* to) const;
  void write_tile_header(size_t tile, std::span<const uint32_t> chain_bytes, uint8_t* to) const;
  void write_end(uint8_t* to) const;
  uint64_t frame_bytes(std::span<const uint32_t> chain_bytes) const;

  ApvFrameFormat format_;
  ApvBytes begin_, metadata_;
};

// The metadata units after a frame; empty without metadata. `hash`: 16 bytes a component,
// or empty. Throws std::bad_alloc.
ApvBytes make_apv_metadata(const ApvMetadata& metadata, std::span<const uint8_t> hash);

}  // namespace cudatransform
