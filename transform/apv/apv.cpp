// The checks of APV's inverse transform, and the CPU engine: rows of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/apv/apv.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "transform/apv/check.h"
#include "transform/apv/rows.h"
#include "transform/device/host_threads.h"

namespace cudatransform {

namespace {

constexpr int kBlockSide = 8;

int32_t tiles_of(int32_t blocks, int32_t tile) { return (blocks + tile - 1) / tile; }

Status check_tiles(const ApvInverseJob& job, const ApvPlane& plane, const Where& where) {
  if (plane.tile_across < 1 || plane.tile_down < 1 ||
      tiles_of(plane.blocks_across, plane.tile_across) > job.tile_columns ||
      tiles_of(plane.blocks_down, plane.tile_down) > job.tile_rows) {
    return where.error("tiles of " + text(plane.tile_across) + "x" + text(plane.tile_down) +
                       " blocks, of which " + text(job.tile_columns) + "x" + text(job.tile_rows) +
                       " have to cover all blocks");
  }
  for (int i = 0; i < job.tile_columns * job.tile_rows; ++i) {
    if (plane.qp[i] > max_apv_qp(job.depth)) {
      return where.error("quantization parameter " + text(plane.qp[i]) + ", expected up to " +
                         text(max_apv_qp(job.depth)));
    }
  }
  return {};
}

Status check_plane(const ApvInverseJob& job, int component) {
  const ApvPlane& plane = job.plane[component];
  const Where where = {"APV plane", component};
  CT_RETURN_IF_ERROR(check_apv_plane(where, plane, sizeof(uint16_t), 1));
  CT_RETURN_IF_ERROR(check_tiles(job, plane, where));
  return check_apv_weights(where, plane.matrix);
}

// The tables of the tiles that a row of blocks crosses.
void fill(const ApvInverseJob& job, const ApvPlane& plane, int tile, ApvFactors* factors) {
  for (int i = 0; i < 64; ++i) {
    const ApvFactor factor = apv_factor(plane.matrix[i], plane.qp[tile], job.depth);
    factors->factor[i] = factor.factor;
    factors->low[i] = static_cast<int16_t>(factor.low);
    factors->high[i] = static_cast<int16_t>(factor.high);
  }
}

// A cropped block goes through a whole one.
void crop(ApvBlocksFunction function, ApvBlocks blocks, int32_t width, int32_t rows) {
  uint16_t whole[64];
  uint16_t* const to = blocks.samples;
  const ptrdiff_t pitch = blocks.pitch;
  blocks.samples = whole;
  blocks.pitch = sizeof(uint16_t) * kBlockSide;
  blocks.count = 1;
  function(blocks);
  for (int32_t y = 0; y < rows; ++y) {
    std::memcpy(reinterpret_cast<uint8_t*>(to) + y * pitch, whole + kBlockSide * y,
                sizeof(uint16_t) * static_cast<size_t>(width));
  }
}

void invert_tile_row(ApvBlocksFunction function, const ApvPlane& plane, int32_t row, int32_t first,
                     int32_t end, ApvBlocks blocks) {
  const int32_t rows = std::min(kBlockSide, plane.height - row * kBlockSide);
  const int32_t whole = rows == kBlockSide ? std::min(end, plane.width / kBlockSide) : first;
  auto* const to = static_cast<uint8_t*>(plane.samples) + row * kBlockSide * plane.pitch;
  const int16_t* const coefs = plane.coefs + int64_t{64} * row * plane.blocks_across;
  const auto move = [&](int32_t x) {
    blocks.coefs = coefs + int64_t{64} * x;
    blocks.samples = reinterpret_cast<uint16_t*>(to) + ptrdiff_t{kBlockSide} * x;
  };
  if (whole > first) {
    move(first);
    blocks.count = whole - first;
    function(blocks);
  }
  for (int32_t x = std::max(first, whole); x < end; ++x) {
    const int32_t width = std::min(kBlockSide, plane.width - x * kBlockSide);
    if (width <= 0) break;
    move(x);
    crop(function, blocks, width, rows);
  }
}

void invert_row(ApvBlocksFunction function, const ApvInverseJob& job, const ApvPlane& plane,
                int32_t row) {
  ApvFactors factors;
  ApvBlocks blocks = {};
  blocks.factors = &factors;
  blocks.pitch = plane.pitch;
  blocks.depth = job.depth;
  blocks.shift = job.shift;
  int filled = -1;  // whose tables `factors` has
  const int first_tile = row / plane.tile_down * job.tile_columns;
  for (int32_t x = 0, column = 0; x < plane.blocks_across; ++column) {
    const int tile = first_tile + column;
    const int32_t end =
        plane.blocks_across - x > plane.tile_across ? x + plane.tile_across : plane.blocks_across;
    if (filled < 0 || plane.qp[tile] != plane.qp[filled]) fill(job, plane, tile, &factors);
    filled = tile;
    invert_tile_row(function, plane, row, x, end, blocks);
    x = end;
  }
}

int32_t visible_rows(const ApvPlane& plane) { return (plane.height + kBlockSide - 1) / kBlockSide; }

Status submit(ApvBlocksFunction function, Device& device, Queue& queue, const ApvInverseJob& job,
              FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  int32_t rows = 0;
  for (int c = 0; c < job.components; ++c) rows += visible_rows(job.plane[c]);
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for an inverse transform",
                                 [&](HostThreads& threads) -> Status {
                                   threads.for_each(rows, [&](int32_t row) {
                                     const ApvPlane* plane = job.plane;
                                     for (; row >= visible_rows(*plane); ++plane)
                                       row -= visible_rows(*plane);
                                     invert_row(function, job, *plane, row);
                                   });
                                   return {};
                                 }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

Status submit_portable(Device& device, Queue& queue, const ApvInverseJob& job, FencePtr* fence) {
  return submit(portable_apv_blocks, device, queue, job, fence);
}

Status submit_host(Device& device, Queue& queue, const ApvInverseJob& job, FencePtr* fence) {
  return submit(vector_apv_blocks(), device, queue, job, fence);
}

}  // namespace

Status validate(const ApvInverseJob& job) {
  CT_RETURN_IF_ERROR(check_apv_samples(job));
  if (job.tile_columns < 1 || job.tile_columns > kMaxApvTiles || job.tile_rows < 1 ||
      job.tile_rows > kMaxApvTiles) {
    return job_error(text(job.tile_columns) + "x" + text(job.tile_rows) + " tiles, expected 1 to " +
                     text(kMaxApvTiles) + " per dimension");
  }
  for (int c = 0; c < job.components; ++c) CT_RETURN_IF_ERROR(check_plane(job, c));
  return {};
}

void portable_apv_blocks(const ApvBlocks& blocks) {
  const ApvFactors& factors = *blocks.factors;
  for (int32_t b = 0; b < blocks.count; ++b) {
    const int16_t* const coefs = blocks.coefs + int64_t{64} * b;
    int32_t v[64];
    for (int i = 0; i < 64; ++i) {
      v[i] = apv_dequantized(coefs[i], {factors.factor[i], factors.low[i], factors.high[i]},
                             blocks.depth);
    }
    apv_inverse_block(v, blocks.depth);
    auto* to = reinterpret_cast<uint8_t*>(blocks.samples + ptrdiff_t{kBlockSide} * b);
    for (int y = 0; y < kBlockSide; ++y, to += blocks.pitch) {
      uint16_t row[kBlockSide];
      for (int x = 0; x < kBlockSide; ++x)
        row[x] = static_cast<uint16_t>(v[kBlockSide * y + x] << blocks.shift);
      std::memcpy(to, row, sizeof row);
    }
  }
}

const ApvInverseOps& host_apv_inverse_ops() {
  static constexpr ApvInverseOps kOps = {"cpu", submit_host};
  return kOps;
}

const ApvInverseOps& portable_apv_inverse_ops() {
  static constexpr ApvInverseOps kOps = {"portable", submit_portable};
  return kOps;
}

}  // namespace cudatransform
