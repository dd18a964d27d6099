// A CUDA context as a Device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "transform/device/device.h"

namespace cudatransform {

// Opens libcuda, initializes the driver and counts devices. The first two are done once; after a
// failure the next call tries again. kNotFound names which of the three is missing. Touches no
// context. `*is_absent` (may be null): whether there is no driver, or no device for it, rather than
// one that cannot be used.
Status probe_cuda_driver(int* device_count, bool* is_absent = nullptr);

// Makes a Device on `context`, a CUcontext on CUDA device number `ordinal`. The context stays the
// caller's: `keep_alive` is released when the device and everything made by it (fences, memory) is
// destroyed. The device pushes and pops the context around its driver calls; its streams are
// blocking ones (CU_STREAM_DEFAULT), so that copies on the NULL stream wait for them.
Status make_cuda_device(void* context, int ordinal, std::shared_ptr<void> keep_alive,
                        std::unique_ptr<Device>* device);

// For programs without a context (tests, benchmarks): retains the primary context.
Status make_primary_cuda_device(int ordinal, std::unique_ptr<Device>* device);

// A queue in addition to the three of `device`, one of make_cuda_device(): for independent,
// overlapping work.
Status make_cuda_queue(Device& device, std::unique_ptr<Queue>* queue);

// Waits for the work of such a queue (a host's has none), for a result that a caller waits for:
// spins for up to a millisecond, because a thread that naps returns late.
Status finish_cuda_queue(Queue& queue);

// The driver waits for all work of a context before it takes something back. This waits for it
// first, but with a timeout: it fails when `device`, one of make_cuda_device(), is stuck, and
// nothing of it may be freed any more. (Objects that the device has allocated check that
// themselves.)
Status settle_cuda_device(Device& device);

}  // namespace cudatransform
