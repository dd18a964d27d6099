// Caps of coefficients that fit a JPEG file, and of the file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include <gst/coef/dct.h>
#include "gst/engine/buffer_ptr.h"

namespace cudatransform {

// The colorimetry that JPEG means by YCbCr: full range, BT.601's matrix.
inline constexpr char kJpegColorimetry[] = "1:4:0:0";

// Quantised coefficients of 8-bit samples in libjpeg's layout, in the samplings that JPEG files
// have; in system memory and, where this build has it, CUDA memory. Transfer full.
GstCaps* jpeg_coefs_template_caps(bool cuda_first);
// image/jpeg with the fields that jpegparse writes. Transfer full.
GstCaps* jpeg_template_caps();

// The part of `coefs` that can become image/jpeg of `files`. Structures of YCbCr come twice, first
// with JPEG's colorimetry, so that an element that can choose makes that. Transfer full.
GstCaps* jpeg_coefs_for(const GstCaps* files, const GstCaps* coefs);

// Coefficients for a gap that comes before any picture: of the caps that downstream takes the first
// that has the sampling that `file` names, or else 4:2:0; of the size that it names, or else the
// one that GStreamer's decoders of raw video take then. `file`: image/jpeg, or null. False where
// downstream takes none.
bool jpeg_coefs_for_gap(CapsPtr caps, const GstStructure* file, GstDctInfo* info);

bool is_ycbcr(GstCoefSampling sampling);

// image/jpeg for coefficients of `info`, without what GstVideoEncoder adds. Transfer full.
GstCaps* jpeg_caps_for(const GstDctInfo& info);

// What a viewer will get wrong in JPEG files of coefficients with `caps`, because their colorimetry
// is not JPEG's, and the cure; empty where it is, where nothing is said and where there is no
// YCbCr.
std::string colorimetry_warning(const GstDctInfo& info, const GstCaps* caps);

}  // namespace cudatransform
