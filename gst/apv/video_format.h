// The raw video format of an APV frame, and its colorimetry and HDR metadata in caps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "apv/frame_header.h"
#include "apv/metadata.h"
#include "transform/device/status.h"
#include "transform/picture.h"

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

// What an encoder takes frames of a format for.
struct ApvInput {
  ApvChroma chroma = ApvChroma::k422;
  bool is_gbr = false;
  int depth = 0;
  SampleType type = SampleType::kU16;
  int shift = 0;  // of a sample in its 16 bits
  // Bytes before the first sample of a component in its plane.
  uint8_t offset[kMaxApvComponents] = {};
};
// False: no APV frame can have these samples.
bool find_apv_input(GstVideoFormat format, ApvInput* input);
// What `caps`, from which `info` was made, say of color and light; codes are open where they say
// nothing.
ApvColor apv_color_of(const GstCaps* caps, const GstVideoInfo& info, const ApvInput& input);
ApvMetadata apv_light_of(const GstCaps* caps);
// Caps of all these formats; as apv_template_caps().
GstCaps* apv_input_template_caps();

// Caps of all formats of the decoder, in system memory and, where this build has it and GStreamer's
// CUDA memory holds the format, in CUDA memory. Transfer full.
GstCaps* apv_template_caps();

}  // namespace cudatransform
