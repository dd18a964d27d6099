// The memories of caps, and the memories that an element may offer.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/memory_caps.h"

namespace cudatransform {

bool features_have_cuda(const GstCapsFeatures* features) {
  return features && gst_caps_features_contains(features, kCudaMemoryFeature);
}

bool has_cuda_memory(const GstCaps* caps) {
  return caps && gst_caps_get_size(caps) > 0 && features_have_cuda(gst_caps_get_features(caps, 0));
}

GstCaps* without_cuda_memory(GstCaps* caps) {
  if (gst_caps_is_any(caps)) return caps;
  caps = gst_caps_make_writable(caps);
  for (guint i = gst_caps_get_size(caps); i-- > 0;)
    if (features_have_cuda(gst_caps_get_features(caps, i))) gst_caps_remove_structure(caps, i);
  return caps;
}

}  // namespace cudatransform
