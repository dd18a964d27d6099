// The GstDctJpegMeta of a flipped picture, and what it says of the picture's orientation.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <gst/coef/dct.h>
#include "transform/verbs/flip.h"

namespace cudatransform {

// The turn that makes the picture upright by its Exif data. False: they do not say it.
bool read_upright_turn(const GstDctJpegMeta& meta, Turn* turn);
// Makes a picture's meta true of what was made of it. Returns what had to be dropped, for people;
// empty: nothing. Without libjpeg, that is all of it.
std::string flip_jpeg_meta(const PictureFlip& flip, GstDctJpegMeta* meta);

}  // namespace cudatransform
