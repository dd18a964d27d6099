// Fuzz target: the element cudadctflip, fed with coefficients of any value, metas that lie, and
// Exif data that do.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (five bytes), then frames until it is used up, as
// those of fuzz_cudaidct8x8.
#include <iterator>
#include <string>

#include <gst/coef/coef.h>
#include "tests/fuzz/dct_caps.h"

#include "tests/fuzz/coef_frames.h"
#include "tests/fuzz/dct_output.h"

namespace {

struct WithExif : fuzzing::DctKind {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  std::string text = "cudadctflip n-threads=1 async-depth=2 video-direction=" +
                     std::to_string(how % 9);  // 8: auto
  if (more & 1) text += " trim=true";
  // Any picture has a column and a row.
  if (more & 2) text += " crop-width=1";
  if (more & 4) text += " crop-height=1";
  if (more & 8) text += " measure=psnr+time+zeros";
  fuzzing::run_coef_frames<WithExif>(text.c_str(), &input, nullptr,
                                     fuzzing::read_passed_coefficients);
  return 0;
}
