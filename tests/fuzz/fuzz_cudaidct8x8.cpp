// Fuzz target: the element cudaidct8x8, fed with coefficients of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (five bytes), then frames until it is used up. A
// frame begins with what comes before it, the shape of its buffer and the lies of its meta, as
// changes to the bytes of a serialised one; its coefficients follow.
#include <string>
#include <vector>

#include <gst/coef/coef.h>
#include <gst/coef/dct-serial.h>
#include "tests/fuzz/changed_metas.h"
#include "tests/fuzz/dct_caps.h"
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/raw_frames.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

constexpr int kMostFrames = 8;

std::string description_of(guint8 how, guint8 more) {
  static const char* const methods[] = {"islow",     "ifast",      "float",   "reference", "naive",
                                        "separable", "decomposed", "shuffle", "matrix"};
  static const char* const scales[] = {"1", "1/2", "1/4", "1/8"};
  std::string text = "cudaidct8x8 n-threads=1 async-depth=2 method=";
  text += methods[how % 9];
  text += std::string(" scale=") + scales[more & 3];
  if (more & 4) text += " measure=psnr+time+zeros";
  return text;
}

// A frame of coefficients; `*sound` says whether it has to come out.
GstBuffer* make_frame(ElementRun* run, Input* input, const GstDctInfo& info, bool* sound) {
  const guint8 shape = input->byte(), divisor = input->byte();
  gsize size = info.size;
  *sound = true;
  if ((shape & 0x0f) == 0x0f) {
    size = input->word() % (info.size + 64);
    *sound = size >= info.size;
  }
  std::vector<guint8> bytes(size);
  input->take(bytes.data(), size);
  GstBuffer* buffer = run->make_buffer(bytes.data(), bytes.size());
  if ((shape & 0xe0) == 0xe0) {
    *sound = *sound && !info.quantized;
  } else {
    GstDctMeta* meta = fuzzing::add_sound_meta(buffer, info, 1 + divisor);
    if (fuzzing::change_meta(meta, input, shape >> 4 & 3, gstcoef::kSerialVersion)) *sound = false;
    if ((shape & 0xc0) == 0x40) {
      meta->n_components = 4;
      meta->components[3] = meta->components[0];
      *sound = false;
    }
  }
  if ((shape & 0x0f) >= 0x0c &&
      !fuzzing::add_reference(buffer, info.sampling == GST_COEF_SAMPLING_444, info.width,
                              info.height, divisor))
    *sound = false;
  return buffer;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzzing::init_elements();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  GstDctInfo info;
  if (!fuzzing::dct_info_of(&input, &info)) return 0;
  ElementRun run(description_of(how, more).c_str(), fuzzing::read_raw_frame);
  run.begin(gst_dct_info_to_caps(&info), GST_FORMAT_TIME);
  const fuzzing::FrameMaker maker = {
      [&](guint8, bool*) -> GstCaps* {
        GstDctInfo other;
        if (!fuzzing::dct_info_of(&input, &other)) return nullptr;
        info = other;
        return gst_dct_info_to_caps(&info);
      },
      [&] { return gst_dct_info_to_caps(&info); },
      [&](bool* sound) { return make_frame(&run, &input, info, sound); }};
  fuzzing::push_frames(&run, &input, maker, kMostFrames, true, true);
  return 0;
}
