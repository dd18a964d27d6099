// Shared by fuzz targets that feed the DCT's coefficients: geometries and metas of any kind.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/dct_caps.h"

#include <algorithm>
#include <iterator>

namespace fuzzing {

bool DctKind::info_of(Input* input, GstDctInfo* info) {
  constexpr int kMostSamples = 72;  // width and height
  constexpr GstCoefFormat kFormats[] = {GST_COEF_FORMAT_S16LE, GST_COEF_FORMAT_S32LE,
                                        GST_COEF_FORMAT_F32LE, GST_COEF_FORMAT_S16LE};
  constexpr GstCoefSampling kSamplings[] = {
      GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_420,     GST_COEF_SAMPLING_422,
      GST_COEF_SAMPLING_444,       GST_COEF_SAMPLING_440,     GST_COEF_SAMPLING_411,
      GST_COEF_SAMPLING_RGB,       GST_COEF_SAMPLING_YCCK_420};
  constexpr guint kDepths[] = {8, 8, 10, 12, 16, 9, 0, 8};
  const guint8 shape = input->byte(), kind = input->byte(), depth = input->byte();
  const int width = 1 + input->byte() % kMostSamples, height = 1 + input->byte() % kMostSamples;
  return gst_dct_info_set(
      info, kFormats[shape & 3], shape & 4 ? GST_DCT_LAYOUT_PLANE : GST_DCT_LAYOUT_BLOCK,
      shape & 8 ? GST_DCT_ORDER_ZIGZAG : GST_DCT_ORDER_RASTER, (shape & 16) == 0,
      kDepths[depth % 8], kSamplings[kind % 8], width, height, nullptr);
}

GstDctMeta* DctKind::add_meta(GstBuffer* buffer, const GstDctInfo& info, guint8 number) {
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  if (!info.quantized) return meta;
  guint16 divisors[64];
  std::fill(std::begin(divisors), std::end(divisors), static_cast<guint16>(1 + number));
  for (guint t = 0; t < 2; t++) gst_dct_meta_set_table(meta, t, divisors);
  meta->components[info.n_components - 1].table = 1;
  return meta;
}

}  // namespace fuzzing
