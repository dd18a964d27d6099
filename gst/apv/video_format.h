// The raw video format of an APV frame, and what its caps say of color and light.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "apv/frame_header.h"
#include "apv/metadata.h"
#include "transform/device/status.h"

namespace cudatransform {

// What the caps of a frame follow from.
struct ApvOutput {
  uint32_t width = 0, height = 0;
  ApvChroma chroma = ApvChroma::k422;
  int depth = 0;
  ApvColor color;
  std::optional<ApvMasteringDisplay> mastering;
  std::optional<ApvContentLight> light;

  bool operator==(const ApvOutput&) const = default;
};

// GST_VIDEO_FORMAT_UNKNOWN with kUnsupported: GStreamer, or this version of it, has no format for
// it; the message names it. `*shift`: of a sample in its 16 bits.
Status apv_video_format(const ApvOutput& output, GstVideoFormat* format, int* shift);

// `info` has the format; a color code that the stream leaves open stays as it is.
void set_apv_colorimetry(const ApvColor& color, GstVideoInfo* info);

// Adds mastering-display-info and content-light-level.
void add_apv_light(const ApvOutput& output, GstCaps* caps);

// Caps of all formats, in system memory and, where this build has it and GStreamer's CUDA memory
// holds the format, in CUDA memory. Transfer full.
GstCaps* apv_template_caps();

}  // namespace cudatransform
