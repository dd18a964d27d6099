// The memory of a decoder's output frames, and the pool that its base class insists on.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/decoder_memory.h"

#include <utility>

#include "gst/engine/element_errors.h"
#include "gst/engine/memory_caps.h"

namespace cudatransform {

bool choose_memory(GstVideoDecoder* decoder, const Engine& engine, MemoryChoice choice,
                   CapsPtr* caps) {
  if (!engine.is_cuda()) return false;
  const CapsPtr allowed(gst_pad_get_allowed_caps(GST_VIDEO_DECODER_SRC_PAD(decoder)));
  if (!allowed) return false;
  CapsPtr cuda(gst_caps_copy(caps->get()));
  gst_caps_set_features_simple(cuda.get(), gst_caps_features_new(kCudaMemoryFeature, nullptr));
  const bool takes_system = gst_caps_can_intersect(allowed.get(), caps->get());
  if (!gst_caps_can_intersect(allowed.get(), cuda.get()) ||
      (takes_system && choice == MemoryChoice::kSystemIfPossible))
    return false;
  *caps = std::move(cuda);
  return true;
}

bool answer_allocation(GstVideoDecoder* decoder, GstQuery* query, const Status& status,
                       GstBufferPool* pool) {
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder), status);
    return false;
  }
  gst_query_add_allocation_pool(query, pool, 0, 0, 0);
  return true;
}

}  // namespace cudatransform
