// Whether the CPU or the GPU codes JPEG files: the property of the elements that read or write
// them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

enum class JpegEntropy { kAuto, kCpu, kCuda };

}  // namespace cudatransform

// The enum of the entropy property.
#define GST_TYPE_JPEG_COEF_ENTROPY (gst_jpeg_coef_entropy_get_type())
GType gst_jpeg_coef_entropy_get_type(void);
