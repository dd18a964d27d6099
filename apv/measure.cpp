// The sizes that a frame of APV has with several quantization parameters, on the CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <atomic>

#include "apv/chain_writer.h"
#include "apv/frame_encoder.h"
#include "transform/apv/forward_arithmetic.h"
#include "transform/device/host_threads.h"

namespace cudatransform {

namespace {

void quantize(const int16_t* from, const ApvQuantizer& by, int16_t* to) {
  static constexpr ApvScan kScan;
  const auto round = static_cast<uint32_t>(by.round);
  for (int i = 0; i < 64; ++i) {
    const uint32_t factor = by.factor[kScan.place[i]];
    to[i] = static_cast<int16_t>(by.is_wide
                                     ? apv_quantized<uint64_t>(from[i], factor, by.round, by.shift)
                                     : apv_quantized<uint32_t>(from[i], factor, round, by.shift));
  }
}

// The bytes of a chain of coefficients in rows of blocks.
uint64_t measure_chain(const ApvFrameInfo& info, const ApvTileArea& area, int component,
                       const int16_t* coefs, const ApvQuantizer& by) {
  const uint32_t mb_across = info.mb_blocks_across(component);
  const uint64_t across = uint64_t{info.mbs_across()} * mb_across;
  ApvChainCounter chain;
  int16_t block[64];
  for (uint32_t mb_y = area.mb_y; mb_y < area.mb_y + area.mbs_down; ++mb_y) {
    for (uint32_t mb_x = area.mb_x; mb_x < area.mb_x + area.mbs_across; ++mb_x) {
      for (uint32_t y = 0; y < ApvFrameInfo::kMbBlocksDown; ++y) {
        for (uint32_t x = 0; x < mb_across; ++x) {
          const uint64_t row = uint64_t{ApvFrameInfo::kMbBlocksDown} * mb_y + y;
          quantize(coefs + 64 * (across * row + uint64_t{mb_across} * mb_x + x), by, block);
          chain.put_block(block);
        }
      }
    }
  }
  return chain.bytes();
}

uint64_t measure_tile(const ApvEncodeJob& job, int tile, const ApvQuantizer* quantizers) {
  const ApvFrameInfo& info = job.format->header.info;
  const int16_t* coefs = job.coefs;
  uint64_t bytes = 0;
  for (int c = 0; c < info.components(); ++c) {
    bytes += measure_chain(info, job.format->header.area(tile), c, coefs, quantizers[c]);
    coefs += 64 * info.blocks(c);
  }
  return bytes;
}

Status measure(Device& device, Queue& queue, const ApvEncodeJob& job, std::span<const ApvQps> qps,
               uint64_t* bytes, FencePtr* done) {
  const ApvForwardJob forward = apv_forward_job(*job.format, {});
  const Status status =
      run_on_host(device, "no host memory for sizes", [&](HostThreads& threads) -> Status {
        for (size_t i = 0; i < qps.size(); ++i) {
          ApvQuantizer quantizers[kMaxApvComponents];
          for (int c = 0; c < forward.components; ++c) {
            ApvQuantization quantization = forward.plane[c].quantization;
            quantization.qp = qps[i].qp[c];
            quantizers[c] = make_apv_quantizer(quantization, forward.depth);
          }
          std::atomic<uint64_t> all = 0;
          threads.for_each(job.format->header.tiles(),
                           [&](int tile) { all += measure_tile(job, tile, quantizers); });
          bytes[i] = all;
        }
        return {};
      });
  CT_RETURN_IF_ERROR(status);
  return done != nullptr ? queue.record(done) : Status{};
}

}  // namespace

const ApvEncodeOps& host_apv_encode_ops() {
  static const ApvEncodeOps kOps = {"cpu", &host_apv_forward_ops(), nullptr, measure};
  return kOps;
}

}  // namespace cudatransform
