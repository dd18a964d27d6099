// The CUDA engine's entropy coding of JPEG scans, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>

#include "jpeg/encode_scan.h"
#include "jpeg/parallel_decode.h"

namespace cudatransform {

// ---- Parallel Huffman coding ----

// The kernels' intermediates are scratch memory of the queue, as large as the file at least.
const JpegEncodeOps& cuda_jpeg_encode_ops();

namespace cuda {
// The same for many pictures, of any sizes and with the same codes, which share launches. Returns
// together; the queue signals when all are done.
inline constexpr size_t kMaxEncodeJobs = 256;
Status encode_jpeg_batch(Device& device, Queue& queue, std::span<const JpegEncodeJob> jobs);
}  // namespace cuda

// kNotFound where this build has no code for `device`.
Status probe_cuda_jpeg_encode_kernels(Device& device);

// ---- Decoding, in builds with JPEG ----

// Jobs' quantized coefficients are device addresses; their blocks and results are in pinned memory.
// Jobs on several queues overlap.
const JpegDecodeOps& cuda_jpeg_decode_ops();

namespace cuda {
// The same for many pictures, of any sizes, which share launches. Returns immediately; a job's
// result shows when it is done. Consecutive blocks, each from the next multiple of 128 bytes on,
// are sent in one copy.
Status decode_jpeg_batch(Device& device, Queue& queue, std::span<const JpegDecodeJob> jobs);
}  // namespace cuda

// Whether the kernels can be loaded on `device`: kNotFound where this build has none for it.
Status probe_cuda_jpeg_decode(Device& device);

}  // namespace cudatransform
