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
#include "transform/rgb/rgb.h"

namespace cudatransform::core {

// Rows and planes begin at multiples of it: a line of a GPU's cache.
inline constexpr size_t kRowAlignment = 128;
constexpr size_t aligned(size_t bytes) {
  return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

// Where a picture's quantized coefficients, planes and pixels lie, and in how much memory.
struct PixelPlan {
  JpegHeader header;
  CtOutput output = CT_OUTPUT_RGB;
  ChromaUpsampling upsampling = ChromaUpsampling::kFancy;
  int scale = 1;

  size_t qcoef_bytes = 0;
  std::array<size_t, kJpegMaxComponents> qcoefs_at = {};

  // Of pixels.
  int32_t width = 0, height = 0, channels = 0;
  int components = 0;  // that pixels are made of
  size_t pitch = 0, pixel_bytes = 0;
  size_t plane_bytes = 0;                               // 0: the inverse DCT writes pixels
  std::array<SamplePlane, kMaxComponents> planes = {};  // without addresses
  std::array<size_t, kMaxComponents> planes_at = {};
  std::array<int, kMaxComponents> scales = {};

  // Bytes of memory that decoding takes, beside the file.
  uint64_t bytes() const { return qcoef_bytes + plane_bytes + pixel_bytes + header.extra_bytes; }
  JpegQcoefs qcoefs(int component, uint8_t* base) const;
};

// kUnsupported: such pixels are not made of such a file. `dense`: pixels have no gaps between rows.
Status plan_pixels(const JpegHeader& header, const CtDecodeOptions& options, bool dense,
                   PixelPlan* plan);

// The jobs of a plan, for memory of one engine.
struct PixelJobs {
  std::array<Dct8x8Job, kMaxComponents> dct;
  int dct_count = 0;
  RgbJob rgb;
  bool has_rgb = false;
};
PixelJobs jobs_of(const PixelPlan& plan, const JpegTables& tables, uint8_t* qcoefs, uint8_t* planes,
                  uint8_t* pixels);
Status submit(Device& device, Queue& queue, const PixelJobs& jobs);

}  // namespace cudatransform::core
