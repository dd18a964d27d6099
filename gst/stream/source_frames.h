// The source frames of coefficients: kept with them, and found again for comparison.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <gst/coef/format.h>
#include <gst/coef/reference.h>
#include "gst/stream/frame_mover.h"

namespace cudatransform {

// For keep-reference: attaches the engine's input to the coefficients.
class SourceKeeper {
 public:
  // The source frames that a pipeline may keep between the two transforms, in addition to one being
  // filled and one being read.
  static constexpr guint kBuffers = 4;

  void start() { warned_ = false; }
  // Frames kept downstream may use up a small pool: copying them keeps the source running.
  bool must_copy(FrameMover& mover, GstBuffer* in);
  // `in` is raw video of `raw`, which the engine read at `source`; `copy` is must_copy()'s result.
  Status keep(GstBuffer* in, const GstVideoInfo& raw, bool copy, const Placed& source,
              GstBuffer* coefficients);

 private:
  bool warned_ = false;
};

// The properties that a source frame must have.
struct SourcePicture {
  GstCoefSampling sampling;
  guint depth;
  gint width, height;
  bool may_be_rgb = false;  // whether it may be one of rgb_formats() as well
};

// The spelling of a size in messages: "1920x1080".
std::string size_text(int width, int height);

// A source frame while it is being read, with its planes as the engine reads them.
struct SourceFrame {
  GstBuffer* buffer = nullptr;  // null: there is none
  GstVideoInfo info = {};
  FrameInput input;
  SamplePlane planes[kMaxComponents];  // not of RGB
};

// For measure=psnr of an inverse.
class SourceFinder {
 public:
  // `producer` is the element that attaches source frames.
  explicit SourceFinder(const char* producer) : producer_(producer) {}

  void start() { warned_ = false; }
  void stop() { blocks_.clear(); }
  // Brings in the source frame of `coefficients`, if they still carry it and it can be compared.
  // Warns if there is none.
  Status find(FrameMover& mover, GstBuffer* coefficients, const SourcePicture& picture,
              SourceFrame* source);

 private:
  void warn(FrameMover& mover, const GstCoefReferenceMeta* meta, const SourcePicture& picture);

  const char* const producer_;
  BlockPool blocks_;
  bool warned_ = false;
};

}  // namespace cudatransform
