// Data and judges of conformance tests: test pictures, of which absent ones are skipped and not
// failed; MD5; and inverse transforms of a whole file's quantized coefficients against the
// definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/flat_job.h"
#include "tests/jpeg/codec.h"

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

// A flat block of coarsely quantized chroma is exactly between two samples, and the arithmetic's
// last bit decides which of them it becomes. So there are two figures: against the definition,
// which rounds such ties up, and with either neighbor of a tie counted as right. By component, in
// double precision.

// The two samples that the definition's value may round to.
struct Gold {
  int low, high;  // equal but for ties
};

// One list for each component. `photograph` has quantized coefficients and tables; its planes give
// the sizes.
std::vector<std::vector<Gold>> gold_of(const JpegContents& photograph);

// Sums of squared errors.
struct InverseErrors {
  double all, without_ties;
};
InverseErrors judge_inverse(const std::vector<Gold>& gold, const BytePlane& plane);

}  // namespace cudatransform::test
