// The times of cudadiracdec in raw streams: seeks, duration, and the time after a seek.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A raw stream has bytes but no times. The bytes decoded so far, and the frames that they made,
// give the rate between the two. That is only as exact as the bit rate is constant, so a seek ends
// near its time. Frames after it take their times from picture numbers where these fit, and from
// the requested time otherwise.

#include <cstring>

#include "gst/dirac/cudadiracdec_private.h"

namespace cudatransform {
namespace {

// The bytes and the time decoded so far; false: none yet.
bool decoded_so_far(GstVideoDecoder* decoder, guint64* bytes, GstClockTime* time) {
  const DiracState& state = state_of(decoder);
  GST_OBJECT_LOCK(decoder);
  *bytes = state.stats.bytes;
  *time = state.stats.pictures * state.picture_time;
  GST_OBJECT_UNLOCK(decoder);
  return *bytes > 0 && *time > 0;
}

bool is_raw(GstVideoDecoder* decoder) {
  GST_OBJECT_LOCK(decoder);
  const bool framed = state_of(decoder).framed;
  GST_OBJECT_UNLOCK(decoder);
  return !framed;
}

gboolean seek_bytes(GstVideoDecoder* decoder, GstEvent* event) {
  gdouble rate = 0;
  GstFormat format = GST_FORMAT_UNDEFINED;
  GstSeekFlags flags = GST_SEEK_FLAG_NONE;
  GstSeekType start_type = GST_SEEK_TYPE_NONE, stop_type = GST_SEEK_TYPE_NONE;
  gint64 start = 0, stop = 0;
  gst_event_parse_seek(event, &rate, &format, &flags, &start_type, &start, &stop_type, &stop);
  const bool to_the_end = stop_type == GST_SEEK_TYPE_NONE || stop == -1;
  if (format != GST_FORMAT_TIME || rate <= 0 || start_type != GST_SEEK_TYPE_SET || start < 0 ||
      !to_the_end || (flags & GST_SEEK_FLAG_ACCURATE))
    return FALSE;
  guint64 bytes = 0;
  GstClockTime time = 0;
  if (start > 0 && !decoded_so_far(decoder, &bytes, &time)) return FALSE;
  const guint64 at =
      start == 0 ? 0 : gst_util_uint64_scale(static_cast<guint64>(start), bytes, time);
  GST_OBJECT_LOCK(decoder);
  state_of(decoder).seek_byte = at;
  state_of(decoder).seek_time = static_cast<GstClockTime>(start);
  GST_OBJECT_UNLOCK(decoder);
  GstEvent* in_bytes = gst_event_new_seek(rate, GST_FORMAT_BYTES, flags, GST_SEEK_TYPE_SET,
                                          static_cast<gint64>(at), GST_SEEK_TYPE_NONE, -1);
  gst_event_set_seqnum(in_bytes, gst_event_get_seqnum(event));
  return gst_pad_push_event(GST_VIDEO_DECODER_SINK_PAD(decoder), in_bytes);
}

gboolean answer_duration(GstVideoDecoder* decoder, GstQuery* query) {
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_duration(query, &format, nullptr);
  guint64 bytes = 0;
  GstClockTime time = 0;
  gint64 all = 0;
  if (format != GST_FORMAT_TIME || !decoded_so_far(decoder, &bytes, &time) ||
      !gst_pad_peer_query_duration(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_FORMAT_BYTES, &all) ||
      all <= 0)
    return FALSE;
  const guint64 duration = gst_util_uint64_scale(static_cast<guint64>(all), time, bytes);
  gst_query_set_duration(query, GST_FORMAT_TIME, static_cast<gint64>(duration));
  return TRUE;
}

gboolean answer_seeking(GstVideoDecoder* decoder, GstQuery* query) {
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_seeking(query, &format, nullptr, nullptr, nullptr);
  if (format != GST_FORMAT_TIME) return FALSE;
  gboolean seekable = FALSE;
  GstQuery* in_bytes = gst_query_new_seeking(GST_FORMAT_BYTES);
  if (gst_pad_peer_query(GST_VIDEO_DECODER_SINK_PAD(decoder), in_bytes))
    gst_query_parse_seeking(in_bytes, nullptr, &seekable, nullptr, nullptr);
  gst_query_unref(in_bytes);
  gst_query_set_seeking(query, GST_FORMAT_TIME, seekable, 0, -1);
  return TRUE;
}

}  // namespace

gboolean dirac_seek(GstVideoDecoder* decoder, GstEvent* event) {
  if (gst_pad_push_event(GST_VIDEO_DECODER_SINK_PAD(decoder), gst_event_ref(event))) return TRUE;
  return is_raw(decoder) && seek_bytes(decoder, event);
}

gboolean dirac_raw_query(GstVideoDecoder* decoder, GstQuery* query) {
  if (!is_raw(decoder)) return FALSE;
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_DURATION:
      return answer_duration(decoder, query);
    case GST_QUERY_SEEKING:
      return answer_seeking(decoder, query);
    default:
      return FALSE;
  }
}

GstClockTime dirac_time_of_byte(GstVideoDecoder* decoder, guint64 byte) {
  GST_OBJECT_LOCK(decoder);
  const DiracState& state = state_of(decoder);
  const bool is_asked_for = byte == state.seek_byte;
  const GstClockTime asked_for = state.seek_time;
  GST_OBJECT_UNLOCK(decoder);
  if (is_asked_for) return asked_for;
  guint64 bytes = 0;
  GstClockTime time = 0;
  if (byte == 0 || !decoded_so_far(decoder, &bytes, &time)) return 0;
  return gst_util_uint64_scale(byte, time, bytes);
}

GstEvent* dirac_segment_in_time(GstVideoDecoder* decoder, GstEvent* event, const GstSegment* from) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = from->rate;
  const bool in_bytes = from->format == GST_FORMAT_BYTES;
  segment.start = in_bytes ? dirac_time_of_byte(decoder, from->start) : 0;
  segment.time = segment.position = segment.start;
  GstEvent* in_time = gst_event_new_segment(&segment);
  gst_event_set_seqnum(in_time, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return in_time;
}

bool is_end_behind_dirac_seek(GstElement* element, GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !state_of(element).ends_behind_seek)
    return false;
  gchar* debug = nullptr;
  gst_message_parse_error(message, nullptr, &debug);
  const bool is_that = debug != nullptr && std::strstr(debug, "no valid frames") != nullptr;
  g_free(debug);
  return is_that;
}

}  // namespace cudatransform
