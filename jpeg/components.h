// How many components a JPEG picture that we read or write can have; for host and device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatransform {

inline constexpr int kScanComponents = 3;  // of a scan, and so of a picture

}  // namespace cudatransform
