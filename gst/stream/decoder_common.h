// What all decoders have: damage policy, common properties, and the memory of their output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/gstvideodecoder.h>

#include <string>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine.h"
#include "gst/engine/properties.h"
#include "transform/device/status.h"

namespace cudatransform {

enum class MemoryChoice {
  kCudaWherePossible,  // CUDA memory if downstream accepts it
  kSystemIfPossible,   // CUDA memory if downstream accepts no other
};

// Whether frames go out in CUDA memory: the engine is CUDA, and downstream accepts such frames, as
// `choice` requires. `*caps`, which are of system memory, then become those of CUDA memory. Raw
// frames stay in system memory if the peer accepts anything: it may be the pad of a bin that is
// linked later, to what cannot read CUDA memory.
bool choose_memory(GstVideoDecoder* decoder, const Engine& engine, MemoryChoice choice,
                   CapsPtr* caps);

// Ends GstVideoDecoder::decide_allocation for frames that bring their buffers: replaces all pools
// in `query` by `pool`, which the base class insists on. `status` is the result of choosing the
// pool; if that is an error, posts it and returns false.
bool answer_allocation(GstVideoDecoder* decoder, GstQuery* query, const Status& status,
                       GstBufferPool* pool);

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

struct PictureSettings {
  OnError on_error = OnError::kDrop;
  guint64 max_memory = guint64{1} << 30;  // 0: no limit
};

// Rows of their properties. `blurb` states which memory counts, and how a picture that alone needs
// more is handled.
Property on_error_property(const SettingsOf<PictureSettings>& pictures);
Property max_memory_property(const SettingsOf<PictureSettings>& pictures, const char* blurb);

}  // namespace cudatransform
