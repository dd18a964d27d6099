// The frames that coefficients were made from: kept with them, and found again to compare with.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <gst/coef/format.h>
#include <gst/coef/reference.h>
#include "gst/stream/frame_input.h"

namespace cudatransform {

// For keep-reference: attaches what the engine read to the coefficients.
class SourceKeeper {
 public:
  // Source frames that a pipeline may keep between the two transforms, besides the one that is
  // being filled and the one that is being read.
  static constexpr guint kBuffers = 4;

  void start() { warned_ = false; }
  // Frames kept downstream may be all that a small pool has: copying keeps the source running.
  bool must_copy(Transport& transport, GstBuffer* in);
  // `in` is raw video of `raw`, which the engine read at `source`; `copy` is what must_copy() said.
  Status keep(GstBuffer* in, const GstVideoInfo& raw, bool copy, const Placed& source,
              GstBuffer* coefficients);

 private:
  bool warned_ = false;
};

// What a source frame has to be of.
struct SourcePicture {
  GstCoefSampling sampling;
  guint depth;
  gint width, height;
};

// As messages spell a size: "1920x1080".
std::string size_text(int width, int height);

// A source frame while it is being read, with its planes where the engine reads them.
struct SourceFrame {
  GstBuffer* buffer = nullptr;  // null: there is none
  FrameInput input;
  SamplePlane planes[kMaxComponents];
};

// For measure=psnr of an inverse.
class SourceFinder {
 public:
  // `producer` is the element that attaches source frames.
  explicit SourceFinder(const char* producer) : producer_(producer) {}

  void start() { warned_ = false; }
  void stop() { blocks_.clear(); }
  // Brings in the frame that `coefficients` were made from, if they still carry it and it can be
  // compared. Warns where there is none.
  Status find(Transport& transport, GstBuffer* coefficients, const SourcePicture& picture,
              SourceFrame* source);

 private:
  void warn(Transport& transport, const GstCoefReferenceMeta* meta, const SourcePicture& picture);

  const char* const producer_;
  BlockPool blocks_;
  bool warned_ = false;
};

}  // namespace cudatransform
