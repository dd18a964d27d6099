// A frame of APV from samples to an access unit on the CPU, tile by tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apv/frame_writer.h"
#include "transform/apv/forward.h"
#include "transform/device/status.h"

namespace cudatransform {

// The samples of a frame, in memory of the engine.
struct ApvSource {
  const void* data[kMaxApvComponents] = {};
  ptrdiff_t pitch[kMaxApvComponents] = {};  // bytes
  SampleType type = SampleType::kU16;
  int shift = 0;
};

// The forward transform of a frame, but for the addresses of coefficients. Luma rounds levels up
// from 300/512 of a step above the lower one, chroma from 384/512.
ApvForwardJob apv_forward_job(const ApvFrameFormat& format, const ApvSource& source);

// Used for one frame after another; keeps its memory.
class ApvFrameEncoder {
 public:
  // The samples stay as they are until the last tile is encoded.
  Status begin(const ApvFrameFormat& format, const ApvSource& source);
  int tiles() const { return format_.header.tiles(); }
  // Any thread; different tiles at the same time. A failure is returned by finish(), too.
  void encode_tile(int tile);
  // All tiles are encoded: the size of the unit, au_size included.
  Status finish(std::span<const uint8_t> metadata, size_t* bytes);
  void write(uint8_t* to) const;

 private:
  struct Tile {
    ApvBytes bytes;
    bool has_failed = false;
  };

  void encode_chain(const ApvTileArea& area, int component, ApvBytes* to) const;

  ApvFrameFormat format_;
  ApvForwardJob job_;
  ApvQuantizer quantizers_[kMaxApvComponents];
  std::vector<Tile> tiles_;
  std::vector<uint32_t> chain_bytes_;
  ApvUnitWriter unit_;
};

}  // namespace cudatransform
