// The shared parts of libgstcoef's metas: they describe the very memory of their buffer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gst/coef/fence.h>

namespace gstcoef {

// The tag of this API keeps elements that allocate new memory from copying it.
inline GType register_memory_api(const gchar* name) {
  static const gchar* tags[] = {GST_META_TAG_MEMORY_STR, nullptr};
  return gst_meta_api_type_register(name, tags);
}

// Metas stay with copies of the whole buffer: part of a buffer is no picture.
inline bool is_whole_copy(GQuark type, gpointer data) {
  return GST_META_TRANSFORM_IS_COPY(type) && !static_cast<GstMetaTransformCopy*>(data)->region;
}

// The functions of a meta of coefficients: a struct that begins with its GstMeta and has a fence.

template <typename Meta>
void set_fence(Meta* meta, GstCoefFence* fence) {
  if (fence != nullptr) gst_coef_fence_ref(fence);
  if (meta->fence != nullptr) gst_coef_fence_unref(meta->fence);
  meta->fence = fence;
}

template <typename Meta>
gboolean init_meta(GstMeta* meta, gpointer, GstBuffer*) {
  memset(reinterpret_cast<char*>(meta) + sizeof *meta, 0, sizeof(Meta) - sizeof *meta);
  return TRUE;
}

template <typename Meta>
void free_meta(GstMeta* meta, GstBuffer*) {
  set_fence(reinterpret_cast<Meta*>(meta), nullptr);
}

// Copies all fields after the GstMeta, of any contents; the fence is shared.
template <typename Meta>
gboolean copy_meta(GstBuffer* target, GstMeta* meta, GstBuffer*, GQuark type, gpointer data) {
  if (!is_whole_copy(type, data)) return FALSE;
  GstMeta* to = gst_buffer_add_meta(target, meta->info, nullptr);
  if (to == nullptr) return FALSE;
  memcpy(reinterpret_cast<char*>(to) + sizeof *to, reinterpret_cast<char*>(meta) + sizeof *meta,
         sizeof(Meta) - sizeof *meta);
  GstCoefFence* fence = reinterpret_cast<Meta*>(to)->fence;
  if (fence != nullptr) gst_coef_fence_ref(fence);
  return TRUE;
}

// Adds a meta with the components of `info`, all else zero; null if there is no room.
template <typename Meta, typename Info>
Meta* add_meta(GstBuffer* buffer, const GstMetaInfo* kind, const Info* info) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  g_return_val_if_fail(info != nullptr && info->n_components > 0, nullptr);
  auto* meta = reinterpret_cast<Meta*>(gst_buffer_add_meta(buffer, kind, nullptr));
  if (meta == nullptr) return nullptr;
  meta->n_components = info->n_components;
  std::copy(std::begin(info->components), std::end(info->components), meta->components);
  return meta;
}

// Null if the buffer has none.
template <typename Meta>
Meta* get_meta(GstBuffer* buffer, GType api) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  return reinterpret_cast<Meta*>(gst_buffer_get_meta(buffer, api));
}

// Component `index`, or null: n_components may be anything.
template <typename Meta>
auto* get_component(Meta* meta, guint index) {
  const bool there = index < meta->n_components && index < std::size(meta->components);
  return there ? &meta->components[index] : nullptr;
}

template <typename Meta>
using Serialize = bool (*)(const Meta& meta, std::vector<uint8_t>* bytes);
template <typename Meta>
using Deserialize = bool (*)(const uint8_t* bytes, size_t size, uint8_t version, Meta* meta);

#if GST_CHECK_VERSION(1, 23, 0)

template <typename Meta, Serialize<Meta> kSerialize, uint8_t kVersion>
gboolean serialize_meta(const GstMeta* meta, GstByteArrayInterface* data, guint8* version) {
  const auto* from = reinterpret_cast<const Meta*>(meta);
  // A program that stores the meta also stores the bytes of the buffer, without fences.
  if (from->fence != nullptr && !gst_coef_fence_wait_written(from->fence, nullptr)) return FALSE;
  std::vector<uint8_t> bytes;
  if (!kSerialize(*from, &bytes)) return FALSE;
  *version = kVersion;
  return gst_byte_array_interface_append_data(data, bytes.data(), static_cast<guint>(bytes.size()));
}

template <typename Meta, Deserialize<Meta> kDeserialize>
GstMeta* deserialize_meta(const GstMetaInfo* info, GstBuffer* buffer, const guint8* data,
                          gsize size, guint8 version) {
  Meta read = {};
  if (!kDeserialize(data, size, version, &read)) return nullptr;
  GstMeta* meta = gst_buffer_add_meta(buffer, info, nullptr);
  if (meta == nullptr) return nullptr;
  read.meta = *meta;
  *reinterpret_cast<Meta*>(meta) = read;
  return meta;
}

#endif

// From GStreamer 1.24 on with a serial form.
template <typename Meta, Serialize<Meta> kSerialize, Deserialize<Meta> kDeserialize,
          uint8_t kVersion>
const GstMetaInfo* register_meta(GType api, const gchar* name) {
#if GST_CHECK_VERSION(1, 23, 0)
  GstMetaInfo* info = gst_meta_info_new(api, name, sizeof(Meta));
  info->init_func = init_meta<Meta>;
  info->free_func = free_meta<Meta>;
  info->transform_func = copy_meta<Meta>;
  info->serialize_func = serialize_meta<Meta, kSerialize, kVersion>;
  info->deserialize_func = deserialize_meta<Meta, kDeserialize>;
  return gst_meta_info_register(info);
#else
  return gst_meta_register(api, name, sizeof(Meta), init_meta<Meta>, free_meta<Meta>,
                           copy_meta<Meta>);
#endif
}

}  // namespace gstcoef
