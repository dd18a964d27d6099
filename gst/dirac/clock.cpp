// The times of cudadiracdec's frames: from a container, or from picture numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dirac/clock.h"

#include <algorithm>
#include <utility>

namespace cudatransform {
namespace {

// A seek by bytes may end this far from its target.
constexpr GstClockTime kFarOff = 30 * GST_SECOND;

GstClockTime time_of(const DiracSequence& sequence, guint64 frames) {
  const auto& rate = sequence.frame_rate;
  return rate.numerator == 0
             ? 0
             : gst_util_uint64_scale(frames, rate.denominator * GST_SECOND, rate.numerator);
}

// The number of the frame that contains picture `number`, alone or as a field.
uint32_t frame_number(const DiracSequence& sequence, uint32_t number) {
  return sequence.field_coding ? number & ~1u : number;
}

}  // namespace

void take_earliest_time(GstClockTime* own, std::span<GstClockTime* const> others) {
  if (!GST_CLOCK_TIME_IS_VALID(*own)) return;
  GstClockTime* earliest = own;
  for (GstClockTime* other : others)
    if (GST_CLOCK_TIME_IS_VALID(*other) && *other < *earliest) earliest = other;
  std::swap(*own, *earliest);
}

void DiracClock::flush() {
  resumes_ = true;
  has_time_ = false;
}

GstClockTime DiracClock::time_from(const Anchor& from, const DiracSequence& sequence,
                                   uint32_t number) {
  const auto ahead = static_cast<int32_t>(frame_number(sequence, number) - from.number);
  if (ahead < 0) return from.time;
  return from.time +
         time_of(sequence, static_cast<guint64>(ahead) / (sequence.field_coding ? 2 : 1));
}

bool DiracClock::predict(const DiracSequence& sequence, uint64_t sequence_count, uint32_t number,
                         GstClockTime* time) const {
  if (resumes_ || !anchor_.is_set || anchor_.sequence_count != sequence_count) return false;
  *time = time_from(anchor_, sequence, number);
  return true;
}

DiracClock::Times DiracClock::show(const DiracSequence& sequence, uint64_t sequence_count,
                                   uint32_t number, bool framed, GstClockTime given,
                                   GstClockTime segment_start) {
  number = frame_number(sequence, number);
  const GstClockTime duration = time_of(sequence, 1);
  if (resumes_) {
    // In a stream of one sequence, numbers give the time after any seek. Numbers that restart with
    // each sequence do not: then we use the time that the seek requested.
    GstClockTime time = first_.is_set ? time_from(first_, sequence, number) : segment_start;
    if (time < segment_start || time > segment_start + kFarOff) time = segment_start;
    anchor_ = {true, sequence_count, number, time};
    resumes_ = false;
  } else if (!anchor_.is_set || anchor_.sequence_count != sequence_count) {
    anchor_ = {true, sequence_count, number, next_time_};
  }
  if (!first_.is_set) first_ = anchor_;
  // A first picture whose header had no timestamp, as from oggdemux, is shown at the beginning of
  // the segment.
  if (framed && !has_time_) next_time_ = std::max(next_time_, segment_start);
  // Times in coding order, or one time for many pictures, are not times of pictures.
  const bool is_after = !has_time_ || given >= next_time_ - duration / 2;
  const bool is_given = framed && GST_CLOCK_TIME_IS_VALID(given) && is_after;
  GstClockTime time = time_from(anchor_, sequence, number);
  if (framed) time = is_given ? given : next_time_;
  has_time_ = true;
  next_time_ = time + duration;
  return {time, duration, is_given};
}

}  // namespace cudatransform
