// Fuzz target: the element cudadct8x8, fed with raw frames whose sizes and GstVideoMetas lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (three bytes), then frames until it is used up. A
// frame begins with the actions before it, the shape of its buffer and the lie of its meta; its
// samples follow.
#include <string>

#include "tests/fuzz/dct_output.h"
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/raw_frames.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;

std::string description_of(guint8 how, guint8 more) {
  static const char* const methods[] = {"islow",     "ifast",      "float",   "reference", "naive",
                                        "separable", "decomposed", "shuffle", "matrix"};
  std::string text = "cudadct8x8 n-threads=1 async-depth=2 method=";
  text += methods[how % 9];
  text += " quality=" + std::to_string(1 + how % 100);
  if (more & 1) text += " keep-reference=true";
  if (more & 2) text += " measure=psnr+time+zeros";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  ElementRun run(description_of(how, more).c_str(), fuzzing::read_coefficients);
  static const char* const wanted[] = {"", ",order=zigzag", ",layout=plane", ",quantized=false"};
  const std::string caps = std::string("video/x-dct") + wanted[more >> 2 & 3];
  // As jpegcoefenc asks for full range: frames of limited range are converted.
  run.want_caps((more & 16 ? caps + ",colorimetry=1:4:0:0;" + caps : caps).c_str());
  fuzzing::push_raw_frames(&run, &input, true);
  return 0;
}
