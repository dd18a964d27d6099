// Caps of JPEG files and of their coefficients, and the elements' common property.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include <gst/coef/dct.h>
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/properties.h"
#include "transform/device/status.h"

namespace cudatransform {

// The property `entropy-backend`: the engine that does the entropy coding.
enum class JpegEntropy { kAuto, kCpu, kCuda };

inline GType jpeg_entropy_type() {
  static const GEnumValue kValues[] = {
      {int(JpegEntropy::kAuto), "GPU if supported and faster, else CPU", "auto"},
      {int(JpegEntropy::kCpu), "CPU", "cpu"},
      {int(JpegEntropy::kCuda), "GPU if supported, fails without CUDA", "cuda"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstJpegCoefEntropy", kValues);
  return type;
}

// Quantized coefficients of 8-bit and 12-bit samples in libjpeg's layout, in the samplings of JPEG
// files; in system memory and, where this build has it, CUDA memory. Transfer full.
GstCaps* jpeg_coefs_template_caps(bool cuda_first);
// image/jpeg with the fields that jpegparse writes. Transfer full.
GstCaps* jpeg_template_caps();

// The part of `coefs` that can become image/jpeg of `files`. Structures of YCbCr and of gray come
// twice, first with JPEG's colorimetry, so that an element with a choice picks that, or at least
// its range. Transfer full.
GstCaps* jpeg_coefs_for(const GstCaps* files, const GstCaps* coefs);

// `caps` (transfer full) with 8 bits alone, if they allow 8 bits: few programs read 12-bit files,
// so converters must not choose these for their precision. Transfer full.
GstCaps* with_common_depth(GstCaps* caps);

// Coefficients for a gap before the first picture. The caps are the first that downstream takes
// with the sampling of `file`, or else 4:2:0. The size is that of `file`, or else the size that
// GStreamer's decoders of raw video take then. `file`: image/jpeg, or null. False if downstream
// accepts none.
bool jpeg_coefs_for_gap(CapsPtr caps, const GstStructure* file, GstDctInfo* info);

bool is_ycbcr(GstCoefSampling sampling);

// image/jpeg for coefficients of `info`, without what GstVideoEncoder adds. Transfer full.
GstCaps* jpeg_caps_for(const GstDctInfo& info);

// Describes how viewers misinterpret JPEG files of coefficients with `caps`, because their
// colorimetry is not JPEG's, and the remedy. Empty if it is JPEG's, if the caps say nothing, and if
// there is neither YCbCr nor gray.
std::string colorimetry_warning(const GstDctInfo& info, const GstCaps* caps);

// Whether downstream accepts coefficients of fixed `caps`. kUnsupported: it does not; the message
// has what the picture is, what downstream accepts, and what to put in between.
Status query_downstream(GstPad* src, GstCaps* caps);

}  // namespace cudatransform
