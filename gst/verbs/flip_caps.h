// Caps on the other side of a flip: sizes, sampling, tables and the shape of a pixel.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/verbs/flip.h"

namespace cudatransform {

// Changes `s`, caps of the input, into those of the output. A size that cannot be told, because
// `s` leaves it open or the request cannot be met, may be any.
void flip_caps(GstStructure* s, const FlipRequest& request);
// The way back.
void unflip_caps(GstStructure* s, const FlipRequest& request);

}  // namespace cudatransform
