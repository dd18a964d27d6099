// The CUDA engine's part of APV, on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "apv/entropy.h"
#include "apv/frame_encoder.h"
#include "transform/apv/apv.h"

namespace cudatransform {

namespace cuda {
// kUnsupported: `of`, "a frame" or "a tile", has more than `max` blocks.
Status check_block_count(const char* of, uint64_t count, uint64_t max);
}  // namespace cuda

// Jobs' addresses are device addresses.
const ApvInverseOps& cuda_apv_inverse_ops();

// Jobs' coefficients are device memory, their blocks and results pinned memory.
const ApvEntropyOps& cuda_apv_entropy_ops();

// Jobs' addresses are device addresses, except results.
const ApvForwardOps& cuda_apv_forward_ops();
const ApvEncodeOps& cuda_apv_encode_ops();

// kNotFound where this build has no code for `device`.
Status probe_cuda_apv_kernels(Device& device);
Status probe_cuda_apv_encode_kernels(Device& device);

}  // namespace cudatransform
