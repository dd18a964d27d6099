// Fuzz target: the element cudadwt, fed with raw frames whose sizes and GstVideoMetas lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: four bytes of settings and the caps (three bytes), then frames until it is used up. A
// frame begins with the actions before it, the shape of its buffer and the lie of its meta; its
// samples follow.
#include <gst/coef/dwt.h>

#include <string>

#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/raw_frames.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

// A band's step in the list of a quantisation matrix, for each band of a transform.
std::string matrix_of(int bands, guint8 index) {
  std::string list = "<";
  for (int b = 0; b < bands; b++) list += (b == 0 ? "" : ",") + std::to_string((index + b) % 116);
  return list + ">";
}

// Any transform that the element starts with.
std::string description_of(Input* input) {
  const guint8 wavelets = input->byte(), splits = input->byte(), index = input->byte(),
               more = input->byte();
  const auto name = [](int number) {
    return std::string(gst_dwt_wavelet_to_string(static_cast<GstDwtWavelet>(number)));
  };
  const int wavelet = wavelets & 7, ho = (splits >> 4) % (GST_DWT_MAX_LEVELS_HO + 1);
  // j2k53 goes with itself alone.
  const bool other_rows = (wavelets & 8) != 0 && wavelet != 7 && (wavelets >> 4 & 7) != 7;
  int levels = splits % 16 % (GST_DWT_MAX_LEVELS + 1);
  if (levels + ho == 0) levels = 1;
  std::string text = "cudadwt n-threads=1 async-depth=2 wavelet=" + name(wavelet);
  if (other_rows) text += " wavelet-ho=" + name(wavelets >> 4 & 7);
  text += " levels=" + std::to_string(levels) + " levels-ho=" + std::to_string(ho);
  text += " quant-index=" + std::to_string(index % (GST_DWT_MAX_QUANT_INDEX + 1));
  if (more & 1) text += " keep-reference=true";
  if (more & 2) text += " measure=psnr+time+zeros";
  if (more & 4) text += " method=separable-slab";
  if ((more & 0x18) == 0x08 && !other_rows && wavelet != 7 && levels + ho <= 4)
    text += " quant-matrix=vc2";
  if ((more & 0x18) == 0x10)
    text += " quant-matrix=\"" + matrix_of(1 + ho + 3 * levels, index) + "\"";
  return text;
}

// Every output coefficient can be read, and its meta is sound.
void read_coefficients(GstBuffer* buffer, GstCaps* caps) {
  GstDwtInfo info;
  promise(caps != nullptr && gst_dwt_info_from_caps(&info, caps, nullptr),
          "coefficients have caps");
  const GstDwtMeta* meta = gst_buffer_get_dwt_meta(buffer);
  promise(
      meta != nullptr && gst_dwt_meta_validate(meta, &info, gst_buffer_get_size(buffer), nullptr),
      "coefficients have a sound meta");
  fuzzing::read_bytes(buffer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  ElementRun run(description_of(&input).c_str(), read_coefficients);
  fuzzing::push_raw_frames(&run, &input);
  return 0;
}
