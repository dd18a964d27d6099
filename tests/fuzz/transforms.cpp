// Fuzz targets: the elements between frames and coefficients, and between coefficients, fed with
// frames and coefficients of any value with wrong sizes and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cudaresize gets frames, too. The input: bytes of settings (two; four for cudadwt, one for
// cudaidwt) and the caps (three bytes for frames; five for coefficients of the DCT, six for those
// of wavelets and for cudadctconvert), then frames until it is used up. A frame begins with the
// actions before it, the shape of its buffer and the lies of its meta (for coefficients, changes to
// the bytes of a serialized one); its samples or coefficients follow.
#include <gst/base/gstbasetransform.h>

#include <iterator>
#include <string>

#include "tests/fuzz/frames.h"

namespace {

using fuzzing::DctKind;
using fuzzing::DwtKind;
using fuzzing::ElementRun;
using fuzzing::Input;
using std::to_string;

// An element with one thread and two frames in flight.
std::string element(const char* name) { return std::string(name) + " n-threads=1 async-depth=2"; }
const char* measures(bool all) { return all ? " measure=psnr+time+zeros" : ""; }

std::string dct(const char* name, guint8 how) {
  static const char* const kMethods[] = {"islow",     "ifast",      "float",   "reference", "naive",
                                         "separable", "decomposed", "shuffle", "matrix"};
  return element(name) + " method=" + kMethods[how % 9];
}

void run_dct8x8(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  std::string text = dct("cudadct8x8", how) + " quality=" + to_string(1 + how % 100);
  if (more & 1) text += " keep-reference=true";
  text += measures(more & 2);
  ElementRun run(text.c_str(), fuzzing::read_coefficients<DctKind>);
  static const char* const kWanted[] = {"", ",order=zigzag", ",layout=plane", ",quantized=false"};
  const std::string caps = std::string("video/x-dct") + kWanted[more >> 2 & 3];
  // As jpegcoefenc requests full range: frames of limited range are converted.
  run.want_caps((more & 16 ? caps + ",colorimetry=1:4:0:0;" + caps : caps).c_str());
  fuzzing::push_raw_frames(&run, &input, true);
}

// Coefficients whose picture RGB may be.
struct RgbKind : DctKind {
  static bool info_of(Input* input, GstDctInfo* info) {
    return DctKind::info_of(input, info) && info->depth == 8;
  }
  static GstCaps* caps_of(const GstDctInfo* info) {
    GstCaps* caps = DctKind::caps_of(info);
    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, "1:4:0:0", nullptr);
    return caps;
  }
};

void run_idct8x8(const uint8_t* data, size_t size) {
  static const char* const kScales[] = {"full", "half", "quarter", "eighth"};
  static const char* const kFormats[] = {"RGB", "BGRx", "BGRP", "ARGB"};
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  const std::string text =
      dct("cudaidct8x8", how) + " scale=" + kScales[more & 3] + measures(more & 4);
  const std::string wanted = std::string("video/x-raw,format=") + kFormats[more >> 4 & 3];
  if (more & 8)
    fuzzing::run_coef_frames<RgbKind>(text.c_str(), &input, wanted.c_str());
  else
    fuzzing::run_coef_frames<DctKind>(text.c_str(), &input);
}

// A band's step in the list of a quantization matrix, for each band of a transform.
std::string matrix_of(int bands, guint8 index) {
  std::string list = "<";
  for (int b = 0; b < bands; b++) list += (b == 0 ? "" : ",") + to_string((index + b) % 116);
  return list + ">";
}

