// JPEG pictures for the soak test, and accidental damage to them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <random>
#include <vector>

#include "tests/check/jpeg/jpegpictures.h"

namespace testing {

// Small pictures of different sizes, samplings and processes, the same every time.
std::vector<Bytes> soak_pictures();
std::vector<Bytes> soak_pictures_of_four();  // components

// Flips bits, cuts, inserts or overwrites bytes, inserts beginnings of pictures, or swaps segments:
// one of these, at random.
void damage(Bytes* picture, std::mt19937* random);

}  // namespace testing
