// The times of cudadiracdec's frames: its clock, fed by the base class and the pads.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <utility>
#include <vector>

#include "gst/dirac/cudadiracdec_private.h"

namespace cudatransform {

bool is_dirac_picture_late(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                           const DiracSequence& sequence, uint64_t sequence_count,
                           uint32_t number) {
  const DiracState& state = state_of(decoder);
  if (!state.framed) {
    GstClockTime time = 0;
    if (!state.clock.predict(sequence, sequence_count, number, &time)) return false;
    frame->deadline = gst_segment_to_running_time(&decoder->input_segment, GST_FORMAT_TIME, time);
  }
  return gst_video_decoder_get_max_decode_time(decoder, frame) < 0;
}

// The base class also holds the frames under way, which have their times already.
static void reorder_times(GstVideoDecoder* decoder, GstVideoCodecFrame* shown) {
  const DiracState& state = state_of(decoder);
  GList* frames = gst_video_decoder_get_frames(decoder);
  std::vector<GstClockTime*> others;
  for (GList* item = frames; item != nullptr; item = item->next) {
    auto* frame = static_cast<GstVideoCodecFrame*>(item->data);
    if (std::find(state.waiting.begin(), state.waiting.end(), frame) == state.waiting.end())
      others.push_back(&frame->pts);
  }
  take_earliest_time(&shown->pts, others);
  g_list_free_full(frames, [](gpointer frame) {
    gst_video_codec_frame_unref(static_cast<GstVideoCodecFrame*>(frame));
  });
}

// Whether the base class will not push the frame, because it is outside of the segment.
static bool is_outside(GstVideoDecoder* decoder, const GstVideoCodecFrame& frame) {
  return !gst_segment_clip(&decoder->input_segment, GST_FORMAT_TIME, frame.pts,
                           frame.pts + frame.duration, nullptr, nullptr);
}

// Counts a frame that is outside of the segment. True: it was given up. The base class would end
// the stream with it. If we made its time ourselves, later frames may have times of their own.
static bool leaves_out(GstVideoDecoder* decoder, GstVideoCodecFrame* frame, bool is_given) {
  DiracState& state = state_of(decoder);
  if (!is_outside(decoder, *frame)) return false;
  GST_OBJECT_LOCK(decoder);
  ++state.outside;
  GST_OBJECT_UNLOCK(decoder);
  if (is_given || !state.framed) return false;
  if (!std::exchange(state.told_of_outside, true))
    GST_ELEMENT_WARNING(decoder, STREAM, FORMAT,
                        ("Frames are not shown: the container's times do not ascend, and those "
                         "that the frame rate gives are behind the end of the segment"),
                        ("the first would be at %" GST_TIME_FORMAT, GST_TIME_ARGS(frame->pts)));
  gst_video_decoder_release_frame(decoder, frame);
  return true;
}

bool set_dirac_times(GstVideoDecoder* decoder, const DiracShown& shown) {
  DiracState& state = state_of(decoder);
  GstVideoCodecFrame* frame = shown.frame;
  if (state.framed) reorder_times(decoder, frame);
  const DiracClock::Times times =
      state.clock.show(*shown.sequence, shown.sequence_count, shown.number, state.framed,
                       frame->pts, decoder->input_segment.start);
  GST_OBJECT_LOCK(decoder);
  state.picture_time = times.duration / (shown.sequence->field_coding ? 2 : 1);
  GST_OBJECT_UNLOCK(decoder);
  frame->pts = times.time;
  frame->dts = GST_CLOCK_TIME_NONE;
  frame->duration = times.duration;
  return !leaves_out(decoder, frame, times.is_given);
}

}  // namespace cudatransform
