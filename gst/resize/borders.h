// Black borders of a picture that keeps its display aspect ratio.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <vector>

#include "gst/engine/engine.h"
#include "transform/resize/resize.h"

namespace cudatransform {

// A part of a frame in whole pixels.
struct PixelRect {
  int32_t left, top, width, height;
};

ResizePicture part_of(const ResizePicture& picture, const PixelRect& rect, int channels);

// Where videoscale puts a picture of `width` x `height` pixels of one frame in the other: as large
// as it fits without distortion, in the middle. `aligns_x`, `aligns_y`: at an even place, so that
// subsampled chroma keeps its siting.
PixelRect place_within(const GstVideoInfo& in, double width, double height, const GstVideoInfo& out,
                       bool aligns_x, bool aligns_y);

// A border is a picture of one black pixel, enlarged: the engine's jobs write it.
class Borders {
 public:
  // For frames of a format, whose channels of plane group g have `channels[g]` bytes in a pixel.
  void configure(const GstVideoInfo& info, const std::vector<int>& channels);
  // Sends the pixels to the engine, once; before add().
  Status prepare(Engine& engine);
  // Adds the jobs for all of group `group` of a frame, `frame`, outside `inside`.
  void add(size_t group, const ResizePicture& frame, const PixelRect& inside,
           std::vector<ResizeJob>* jobs) const;
  void stop() { pixels_.reset(); }

 private:
  std::vector<int> channels_;
  std::vector<guint8> black_;       // a pixel of each group
  std::unique_ptr<Memory> pixels_;  // the same in the engine's memory
};

}  // namespace cudatransform
