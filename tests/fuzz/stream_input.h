// Shared by the fuzz targets of decoders: a stream of bytes in any pieces, and any order of events.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// The input: a byte of settings, a byte with the number of described pieces (1 to 8), three bytes
// for each (the action before it, its size), then the stream, which is cut into these pieces over
// and over.
struct StreamInput {
  // Actions before a piece, in the low bits of its first byte. Targets may have more, from kMore
  // on.
  enum Before { kFlush = 1, kCaps, kGap, kSegment, kSetOnError, kRestart, kMore };
  struct Piece {
    guint8 before = 0;
    guint16 size = 0;
  };

  guint8 settings;
  const char* on_error;
  guint threads;
  GstFormat format;
  std::vector<Piece> pieces;

  explicit StreamInput(Input* input);
  // "on-error=drop n-threads=1" and the like.
  std::string properties() const;
  bool may_conceal() const;
};

struct StreamTarget {
  gsize max_pieces;
  std::function<GstCaps*(int variant)> caps;  // 0: the stream's first ones
  // Makes the segment unusual, by the first byte of a piece.
  std::function<void(GstSegment* segment, guint8 before)> bend;
  // Takes Before values from kMore on.
  std::function<void(ElementRun* run, guint8 before)> more = [](ElementRun*, guint8) {};
};

// Pushes the rest of `input`, piece by piece, as long as the element accepts it; then EOS, which
// has to arrive.
void push_stream(ElementRun* run, const StreamInput& stream, const StreamTarget& target,
                 Input* input);

// Adds framerates and sizes to caps, by the bits of `variant`.
GstCaps* vary_caps(GstCaps* caps, int variant);

// A field of the element's statistics.
guint64 stat_of(const ElementRun& run, const char* field);

// Holds the stream lock of the element's base class: no thread is between counting a frame and
// pushing it, which after a failed push a thread of the element may be.
class StreamLock {
 public:
  explicit StreamLock(const ElementRun& run)
      : lock_(GST_IS_VIDEO_ENCODER(run.element())
                  ? &GST_VIDEO_ENCODER(run.element())->stream_lock
                  : &GST_VIDEO_DECODER(run.element())->stream_lock) {
    g_rec_mutex_lock(lock_);
  }
  ~StreamLock() { g_rec_mutex_unlock(lock_); }
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

 private:
  GRecMutex* const lock_;
};

}  // namespace fuzzing
