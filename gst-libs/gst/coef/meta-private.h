// What the metas of libgstcoef share: they describe the very memory of their buffer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace gstcoef {

// An API whose tag tells elements that make new memory not to carry it over.
inline GType register_memory_api(const gchar* name) {
  static const gchar* tags[] = {GST_META_TAG_MEMORY_STR, nullptr};
  return gst_meta_api_type_register(name, tags);
}

// Metas stay with copies of the whole buffer: part of a buffer is no picture.
inline bool is_whole_copy(GQuark type, gpointer data) {
  return GST_META_TRANSFORM_IS_COPY(type) && !static_cast<GstMetaTransformCopy*>(data)->region;
}

}  // namespace gstcoef
