// The checks of APV's forward transform, and the CPU engine: rows of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/apv/forward.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "transform/apv/check.h"
#include "transform/apv/rows.h"
#include "transform/device/host_threads.h"

namespace cudatransform {

namespace {

constexpr int kBlockSide = 8;

int sample_bytes(SampleType type) { return type == SampleType::kU8 ? 1 : 2; }

Status check_quantization(const ApvQuantization& quantization, int depth, const Where& where) {
  if (quantization.qp < 0 || quantization.qp > max_apv_qp(depth)) {
    return where.error("quantization parameter " + text(quantization.qp) + ", expected up to " +
                       text(max_apv_qp(depth)));
  }
  if (quantization.rounding < 0 || quantization.rounding > 512)
    return where.error("rounding " + text(quantization.rounding) + ", expected 0 to 512");
  return check_apv_weights(where, quantization.matrix);
}

Status check_plane(const ApvForwardJob& job, int component) {
  const ApvForwardPlane& plane = job.plane[component];
  const Where where = {"APV plane", component};
  if (plane.type != SampleType::kU8 && plane.type != SampleType::kU16)
    return where.error("samples of a type that APV does not have");
  if (plane.step < 1 || plane.step > kMaxApvStep)
    return where.error("step " + text(plane.step) + ", expected 1 to " + text(kMaxApvStep));
  CT_RETURN_IF_ERROR(check_apv_plane(where, plane, sample_bytes(plane.type), plane.step));
  return job.is_quantized ? check_quantization(plane.quantization, job.depth, where) : Status{};
}

// The most blocks that are copied at a time.
constexpr int32_t kCopiedBlocks = 8;

// Blocks that are not eight whole rows in memory: they exceed the plane, whose last column and row
// are repeated, or their samples are interleaved with others.
template <typename Sample>
void copy_blocks(const ApvForwardPlane& plane, int32_t row, int32_t column, int32_t count,
                 Sample* to) {
  for (int32_t y = 0; y < kBlockSide; ++y) {
    const auto* const line = reinterpret_cast<const Sample*>(
        static_cast<const uint8_t*>(plane.samples) +
        std::min(row * kBlockSide + y, plane.height - 1) * plane.pitch);
    for (int32_t x = column * kBlockSide; x < (column + count) * kBlockSide; ++x)
      *to++ = line[ptrdiff_t{plane.step} * std::min(x, plane.width - 1)];
  }
}

void transform_copied(ApvForwardFunction function, const ApvForwardPlane& plane, int32_t row,
                      int32_t column, ApvForwardRow blocks) {
  alignas(16) uint16_t copy[kCopiedBlocks * kBlockSide * kBlockSide];
  if (plane.type == SampleType::kU8)
    copy_blocks(plane, row, column, blocks.count, reinterpret_cast<uint8_t*>(copy));
  else
    copy_blocks(plane, row, column, blocks.count, copy);
  blocks.samples = reinterpret_cast<const uint8_t*>(copy);
  blocks.pitch = ptrdiff_t{kBlockSide} * blocks.count * sample_bytes(plane.type);
  function(blocks);
}

void transform_row(ApvForwardFunction function, const ApvForwardJob& job,
                   const ApvForwardPlane& plane, const ApvQuantizer* quantizer, int32_t row,
                   int32_t first, int32_t end, int16_t* coefs) {
  const bool is_whole = plane.height - row * kBlockSide >= kBlockSide && plane.step == 1;
  const int32_t whole = is_whole ? std::clamp(plane.width / kBlockSide, first, end) : first;
  const ptrdiff_t block_bytes = ptrdiff_t{kBlockSide} * sample_bytes(plane.type);
  ApvForwardRow blocks;
  blocks.samples = static_cast<const uint8_t*>(plane.samples) + row * kBlockSide * plane.pitch +
                   first * block_bytes;
  blocks.type = plane.type;
  blocks.pitch = plane.pitch;
  blocks.count = whole - first;
  blocks.depth = job.depth;
  blocks.shift = job.shift;
  blocks.quantizer = quantizer;
  blocks.coefs = coefs;
  if (blocks.count > 0) function(blocks);
  for (int32_t x = whole; x < end; x += blocks.count) {
    blocks.count = std::min(end - x, kCopiedBlocks);
    blocks.coefs = coefs + ptrdiff_t{64} * (x - first);
    transform_copied(function, plane, row, x, blocks);
  }
}

Status submit(ApvForwardFunction function, Device& device, Queue& queue, const ApvForwardJob& job,
              FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  int32_t rows = 0;
  ApvQuantizer quantizers[kMaxApvComponents];
  for (int c = 0; c < job.components; ++c) {
    rows += job.plane[c].blocks_down;
    if (job.is_quantized) quantizers[c] = make_apv_quantizer(job.plane[c].quantization, job.depth);
  }
  const auto transform = [&](int32_t row) {
    int c = 0;
    for (; row >= job.plane[c].blocks_down; ++c) row -= job.plane[c].blocks_down;
    const ApvForwardPlane& plane = job.plane[c];
    transform_row(function, job, plane, job.is_quantized ? &quantizers[c] : nullptr, row, 0,
                  plane.blocks_across, plane.coefs + int64_t{64} * row * plane.blocks_across);
  };
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for a forward transform",
                                 [&](HostThreads& threads) -> Status {
                                   threads.for_each(rows, transform);
                                   return {};
                                 }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

Status submit_portable(Device& device, Queue& queue, const ApvForwardJob& job, FencePtr* fence) {
  return submit(portable_apv_forward, device, queue, job, fence);
}

Status submit_host(Device& device, Queue& queue, const ApvForwardJob& job, FencePtr* fence) {
  return submit(vector_apv_forward(), device, queue, job, fence);
}

void load_block(const ApvForwardRow& row, int32_t block, int32_t* v) {
  const int32_t peak = (1 << row.depth) - 1, middle = 1 << (row.depth - 1);
  const uint8_t* from = row.samples + ptrdiff_t{kBlockSide} * block * sample_bytes(row.type);
  for (int y = 0; y < kBlockSide; ++y, from += row.pitch) {
    for (int x = 0; x < kBlockSide; ++x) {
      int32_t sample;
      if (row.type == SampleType::kU8) {
        sample = from[x] << (row.depth - 8);
      } else {
        uint16_t container;
        std::memcpy(&container, from + ptrdiff_t{2} * x, sizeof container);
        sample = unpack_sample16(container, row.shift, peak);
      }
      v[kBlockSide * y + x] = sample - middle;
    }
  }
}

}  // namespace

Status validate(const ApvForwardJob& job) {
  CT_RETURN_IF_ERROR(check_apv_samples(job));
  for (int c = 0; c < job.components; ++c) CT_RETURN_IF_ERROR(check_plane(job, c));
  return {};
}

ApvQuantizer make_apv_quantizer(const ApvQuantization& quantization, int depth) {
  ApvQuantizer quantizer;
  quantizer.shift = apv_quantizer_shift(quantization.qp, depth);
  quantizer.round = apv_quantizer_round(quantization.rounding, quantizer.shift);
  quantizer.is_wide = false;
  for (int i = 0; i < 64; ++i) {
    quantizer.factor[i] = apv_quantizer_factor(quantization.matrix[i], quantization.qp);
    quantizer.is_wide |= needs_wide_apv_product(quantizer.factor[i], quantizer.round);
  }
  return quantizer;
}

void transform_apv_blocks(const ApvForwardJob& job, const ApvForwardPlane& plane,
                          const ApvQuantizer* quantizer, int32_t row, int32_t first, int32_t end,
                          int16_t* coefs) {
  transform_row(vector_apv_forward(), job, plane, quantizer, row, first, end, coefs);
}

void portable_apv_forward(const ApvForwardRow& row) {
  static constexpr ApvScan kScan;
  for (int32_t b = 0; b < row.count; ++b) {
    int32_t v[64];
    load_block(row, b, v);
    apv_forward_block(v, row.depth);
    int16_t* const to = row.coefs + ptrdiff_t{64} * b;
    for (int i = 0; i < 64; ++i) {
      const int place = kScan.place[i];
      int32_t coef = v[place];
      if (row.quantizer != nullptr) {
        coef = apv_quantized<uint64_t>(coef, row.quantizer->factor[place], row.quantizer->round,
                                       row.quantizer->shift);
      }
      to[i] = static_cast<int16_t>(coef);
    }
  }
}

const ApvForwardOps& host_apv_forward_ops() {
  static constexpr ApvForwardOps kOps = {"cpu", true, submit_host};
  return kOps;
}

const ApvForwardOps& portable_apv_forward_ops() {
  static constexpr ApvForwardOps kOps = {"portable", true, submit_portable};
  return kOps;
}

}  // namespace cudatransform
