// Shared by fuzz targets that feed the DCT's coefficients: geometries and metas of any kind.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dct-serial.h>
#include <gst/coef/dct.h>
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// A Kind of coef_frames.h.
struct DctKind {
  using Info = GstDctInfo;
  using Meta = GstDctMeta;
  static constexpr uint8_t kVersion = gstcoef::kSerialVersion;

  // Coefficients of a small picture, of any format, layout, order and depth; five bytes of the
  // input. False if these do not go together.
  static bool info_of(Input* input, GstDctInfo* info);
  // In the default layout; divisors, if there are any, are `number` + 1.
  static GstDctMeta* add_meta(GstBuffer* buffer, const GstDctInfo& info, guint8 number);
  static constexpr auto caps_of = gst_dct_info_to_caps;
  static constexpr auto validate = gst_dct_meta_validate;
};

}  // namespace fuzzing
