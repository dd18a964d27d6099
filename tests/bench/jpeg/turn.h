// libjpeg-turbo turning files, as jpegtran does, on some threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/jpeg/pictures.h"

namespace cudatransform::bench {

// Seconds a file of `count`, turned by 90 degrees clockwise, from memory to memory; each thread
// takes the next one. Throws.
double time_jpegtran(const std::vector<JpegPicture>& pictures, int count, int threads);

}  // namespace cudatransform::bench
