// Several branches of a pipeline read coefficients simultaneously, through tee and queue: elements
// that know their fence, and appsinks that do not. All read the right bytes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/dct8x8/branching.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr const char* kInverse = "cudaidct8x8 ENGINE ! video/x-raw";

CHECK_TEST(test_transforms) {
  for (const char* size : {"width=320,height=192", "width=70,height=46"})
    check_branches(source_of(size), "cudadct8x8 ENGINE",
                   {"video/x-dct(ANY)", kInverse, "cudaidct8x8 ENGINE scale=half ! video/x-raw",
                    "identity drop-allocation=true"});
}

CHECK_TEST(test_all_branches_know_the_fence) {
  check_branches(source_of("width=320,height=192"), "cudadct8x8 ENGINE", {kInverse, kInverse});
}

CHECK_TEST(test_rgb) {
  const std::string inverse = "cudaidct8x8 ENGINE ";
  for (const char* size : {"width=320,height=192", "width=70,height=46"})
    check_branches(source_of(size, "BGRx"), "cudadct8x8 ENGINE",
                   {"video/x-dct(ANY)", inverse + "! video/x-raw,format=RGB",
                    inverse + "scale=half ! video/x-raw,format=BGRP", kInverse});
}

CHECK_TEST(test_files) {
  if (require_element_or_skip("jpegcoefdec") != 0) return;
  const std::string files = "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu ! ";
  const std::string writer = "jpegcoefenc ENGINE n-threads=3 ! image/jpeg";
  for (const char* size : {"width=320,height=192", "width=70,height=46"}) {
    check_branches(source_of(size) + files, "jpegcoefdec ENGINE n-threads=3",
                   {"video/x-dct(ANY)", kInverse, writer, writer});
    check_branches(source_of(size), "cudadct8x8 ENGINE", {writer, kInverse, "video/x-dct(ANY)"});
  }
}

}  // namespace
