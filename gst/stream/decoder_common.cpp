// What all decoders have: damage policy, common properties, and the memory of their output.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/decoder_common.h"

#include <utility>

#include "gst/engine/debug.h"
#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"

namespace cudatransform {

bool choose_memory(GstVideoDecoder* decoder, const Engine& engine, MemoryChoice choice,
                   CapsPtr* caps) {
  if (!engine.is_cuda()) return false;
  const GstStructure* structure = gst_caps_get_structure(caps->get(), 0);
  if (gst_structure_has_name(structure, "video/x-raw")) {
    const CapsPtr peer(gst_pad_peer_query_caps(GST_VIDEO_DECODER_SRC_PAD(decoder), nullptr));
    if (!peer || gst_caps_is_any(peer.get())) return false;
  }
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

void DamagePolicy::note_good() {
  bad_in_row_ = 0;
  seen_good_ = true;
}

DamagePolicy::Verdict DamagePolicy::judge(OnError on_error, bool can_show,
                                          const std::string& what) {
  if (on_error == OnError::kConceal && can_show) {
    GST_INFO_OBJECT(decoder_, "concealing damaged picture: %s", what.c_str());
    return Verdict::kShow;
  }
  const gint most = gst_video_decoder_get_max_errors(decoder_);
  bad_in_row_++;
  if (on_error == OnError::kFail || (most >= 0 && bad_in_row_ > static_cast<guint>(most))) {
    GST_ELEMENT_ERROR_WITH_DETAILS(
        decoder_, STREAM, DECODE, ("Failed to decode %s picture", codec_),
        ("%s (%u consecutive damaged pictures)", what.c_str(), bad_in_row_),
        ("reason", G_TYPE_STRING, what.c_str(), nullptr));
    return Verdict::kFail;
  }
  // A run of bad pictures gets one message, because the application may not read the bus.
  if (bad_in_row_ == 1)
    GST_ELEMENT_WARNING_WITH_DETAILS(decoder_, STREAM, DECODE,
                                     ("Dropped damaged %s picture", codec_), ("%s", what.c_str()),
                                     ("reason", G_TYPE_STRING, what.c_str(), nullptr));
  else
    GST_WARNING_OBJECT(decoder_, "dropped damaged picture: %s", what.c_str());
  return Verdict::kDrop;
}

namespace {

GType on_error_type() {
  static const GEnumValue kValues[] = {
      {int(OnError::kDrop), "Drop the picture and post a warning", "drop"},
      {int(OnError::kConceal), "Output the decodable part, marked as corrupted", "conceal"},
      {int(OnError::kFail), "Stop with an error", "fail"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaTransformOnError", kValues);
  return type;
}

}  // namespace

Property on_error_property(const SettingsOf<PictureSettings>& pictures) {
  return pictures.row("on-error", "On Error", "How to handle damaged pictures",
                      &PictureSettings::on_error, {.type = on_error_type()});
}

Property max_memory_property(const SettingsOf<PictureSettings>& pictures, const char* blurb) {
  return pictures.row("max-memory", "Maximum Memory", blurb, &PictureSettings::max_memory,
                      {.max = G_MAXUINT64});
}

}  // namespace cudatransform
