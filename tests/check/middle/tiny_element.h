// Element tinyxor: raw video to the same video, each sample XOR the mask property.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace testing {

// For this process.
void register_tiny_element();

}  // namespace testing