// Any transform that the element starts with.
std::string dwt(Input* input) {
  const guint8 wavelets = input->byte(), splits = input->byte(), index = input->byte(),
               more = input->byte();
  const auto name = [](int number) {
    return std::string(gst_dwt_wavelet_to_string(static_cast<GstDwtWavelet>(number)));
  };
  const int wavelet = wavelets & 7, ho = (splits >> 4) % (GST_DWT_MAX_LEVELS_HO + 1);
  // j2k53 can only be combined with itself.
  const bool other_rows = (wavelets & 8) != 0 && wavelet != 7 && (wavelets >> 4 & 7) != 7;
  int levels = splits % 16 % (GST_DWT_MAX_LEVELS + 1);
  if (levels + ho == 0) levels = 1;
  std::string text = element("cudadwt") + " wavelet=" + name(wavelet);
  if (other_rows) text += " wavelet-ho=" + name(wavelets >> 4 & 7);
  text += " levels=" + to_string(levels) + " levels-ho=" + to_string(ho);
  text += " quant-index=" + to_string(index % (GST_DWT_MAX_QUANT_INDEX + 1));
  if (more & 1) text += " keep-reference=true";
  text += measures(more & 2);
  if (more & 4) text += " method=separable-slab";
  if ((more & 0x18) == 0x08 && !other_rows && wavelet != 7 && levels + ho <= 4)
    text += " quant-matrix=vc2";
  if ((more & 0x18) == 0x10)
    text += " quant-matrix=\"" + matrix_of(1 + ho + 3 * levels, index) + "\"";
  return text;
}

void run_dwt(const uint8_t* data, size_t size) {
  Input input(data, size);
  ElementRun run(dwt(&input).c_str(), fuzzing::read_coefficients<DwtKind>);
  fuzzing::push_raw_frames(&run, &input);
}

void run_idwt(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte();
  std::string text = element("cudaidwt") + measures(how & 1);
  if (how & 2) text += " method=separable-slab";
  fuzzing::run_coef_frames<DwtKind>(text.c_str(), &input);
}

// With a byte more of caps: for bands and half floats.
struct AnyKind : DctKind {
  static bool info_of(Input* input, GstDctInfo* info) {
    const guint8 more = input->byte();
    if (!DctKind::info_of(input, info)) return false;
    const bool halves = (more & 2) != 0 && !info->quantized;
    return gst_dct_info_set(info, halves ? GST_COEF_FORMAT_F16LE : info->format,
                            more & 1 ? GST_DCT_LAYOUT_BAND : info->layout,
                            more & 1 ? GST_DCT_ORDER_ZIGZAG : info->order, info->quantized,
                            info->depth, info->sampling, info->width, info->height, nullptr);
  }
};

void run_convert(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  static const char* const kLayouts[] = {"block", "block,order=zigzag", "plane", "band"};
  static const char* const kFormats[] = {"", ",quantized=true", ",format=F16LE", ",format=F32LE",
                                         ",quantized=false,format=S32LE"};
  const std::string text =
      element("cudadctconvert") + " quality=" + to_string(1 + how % 100) + measures(more & 8);
  const std::string wanted =
      std::string("video/x-dct,layout=") + kLayouts[more & 3] + kFormats[(more >> 4) % 5];
  fuzzing::run_coef_frames<AnyKind>(text.c_str(), &input, wanted.c_str(),
                                    fuzzing::read_passed_coefficients);
}

struct WithExif : DctKind {
  // A directory of Exif data with one byte changed, and cut short somewhere, by the number.
  static GstDctMeta* add_meta(GstBuffer* buffer, const GstDctInfo& info, guint8 number) {
    guint8 segment[] = {0xff, 0xe1, 0,    58,   'E', 'x',  'i',  'f', 0, 0, 'I', 'I', 42, 0, 8,
                        0,    0,    0,    2,    0,   0x12, 1,    3,   0, 1, 0,   0,   0,  6, 0,
                        0,    0,    0x69, 0x87, 4,   0,    1,    0,   0, 0, 26,  0,   0,  0, 0,
                        0,    0,    0,    1,    0,   2,    0xa0, 3,   0, 1, 0,   0,   0,  9, 0};
    segment[number % std::size(segment)] ^= static_cast<guint8>(number * 37 + 1);
    const gsize size = std::size(segment) - (number & 0x80 ? number % 16 : 0);
    GBytes* segments = g_bytes_new(segment, size);
    gst_buffer_add_dct_jpeg_meta(buffer, segments);
    g_bytes_unref(segments);
    return DctKind::add_meta(buffer, info, number);
  }
};

