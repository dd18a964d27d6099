// A frame of APV from samples to an access unit on the CPU, tile by tile.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/frame_encoder.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "apv/chain_writer.h"

namespace cudatransform {

ApvForwardJob apv_forward_job(const ApvFrameFormat& format, const ApvSource& source) {
  constexpr int kLumaRounding = 212, kChromaRounding = 128;
  const ApvFrameInfo& info = format.header.info;
  ApvForwardJob job;
  job.depth = info.depth;
  job.shift = source.shift;
  job.components = info.components();
  for (int c = 0; c < job.components; ++c) {
    ApvForwardPlane& plane = job.plane[c];
    plane.samples = source.data[c];
    plane.type = source.type;
    plane.pitch = source.pitch[c];
    plane.step = source.step[c];
    plane.width = static_cast<int32_t>(info.width_of(c));
    plane.height = static_cast<int32_t>(info.height);
    plane.blocks_across = static_cast<int32_t>(info.mbs_across() * info.mb_blocks_across(c));
    plane.blocks_down = static_cast<int32_t>(info.mbs_down() * ApvFrameInfo::kMbBlocksDown);
    std::copy(std::begin(format.header.matrix[c]), std::end(format.header.matrix[c]),
              plane.quantization.matrix);
    plane.quantization.qp = format.qp[c];
    plane.quantization.rounding = c == 0 ? kLumaRounding : kChromaRounding;
  }
  return job;
}

ApvForwardJob apv_unquantized_job(const ApvFrameFormat& format, const ApvSource& source,
                                  void* coefs) {
  ApvForwardJob job = apv_forward_job(format, source);
  job.is_quantized = false;
  auto* at = static_cast<int16_t*>(coefs);
  for (int c = 0; c < job.components; ++c) {
    job.plane[c].coefs = at;
    at += 64 * format.header.info.blocks(c);
  }
  return job;
}

Status ApvFrameEncoder::begin(const ApvFrameFormat& format, const ApvSource& source) {
  format_ = format;
  job_ = apv_forward_job(format, source);
  // The validation of the job requires addresses of coefficients.
  alignas(16) int16_t block[64];
  ApvForwardJob checked = job_;
  for (int c = 0; c < checked.components; ++c) checked.plane[c].coefs = block;
  CT_RETURN_IF_ERROR(validate(checked));
  for (int c = 0; c < job_.components; ++c)
    quantizers_[c] = make_apv_quantizer(job_.plane[c].quantization, job_.depth);
  try {
    tiles_.resize(static_cast<size_t>(tiles()));
    chain_bytes_.resize(format.chain_count());
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for tiles");
  }
  return {};
}

void ApvFrameEncoder::encode_chain(const ApvTileArea& area, int component, ApvBytes* to) const {
  const ApvForwardPlane& plane = job_.plane[component];
  const uint32_t mb_across = format_.header.info.mb_blocks_across(component);
  const uint32_t across = area.mbs_across * mb_across;
  const auto first = static_cast<int32_t>(area.mb_x * mb_across);
  const auto end = static_cast<int32_t>(first + static_cast<int32_t>(across));
  // A row of macroblocks.
  std::vector<int16_t> coefs(size_t{64} * across * ApvFrameInfo::kMbBlocksDown);
  ApvChainWriter chain(to);
  for (uint32_t mb_y = area.mb_y; mb_y < area.mb_y + area.mbs_down; ++mb_y) {
    for (uint32_t y = 0; y < ApvFrameInfo::kMbBlocksDown; ++y) {
      transform_apv_blocks(job_, plane, &quantizers_[component],
                           static_cast<int32_t>(ApvFrameInfo::kMbBlocksDown * mb_y + y), first, end,
                           &coefs[size_t{64} * across * y]);
    }
    for (uint32_t mb = 0; mb < across; mb += mb_across)
      for (uint32_t y = 0; y < ApvFrameInfo::kMbBlocksDown; ++y)
        for (uint32_t x = 0; x < mb_across; ++x)
          chain.put_block(&coefs[size_t{64} * (across * y + mb + x)]);
  }
  chain.finish();
}

void ApvFrameEncoder::encode_tile(int tile) {
  Tile& to = tiles_[static_cast<size_t>(tile)];
  const auto components = static_cast<size_t>(job_.components);
  const ApvTileArea area = format_.header.area(tile);
  try {
    to.has_failed = false;
    to.bytes.clear();
    for (size_t c = 0; c < components; ++c) {
      const size_t before = to.bytes.size();
      encode_chain(area, static_cast<int>(c), &to.bytes);
      chain_bytes_[static_cast<size_t>(tile) * components + c] =
          static_cast<uint32_t>(to.bytes.size() - before);
    }
  } catch (const std::bad_alloc&) {
    to.has_failed = true;
  }
}

Status ApvFrameEncoder::finish(std::span<const uint8_t> metadata, size_t* bytes) {
  for (const Tile& tile : tiles_)
    if (tile.has_failed) return Status::error(StatusCode::kOutOfMemory, "no memory for a tile");
  try {
    unit_.begin(format_, metadata);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for headers");
  }
  return unit_.measure(chain_bytes_, bytes);
}

void ApvFrameEncoder::write(uint8_t* to) const {
  const auto components = static_cast<size_t>(job_.components);
  size_t before = 0;  // in the tile
  unit_.write(chain_bytes_, to, [&](size_t chain, uint8_t* at) {
    if (chain % components == 0) before = 0;
    std::memcpy(at, tiles_[chain / components].bytes.data() + before, chain_bytes_[chain]);
    before += chain_bytes_[chain];
  });
}

}  // namespace cudatransform
