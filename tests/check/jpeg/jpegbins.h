// cudajpegdec and cudajpegenc, and the elements in a row that each of them is.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/frames.h"

namespace testing {

struct Bin {
  const char* name;
  const char* parts[2];
};

inline constexpr Bin kBins[] = {
    {"cudajpegdec", {"jpegcoefdec", "cudaidct8x8"}},
    {"cudajpegenc", {"cudadct8x8", "jpegcoefenc"}},
};
inline constexpr const Bin& kDecoder = kBins[0];
inline constexpr const Bin& kEncoder = kBins[1];

// An element outside of any pipeline.
inline GstElement* make(const char* factory) {
  return GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make(factory, nullptr)));
}

// As parts of a line, on the engine under test: the bin, and its elements in a row with the
// properties that are theirs.
inline std::string as_bin(const Bin& bin, const std::string& first = "",
                          const std::string& second = "") {
  return std::string(bin.name) + " backend=" + backend() + " " + first + " " + second;
}
inline std::string in_a_row(const Bin& bin, const std::string& first = "",
                            const std::string& second = "") {
  return std::string(bin.parts[0]) + " backend=" + backend() + " " + first + " ! " + bin.parts[1] +
         " backend=" + backend() + " " + second;
}

}  // namespace testing
