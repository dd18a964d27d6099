// libjpeg-turbo as a judge: planes to quantized coefficients, quantized coefficients to planes,
// through its raw-data interface.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/jpeg/codec.h"

#include <algorithm>

#include "jpeg/bounds.h"
#include "tests/jpeg/libjpeg.h"

namespace cudatransform::test {
namespace {

int divide_up(int a, int b) { return (a + b - 1) / b; }

J_DCT_METHOD dct_method(Method method) {
  return method == Method::kIfast ? JDCT_IFAST : JDCT_ISLOW;
}

// Rows of a plane padded to whole MCUs, as jpeg_write_raw_data and jpeg_read_raw_data require.
class PaddedPlane {
 public:
  PaddedPlane(int width, int height)
      : width_(width), samples_(static_cast<size_t>(width) * height) {
    for (int y = 0; y < height; ++y) rows_.push_back(&samples_[static_cast<size_t>(y) * width]);
  }
  JSAMPARRAY rows_from(int y) { return &rows_[y]; }
  void replicate(const BytePlane& plane) {
    for (size_t y = 0; y < rows_.size(); ++y)
      for (int x = 0; x < width_; ++x)
        rows_[y][x] =
            plane
                .samples[static_cast<size_t>(std::min<int>(static_cast<int>(y), plane.height - 1)) *
                             plane.width +
                         std::min(x, plane.width - 1)];
  }
  uint8_t at(int x, int y) const { return rows_[y][x]; }

 private:
  int width_;
  std::vector<JSAMPLE> samples_;
  std::vector<JSAMPROW> rows_;
};

// One MCU row after the other through `call`.
template <typename Call>
void for_mcu_rows(std::vector<PaddedPlane>& planes, std::span<const JpegSampling> factors, int rows,
                  Call call) {
  for (int row = 0; row < rows; ++row) {
    JSAMPARRAY pointers[kJpegMaxComponents] = {};
    for (size_t c = 0; c < planes.size(); ++c)
      pointers[c] = planes[c].rows_from(row * 8 * factors[c].v);
    call(pointers);
  }
}

QuantTable table_of(const JQUANT_TBL& source) {
  QuantTable table;
  for (int k = 0; k < 64; ++k) table.q[k] = source.quantval[k];  // natural order
  return table;
}

JpegContents describe(const Decompressor& info) {
  JpegContents contents;
  contents.width = static_cast<int>(info.image_width);
  contents.height = static_cast<int>(info.image_height);
  contents.sampling = {info.max_h_samp_factor, info.max_v_samp_factor};
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& component = info.comp_info[c];
    BytePlane plane;
    plane.width = divide_up(contents.width * component.h_samp_factor, info.max_h_samp_factor);
    plane.height = divide_up(contents.height * component.v_samp_factor, info.max_v_samp_factor);
    plane.samples.resize(static_cast<size_t>(plane.width) * plane.height);
    contents.planes.push_back(std::move(plane));
    contents.tables.push_back(table_of(*info.quant_tbl_ptrs[component.quant_tbl_no]));
  }
  return contents;
}

}  // namespace

Source make_source(const std::string& name, JpegSampling sampling, size_t components, int width,
                   int height, const Fill& fill) {
  Source source{name, sampling, width, height, {}};
  for (size_t c = 0; c < components; ++c) {
    const int h = c == 0 ? 1 : sampling.h, v = c == 0 ? 1 : sampling.v;
    BytePlane plane{divide_up(width, h), divide_up(height, v), {}};
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.samples.push_back(static_cast<uint8_t>(fill(c, h * x, v * y)));
    source.planes.push_back(std::move(plane));
  }
  source.name += " " + std::to_string(components) + " components " + std::to_string(sampling.h) +
                 "x" + std::to_string(sampling.v) + " " + std::to_string(width) + "x" +
                 std::to_string(height);
  return source;
}

