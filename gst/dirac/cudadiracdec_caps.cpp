// Caps, memory and latency of cudadiracdec's frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <string>

#include "gst/dirac/cudadiracdec_private.h"
#include "gst/dirac/video_format.h"
#include "gst/engine/element_errors.h"
#include "gst/stream/decoder_memory.h"
#include "gst/stream/refusal.h"

namespace cudatransform {

// Whether frames of `info` go out in CUDA memory. `*caps` are the frames' caps in system memory and
// then become those in CUDA memory. Formats that GStreamer cannot download whole stay in system
// memory where downstream takes that as well.
static bool choose_frame_memory(GstVideoDecoder* decoder, const GstVideoInfo& info, CapsPtr* caps) {
  bool downloads_well = false;
  return cuda_memory_holds(info, &downloads_well) &&
         choose_memory(
             decoder, state_of(decoder).engine,
             downloads_well ? MemoryChoice::kCudaWherePossible : MemoryChoice::kSystemIfPossible,
             caps);
}

gboolean decide_dirac_allocation(GstVideoDecoder* decoder, GstQuery* query) {
  DiracState& state = state_of(decoder);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps == nullptr) return FALSE;
  const Status status = state.frame_output.allocate(query, caps);
  return answer_allocation(decoder, query, status, state.frame_output.pool());
}

guint most_dirac_in_flight(const DiracState& state) {
  const bool overlaps = state.engine.is_cuda() && state.pictures.threads() > 1;
  return overlaps && !state.frame_output.is_bounded() ? 2 : 0;
}

// Pictures wait for two frames with lower numbers, and for their own completion.
void tell_dirac_latency(GstVideoDecoder* decoder) {
  const DiracState& state = state_of(decoder);
  const GstVideoInfo& info = state.output_info;
  const GstClockTime latency = latency_of(2, info.fps_n, info.fps_d) + state.latency.value();
  gst_video_decoder_set_latency(decoder, latency, latency);
}

// kUnsupported if downstream does not accept frames of `info`, which have `caps`.
static Status ask_downstream(GstVideoDecoder* decoder, const GstVideoInfo& info, GstCaps* caps) {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder);
  if (peer_accepts(src, caps)) return {};
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr accepted(gst_pad_peer_query_caps(src, all.get()));
  return Status::error(StatusCode::kUnsupported,
                       std::string("the video is ") + GST_VIDEO_INFO_NAME(&info) + ", " +
                           std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "x" +
                           std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + "; " +
                           find_misfit(caps, accepted.get()).text());
}

Status ask_for_dirac_output(GstVideoDecoder* decoder, const DiracSequence& sequence) {
  const DiracState& state = state_of(decoder);
  const bool is_known = state.output != nullptr && *state.output == sequence;
  if (is_known || !state.damage.seen_good()) return {};
  GstVideoInfo info;
  gst_video_info_init(&info);
  bool unspecified_matrix = false;
  CT_RETURN_IF_ERROR(dirac_video_info(sequence, &info, &unspecified_matrix));
  CapsPtr caps(gst_video_info_to_caps(&info));
  (void)choose_frame_memory(decoder, info, &caps);
  return ask_downstream(decoder, info, caps.get());
}

GstFlowReturn explain_dirac_refusal(GstVideoDecoder* decoder, GstFlowReturn flow) {
  const CodecStatePtr out(gst_video_decoder_get_output_state(decoder));
  if (flow != GST_FLOW_NOT_NEGOTIATED || !out || !out->caps) return flow;
  const Status status = ask_downstream(decoder, state_of(decoder).output_info, out->caps);
  if (status.ok()) return flow;
  post_error(GST_ELEMENT(decoder), status);
  return GST_FLOW_ERROR;
}

GstFlowReturn set_dirac_output(GstVideoDecoder* decoder,
                               const std::shared_ptr<const DiracSequence>& sequence) {
  DiracState& state = state_of(decoder);
  state.output.reset();
  GstVideoInfo info;
  gst_video_info_init(&info);
  bool unspecified_matrix = false;
  const Status status = dirac_video_info(*sequence, &info, &unspecified_matrix);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder), status);
    return GST_FLOW_ERROR;
  }
  if (unspecified_matrix)
    GST_ELEMENT_WARNING(decoder, STREAM, FORMAT,
                        ("The video is YCoCg, for which GStreamer has no colorimetry"), (nullptr));
  const CodecStatePtr out(gst_video_decoder_set_interlaced_output_state(
      decoder, GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_INFO_INTERLACE_MODE(&info), sequence->width,
      sequence->height, state.input.get()));
  // The stream's own description takes precedence over the container's.
  const GstVideoFieldOrder order = GST_VIDEO_INFO_FIELD_ORDER(&info);
  out->info.fps_n = info.fps_n;
  out->info.fps_d = info.fps_d;
  out->info.par_n = info.par_n;
  out->info.par_d = info.par_d;
  out->info.colorimetry = info.colorimetry;
  GST_VIDEO_INFO_FIELD_ORDER(&out->info) = order;
  CapsPtr caps(gst_video_info_to_caps(&out->info));
  state.output_info = out->info;
  state.frame_output.configure(out->info, choose_frame_memory(decoder, out->info, &caps));
  gst_caps_replace(&out->caps, caps.get());
  const guint most_beside =
      static_cast<guint>(state.pictures.most_in_work() - 1) + most_dirac_in_flight(state);
  state.latency.start(latency_of(most_beside, info.fps_n, info.fps_d));
  tell_dirac_latency(decoder);
  const bool negotiated = gst_video_decoder_negotiate(decoder);
  // A flush invalidates an answer that downstream gave while it was flushing.
  if (GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder))) return GST_FLOW_FLUSHING;
  if (!negotiated) return GST_FLOW_NOT_NEGOTIATED;
  state.output = sequence;
  return GST_FLOW_OK;
}

}  // namespace cudatransform
