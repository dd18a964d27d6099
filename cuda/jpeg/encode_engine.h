// Parallel Huffman coding of JPEG scans on a CUDA device (cuda/device/cuda_device.h).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/encode_scan.h"

namespace cudatransform {

// The kernels' intermediates are scratch memory of the queue, as large as the file at least.
const JpegEncodeOps& cuda_jpeg_encode_ops();

// kNotFound where this build has no code for `device`.
Status probe_cuda_jpeg_encode_kernels(Device& device);

}  // namespace cudatransform