std::vector<QuantTable> tables_for(size_t components, int quality) {
  std::vector<QuantTable> tables = {
      preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, quality),
      preset_table(QuantPreset::kAnnexK, QuantComponent::kChroma, quality)};
  tables.push_back(tables[1]);
  tables.resize(components);
  return tables;
}

std::vector<uint8_t> jpeg_from_planes(const BytePicture& planes, JpegSampling sampling, int width,
                                      int height, std::span<const QuantTable> tables, Method method,
                                      bool rgb) {
  Compressor info;
  info.open();
  const auto components = static_cast<int>(planes.size());
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = components;
  info.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(&info);
  if (rgb) jpeg_set_colorspace(&info, JCS_RGB);
  for (int t = 0; t < std::min(components, 2); ++t) {
    unsigned int entries[64];
    std::copy(tables[t].q, tables[t].q + 64, entries);
    jpeg_add_quant_table(&info, t, entries, 100, TRUE);
  }
  info.dct_method = dct_method(method);
  info.raw_data_in = TRUE;
  info.optimize_coding = FALSE;
  std::vector<JpegSampling> factors;
  std::vector<PaddedPlane> padded;
  const int mcus_w = divide_up(width, 8 * sampling.h), mcus_h = divide_up(height, 8 * sampling.v);
  for (int c = 0; c < components; ++c) {
    factors.push_back(c == 0 ? sampling : JpegSampling{1, 1});
    info.comp_info[c].h_samp_factor = factors[c].h;
    info.comp_info[c].v_samp_factor = factors[c].v;
    padded.emplace_back(mcus_w * 8 * factors[c].h, mcus_h * 8 * factors[c].v);
    padded[c].replicate(planes[c]);
  }
  jpeg_start_compress(&info, TRUE);
  for_mcu_rows(padded, factors, mcus_h, [&](JSAMPARRAY* rows) {
    jpeg_write_raw_data(&info, rows, static_cast<JDIMENSION>(8 * sampling.v));
  });
  return info.finish();
}

JpegContents jpeg_qcoefs(const std::vector<uint8_t>& file) {
  Decompressor info(file);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&info);
  JpegContents contents = describe(info);
  for (int c = 0; c < info.num_components; ++c)
    contents.qcoefs.push_back(component_qcoefs(info, arrays[c], c));
  return contents;
}

JpegContents jpeg_planes(const std::vector<uint8_t>& file, Method method) {
  Decompressor info(file);
  JpegContents contents = describe(info);
  info.dct_method = dct_method(method);
  info.raw_data_out = TRUE;
  info.do_fancy_upsampling = FALSE;
  info.do_block_smoothing = FALSE;
  info.out_color_space = info.jpeg_color_space;
  jpeg_start_decompress(&info);
  const int h = info.max_h_samp_factor, v = info.max_v_samp_factor;
  const int mcus_w = divide_up(contents.width, 8 * h), mcus_h = divide_up(contents.height, 8 * v);
  std::vector<JpegSampling> factors;
  std::vector<PaddedPlane> padded;
  for (int c = 0; c < info.num_components; ++c) {
    factors.push_back({info.comp_info[c].h_samp_factor, info.comp_info[c].v_samp_factor});
    padded.emplace_back(mcus_w * 8 * factors[c].h, mcus_h * 8 * factors[c].v);
  }
  for_mcu_rows(padded, factors, mcus_h, [&](JSAMPARRAY* rows) {
    jpeg_read_raw_data(&info, rows, static_cast<JDIMENSION>(8 * v));
  });
  for (int c = 0; c < info.num_components; ++c) {
    BytePlane& plane = contents.planes[c];
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.samples[static_cast<size_t>(y) * plane.width + x] = padded[c].at(x, y);
  }
  jpeg_finish_decompress(&info);
  return contents;
}

std::vector<QuantTable> jpeg_quality_tables(int quality) {
  Compressor info;
  info.in_color_space = JCS_YCbCr;
  info.input_components = 3;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  return {table_of(*info.quant_tbl_ptrs[0]), table_of(*info.quant_tbl_ptrs[1])};
}

}  // namespace cudatransform::test
