// Fuzz target: the element cudaidwt, fed with coefficients of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings and the caps (six bytes), then frames until it is used up. A frame
// begins with the actions before it, the shape of its buffer and the lies of its meta, as changes
// to the bytes of a serialised one; its coefficients follow.
#include <gst/coef/coef.h>

#include <string>

#include "tests/fuzz/dwt_caps.h"

#include "tests/fuzz/coef_frames.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const guint8 how = input.byte();
  std::string description = "cudaidwt n-threads=1 async-depth=2";
  if (how & 1) description += " measure=psnr+time+zeros";
  if (how & 2) description += " method=separable-slab";
  fuzzing::run_coef_frames<fuzzing::DwtKind>(description.c_str(), &input);
  return 0;
}
