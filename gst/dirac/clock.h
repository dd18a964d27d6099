// The times of cudadiracdec's frames: from a container, or from picture numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <span>

#include "dirac/sequence.h"

namespace cudatransform {

// Some demuxers (oggdemux) give pictures the times of their coding. The next shown picture gets the
// earliest time of all unshown pictures, and the previous owner of that time gets `*own`. Invalid
// times stay where they are.
void take_earliest_time(GstClockTime* own, std::span<GstClockTime* const> others);

// The clock knows neither element nor pads. Pictures are numbered in display order. Numbers wrap
// around at 2^32, and restart in a sequence that does not continue those of the one before.
class DiracClock {
 public:
  // After a flush the stream continues anywhere.
  void flush();
  // Whether frames were shown, but none since a flush.
  bool is_after_seek() const { return resumes_ && first_.is_set; }

  // The times of a shown frame.
  struct Times {
    GstClockTime time, duration;
    bool is_given;  // `time` is the one that the container gave the picture
  };
  // The times of the next frame, whose first picture has this number. With `framed`, buffers have
  // times: `given` is this one's, or none. `segment_start`: of the input.
  Times show(const DiracSequence& sequence, uint64_t sequence_count, uint32_t number, bool framed,
             GstClockTime given, GstClockTime segment_start);
  // In a stream without times: when a waiting picture will be shown. False: unknown.
  bool predict(const DiracSequence& sequence, uint64_t sequence_count, uint32_t number,
               GstClockTime* time) const;

 private:
  // The picture from which a sequence counts its numbers, and the time of that picture.
  struct Anchor {
    bool is_set = false;
    uint64_t sequence_count = 0;
    uint32_t number = 0;
    GstClockTime time = 0;
  };
  static GstClockTime time_from(const Anchor& from, const DiracSequence& sequence, uint32_t number);

  bool resumes_ = false;  // after a flush, until a frame is shown
  Anchor anchor_;         // of the sequence
  Anchor first_;          // of the stream
  GstClockTime next_time_ = 0;
  bool has_time_ = false;  // since the start or a flush
};

}  // namespace cudatransform
