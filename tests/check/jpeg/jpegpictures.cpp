// JPEG pictures for the element tests, whole and maltreated.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/jpeg/jpegpictures.h"

#include <gst/check/gstcheck.h>

#include <functional>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/jpeg/libjpeg.h"

namespace testing {

using cudatransform::test::Compressor;
using cudatransform::test::Decompressor;

static GstVideoFormat format_of(Subsampling subsampling) {
  switch (subsampling) {
    case Subsampling::kGray:
      return GST_VIDEO_FORMAT_GRAY8;
    case Subsampling::k422:
      return GST_VIDEO_FORMAT_Y42B;
    default:
      return GST_VIDEO_FORMAT_I420;
  }
}

Bytes make_jpeg(int width, int height, Subsampling subsampling, int quality, guint seed) {
  const GstVideoInfo info = video_info(format_of(subsampling), width, height);
  g_autoptr(GstBuffer) frame = make_frame(info, seed);
  const int h = subsampling == Subsampling::kGray ? 1 : 2;
  const int v = subsampling == Subsampling::k420 ? 2 : 1;
  return jpeg_of_frame(info, frame, h, v, quality);
}

Bytes make_four_components(const FourComponents& kind, int width, int height, guint seed) {
  Compressor info;
  info.open();
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  if (kind.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  for (int c = 0; c < info.num_components; c++) {
    const bool is_full = c == 0 || c == 3;
    info.comp_info[c].h_samp_factor = is_full ? kind.h : 1;
    info.comp_info[c].v_samp_factor = is_full ? kind.v : 1;
  }
  jpeg_start_compress(&info, TRUE);
  GRand* random = g_rand_new_with_seed(seed);
  Bytes row(4 * gsize(width));
  for (int y = 0; y < height; y++) {
    for (gsize i = 0; i < row.size(); i++)
      row[i] = static_cast<guint8>(40 * (i % 4) + 5 * gsize(y) + 3 * (i / 4) +
                                   gsize(g_rand_int_range(random, 0, 30)));
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&info, rows, 1);
  }
  g_rand_free(random);
  return info.finish();
}

// The coefficients of `jpeg` in a new file. `change` may change both.
static Bytes copied(
    const Bytes& jpeg,
    const std::function<void(Decompressor*, jvirt_barray_ptr*, Compressor*)>& change) {
  Decompressor from(jpeg);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&from);
  Compressor to;
  to.open();
  jpeg_copy_critical_parameters(&from, &to);
  change(&from, arrays, &to);
  jpeg_write_coefficients(&to, arrays);
  return to.finish();
}

Bytes written_again(const Bytes& jpeg, bool progressive, bool optimize, bool arithmetic,
                    guint restart_interval) {
  return copied(jpeg, [&](Decompressor*, jvirt_barray_ptr*, Compressor* to) {
    to->arith_code = arithmetic;
    to->optimize_coding = optimize && !arithmetic;
    to->restart_interval = restart_interval;
    if (progressive) jpeg_simple_progression(to);
  });
}

Bytes with_qcoef(const Bytes& jpeg, int k, int qcoef) {
  return copied(jpeg, [&](Decompressor* from, jvirt_barray_ptr* arrays, Compressor* to) {
    JBLOCKARRAY row =
        from->mem->access_virt_barray(reinterpret_cast<j_common_ptr>(from), arrays[0], 0, 1, TRUE);
    row[0][0][k] = static_cast<JCOEF>(qcoef);
    to->arith_code = TRUE;
  });
}

Bytes with_restarts(const Bytes& jpeg, guint interval) {
  return copied(jpeg, [&](Decompressor*, jvirt_barray_ptr*, Compressor* to) {
    to->restart_interval = interval;
  });
}

std::vector<Segment> segments_of(const Bytes& jpeg) {
  std::vector<Segment> segments;
  gsize at = 0;
  while (at + 1 < jpeg.size()) {
    Segment segment = {jpeg[at + 1], at, at + 2};
    if (segment.code != 0xd8 && segment.code != 0xd9)
      segment.end += gsize(jpeg[at + 2]) << 8 | jpeg[at + 3];
    if (segment.code == 0xda)
      while (segment.end + 1 < jpeg.size() &&
             (jpeg[segment.end] != 0xff || jpeg[segment.end + 1] == 0 ||
              (jpeg[segment.end + 1] & 0xf8) == 0xd0))
        segment.end++;
    segments.push_back(segment);
    at = segment.end;
  }
  return segments;
}

Segment segment_of(const Bytes& jpeg, guint8 code) {
  for (const Segment& segment : segments_of(jpeg))
    if (segment.code == code) return segment;
  fail("no segment %02x", code);
  return {};
}

Bytes without_segments(const Bytes& jpeg, guint8 code) {
  Bytes rest;
  for (const Segment& segment : segments_of(jpeg))
    if (segment.code != code)
      rest.insert(rest.end(), jpeg.begin() + static_cast<gssize>(segment.begin),
                  jpeg.begin() + static_cast<gssize>(segment.end));
  return rest;
}

Bytes inserted(const Bytes& jpeg, gsize at, const Bytes& what) {
  Bytes bytes = jpeg;
  bytes.insert(bytes.begin() + static_cast<gssize>(at), what.begin(), what.end());
  return bytes;
}

Bytes damaged(const Bytes& jpeg) {
  Bytes bytes = jpeg;
  const Segment scan = segment_of(jpeg, 0xda);
  // Half of the data is removed, so that the scan ends before its picture does.
  const gsize middle = (scan.begin + scan.end) / 2;
  bytes.erase(bytes.begin() + static_cast<gssize>(middle),
              bytes.begin() + static_cast<gssize>(scan.end));
  return bytes;
}

std::string compare(const Bytes& jpeg, GstBuffer* buffer, GstCaps* caps) {
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, caps, nullptr)) return "no coefficient caps";
  return difference(read_jpeg(jpeg), qcoefs_of(info, buffer));
}

}  // namespace testing
