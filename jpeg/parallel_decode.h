// Parallel decoding of a JPEG picture's scans as a job, which all engines take.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/scans.h"
#include "transform/device/device.h"

namespace cudatransform {

// The job's result for the host, written last of all, `segments` after `damage`: once it is there,
// the quantized coefficients may be read. A device's submit() fills it with kPending first.
struct JpegDecodeResult {
  static constexpr uint32_t kPending = ~0u;
  uint32_t damage = 0;    // bits of huffman_write.h, kJpegLeftOver among them, which is none
  uint32_t segments = 0;  // that were whole
};

struct JpegDecodeJob {
  const JpegScans* scans = nullptr;  // read before submit() returns
  // Filled by JpegScanReader::read(), in host memory, for a device pinned: read until the job
  // is done.
  const uint8_t* block = nullptr;
  // The place of the quantized coefficients, all of which are written, in memory of the engine:
  // aligned to 16 bytes, as are strides; of the scans' sizes.
  JpegQcoefs qcoefs[kJpegMaxComponents];
  JpegDecodeResult* result = nullptr;  // in host memory, for a device pinned: it writes there
  // The caller has no other job under way: the device may do more work for this one to be done
  // earlier. What other engines have it do, the caller does not see.
  bool is_alone = false;
};

// kInvalidArgument where a job does not keep to that.
Status validate(const JpegDecodeJob& job);

// For a job that is done: whether every quantized coefficient is the file's. Otherwise they may be
// anything, and libjpeg decides whether the file is damaged.
inline bool is_decoded(const JpegScans& scans, const JpegDecodeResult& result) {
  return (result.damage & ~kJpegLeftOver) == 0 && result.segments == scans.segments;
}
// Oddities of a file that is decoded: bits of jpeg/errors.h.
inline uint32_t irregularities(const JpegScans& scans, const JpegDecodeResult& result) {
  return scans.irregular | ((result.damage & kJpegLeftOver) != 0 ? kJpegTrailingBytes : 0);
}

struct JpegDecodeOps {
  const char* name;
  // Returns immediately; the job is done with `*done`. Null: the caller only reads the result.
  Status (*submit)(Device& device, Queue& queue, const JpegDecodeJob& job, FencePtr* done);
};

// In portable C++, before the call returns.
const JpegDecodeOps& portable_jpeg_decode_ops();

}  // namespace cudatransform
