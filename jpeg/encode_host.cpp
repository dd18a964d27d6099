// JpegEncodeOps of the host device: scans as encode_scan.cpp defines them, and symbols counted on
// the device's threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "jpeg/encode_bits.h"
#include "jpeg/encode_scan.h"
#include "transform/dct8x8/decision.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/device/host_threads.h"

namespace cudatransform {
namespace {

int32_t plain_dc(int32_t qcoef) { return std::clamp(qcoef, -kJpegPlainDc - 1, kJpegPlainDc); }

// A bit for each quantized coefficient that is not zero, by natural index.
uint64_t nonzero_qcoefs(const int16_t* qcoefs) {
  uint8_t is_nonzero[64];
  for (int i = 0; i < 64; ++i) is_nonzero[i] = qcoefs[i] != 0;
  uint64_t all = 0;
  for (int v = 0; v < 8; ++v) {
    // Bytes of 0 or 1 to bits: the product moves that of byte i to bit 56 + i, and no two meet.
    uint64_t eight = 0;
    for (int u = 0; u < 8; ++u) eight |= uint64_t{is_nonzero[8 * v + u]} << (8 * u);
    all |= (eight * 0x0102040810204080u >> 56) << (8 * v);
  }
  return all;
}

void count_ac(const int16_t* qcoefs, uint32_t* counts) {
  uint32_t last = 0;
  for (uint64_t left = in_zigzag_order(nonzero_qcoefs(qcoefs) & ~uint64_t{1}); left != 0;
       left &= left - 1) {
    const auto k = uint32_t(std::countr_zero(left));
    const uint32_t run = k - last - 1;
    counts[kJpegLongRun] += run >> 4;
    const int32_t magnitude =
        std::min<int32_t>(std::abs(int32_t{qcoefs[kNaturalOfZigzag[k]]}), kJpegPlainAc);
    ++counts[(run & 15) << 4 | jpeg_bit_width(uint32_t(magnitude))];
    last = k;
  }
  if (last < 63) ++counts[kJpegEndOfBlock];
}

// The part of a component: all of its blocks' AC quantized coefficients row by row, or all DC
// quantized coefficients.
class Component {
 public:
  Component(const JpegEncodeJob& job, uint32_t number)
      : scan_(job.layout),
        plane_(job.qcoefs[number]),
        number_(number),
        h_(scan_.mcu_w[number]),
        v_(scan_.mcu_h[number]) {}

  void count_row(uint32_t y, uint32_t* counts) const {
    const int16_t* qcoefs = row(y);
    for (uint32_t x = 0; x < scan_.blocks_w[number_]; ++x)
      count_ac(qcoefs + size_t{64} * x, counts);
  }
  // With the symbols of dummy blocks, which have no difference and no AC quantized coefficients.
  void count_dc(uint32_t* counts) const {
    const uint32_t mcus = scan_.blocks / scan_.mcu_blocks;
    int32_t before = 0;
    for (uint32_t mcu = 0; mcu < mcus; ++mcu) {
      if (mcu % scan_.segment_mcus == 0) before = 0;
      const uint32_t mcu_y = mcu / scan_.mcus_w, mcu_x = mcu - mcu_y * scan_.mcus_w;
      for (uint32_t i = 0; i < h_ * v_; ++i) {
        const uint32_t x = mcu_x * h_ + i % h_, y = mcu_y * v_ + i / h_;
        if (x >= scan_.blocks_w[number_] || y >= scan_.blocks_h[number_]) {
          ++counts[kJpegEndOfBlock];
          ++counts[kJpegDcSymbols];
          continue;
        }
        const int32_t qcoef = plain_dc(row(y)[size_t{64} * x]);
        ++counts[kJpegDcSymbols + jpeg_bit_width(uint32_t(std::abs(qcoef - before)))];
        before = qcoef;
      }
    }
  }

 private:
  const int16_t* row(uint32_t y) const {
    return reinterpret_cast<const int16_t*>(reinterpret_cast<const uint8_t*>(plane_.data) +
                                            ptrdiff_t{y} * plane_.stride);
  }

  const JpegScanLayout& scan_;
  const JpegEncodePlane& plane_;
  const uint32_t number_, h_, v_;
};

// The same as count_jpeg_symbols(), in a small part of its time.
void count_symbols(const JpegEncodeJob& job, HostThreads& threads) {
  const JpegScanLayout& scan = job.layout;
  *job.counts = {};
  std::mutex lock;
  uint32_t tasks = scan.components;
  for (uint32_t c = 0; c < scan.components; ++c) tasks += scan.blocks_h[c];
  threads.for_each(tasks, [&](uint32_t task) {
    uint32_t counts[kJpegSymbols] = {};
    uint32_t c = task;
    if (task < scan.components) {
      Component(job, c).count_dc(counts);
    } else {
      uint32_t y = task - scan.components;
      for (c = 0; y >= scan.blocks_h[c]; ++c) y -= scan.blocks_h[c];
      Component(job, c).count_row(y, counts);
    }
    const std::lock_guard guard(lock);
    uint32_t* const all = job.counts->of[scan.table_pair[c]];
    for (uint32_t i = 0; i < kJpegSymbols; ++i) all[i] += counts[i];
  });
}

Status not_host() { return Status::error(StatusCode::kInvalidArgument, "host device expected"); }

Status encode(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job, false));
  if (!device.is_host()) return not_host();
  CT_RETURN_IF_ERROR(encode_jpeg_scan(job));
  return fence != nullptr ? queue.record(fence) : Status{};
}

Status count(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job, true));
  if (!device.is_host()) return not_host();
  CT_RETURN_IF_ERROR(
      run_on_host(device, "no host memory to count symbols", [&](HostThreads& threads) -> Status {
        count_symbols(job, threads);
        return {};
      }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

const JpegEncodeOps& host_jpeg_encode_ops() {
  static constexpr JpegEncodeOps kOps = {"host", encode, count};
  return kOps;
}

}  // namespace cudatransform
