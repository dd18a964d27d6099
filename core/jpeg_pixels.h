// From the quantized coefficients of a JPEG picture to its pixels: which jobs the engines get, and
// their memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cudatransform.h"
#include "jpeg/reader.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/picture.h"
#include "transform/rgb/rgb.h"
#include "transform/transpose/transpose.h"

namespace cudatransform::core {

// Rows and planes begin at multiples of it: a line of a GPU's cache.
inline constexpr size_t kRowAlignment = 128;
constexpr size_t aligned(size_t bytes) {
  return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

// A part of a component's blocks.
struct BlockRange {
  int32_t x = 0, y = 0, width = 0, height = 0;
};

// Where a picture's quantized coefficients, planes and pixels are, and in how much memory. Pixels
// and planes are those of the picture, or of the MCUs that a crop needs. What is output is these
// pixels or their crop, or has been transposed from them.
struct PixelPlan {
  JpegHeader header;
  CtOutput output = CT_OUTPUT_RGB;
  ChromaUpsampling upsampling = ChromaUpsampling::kFancy;
  int scale = 1;

  size_t qcoef_bytes = 0;
  std::array<size_t, kJpegMaxComponents> qcoefs_at = {};

  // Of pixels.
  int32_t width = 0, height = 0, channels = 0;
  CtCrop crop = {};     // what is output of them
  Orientation upright;  // of the output
  int components = 0;   // that pixels have
  size_t pitch = 0;
  size_t output_pitch = 0, pixel_bytes = 0;  // of the output's memory
  size_t plane_bytes = 0;                    // of planes, if any, and of pixels that are transposed
  size_t transposed_at = 0;                  // where these are
  std::array<SamplePlane, kMaxComponents> planes = {};  // without addresses
  std::array<size_t, kMaxComponents> planes_at = {};
  std::array<int, kMaxComponents> scales = {};
  std::array<BlockRange, kMaxComponents> blocks = {};  // that planes have
  bool is_part = false;

  bool is_transposed() const { return upright != Orientation{}; }
  int32_t crop_width() const { return crop.right - crop.left; }
  int32_t crop_height() const { return crop.bottom - crop.top; }
  int32_t output_width() const { return upright.transposes ? crop_height() : crop_width(); }
  int32_t output_height() const { return upright.transposes ? crop_width() : crop_height(); }
  // From the first of the pixels to the first of the crop.
  size_t crop_at() const {
    return static_cast<size_t>(crop.top) * pitch + static_cast<size_t>(crop.left * channels);
  }
  // The first pixel that is output, in the output's memory.
  size_t output_at() const { return is_transposed() ? 0 : crop_at(); }
  // Bytes of memory that decoding takes, without the file.
  uint64_t bytes() const { return qcoef_bytes + plane_bytes + pixel_bytes + header.extra_bytes; }
  JpegQcoefs qcoefs(int component, uint8_t* base) const;
};

// kUnsupported: the file cannot be decoded to such pixels. `orientation`: 0 to 8, by which they
// become upright if the options have it so. `dense`: pixels have no gaps between rows.
// kInvalidArgument: the crop is not in the picture.
Status plan_pixels(const JpegHeader& header, const CtDecodeOptions& options, int orientation,
                   const CtCrop& crop, bool dense, PixelPlan* plan);

// The jobs of a plan, for memory of one engine.
struct PixelJobs {
  std::array<Dct8x8Job, kMaxComponents> dct;
  int dct_count = 0;
  RgbJob rgb;
  TransposeJob transpose;
  bool has_rgb = false, has_transpose = false;
};
PixelJobs jobs_of(const PixelPlan& plan, const JpegTables& tables, uint8_t* qcoefs, uint8_t* planes,
                  uint8_t* output);
Status submit(Device& device, Queue& queue, const PixelJobs& jobs);

}  // namespace cudatransform::core
