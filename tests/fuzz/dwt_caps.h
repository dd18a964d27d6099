// Shared by fuzz targets that feed wavelet coefficients: transforms and metas of any kind.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dwt-serial.h>
#include <gst/coef/dwt.h>
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// A Kind of coef_frames.h.
struct DwtKind {
  using Info = GstDwtInfo;
  using Meta = GstDwtMeta;
  static constexpr uint8_t kVersion = gstcoef::kDwtSerialVersion;

  // Coefficients of a small picture, of any transform; six bytes of the input. False if there is no
  // such transform.
  static bool info_of(Input* input, GstDwtInfo* info) {
    constexpr int kMostSamples = 72;  // width and height
    const guint8 wavelets = input->byte(), levels = input->byte(), picture = input->byte();
    const guint depth = 1 + input->byte() % 16;
    const gint width = 1 + input->byte() % kMostSamples, height = 1 + input->byte() % kMostSamples;
    return gst_dwt_info_set(info, static_cast<GstDwtWavelet>(wavelets & 7),
                            static_cast<GstDwtWavelet>(wavelets >> 4 & 7),
                            levels % (GST_DWT_MAX_LEVELS + 1),
                            (levels >> 4) % (GST_DWT_MAX_LEVELS_HO + 1), picture >> 3 & 1, depth,
                            static_cast<GstCoefSampling>(picture & 7), width, height, nullptr);
  }
  // In the default layout; indices of quantisers, if there are any, count from `number`.
  static GstDwtMeta* add_meta(GstBuffer* buffer, const GstDwtInfo& info, guint8 number) {
    GstDwtMeta* meta = gst_buffer_add_dwt_meta(buffer, &info);
    for (guint c = 0; info.quantized && c < info.n_components; c++)
      for (guint b = 0; b < gst_dwt_info_get_n_bands(&info); b++)
        gst_dwt_meta_set_quant_index(meta, c, b, (number + b) % (GST_DWT_MAX_QUANT_INDEX + 1));
    return meta;
  }
  static constexpr auto caps_of = gst_dwt_info_to_caps;
  static constexpr auto validate = gst_dwt_meta_validate;
};

}  // namespace fuzzing
