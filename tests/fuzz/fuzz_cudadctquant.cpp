// Fuzz target: the element cudadctquant, fed with levels of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (five bytes), then frames until it is used up, as
// those of fuzz_cudaidct8x8.
#include <string>

#include <gst/coef/coef.h>
#include "tests/fuzz/dct_caps.h"

#include "tests/fuzz/coef_frames.h"
#include "tests/fuzz/dct_output.h"

namespace {

struct Levels : fuzzing::DctKind {
  static bool info_of(fuzzing::Input* input, GstDctInfo* info) {
    return fuzzing::DctKind::info_of(input, info) && info->quantized;
  }
};

// As JPEG has them.
struct FileLevels : Levels {
  static bool info_of(fuzzing::Input* input, GstDctInfo* info) {
    return Levels::info_of(input, info) && info->depth == 8 &&
           info->format == GST_COEF_FORMAT_S16LE && info->layout == GST_DCT_LAYOUT_BLOCK &&
           info->order == GST_DCT_ORDER_RASTER;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  // Only tables that quality scales can have a target, and only levels as JPEG has them.
  const bool has_target = more & 0x20;
  const int preset = has_target ? more % 2 * 4 : more % 5;
  std::string text =
      "cudadctquant n-threads=1 async-depth=2 quality=" + std::to_string(1 + how % 100) +
      " quant-preset=" + std::to_string(preset);
  if (has_target) text += " target-size=" + std::to_string(16 * how + 1);
  if (more & 0x10) text += " coarser-only=false";
  if (more & 8) text += " measure=psnr+time+zeros";
  const auto run =
      has_target ? fuzzing::run_coef_frames<FileLevels> : fuzzing::run_coef_frames<Levels>;
  run(text.c_str(), &input, nullptr, fuzzing::read_passed_coefficients);
  return 0;
}
