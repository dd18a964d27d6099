// The treatment of damaged pictures: one policy for all decoders.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <string>

namespace cudatransform {

// The property on-error.
enum class OnError { kDrop, kConceal, kFail };

// Used with the decoder's stream lock.
class DamagePolicy {
 public:
  // `codec`: the name that users know.
  DamagePolicy(GstVideoDecoder* decoder, const char* codec) : decoder_(decoder), codec_(codec) {}

  // Starts a new stream.
  void start() { *this = DamagePolicy(decoder_, codec_); }
  void note_good();
  // Whether the stream had a good picture.
  bool seen_good() const { return seen_good_; }

  // The verdict on a damaged picture; `what` describes the damage. `can_show`: part of it can be
  // shown. kDrop: the user has been warned, once for a run of such pictures. kFail: an element
  // error has been posted. Pictures that are shown do not count for max-errors.
  enum class Verdict { kShow, kDrop, kFail };
  Verdict judge(OnError on_error, bool can_show, const std::string& what);

 private:
  GstVideoDecoder* decoder_;
  const char* codec_;
  guint bad_in_row_ = 0;
  bool seen_good_ = false;
};

}  // namespace cudatransform
