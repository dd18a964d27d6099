// How many components a JPEG picture that we read or write can have; for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatransform {

// Of a picture, and so of a scan (ITU-T T.81, table B.3). Raw video has three at most:
// kMaxComponents in transform/picture.h.
inline constexpr int kJpegMaxComponents = 4;

}  // namespace cudatransform
