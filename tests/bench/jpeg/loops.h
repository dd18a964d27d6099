// libjpeg-turbo without GStreamer, one picture after another: the yardstick for the JPEG elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/jpeg/pictures.h"

namespace cudatransform::bench {

enum class JpegLoop {
  kReadRaw,           // jpeg_read_raw_data, JDCT_ISLOW: file to planes
  kReadCoefficients,  // jpeg_read_coefficients: the entropy decoding alone
  kWriteRaw,          // jpeg_write_raw_data, JDCT_ISLOW: planes to file
};

// Seconds a picture, over `count` pictures in turns. Reuses objects and buffers, as a careful
// program would.
double time_jpeg_loop(JpegLoop loop, const std::vector<JpegPicture>& pictures, int count);

}  // namespace cudatransform::bench
