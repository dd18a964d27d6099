// Negotiation between raw video and coefficients of any kind: formats, samplings, memories.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <string>
#include <vector>

#include <gst/coef/format.h>
#include "gst/engine/engine.h"
#include "transform/device/status.h"

namespace cudatransform {

// Samplings that share depth and color space, and so one caps structure.
struct SampleGroup {
  guint depth;
  std::string colorspace;
  std::vector<std::string> samplings;  // none: all
};

// The meaning of frames in rgb_formats() to an element.
enum class RgbFrames {
  kNone,     // it accepts none
  kSources,  // it transforms them to coefficients
  kPictures  // it reconstructs them from coefficients
};

// The caps of one kind of coefficients. All kinds share the fields format, quantized, depth,
// sampling, colorspace and those of raw video; this has the rest.
struct CoefKind {
  const char* media_type;
  std::vector<const char*> fields;  // its own fields, which raw video lacks
  bool with_tall;                   // whether frames may be of 4:4:0 and 4:4:1: sampling.h
  bool with_gray_12 = false;        // likewise gray of 12 bits
  RgbFrames rgb = RgbFrames::kNone;
  const char* rgb_colorimetry = nullptr;  // of YCbCr converted from RGB
};

// Appends the structures of a kind for one group to `caps`, with the other fields of `base`.
using AppendCoefs = std::function<void(GstCaps* caps, const GstStructure* base,
                                       const SampleGroup& group, bool cuda)>;
// Replaces width and height; false if no size remains. Without this function, sizes are equal.
using Resize = std::function<bool(GstStructure* s)>;

// Appends `base` as coefficients of `group`: all common fields except format. `quantized` is null
// for both. Returns the structure, which `caps` own, for the caller to add fields.
GstStructure* append_coef_structure(GstCaps* caps, const GstStructure* base, const CoefKind& kind,
                                    const SampleGroup& group, const bool* quantized, bool cuda);

// Appends the caps of the other pad for one structure in one memory to `caps`.
using AppendOthers = std::function<void(GstCaps* caps, const GstStructure* s, bool cuda)>;

// The caps of the other pad: those of each supported structure of `caps` in each memory that this
// build and `kinds` have, CUDA memory first. Transfer full.
GstCaps* caps_in_each_memory(const GstCaps* caps, MemoryKinds kinds, const AppendOthers& append);
// The features of a memory. Transfer full.
GstCapsFeatures* features_for(bool cuda);
// Likewise for templates: `s`, with all sizes and frame rates.
GstCaps* template_caps_in_each_memory(GstStructure* s);

// All caps that elements accept or produce; CUDA memory first where this build has it. `own` has
// the kind's own fields and its formats. Transfer full.
GstCaps* raw_template_caps(RgbFrames rgb = RgbFrames::kNone);
GstCaps* coef_template_caps(const CoefKind& kind, const GstStructure* own);

// The caps that the other pad can have when one pad has `caps`. Fields that neither side defines
// (framerate, pixel-aspect-ratio, colorimetry, interlace-mode, ...) stay. Transfer full.
GstCaps* raw_to_coef_caps(const GstCaps* caps, MemoryKinds kinds, const CoefKind& kind,
                          const AppendCoefs& append, const Resize& resize = {});
GstCaps* coef_to_raw_caps(const GstCaps* caps, MemoryKinds kinds, const CoefKind& kind,
                          const Resize& resize = {});

// Fixes `candidates` (transfer full): a format of raw_formats() if there is one, device memory
// first if `prefer_cuda`, then the first allowed format. Frames that lose a plane in CUDA memory
// (formats.h) go to system memory if the peer leaves the choice.
GstCaps* fixate_raw_caps(GstCaps* candidates, bool prefer_cuda);

// Reads caps of raw video. Fails for unsupported formats. Without a field `colorimetry` the range
// is unknown.
Status read_raw_caps(const GstCaps* caps, GstVideoInfo* info);
// The error of caps of coefficients that libgstcoef has rejected for this `reason` (transfer full).
Status unusable_coef_caps(gchar* reason);

}  // namespace cudatransform
