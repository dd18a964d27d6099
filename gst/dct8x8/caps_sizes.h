// Width and height in caps, when pictures are scaled.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

// Replace width and height in `s`, if present: each is a number, a range or a list. One divides by
// `scale` (1, 2, 4 or 8) and rounds up; the other gives all sizes that the first turns into these.
// False if no size is left, because all are too large for caps.
bool scale_sizes_down(GstStructure* s, int scale);
bool scale_sizes_up(GstStructure* s, int scale);

}  // namespace cudatransform
