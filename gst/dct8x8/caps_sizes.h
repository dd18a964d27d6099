// Width and height in caps, when pictures are scaled.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

// Replace width and height, each a number, a range or a list of them, where `s` has them: by
// 1/scale of them, rounded up, or by everything of which 1/scale is what was there. False where no
// size is left, because caps cannot hold one that large. `scale`: 1, 2, 4 or 8.
bool scale_sizes_down(GstStructure* s, int scale);
bool scale_sizes_up(GstStructure* s, int scale);

}  // namespace cudatransform
