// Oddities of a JPEG file that is complete.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/irregular.h"

namespace cudatransform {

std::string irregularity_text(uint32_t irregularities) {
  static constexpr struct {
    uint32_t bit;
    const char* text;
  } kTexts[] = {
      {kJpegLeftOverBytes, "bytes are left over behind coded data"},
      {kJpegStrayBytes, "there are bytes between segments"},
      {kJpegScanParameters, "a sequential scan has other parameters than 0, 63, 0, 0"},
      {kJpegMissingEnd, "there is no EOI marker"},
      {kJpegUselessMarker, "there is a marker without a meaning"},
      {kJpegUnknownHeader, "the JFIF version or the Adobe transform code is unknown"},
  };
  std::string all;
  for (const auto& [bit, text] : kTexts)
    if ((irregularities & bit) != 0) all += (all.empty() ? "" : "; ") + std::string(text);
  return all;
}

}  // namespace cudatransform
