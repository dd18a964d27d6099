// The raw video formats of each sampling and depth.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <vector>

namespace cudatransform {

enum class Color { kGray, kYcbcr, kRgb };

// How many samples of the first component match one of the others, across and down.
struct Sampling {
  Color color = Color::kGray;
  int chroma_h = 1, chroma_v = 1;
};

struct RawFormat {
  GstVideoFormat format;
  Sampling sampling;
  guint depth;
  bool in_cuda_memory;  // whether the gstcuda of this build can hold it
};

// All formats, grouped by sampling and depth, the default of each group first.
const std::vector<RawFormat>& raw_formats();
// Whether GStreamer 1.`minor`.`micro` puts the last plane of such frames in CUDA memory half a row
// further than its own download expects: a map for the CPU misses it.
bool cuda_memory_loses_a_plane(GstVideoFormat format, int height, guint minor, guint micro);

// A format of R, G and B that is not in raw_formats(), because no component is a plane in it:
// frames of 8 bits that coefficients of every sampling are converted from and to.
struct RgbFormat {
  GstVideoFormat format;
  bool in_cuda_memory;  // as above
};
// All of them, the default first.
const std::vector<RgbFormat>& rgb_formats();
bool is_rgb_format(GstVideoFormat format);
// Null for an unsupported format.
const RawFormat* find_raw_format(GstVideoFormat format);

}  // namespace cudatransform
