// libjpeg-turbo's coefficients and samples of a JPEG file, to compare ours with.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/jpeg/jpegjudge.h"

#include <gst/video/video.h>

#include <utility>

#include <gst/coef/dct.h>
#include "tests/check/jpeg/jpegs.h"
#include "tests/jpeg/codec.h"
#include "tests/jpeg/libjpeg.h"

namespace testing {
namespace {

using cudatransform::Method;
using cudatransform::test::BytePlane;
using cudatransform::test::JpegContents;

// Which plane and row of a raw frame hold row `y` of component `c`, and how samples follow there.
struct Row {
  const guint8* samples;
  int step;
};

Row row_of(const GstVideoFrame& frame, int c, int y) {
  return {static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
              gsize(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c),
          GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)};
}

std::string place(int c, int x, int y) {
  return "component " + std::to_string(c) + " at " + std::to_string(x) + "," + std::to_string(y);
}

}  // namespace

JpegJudge::JpegJudge(std::vector<guint8> file) : file_(std::move(file)) {
  if (file_.size() < 2 || file_[0] != 0xff || file_[1] != 0xd8) {
    kind_ = "no JPEG file, whatever its name";
    return;
  }
  const cudatransform::test::Decompressor info(file_);
  const jpeg_component_info* comp = info.comp_info;
  const int count = info.num_components;
  kind_ = std::to_string(count) + " components";
  rgb_ = info.jpeg_color_space == JCS_RGB;
  ours_ = count == 1 || (count == 3 && (rgb_ || info.jpeg_color_space == JCS_YCbCr));
  four_ = count == 4 && (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK);
  ours_ = ours_ || four_;
  if (count >= 3) {
    const int h = comp[0].h_samp_factor * 10 / comp[1].h_samp_factor;
    const int v = comp[0].v_samp_factor * 10 / comp[1].v_samp_factor;
    kind_ += ", ratios " + std::to_string(h) + "x" + std::to_string(v) + " tenths";
    const bool known = (v == 10 && (h == 10 || h == 20 || h == 40)) || (v == 20 && h <= 20);
    const auto same = [comp](int a, int b) {
      return comp[a].h_samp_factor == comp[b].h_samp_factor &&
             comp[a].v_samp_factor == comp[b].v_samp_factor;
    };
    const bool is_full = info.jpeg_color_space == JCS_RGB || info.jpeg_color_space == JCS_CMYK;
    ours_ = ours_ && known && (h == 10 || h == 20 || h == 40) && same(1, 2) &&
            (count == 3 || same(0, 3)) && (!is_full || same(0, 1));
  }
}

std::string JpegJudge::compare_coefficients(GstSample* sample) const {
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, gst_sample_get_caps(sample), nullptr))
    return "no coefficient caps";
  if (rgb_ != (info.sampling == GST_COEF_SAMPLING_RGB)) return "another colour space";
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!gst_buffer_get_dct_meta(buffer)) return "no GstDctMeta";
  const JpegFile found = levels_of(info, buffer);
  JpegFile expected = read_jpeg(file_);
  // A file may number its components as it likes, and 2x2, 2x2, 2x2 is as good a 4:4:4 as 1x1s.
  for (size_t c = 0; c < MIN(found.components.size(), expected.components.size()); c++) {
    expected.components[c].id = found.components[c].id;
    expected.components[c].h_samp = found.components[c].h_samp;
    expected.components[c].v_samp = found.components[c].v_samp;
  }
  return difference(expected, found);
}

std::string JpegJudge::compare_frame(GstSample* sample) const {
  const JpegContents expected = cudatransform::test::jpeg_planes(file_, Method::kIslow);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) return "no raw caps";
  if (GST_VIDEO_INFO_N_COMPONENTS(&info) != expected.planes.size())
    return "another number of components";
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return "the frame cannot be mapped";
  std::string wrong;
  for (int c = 0; c < int(expected.planes.size()) && wrong.empty(); c++) {
    const BytePlane& plane = expected.planes[c];
    // 4:4:0 becomes 4:4:4, with each row of chroma twice.
    const int height = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c);
    const int repeat = height == plane.height ? 1 : 2;
    if (GST_VIDEO_FRAME_COMP_WIDTH(&frame, c) != plane.width ||
        (height + repeat - 1) / repeat != plane.height)
      wrong = "component " + std::to_string(c) + " of the frame has another size";
    for (int y = 0; y < height && wrong.empty(); y++) {
      const Row row = row_of(frame, c, y);
      const guint8* wanted = plane.samples.data() + gsize(y / repeat) * plane.width;
      for (int x = 0; x < plane.width && wrong.empty(); x++)
        if (row.samples[x * row.step] != wanted[x])
          wrong = "sample of " + place(c, x, y) + " is " +
                  std::to_string(row.samples[x * row.step]) + ", not " + std::to_string(wanted[x]);
    }
  }
  gst_video_frame_unmap(&frame);
  return wrong;
}

}  // namespace testing
