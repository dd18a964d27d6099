// The orientation and the size in a JPEG file's Exif data (JEITA CP-3451).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

// `segments`: APPn and COM segments as in GstDctJpegMeta; null: none.

// 1 to 8; 0: no Exif data, or none that says it.
int exif_orientation(GBytes* segments);

// A copy of `segments` for a picture of this size, as far as Exif data says a size; upright if
// `is_upright`. Transfer full; null for null.
GBytes* corrected_exif(GBytes* segments, bool is_upright, guint width, guint height);

}  // namespace cudatransform
