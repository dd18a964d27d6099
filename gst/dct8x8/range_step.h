// Limited range beside the DCT: frames of limited range to frames of full range, which the DCT
// reads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "gst/stream/transport.h"
#include "transform/range/range.h"

namespace cudatransform {

// One conversion of each frame of a stream. The streaming thread uses it. All work is on the
// compute queue, so every frame may use the memory of the one before it.
class RangeStep {
 public:
  explicit RangeStep(Engine& engine) : engine_(engine) {}

  // The conversion of the next frame, whose samples of `depth` bits lie at `frame`, and memory for
  // its result.
  Status begin(const GstVideoInfo& info, guint depth, const Rects& frame);
  // The result, in the format of the frame.
  const Rects& converted() const { return converted_; }
  // Enqueues the conversion.
  Status submit();

  // Gives up all memory.
  void stop() { memory_.reset(); }

 private:
  Engine& engine_;
  RangeJob job_;
  Rects converted_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace cudatransform
