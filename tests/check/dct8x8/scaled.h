// The values of the scale property.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace testing {

// Denominators, which are the values of the property's nicks.
inline constexpr int kScales[] = {1, 2, 4, 8};

inline std::string property_of(int scale) {
  return scale == 1 ? "scale=1 " : "scale=1/" + std::to_string(scale) + " ";
}

inline int scaled(int size, int scale) { return (size + scale - 1) / scale; }

}  // namespace testing
