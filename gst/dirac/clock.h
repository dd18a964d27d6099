// When frames of cudadiracdec are shown: times of the container, or of picture numbers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include "gst/dirac/pictures.h"

namespace cudatransform {

// Whether a picture, which nobody refers to, would be shown later than it should be.
bool is_dirac_picture_late(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                           const DiracSequence& sequence, uint64_t sequence_count, uint32_t number);
// Gives a frame, which is the next to be shown, its time and duration. False: the time is not the
// one that the container gave a picture.
bool set_dirac_times(GstVideoDecoder* decoder, const DiracShown& shown);

}  // namespace cudatransform
