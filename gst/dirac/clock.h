// When frames of cudadiracdec are shown: by the times of a container, or by picture numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <span>

#include "dirac/sequence.h"

namespace cudatransform {

// Some demuxers (oggdemux) give pictures the times of their coding. The picture that is shown next
// gets the earliest time of all that have not been shown, and the picture that had it gets `*own`.
// Invalid times stay where they are.
void take_earliest_time(GstClockTime* own, std::span<GstClockTime* const> others);

// Knows neither element nor pads. Pictures are numbered in the order in which they are shown, anew
// in each sequence that does not go on with the numbers of the one before; numbers wrap around at
// 2^32.
class DiracClock {
 public:
  // Behind a flush the stream goes on anywhere.
  void flush();
  // Whether nothing was shown since a flush, but something before it.
  bool is_behind_seek() const { return resumes_ && first_.is_set; }

  // What a frame that is to be shown is given.
  struct Times {
    GstClockTime time, duration;
    bool is_given;  // `time` is the one that the container gave the picture
  };
  // The times of the frame that is shown next, whose first picture has this number. With `framed`
  // buffers have times: `given` is that of this one, or none. `segment_start`: of the input.
  Times show(const DiracSequence& sequence, uint64_t sequence_count, uint32_t number, bool framed,
             GstClockTime given, GstClockTime segment_start);
  // In a stream without times: when a picture that is not shown yet will be. False: nobody knows.
  bool predict(const DiracSequence& sequence, uint64_t sequence_count, uint32_t number,
               GstClockTime* time) const;

 private:
  // The picture that a sequence's numbers count from, and when it is shown.
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
