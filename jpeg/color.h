// The colour spaces of JPEG pictures that we read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatransform {

enum class JpegColor {
  kGray,   // 1 component; written with a JFIF header
  kYcbcr,  // 3 components; written with a JFIF header
  kRgb,    // 3 components; written with an Adobe marker that says so
};

}  // namespace cudatransform
