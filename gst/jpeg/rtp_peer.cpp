// Finds out whether an element's files leave by RTP, which has no Huffman tables for them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/rtp_peer.h"

#include "gst/engine/buffer_ptr.h"

namespace cudatransform {
namespace {

constexpr int kMostElements = 16;  // a loop of links is no pipeline, but may be built

// The only source pad of an element with at most one sink pad; null otherwise. Transfer full.
GstPad* only_source(GstElement* element) {
  GstPad* found = nullptr;
  GST_OBJECT_LOCK(element);
  if (element->numsrcpads == 1 && element->numsinkpads == 1)
    found = GST_PAD(gst_object_ref(element->srcpads->data));
  GST_OBJECT_UNLOCK(element);
  return found;
}

// The pad that data from `src` reach, if need be outside of the bins around it. Transfer full.
GstPad* peer_outside(GstPad* src) {
  GstPad* peer = gst_pad_get_peer(src);
  GstObject* ghost = peer ? gst_object_get_parent(GST_OBJECT(peer)) : nullptr;
  while (GST_IS_GHOST_PAD(ghost)) {
    gst_object_unref(peer);
    peer = gst_pad_get_peer(GST_PAD(ghost));
    gst_object_unref(ghost);
    ghost = peer ? gst_object_get_parent(GST_OBJECT(peer)) : nullptr;
  }
  gst_clear_object(&ghost);
  return peer;
}

bool sends_jpeg_by_rtp(GstPad* src) {
  const CapsPtr made(gst_pad_get_pad_template_caps(src));
  const CapsPtr rtp(
      gst_caps_new_simple("application/x-rtp", "encoding-name", G_TYPE_STRING, "JPEG", nullptr));
  return !gst_caps_is_any(made.get()) && gst_caps_can_intersect(made.get(), rtp.get());
}

}  // namespace

std::string rtp_jpeg_payloader_behind(GstPad* src) {
  std::string name;
  GstPad* pad = GST_PAD(gst_object_ref(src));
  for (int count = 0; pad && name.empty() && count < kMostElements; ++count) {
    GstPad* peer = peer_outside(pad);
    gst_object_unref(pad);
    GstElement* element = peer ? gst_pad_get_parent_element(peer) : nullptr;
    gst_clear_object(&peer);
    pad = element ? only_source(element) : nullptr;
    if (pad && sends_jpeg_by_rtp(pad)) {
      gchar* found = gst_object_get_name(GST_OBJECT(element));
      name = found;
      g_free(found);
    }
    gst_clear_object(&element);
  }
  gst_clear_object(&pad);
  return name;
}

}  // namespace cudatransform
