// Element jpegcoefdec: splits a stream of bytes into files, whose first pictures become frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "gst/jpeg/jpegcoefdec_private.h"

using State = cudatransform::JpegCoefDecState;
using cudatransform::JpegFilePictures;
using cudatransform::JpegFileRules;
using cudatransform::JpegFileSpan;
using cudatransform::Status;

namespace {

// User data of frames that have no picture: bytes between pictures, or what the element refuses.
// The base class keeps frames for later in reverse playback.
constexpr char kBetween = 0, kRefused = 0;

gpointer mark(const char& kind) { return const_cast<char*>(&kind); }

// Whether the stream of bytes is a file: then its end will come, and nobody waits for a picture
// meanwhile.
bool is_file(GstVideoDecoder* decoder) {
  gint64 size = -1;
  return gst_pad_peer_query_duration(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_FORMAT_BYTES,
                                     &size) &&
         size > 0;
}

JpegFileRules rules_of(GstVideoDecoder* decoder, State& state) {
  JpegFileRules rules;
  GST_OBJECT_LOCK(decoder);
  rules.with_others = state.settings.pictures == JpegFilePictures::kFirst;
  const bool kept = state.settings.keep_metadata && rules.with_others;
  if (const guint64 most = state.settings.max_memory; most != 0)
    rules.most = std::min(rules.most, most);
  GST_OBJECT_UNLOCK(decoder);
  rules.is_framed = state.pictures.framed();
  if (kept && !rules.is_framed && !state.is_file) state.is_file = is_file(decoder);
  rules.with_rest = kept && (rules.is_framed || *state.is_file);
  return rules;
}

// Makes a frame without a picture of the first byte.
GstFlowReturn have_mark(GstVideoDecoder* decoder, GstVideoCodecFrame* frame, const char& kind) {
  gst_video_codec_frame_set_user_data(frame, mark(kind), nullptr);
  return gst_video_decoder_have_frame(decoder);
}

GstFlowReturn refuse(GstVideoDecoder* decoder, State& state, GstVideoCodecFrame* frame,
                     GstAdapter* adapter, const Status& why) {
  state.refusal = why;
  state.begin_anew();
  state.bytes.discard(adapter, 1);
  gst_video_decoder_add_to_frame(decoder, 1);
  return have_mark(decoder, frame, kRefused);
}

// Drops bytes between pictures. The base class forgets the times of buffers together with their
// frames, so that a stream without pictures needs some, too.
bool skip(GstVideoDecoder* decoder, State& state, gsize size) {
  constexpr gsize kMostSkipped = gsize{1} << 18;
  GST_DEBUG_OBJECT(decoder, "%" G_GSIZE_FORMAT " bytes are between two pictures", size);
  const bool is_too_much = (state.skipped += size) > kMostSkipped;
  state.bytes.flush(size - (is_too_much ? 1 : 0));
  if (is_too_much) state.bytes.add_to_frame(decoder, 1);
  return !is_too_much;
}

}  // namespace

GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                      GstAdapter* adapter, gboolean at_eos) {
  State& state = State::of(decoder);
  if (const Status status = state.bytes.gather(adapter); !status.ok())
    return refuse(decoder, state, frame, adapter, status);
  const JpegFileRules rules = rules_of(decoder, state);
  const bool at_end = at_eos || state.is_parsed;
  for (;;) {
    const JpegFileSpan span = state.splitter.next(state.bytes.bytes(), rules, at_end);
    if (span.size == 0 && span.skipped == 0) return GST_VIDEO_DECODER_FLOW_NEED_DATA;
    if (span.size == 0 && skip(decoder, state, span.skipped)) continue;
    state.skipped = 0;
    if (span.size == 0) return have_mark(decoder, frame, kBetween);
    if (const std::string& doubt = state.splitter.doubt(); !doubt.empty())
      GST_DEBUG_OBJECT(decoder, "%s", doubt.c_str());
    if (span.is_cut)
      GST_WARNING_OBJECT(
          decoder, "the bytes behind a picture are not kept: more than %" G_GUINT64_FORMAT " bytes",
          rules.most);
    state.bytes.add_to_frame(decoder, span.size);
    return gst_video_decoder_have_frame(decoder);
  }
}

GstFlowReturn gst_jpeg_coef_dec_handle_frame(GstVideoDecoder* decoder, GstVideoCodecFrame* frame) {
  State& state = State::of(decoder);
  const gpointer kind = gst_video_codec_frame_get_user_data(frame);
  if (kind == mark(kRefused)) return state.pictures.refuse(frame, state.refusal);
  if (kind != mark(kBetween)) return state.pictures.decode(frame);
  gst_video_decoder_release_frame(decoder, frame);
  return GST_FLOW_OK;
}
