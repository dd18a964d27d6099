// When frames of cudadiracdec are shown: times of the container, or of picture numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dirac/clock.h"

#include <algorithm>
#include <utility>

#include "gst/dirac/cudadiracdec_private.h"

namespace cudatransform {

// How far from what it asked for a seek by bytes may end.
constexpr GstClockTime kFarOff = 30 * GST_SECOND;

static GstClockTime time_of(const DiracSequence& sequence, guint64 frames) {
  const auto& rate = sequence.frame_rate;
  return rate.numerator == 0
             ? 0
             : gst_util_uint64_scale(frames, rate.denominator * GST_SECOND, rate.numerator);
}

// Of the frame that picture `number` is in, or is a field of.
static uint32_t frame_number(const DiracSequence& sequence, uint32_t number) {
  return sequence.field_coding ? number & ~1u : number;
}

static GstClockTime time_from(const DiracAnchor& from, const DiracSequence& sequence,
                              uint32_t number) {
  const auto ahead = static_cast<int32_t>(frame_number(sequence, number) - from.number);
  if (ahead < 0) return from.time;
  return from.time +
         time_of(sequence, static_cast<guint64>(ahead) / (sequence.field_coding ? 2 : 1));
}

bool is_dirac_picture_late(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                           const DiracSequence& sequence, uint64_t sequence_count,
                           uint32_t number) {
  const DiracState& state = state_of(decoder);
  if (!state.framed) {
    if (state.resumes || !state.anchor.is_set || state.anchor.sequence_count != sequence_count)
      return false;
    frame->deadline = gst_segment_to_running_time(&decoder->input_segment, GST_FORMAT_TIME,
                                                  time_from(state.anchor, sequence, number));
  }
  return gst_video_decoder_get_max_decode_time(decoder, frame) < 0;
}

// Some demuxers (oggdemux) give pictures the times of their coding. Of all pictures that have not
// been shown, the one that is shown next gets the earliest time, and whose that was gets its own.
static void take_earliest_time(GstVideoDecoder* decoder, GstVideoCodecFrame* shown) {
  const DiracState& state = state_of(decoder);
  if (!GST_CLOCK_TIME_IS_VALID(shown->pts)) return;
  GList* frames = gst_video_decoder_get_frames(decoder);
  GstVideoCodecFrame* earliest = shown;
  for (GList* item = frames; item != nullptr; item = item->next) {
    auto* frame = static_cast<GstVideoCodecFrame*>(item->data);
    if (!GST_CLOCK_TIME_IS_VALID(frame->pts) || frame->pts >= earliest->pts) continue;
    // Those that are under way have their times.
    if (std::find(state.waiting.begin(), state.waiting.end(), frame) == state.waiting.end())
      earliest = frame;
  }
  std::swap(shown->pts, earliest->pts);
  g_list_free_full(frames, [](gpointer frame) {
    gst_video_codec_frame_unref(static_cast<GstVideoCodecFrame*>(frame));
  });
}

bool set_dirac_times(GstVideoDecoder* decoder, const DiracShown& shown) {
  DiracState& state = state_of(decoder);
  if (state.framed) take_earliest_time(decoder, shown.frame);
  const DiracSequence& sequence = *shown.sequence;
  GstVideoCodecFrame* frame = shown.frame;
  const uint32_t number = frame_number(sequence, shown.number);
  const GstClockTime frame_time = time_of(sequence, 1);
  DiracAnchor& anchor = state.anchor;
  if (state.resumes) {
    // In a stream of one sequence numbers tell the time, wherever a seek went. Numbers that begin
    // anew with each sequence tell nothing: then it is what was asked for.
    const GstClockTime wanted = decoder->input_segment.start;
    GstClockTime time = state.first.is_set ? time_from(state.first, sequence, number) : wanted;
    if (time < wanted || time > wanted + kFarOff) time = wanted;
    anchor = {true, shown.sequence_count, number, time};
    state.resumes = false;
  } else if (!anchor.is_set || anchor.sequence_count != shown.sequence_count) {
    anchor = {true, shown.sequence_count, number, state.next_time};
  }
  if (!state.first.is_set) state.first = anchor;
  // A first picture whose header came without a time, as out of oggdemux, has none: it is shown
  // where the segment begins.
  if (state.framed && !state.has_time)
    state.next_time = std::max(state.next_time, decoder->input_segment.start);
  GstClockTime time = time_from(anchor, sequence, number);
  // Times in the order of coding, or one for many pictures, are none of a picture.
  const bool is_after = !state.has_time || frame->pts >= state.next_time - frame_time / 2;
  const bool is_given = state.framed && GST_CLOCK_TIME_IS_VALID(frame->pts) && is_after;
  if (state.framed) time = is_given ? frame->pts : state.next_time;
  state.has_time = true;
  GST_OBJECT_LOCK(decoder);
  state.picture_time = frame_time / (sequence.field_coding ? 2 : 1);
  GST_OBJECT_UNLOCK(decoder);
  frame->pts = time;
  frame->dts = GST_CLOCK_TIME_NONE;
  frame->duration = frame_time;
  state.next_time = time + frame->duration;
  return is_given;
}

}  // namespace cudatransform
