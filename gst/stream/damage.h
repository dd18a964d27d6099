// What becomes of damaged pictures: one policy for all decoders.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <string>

namespace cudatransform {

// Property on-error.
enum class OnError { kDrop, kConceal, kFail };

// Used with the decoder's stream lock.
class DamagePolicy {
 public:
  // `codec`: as users know it.
  DamagePolicy(GstVideoDecoder* decoder, const char* codec) : decoder_(decoder), codec_(codec) {}

  // A new stream.
  void start() { *this = DamagePolicy(decoder_, codec_); }
  void note_good();
  // Whether there was a good picture.
  bool seen_good() const { return seen_good_; }

  // What becomes of a picture that is damaged in the way that `what` says. `can_show`: there is
  // something to be shown of it. kDrop: the user has been warned, once for a run of such pictures.
  // kFail: an element error has been posted. Pictures that are shown do not count for max-errors.
  enum class Verdict { kShow, kDrop, kFail };
  Verdict judge(OnError on_error, bool can_show, const std::string& what);

 private:
  GstVideoDecoder* decoder_;
  const char* codec_;
  guint bad_in_row_ = 0;
  bool seen_good_ = false;
};

}  // namespace cudatransform
