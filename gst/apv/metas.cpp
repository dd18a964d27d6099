// Metadata of APV frames as metas of buffers: captions, other ITU-T T.35, and user data.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/apv/metas.h"

#include <gst/video/video.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudatransform {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr char kPayloadField[] = "payload";

// Country code (United States), provider (ATSC), its identifier, and the type of cc_data().
constexpr uint8_t kCaptions[] = {0xb5, 0x00, 0x31, 'G', 'A', '9', '4', 0x03};
// Then process_cc_data_flag with cc_count, em_data, the packets, and marker_bits.
constexpr size_t kCountAt = sizeof kCaptions, kPacketsAt = kCountAt + 2, kPacketBytes = 3;
constexpr uint8_t kHasPackets = 0x40, kCountMask = 0x1f, kOnes = 0xff;

// The packets of captions; none: the payload is something else.
std::span<const uint8_t> caption_packets(std::span<const uint8_t> payload) {
  if (payload.size() < kPacketsAt ||
      !std::equal(std::begin(kCaptions), std::end(kCaptions), payload.begin()) ||
      (payload[kCountAt] & kHasPackets) == 0)
    return {};
  const size_t bytes = kPacketBytes * (payload[kCountAt] & kCountMask);
  if (payload.size() - kPacketsAt < bytes) return {};
  return payload.subspan(kPacketsAt, bytes);
}

bool has_captions(const GstVideoCaptionMeta& meta) {
  return meta.caption_type == GST_VIDEO_CAPTION_TYPE_CEA708_RAW && meta.size > 0 &&
         meta.size % kPacketBytes == 0 && meta.size / kPacketBytes <= kCountMask;
}

Bytes caption_payload(const GstVideoCaptionMeta& meta) {
  Bytes payload(std::begin(kCaptions), std::end(kCaptions));
  payload.push_back(static_cast<uint8_t>(kHasPackets | meta.size / kPacketBytes));
  payload.push_back(kOnes);
  payload.insert(payload.end(), meta.data, meta.data + meta.size);
  payload.push_back(kOnes);
  return payload;
}

Bytes user_payload(const GstVideoSEIUserDataUnregisteredMeta& meta) {
  Bytes payload(std::begin(meta.uuid), std::end(meta.uuid));
  if (meta.size > 0) payload.insert(payload.end(), meta.data, meta.data + meta.size);
  return payload;
}

void add_t35(std::span<const uint8_t> payload, GstBuffer* buffer) {
  if (const auto packets = caption_packets(payload); !packets.empty()) {
    gst_buffer_add_video_caption_meta(buffer, GST_VIDEO_CAPTION_TYPE_CEA708_RAW, packets.data(),
                                      packets.size());
    return;
  }
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, kApvT35Meta);
  GBytes* bytes = g_bytes_new(payload.data(), payload.size());
  gst_structure_set(gst_custom_meta_get_structure(meta), kPayloadField, G_TYPE_BYTES, bytes,
                    nullptr);
  g_bytes_unref(bytes);
}

void add_user(std::span<const uint8_t> payload, GstBuffer* buffer) {
  uint8_t uuid[kApvUuidBytes];
  std::copy_n(payload.begin(), kApvUuidBytes, uuid);
  Bytes data(payload.begin() + kApvUuidBytes, payload.end());
  data.reserve(1);  // GStreamer wants an address, also of nothing
  gst_buffer_add_video_sei_user_data_unregistered_meta(buffer, uuid, data.data(), data.size());
}

bool is_t35(const GstMeta* meta) { return meta->info == gst_meta_get_info(kApvT35Meta); }

}  // namespace

void register_apv_metas() {
  static const GstMetaInfo* const info = [] {
    const gchar* no_tags[] = {nullptr};
    return gst_meta_register_custom(kApvT35Meta, no_tags, nullptr, nullptr, nullptr);
  }();
  (void)info;
}

void add_apv_metas(const ApvMetadata& metadata, GstBuffer* buffer) {
  for (const ApvPayload& payload : metadata.payloads()) {
    if (payload.type == ApvPayloadType::kUser)
      add_user(payload.bytes, buffer);
    else
      add_t35(payload.bytes, buffer);
  }
}

void ApvMetaPayloads::read(GstBuffer* buffer, ApvMetadata* metadata) {
  const auto keep = [&](ApvPayloadType type, Bytes payload) {
    made_.push_back(std::move(payload));
    metadata->keep({type, made_.back()});
  };
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (metadata->kept_count == ApvMetadata::kMaxPayloads) {
      metadata->dropped_count += is_apv_meta(meta);
    } else if (meta->info->api == GST_VIDEO_CAPTION_META_API_TYPE) {
      const auto& captions = *reinterpret_cast<const GstVideoCaptionMeta*>(meta);
      if (has_captions(captions)) keep(ApvPayloadType::kT35, caption_payload(captions));
    } else if (meta->info->api == GST_VIDEO_SEI_USER_DATA_UNREGISTERED_META_API_TYPE) {
      const auto& user = *reinterpret_cast<const GstVideoSEIUserDataUnregisteredMeta*>(meta);
      if (user.size < ApvMetadata::kMaxPayloadBytes)
        keep(ApvPayloadType::kUser, user_payload(user));
      else
        ++metadata->dropped_count;
    } else if (is_t35(meta)) {
      const GstStructure* structure = gst_custom_meta_get_structure(
          reinterpret_cast<GstCustomMeta*>(const_cast<GstMeta*>(meta)));
      const GValue* value = gst_structure_get_value(structure, kPayloadField);
      if (value == nullptr || !G_VALUE_HOLDS(value, G_TYPE_BYTES)) continue;
      gsize size = 0;
      const auto* bytes = static_cast<const uint8_t*>(
          g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size));
      metadata->keep({ApvPayloadType::kT35, {bytes, size}});
    }
  }
}

bool is_apv_meta(const GstMeta* meta) {
  if (meta->info->api == GST_VIDEO_CAPTION_META_API_TYPE)
    return has_captions(*reinterpret_cast<const GstVideoCaptionMeta*>(meta));
  return meta->info->api == GST_VIDEO_SEI_USER_DATA_UNREGISTERED_META_API_TYPE || is_t35(meta);
}

}  // namespace cudatransform
