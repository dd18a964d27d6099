// The elements whose pages the docs test reads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>

namespace testing {

inline constexpr const char* kElements[] = {
    "cudadct8x8",   "cudaidct8x8",  "cudadwt",     "cudaidwt",    "cudadctconvert", "cudadctflip",
    "cudadctquant", "cudadiracdec", "jpegcoefdec", "jpegcoefenc", "cudajpegdec",    "cudajpegenc",
};
inline constexpr int kTransforms = 4;    // the first
inline constexpr int kVerbs = 3;         // behind these
inline constexpr int kJpegElements = 4;  // the last, which a build without libjpeg does not have
inline constexpr int kBins = 2;          // of these the last
inline constexpr int kAllElements = G_N_ELEMENTS(kElements);

// docs_caps.cpp. The JPEG elements are kElements from `jpeg` to `end`.
void add_caps_tests(TCase* tc, int jpeg, int end);

}  // namespace testing
