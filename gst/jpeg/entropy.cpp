// The values of the property that selects the CPU or the GPU for entropy coding.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/jpeg/entropy.h"

#include "gst/engine/property_types.h"

GType gst_jpeg_coef_entropy_get_type(void) {
  using cudatransform::JpegEntropy;
  static const GEnumValue kValues[] = {
      {int(JpegEntropy::kAuto), "The GPU where it can and is faster, else the CPU", "auto"},
      {int(JpegEntropy::kCpu), "CPU", "cpu"},
      {int(JpegEntropy::kCuda), "The GPU where it can, or an error without one", "cuda"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstJpegCoefEntropy", kValues);
  return type;
}
