// Fuzz target: the element cudadctconvert, fed with coefficients of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (six bytes), then frames until it is used up, as
// those of fuzz_cudaidct8x8. The caps have a byte more than others: for bands and half floats.
#include <string>

#include <gst/coef/coef.h>
#include "tests/fuzz/dct_caps.h"
#include "tests/fuzz/dct_output.h"

#include "tests/fuzz/coef_frames.h"

namespace {

struct AnyKind : fuzzing::DctKind {
  static bool info_of(fuzzing::Input* input, GstDctInfo* info) {
    const guint8 more = input->byte();
    if (!fuzzing::DctKind::info_of(input, info)) return false;
    const bool halves = (more & 2) != 0 && !info->quantized;
    return gst_dct_info_set(info, halves ? GST_COEF_FORMAT_F16LE : info->format,
                            more & 1 ? GST_DCT_LAYOUT_BAND : info->layout,
                            more & 1 ? GST_DCT_ORDER_ZIGZAG : info->order, info->quantized,
                            info->depth, info->sampling, info->width, info->height, nullptr);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  static const char* const kLayouts[] = {"block", "block,order=zigzag", "plane", "band"};
  static const char* const kFormats[] = {"", ",quantized=true", ",format=F16LE", ",format=F32LE",
                                         ",quantized=false,format=S32LE"};
  std::string text =
      "cudadctconvert n-threads=1 async-depth=2 quality=" + std::to_string(1 + how % 100);
  if (more & 8) text += " measure=psnr+time+zeros";
  const std::string wanted =
      std::string("video/x-dct,layout=") + kLayouts[more & 3] + kFormats[(more >> 4) % 5];
  fuzzing::run_coef_frames<AnyKind>(text.c_str(), &input, wanted.c_str(),
                                    fuzzing::read_passed_coefficients);
  return 0;
}
