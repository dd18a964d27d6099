// A CUDA context as a Device, and the CUDA engine's transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

// Opens libcuda (once it has succeeded; retried after a failure), initialises the driver and counts
// devices. kNotFound says which of the three is missing. Touches no context.
Status probe_cuda_driver(int* device_count);

// Makes a Device on `context`, a CUcontext on CUDA device number `ordinal`. The context stays the
// caller's: `keep_alive` is released when the device and everything made by it (fences, memory) is
// gone. The device pushes and pops the context around its driver calls; its streams are blocking
// ones (CU_STREAM_DEFAULT), so that copies on the NULL stream wait for them.
Status make_cuda_device(void* context, int ordinal, std::shared_ptr<void> keep_alive,
                        std::unique_ptr<Device>* device);

// For programs without a context of their own (tests, benchmarks): retains the primary context.
Status make_primary_cuda_device(int ordinal, std::unique_ptr<Device>* device);

// Whether this build has kernels that the device can run: kNotFound where it has not.
Status probe_cuda_kernels(Device& device);

// The driver waits for all that a context has to do before it takes something back. This waits for
// it, too, but not without end: it fails when `device`, one of make_cuda_device(), is stuck, and
// nothing of it may be given back any more. (What it has allocated sees to that itself.)
Status settle_cuda_device(Device& device);

// The CUDA engine. Jobs' addresses are device addresses, Dct8x8Job::sums is pinned host memory.
const Dct8x8Ops& cuda_dct8x8_ops();

}  // namespace cudatransform
