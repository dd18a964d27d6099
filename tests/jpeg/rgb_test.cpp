// The definition of RGB and its planes against libjpeg-turbo: RGB that it decodes, files that it
// makes of RGB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/rgb/definition.h"
#include "tests/jpeg/libjpeg.h"

namespace cudatransform::test {
namespace {

struct Kind {
  const char* name;
  RgbColor color;
  int h[3], v[3];  // the file's sampling factors
};
constexpr Kind kKinds[] = {
    {"gray", RgbColor::kGray, {1}, {1}},
    {"4:4:4", RgbColor::kYcbcr, {1, 1, 1}, {1, 1, 1}},
    {"4:2:2", RgbColor::kYcbcr, {2, 1, 1}, {1, 1, 1}},
    {"4:2:0", RgbColor::kYcbcr, {2, 1, 1}, {2, 1, 1}},
    {"4:4:0", RgbColor::kYcbcr, {1, 1, 1}, {2, 1, 1}},
    {"4:1:1", RgbColor::kYcbcr, {4, 1, 1}, {1, 1, 1}},
    {"4:1:0", RgbColor::kYcbcr, {4, 1, 1}, {2, 1, 1}},
    {"of thirds", RgbColor::kYcbcr, {3, 1, 1}, {2, 1, 1}},
    {"of all kinds", RgbColor::kYcbcr, {2, 1, 2}, {2, 2, 1}},
    {"luma of halves", RgbColor::kYcbcr, {1, 2, 2}, {1, 1, 2}},
    {"RGB", RgbColor::kRgb, {1, 1, 1}, {1, 1, 1}},
    {"RGB of halves", RgbColor::kRgb, {2, 1, 1}, {2, 1, 1}},
};

RgbCase case_of(const Kind& kind, int width, int height) {
  RgbCase made;
  made.width = width;
  made.height = height;
  made.color = kind.color;
  const int components = made.components();
  const int max_h = *std::max_element(kind.h, kind.h + components);
  const int max_v = *std::max_element(kind.v, kind.v + components);
  for (int c = 0; c < components; ++c) made.subsampling[c] = {max_h / kind.h[c], max_v / kind.v[c]};
  return made;
}

// Smooth color with noise on it, and extremes.
Picture random_picture(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Picture picture(3, Plane(width, height));
  for (Plane& plane : picture) {
    const int begin = static_cast<int>(random() % 256), slope = static_cast<int>(random() % 9) - 4;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int value = begin + slope * (x + 2 * y) + static_cast<int>(random() % 64) - 32;
        plane.at(x, y) =
            random() % 16 == 0 ? static_cast<int>(random() % 2 * 255) : std::clamp(value, 0, 255);
      }
  }
  return picture;
}

// Files with tables of ones: a sample that differs by one changes quantized coefficients.
void prepare(Compressor& to, const RgbCase& of, const Kind& kind) {
  to.open_for_rgb(of.width, of.height,
                  of.color == RgbColor::kGray    ? JCS_GRAYSCALE
                  : of.color == RgbColor::kYcbcr ? JCS_YCbCr
                                                 : JCS_RGB);
  jpeg_set_quality(&to, 100, TRUE);
  to.dct_method = JDCT_ISLOW;
  for (int c = 0; c < of.components(); ++c) {
    to.comp_info[c].h_samp_factor = kind.h[c];
    to.comp_info[c].v_samp_factor = kind.v[c];
  }
}

std::vector<uint8_t> file_of_rgb(const RgbCase& of, const Kind& kind, const Picture& rgb) {
  Compressor to;
  prepare(to, of, kind);
  jpeg_start_compress(&to, TRUE);
  std::vector<JSAMPLE> row(static_cast<size_t>(of.width) * 3);
  for (int y = 0; y < of.height; ++y) {
    for (int x = 0; x < of.width; ++x)
      for (size_t c = 0; c < 3; ++c)
        row[static_cast<size_t>(x) * 3 + c] = static_cast<JSAMPLE>(rgb[c].at(x, y));
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&to, rows, 1);
  }
  return to.finish();
}

