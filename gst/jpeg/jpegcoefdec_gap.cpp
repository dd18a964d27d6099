// The caps of jpegcoefdec for a gap that comes before the first picture.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <utility>

#include "gst/engine/debug.h"
#include "gst/jpeg/jpegcoefdec_frames.h"

namespace cudatransform {
namespace {

// Of what the peer takes (`caps`, taken) the first that has the sampling that the sink caps name,
// or else 4:2:0; of the size that they name, or else the one that GStreamer's decoders of raw video
// take then.
bool choose(GstCaps* caps, const GstStructure* input, GstDctInfo* info) {
  constexpr int kWidth = 1280, kHeight = 720;
  const char* sampling = input ? gst_structure_get_string(input, "sampling") : nullptr;
  if (!sampling) sampling = gst_dct_sampling_to_string(GST_DCT_SAMPLING_420);
  GstCaps* named =
      gst_caps_new_simple(GST_DCT_MEDIA_TYPE, "sampling", G_TYPE_STRING, sampling, nullptr);
  gst_caps_set_features_simple(named, gst_caps_features_new_any());
  GstCaps* fitting = gst_caps_intersect_full(caps, named, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(named);
  if (gst_caps_is_empty(fitting)) std::swap(caps, fitting);
  gst_caps_unref(caps);

  fitting = gst_caps_truncate(fitting);
  if (!gst_caps_is_empty(fitting)) {
    fitting = gst_caps_make_writable(fitting);
    GstStructure* s = gst_caps_get_structure(fitting, 0);
    for (const char* field : {"width", "height"})
      if (const GValue* value = input ? gst_structure_get_value(input, field) : nullptr)
        if (gst_value_is_fixed(value)) gst_structure_set_value(s, field, value);
    gst_structure_fixate_field_nearest_int(s, "width", kWidth);
    gst_structure_fixate_field_nearest_int(s, "height", kHeight);
    fitting = gst_caps_fixate(fitting);
  }
  const bool chosen = gst_dct_info_from_caps(info, fitting);
  gst_caps_unref(fitting);
  return chosen;
}

}  // namespace

bool JpegFrames::negotiate_gap(const JpegSettings& settings) {
  if (GstVideoCodecState* state = gst_video_decoder_get_output_state(decoder_)) {
    gst_video_codec_state_unref(state);
    return true;
  }
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  GstCaps* all = gst_pad_get_pad_template_caps(src);
  GstCaps* caps = gst_pad_peer_query_caps(src, all);
  gst_caps_unref(all);
  GstDctInfo info;
  if (!choose(caps, input_ ? gst_caps_get_structure(input_->caps, 0) : nullptr, &info))
    return false;
  GST_INFO_OBJECT(decoder_, "%dx%d, %s for a gap before the first picture", info.width, info.height,
                  gst_dct_sampling_to_string(info.sampling));
  if (!started_) start_workers(settings.n_threads);  // the latency depends on their number
  negotiated_ = negotiate(info, {});
  return true;
}

}  // namespace cudatransform
