// Which raw video formats stand for which sampling and depth.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <vector>

namespace cudatransform {

enum class Color { kGray, kYcbcr, kRgb };

// How many samples of the first component there are for one of the others, across and down.
struct Sampling {
  Color color = Color::kGray;
  int chroma_h = 1, chroma_v = 1;
};

struct RawFormat {
  GstVideoFormat format;
  Sampling sampling;
  guint depth;
  bool in_cuda_memory;  // whether the gstcuda that we are built against can hold it
};

// All formats, those of one sampling and depth together, the default of each first.
const std::vector<RawFormat>& raw_formats();
// Whether GStreamer 1.`minor`.`micro` puts the last plane of such frames in CUDA memory half a row
// further, where its own download does not look: a map for the CPU misses it.
bool cuda_memory_loses_a_plane(GstVideoFormat format, int height, guint minor, guint micro);
// Null for a format that is not ours.
const RawFormat* find_raw_format(GstVideoFormat format);

}  // namespace cudatransform
