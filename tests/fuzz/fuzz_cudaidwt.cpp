// Fuzz target: the element cudaidwt, fed with coefficients of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings and the caps (six bytes), then frames until it is used up. A frame
// begins with what comes before it, the shape of its buffer and the lies of its meta, as changes to
// the bytes of a serialised one; its coefficients follow.
#include <gst/coef/coef.h>
#include <gst/coef/dwt-serial.h>

#include <string>
#include <vector>

#include "tests/fuzz/changed_metas.h"
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/raw_frames.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

std::string description_of(guint8 how) {
  std::string text = "cudaidwt n-threads=1 async-depth=2";
  if (how & 1) text += " measure=psnr+time+zeros";
  if (how & 2) text += " method=separable-slab";
  return text;
}

// Coefficients of a small picture, of any transform; false where there is no such.
bool info_of(Input* input, GstDwtInfo* info) {
  constexpr int kMostSamples = 72;  // width and height
  const guint8 wavelets = input->byte(), levels = input->byte(), picture = input->byte();
  const guint depth = 1 + input->byte() % 16;
  const gint width = 1 + input->byte() % kMostSamples, height = 1 + input->byte() % kMostSamples;
  return gst_dwt_info_set(
      info, static_cast<GstDwtWavelet>(wavelets & 7), static_cast<GstDwtWavelet>(wavelets >> 4 & 7),
      levels % (GST_DWT_MAX_LEVELS + 1), (levels >> 4) % (GST_DWT_MAX_LEVELS_HO + 1),
      picture >> 3 & 1, depth, static_cast<GstCoefSampling>(picture & 7), width, height, nullptr);
}

// A frame of coefficients; `*sound` says whether it has to come out.
GstBuffer* make_frame(ElementRun* run, Input* input, const GstDwtInfo& info, bool* sound) {
  const guint8 shape = input->byte(), index = input->byte();
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
    GstDwtMeta* meta = gst_buffer_add_dwt_meta(buffer, &info);
    for (guint c = 0; info.quantized && c < info.n_components; c++)
      for (guint b = 0; b < gst_dwt_info_get_n_bands(&info); b++)
        gst_dwt_meta_set_quant_index(meta, c, b, (index + b) % (GST_DWT_MAX_QUANT_INDEX + 1));
    if (fuzzing::change_meta(meta, input, shape >> 4 & 3, gstcoef::kDwtSerialVersion))
      *sound = false;
    if ((shape & 0xc0) == 0x40) {
      meta->n_components = 4;
      meta->components[3] = meta->components[0];
      *sound = false;
    }
  }
  if ((shape & 0x0f) >= 0x0c &&
      !fuzzing::add_reference(buffer, info.sampling == GST_COEF_SAMPLING_444, info.width,
                              info.height, index))
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
  constexpr int kMostFrames = 8;
  Input input(data, size);
  const guint8 how = input.byte();
  GstDwtInfo info;
  if (!info_of(&input, &info)) return 0;
  ElementRun run(description_of(how).c_str(), fuzzing::read_raw_frame);
  run.begin(gst_dwt_info_to_caps(&info), GST_FORMAT_TIME);
  const fuzzing::FrameMaker maker = {
      [&](guint8, bool*) -> GstCaps* {
        GstDwtInfo other;
        if (!info_of(&input, &other)) return nullptr;
        info = other;
        return gst_dwt_info_to_caps(&info);
      },
      [&] { return gst_dwt_info_to_caps(&info); },
      [&](bool* sound) { return make_frame(&run, &input, info, sound); }};
  fuzzing::push_frames(&run, &input, maker, kMostFrames, true, true);
  return 0;
}