// Rows of components as libjpeg's raw interface takes and gives them: `rows` of an MCU at a time.
class RawRows {
 public:
  RawRows(const Kind& kind, const jpeg_component_info* info, int components) {
    for (int c = 0; c < components; ++c) {
      const size_t width = (size_t{info[c].width_in_blocks} + 8) * 8;
      samples_[c].resize(width * static_cast<size_t>(kind.v[c]) * 8);
      for (int y = 0; y < kind.v[c] * 8; ++y) {
        rows_[c].push_back(samples_[c].data() + static_cast<size_t>(y) * width);
      }
      arrays_[c] = rows_[c].data();
    }
  }
  JSAMPIMAGE arrays() { return arrays_; }

 private:
  std::vector<JSAMPLE> samples_[3];
  std::vector<JSAMPROW> rows_[3];
  JSAMPARRAY arrays_[3] = {};
};

std::vector<uint8_t> file_of_planes(const RgbCase& of, const Kind& kind, const Picture& planes) {
  Compressor to;
  prepare(to, of, kind);
  to.raw_data_in = TRUE;
  jpeg_start_compress(&to, TRUE);
  RawRows raw(kind, to.comp_info, of.components());
  for (int mcu = 0; to.next_scanline < to.image_height; ++mcu) {
    for (int c = 0; c < of.components(); ++c) {
      const Plane& plane = planes[static_cast<size_t>(c)];
      for (int y = 0; y < kind.v[c] * 8; ++y) {
        const int row = std::min(mcu * kind.v[c] * 8 + y, plane.rows - 1);
        for (int x = 0; x < plane.width; ++x)
          raw.arrays()[c][y][x] = static_cast<JSAMPLE>(plane.at(x, row));
      }
    }
    jpeg_write_raw_data(&to, raw.arrays(), static_cast<JDIMENSION>(to.max_v_samp_factor * 8));
  }
  return to.finish();
}

// `of` at 1/`scale` of the size: libjpeg gives chroma a larger inverse where it can, so that there
// is less to upsample.
RgbCase scaled(RgbCase of, const Kind& kind, const std::vector<uint8_t>& file, unsigned scale) {
  Decompressor from(file);
  from.scale_denom = scale;
  jpeg_calc_output_dimensions(&from);
  of.width = static_cast<int>(from.output_width);
  of.height = static_cast<int>(from.output_height);
  for (int c = 0; c < of.components(); ++c) {
    const int size = from.comp_info[c].DCT_scaled_size;
    of.subsampling[c] = {from.max_h_samp_factor * from.min_DCT_scaled_size / (kind.h[c] * size),
                         from.max_v_samp_factor * from.min_DCT_scaled_size / (kind.v[c] * size)};
  }
  return of;
}

Picture decoded_planes(const RgbCase& of, const Kind& kind, const std::vector<uint8_t>& file,
                       unsigned scale) {
  Decompressor from(file);
  from.scale_denom = scale;
  from.raw_data_out = TRUE;
  from.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&from);
  RawRows raw(kind, from.comp_info, of.components());
  Picture planes = rgb_planes(of, false);
  for (int mcu = 0; from.output_scanline < from.output_height; ++mcu) {
    jpeg_read_raw_data(&from, raw.arrays(),
                       static_cast<JDIMENSION>(from.max_v_samp_factor * from.min_DCT_scaled_size));
    for (int c = 0; c < of.components(); ++c) {
      Plane& plane = planes[static_cast<size_t>(c)];
      const int rows = kind.v[c] * from.comp_info[c].DCT_scaled_size, first = mcu * rows;
      for (int y = first; y < std::min(first + rows, plane.rows); ++y)
        for (int x = 0; x < plane.width; ++x) plane.at(x, y) = raw.arrays()[c][y - first][x];
    }
  }
  jpeg_abort_decompress(&from);
  return planes;
}

