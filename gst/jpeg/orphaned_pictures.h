// The pictures of an MPF file that arrive as separate buffers after its first.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <cstdint>

#include "jpeg/mpf.h"

namespace cudatransform {

// A parser may have split a file, or damage has moved the bytes after it: the other pictures
// that its index names have the sizes that are there, and come in the order of the index. A first
// picture that they may follow immediately is held until they arrive, and then gets them as
// trailing data.
class OrphanedPictures {
 public:
  ~OrphanedPictures();

  // Takes `frame` (transfer full) where its buffer ends with the first picture of a file and its
  // index says that others follow without a gap. False: it stays the caller's. After a picture
  // without followers none is held until forget(): tools have dropped them, but not the index.
  bool hold(GstVideoCodecFrame* frame);
  // The frame that is held, transfer full; null for none.
  GstVideoCodecFrame* release();
  bool is_holding() const { return held_ != nullptr; }
  bool is_complete() const { return held_ && next_ == expected_.count; }

  // The index of the last picture, which is not held, names these, which its buffer lacked. It
  // may be wrong about their places, and damage may have taken some of them.
  void expect(const FilePlaces& others) {
    expected_ = others;
    next_ = 0;
  }
  // Whether the next picture is one of them, and the next if one is held, which then has it after
  // it. If not, none is expected.
  bool take(GstBuffer* picture);
  // After a flush, with nothing held.
  void forget() {
    expected_.count = next_ = 0;
    holds_ = true;
  }

 private:
  FilePlaces expected_;
  uint32_t next_ = 0;
  GstVideoCodecFrame* held_ = nullptr;
  bool holds_ = true;
};

}  // namespace cudatransform
