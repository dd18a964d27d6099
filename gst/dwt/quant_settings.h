// The quantisation properties of cudadwt, and the resulting quantiser indices.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "gst/dwt/coefficients.h"

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

// Sets `matrix`: "flat", "vc2", or a number for each band as "<5, 3, 3, 0>". Null is flat.
void set_matrix(const char* text, DwtQuantSettings* settings);

// The quantiser indices of a frame of `info`: the index less the matrix, and at least 0. All 0
// where coefficients are not quantised.
Status fill_indices(const DwtQuantSettings& settings, const GstDwtInfo& info,
                    QuantIndices* indices);

}  // namespace cudatransform
