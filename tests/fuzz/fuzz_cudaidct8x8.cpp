// Fuzz target: the element cudaidct8x8, fed with coefficients of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (five bytes), then frames until it is used up. A
// frame begins with the actions before it, the shape of its buffer and the lies of its meta, as
// changes to the bytes of a serialised one; its coefficients follow. Settings may ask for RGB.
#include <string>

#include <gst/coef/coef.h>
#include "tests/fuzz/dct_caps.h"

#include "tests/fuzz/coef_frames.h"

static std::string description_of(guint8 how, guint8 more) {
  static const char* const methods[] = {"islow",     "ifast",      "float",   "reference", "naive",
                                        "separable", "decomposed", "shuffle", "matrix"};
  static const char* const scales[] = {"1", "1/2", "1/4", "1/8"};
  std::string text = "cudaidct8x8 n-threads=1 async-depth=2 method=";
  text += methods[how % 9];
  text += std::string(" scale=") + scales[more & 3];
  if (more & 4) text += " measure=psnr+time+zeros";
  return text;
}

// Coefficients whose picture RGB may be.
struct RgbKind : fuzzing::DctKind {
  static bool info_of(fuzzing::Input* input, GstDctInfo* info) {
    return fuzzing::DctKind::info_of(input, info) && info->depth == 8;
  }
  static GstCaps* caps_of(const GstDctInfo* info) {
    GstCaps* caps = fuzzing::DctKind::caps_of(info);
    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, "1:4:0:0", nullptr);
    return caps;
  }
};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  const std::string description = description_of(how, more);
  static const char* const formats[] = {"RGB", "BGRx", "BGRP", "ARGB"};
  if (more & 8) {
    const std::string wanted = std::string("video/x-raw,format=") + formats[more >> 4 & 3];
    fuzzing::run_coef_frames<RgbKind>(description.c_str(), &input, wanted.c_str());
  } else {
    fuzzing::run_coef_frames<fuzzing::DctKind>(description.c_str(), &input);
  }
  return 0;
}