void run_flip(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  std::string text = element("cudadctflip") + " video-direction=" + to_string(how % 9);  // 8: auto
  if (more & 1) text += " trim=true";
  // Any picture has a column and a row.
  if (more & 2) text += " crop-width=1";
  if (more & 4) text += " crop-height=1";
  text += measures(more & 8);
  fuzzing::run_coef_frames<WithExif>(text.c_str(), &input, nullptr,
                                     fuzzing::read_passed_coefficients);
}

struct QuantizedKind : DctKind {
  static bool info_of(Input* input, GstDctInfo* info) {
    return DctKind::info_of(input, info) && info->quantized;
  }
};

// As JPEG has them.
struct FileKind : QuantizedKind {
  static bool info_of(Input* input, GstDctInfo* info) {
    return QuantizedKind::info_of(input, info) && info->depth == 8 &&
           info->format == GST_COEF_FORMAT_S16LE && info->layout == GST_DCT_LAYOUT_BLOCK &&
           info->order == GST_DCT_ORDER_RASTER;
  }
};

void run_quant(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  // Only tables that quality scales can have a target, and only coefficients as JPEG has them.
  const bool has_target = more & 0x20;
  const int preset = has_target ? more % 2 * 4 : more % 5;
  std::string text = element("cudadctquant") + " quality=" + to_string(1 + how % 100) +
                     " quant-preset=" + to_string(preset);
  if (has_target) text += " target-size=" + to_string(16 * how + 1);
  if (more & 0x10) text += " coarser-only=false";
  text += measures(more & 8);
  const auto run =
      has_target ? fuzzing::run_coef_frames<FileKind> : fuzzing::run_coef_frames<QuantizedKind>;
  run(text.c_str(), &input, nullptr, fuzzing::read_passed_coefficients);
}

void run_resize(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  std::string text = element("cudaresize") + " method=" + to_string(how % 8) +
                     " order=" + to_string((how >> 3) % 3) + measures(more & 8);
  // Any picture has half a pixel.
  if (more & 1) text += " box-width=0.5";
  if (more & 2) text += " box-y=0.25 box-height=0.5";
  if (more & 4) text += " reducing-gap=1";
  if ((how >> 3 & 3) == 3) text += " add-borders=true";
  // A frame may pass through where the caps are the same: with its meta, sound or not.
  ElementRun run(text.c_str(), [&run](GstBuffer* buffer, GstCaps* caps) {
    GstPad* sink = GST_BASE_TRANSFORM_SINK_PAD(run.element());
    g_autoptr(GstCaps) input = gst_pad_get_current_caps(sink);
    gst_caps_is_equal(input, caps) ? fuzzing::read_bytes(buffer)
                                   : fuzzing::read_raw_frame(buffer, caps);
  });
  const std::string width = ",width=" + to_string(1 + (how >> 5) * 9);
  const std::string height = ",height=" + to_string(1 + (more >> 4) * 5);
  run.want_caps(("video/x-raw" + width + height).c_str());
  fuzzing::push_raw_frames(&run, &input, true);
}

const fuzzing::Targets targets({{"fuzz_cudadct8x8", run_dct8x8},
                                {"fuzz_cudaidct8x8", run_idct8x8},
                                {"fuzz_cudadwt", run_dwt},
                                {"fuzz_cudaidwt", run_idwt},
                                {"fuzz_cudadctconvert", run_convert},
                                {"fuzz_cudadctflip", run_flip},
                                {"fuzz_cudadctquant", run_quant},
                                {"fuzz_cudaresize", run_resize}},
                               fuzzing::set_up_elements);

}  // namespace
