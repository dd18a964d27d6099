// The directions of cudadctflip.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace testing {

struct Direction {
  const char* nick;
  bool transposes, mirrors_x, mirrors_y;
  int exif;  // the orientation that it makes upright
};
inline constexpr Direction kDirections[] = {
    {"identity", false, false, false, 1}, {"90r", true, true, false, 6},
    {"180", false, true, true, 3},        {"90l", true, false, true, 8},
    {"horiz", false, true, false, 2},     {"vert", false, false, true, 4},
    {"ul-lr", true, false, false, 5},     {"ur-ll", true, true, true, 7},
};
inline constexpr int kDirectionCount = G_N_ELEMENTS(kDirections);

}  // namespace testing
