// Finds and reads the test pictures; absent ones are skipped, not failed.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/flat_job.h"

namespace cudatransform::test {

// The path of images/NAME or NAME in $CUDATRANSFORM_TEST_DATA, else in the folder that the build
// names. "" if there is none.
std::string find_test_data(const std::string& name);

// All of such a file; empty if there is none.
std::vector<uint8_t> read_test_data(const std::string& name);

// A binary 8-bit PGM as one plane. False with a message if it is not one.
bool read_pgm(const std::string& path, BytePlane* plane, std::string* error);

// 32 hexadecimal digits.
std::string md5_of(const std::vector<uint8_t>& bytes);

}  // namespace cudatransform::test
