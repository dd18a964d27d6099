// The settings of the wavelets, their faults, and the quantizer indices that they mean.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "gst/dwt/coefficients.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

// The user's settings. Not locked: the element guards them and takes a copy for each frame.
struct DwtQuantSettings {
  int index = 0;
  std::string matrix = "flat";  // as it was set

  enum class Kind { kFlat, kVc2, kList };
  Kind kind = Kind::kFlat;
  std::vector<guint8> entries;  // of kList
  std::string error;            // the fault in `matrix`; empty: none
};

// The properties of the wavelets. Guarded by the object lock. An inverse uses only `method`.
struct DwtSettings {
  static constexpr int kSameWavelet = -1;

  DwtMethod method = DwtMethod::kFused;
  GstDwtWavelet wavelet = GST_DWT_WAVELET_LEGALL53;
  int wavelet_ho = kSameWavelet;  // or a GstDwtWavelet
  guint levels = 4, levels_ho = 0;
  DwtQuantSettings quant;

  DwtShape shape() const {
    return {wavelet, wavelet_ho == kSameWavelet ? wavelet : static_cast<GstDwtWavelet>(wavelet_ho),
            levels, levels_ho};
  }
};

// Whether the transform exists; and whether the quantizer exists for it, too.
Status check_transform(const DwtSettings& settings);
Status check_settings(const DwtSettings& settings);

// Sets `matrix`: "flat", "vc2", or a number for each band as "<5, 3, 3, 0>". Null is flat.
void set_matrix(const char* text, DwtQuantSettings* settings);

// The quantizer indices of a frame of `info`: the index less the matrix, and at least 0. All 0
// where coefficients are not quantized.
Status fill_indices(const DwtQuantSettings& settings, const GstDwtInfo& info,
                    QuantIndices* indices);

}  // namespace cudatransform