Picture decoded_rgb(const RgbCase& of, const std::vector<uint8_t>& file, unsigned scale,
                    bool fancy) {
  Decompressor from(file);
  from.scale_denom = scale;
  from.out_color_space = JCS_RGB;
  from.dct_method = JDCT_ISLOW;
  from.do_fancy_upsampling = fancy ? TRUE : FALSE;
  jpeg_start_decompress(&from);
  Picture rgb(3, Plane(of.width, of.height));
  std::vector<JSAMPLE> row(static_cast<size_t>(of.width) * 3);
  while (from.output_scanline < from.output_height) {
    const int y = static_cast<int>(from.output_scanline);
    JSAMPROW rows[] = {row.data()};
    jpeg_read_scanlines(&from, rows, 1);
    for (int x = 0; x < of.width; ++x)
      for (size_t c = 0; c < 3; ++c) rgb[c].at(x, y) = row[static_cast<size_t>(x) * 3 + c];
  }
  jpeg_finish_decompress(&from);
  return rgb;
}

std::string text(const Kind& kind, const RgbCase& of) {
  return std::string(kind.name) + " " + std::to_string(of.width) + "x" + std::to_string(of.height) +
         (of.upsampling == ChromaUpsampling::kFancy ? " fancy" : " nearest");
}

// `of`: at 1/`scale` of the file's size.
void check_decoded(RgbCase of, const Kind& kind, const std::vector<uint8_t>& file, unsigned scale) {
  const Picture planes = decoded_planes(of, kind, file, scale);
  for (const bool fancy : {true, false}) {
    of.upsampling = fancy && scale < 8 ? ChromaUpsampling::kFancy : ChromaUpsampling::kNearest;
    EXPECT_EQ(judge_equal(decoded_rgb(of, file, scale, fancy), define_rgb(of, planes)), "")
        << text(kind, of) << " of 1/" << scale;
  }
}

void check(const Kind& kind, int width, int height) {
  const RgbCase of = case_of(kind, width, height);
  const Picture source =
      random_picture(width, height, static_cast<unsigned>(width * 65537 + height));
  const std::vector<uint8_t> file = file_of_rgb(of, kind, source);
  EXPECT_TRUE(file == file_of_planes(of, kind, define_planes(of, source))) << text(kind, of);
  check_decoded(of, kind, file, 1);
}

TEST(RgbDefinition, IsThatOfLibjpeg) {
  const int step = quick() ? 7 : 1;
  int number = 0;
  for (const Kind& kind : kKinds) {
    for (int height = 1; height <= 40; ++height) {
      for (int width = 1; width <= 40; ++width) {
        if (number++ % step == 0) check(kind, width, height);
        if (testing::Test::HasFailure()) return;
      }
    }
    for (const auto& [width, height] : {std::pair{1, 333}, {517, 2}, {300, 201}, {641, 479}})
      check(kind, width, height);
  }
}

TEST(RgbDefinition, IsThatOfLibjpegAtParts) {
  const int step = quick() ? 7 : 2;
  int number = 0;
  for (const Kind& kind : kKinds) {
    for (int side = 1; side <= 70; ++side) {
      if (number++ % step != 0) continue;
      const RgbCase of = case_of(kind, side, 71 - side);
      const std::vector<uint8_t> file =
          file_of_rgb(of, kind, random_picture(of.width, of.height, static_cast<unsigned>(side)));
      for (const unsigned scale : {2, 4, 8})
        check_decoded(scaled(of, kind, file, scale), kind, file, scale);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// One sample more or less is seen in the file.
TEST(RgbDefinition, FilesTellPlanesApart) {
  const Kind& kind = kKinds[3];
  const RgbCase of = case_of(kind, 30, 30);
  const Picture planes = define_planes(of, random_picture(of.width, of.height, 1));
  const std::vector<uint8_t> file = file_of_planes(of, kind, planes);
  for (size_t c = 0; c < 3; ++c) {
    for (const int at : {0, 7, 15}) {
      Picture changed = planes;
      int& sample = changed[c].at(at, at);
      sample += sample == 0 ? 1 : -1;
      EXPECT_FALSE(file == file_of_planes(of, kind, changed)) << c << " at " << at;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
