// Conversions of frames around the DCT: RGB to planes and back, and limited range to full.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include <gst/coef/coef.h>
#include "gst/stream/frame_mover.h"
#include "transform/range/range.h"
#include "transform/rgb/rgb.h"

namespace cudatransform {

// The error if frames of `rgb` do not belong to coefficients of `dct`, which have these caps: RGB
// that results has full range, YCbCr is JPEG's, and all samples have 8 bits.
Status check_rgb(const GstVideoInfo& rgb, const GstDctInfo& dct, const GstCaps* coefs,
                 Direction direction);

// The inverse of a component of pictures that become RGB at 1/`scale`, and its remaining
// subsampling.
RgbScale rgb_scale_of(const GstDctInfo& dct, int component, int scale);

// The planes that belong to an RGB frame.
struct RgbPlanes {
  Direction direction;        // kForward: RGB to planes
  bool fills_blocks = false;  // forward: subsampled components are as large as their blocks
  int scale = 1;              // inverse
  ChromaUpsampling upsampling = ChromaUpsampling::kFancy;
};

// RGB: one conversion of each frame of a stream. The streaming thread uses it. All work is on the
// compute queue, so every frame may use the memory of the one before it.
class RgbStep {
 public:
  explicit RgbStep(Engine& engine) : engine_(engine) {}

  // The conversion of the next frame, and memory for its planes.
  Status begin(const GstVideoInfo& rgb, const GstDctInfo& dct, const RgbPlanes& planes);
  int components() const { return job_.components(); }
  // One for each component.
  const SamplePlane* planes() const { return job_.planes; }
  // The bytes of pixels in a frame.
  guint64 frame_bytes() const;
  // Enqueues it for the frame at `frame`.
  Status submit(const Rects& frame);

  // Gives up all memory.
  void stop() { memory_.reset(); }

 private:
  void describe_planes(const GstDctInfo& dct, const RgbPlanes& planes);
  Status make_room();

  Engine& engine_;
  RgbJob job_;
  guint plane_of_[kMaxComponents] = {};  // of R, G and B in planar frames
  std::unique_ptr<Memory> memory_;
};

// The same for frames of limited range, which become frames of full range.
class RangeStep {
 public:
  explicit RangeStep(Engine& engine) : engine_(engine) {}

  // The conversion of the next frame, whose samples of `depth` bits are at `frame`, and memory for
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
