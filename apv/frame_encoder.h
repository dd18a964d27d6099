// A frame of APV from samples to an access unit on the CPU, tile by tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apv/frame_writer.h"
#include "transform/apv/forward.h"
#include "transform/device/device.h"
#include "transform/device/status.h"

namespace cudatransform {

// The samples of a frame, in memory of the engine.
struct ApvSource {
  const void* data[kMaxApvComponents] = {};
  ptrdiff_t pitch[kMaxApvComponents] = {};  // bytes
  int32_t step[kMaxApvComponents] = {1, 1, 1, 1};
  SampleType type = SampleType::kU16;
  int shift = 0;
};

// The forward transform of a frame, except the addresses of coefficients. Luma rounds coefficients
// up from 300/512 of a step above the lower one, chroma from 384/512.
ApvForwardJob apv_forward_job(const ApvFrameFormat& format, const ApvSource& source);
// The same without quantization, to coefficients of the components one after the other.
ApvForwardJob apv_unquantized_job(const ApvFrameFormat& format, const ApvSource& source,
                                  void* coefs);

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

// ---- On a device ----

// Quantization parameters of the components, of which one job measures several.
struct ApvQps {
  uint8_t qp[kMaxApvComponents];
};
inline constexpr size_t kMaxApvMeasuredQps = 8;

// How a frame was coded: in pinned memory, followed by the bytes of each chain.
struct ApvEncodeResult {
  uint64_t size;  // of the unit up to the end of its last tile
  uint32_t fits;  // 0: the output's capacity is less, and nothing has been written
  uint32_t unused;

  const uint32_t* chain_bytes() const { return reinterpret_cast<const uint32_t*>(this + 1); }
};
constexpr size_t apv_encode_result_bytes(size_t chains) {
  return sizeof(ApvEncodeResult) + chains * sizeof(uint32_t);
}

// Coefficients that are not quantized to the chains of a unit.
struct ApvEncodeJob {
  const ApvFrameFormat* format = nullptr;
  // Device memory: of the components one after the other, as apv_forward_job() has them. Aligned to
  // 16 bytes.
  const int16_t* coefs = nullptr;
  // Device memory; address and capacity are multiples of 4. Chains are written in place in the
  // unit; the bytes between them are zero.
  uint8_t* output = nullptr;
  uint64_t capacity = 0;
  uint32_t begin_bytes = 0;           // of the unit before the first tile
  ApvEncodeResult* result = nullptr;  // pinned
};

struct ApvEncodeOps {
  const char* name;
  const ApvForwardOps* forward;
  // They return immediately. `done` is done when output and result are complete.
  Status (*encode)(Device& device, Queue& queue, const ApvEncodeJob& job, FencePtr* done);
  // The bytes of all chains with each of `qps`, in pinned memory. Output and result are not used.
  Status (*measure)(Device& device, Queue& queue, const ApvEncodeJob& job,
                    std::span<const ApvQps> qps, uint64_t* bytes, FencePtr* done);
};

// On a host device: what measures, on the device's threads. ApvFrameEncoder encodes.
const ApvEncodeOps& host_apv_encode_ops();

}  // namespace cudatransform
