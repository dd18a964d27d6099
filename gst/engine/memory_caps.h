// The memories of caps, and the memories that an element may offer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

inline constexpr char kCudaMemoryFeature[] = "memory:CUDAMemory";

// The memories that an element may offer: both until it has an engine, then those within its reach.
struct MemoryKinds {
  bool cuda;
};

bool features_have_cuda(const GstCapsFeatures* features);
bool has_cuda_memory(const GstCaps* caps);  // of the first structure

// Drops the structures in CUDA memory. Transfer full, both ways.
GstCaps* without_cuda_memory(GstCaps* caps);

}  // namespace cudatransform
