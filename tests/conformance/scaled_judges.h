// JPEG files decoded at 1/2, 1/4 and 1/8 by others: TurboJPEG and djpeg.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/flat_job.h"

namespace cudatransform::test {

// Both throw std::runtime_error with the judge's own message.

// Every component at 1/scale by tjDecompressToYUVPlanes, which keeps the sampling. Visible samples
// only: TurboJPEG's planes are padded to whole MCUs of one sample. `fast`: TJFLAG_FASTDCT. Empty
// where TurboJPEG, which takes sizes instead of a scale, would take a larger scale of the same size
// (pictures of one or two samples); and with CUDATRANSFORM_SANITIZED=1 where TurboJPEG 2.1 reads
// past the end of a row of its own, for samples that are only padding.
BytePicture turbojpeg_planes(const std::vector<uint8_t>& file, int scale, bool fast);

// The output of `djpeg -dct METHOD -scale 1/SCALE`, one or three planes: no conversion where the
// file is grey or RGB. Empty where there is no djpeg.
BytePicture djpeg_planes(const std::vector<uint8_t>& file, int scale, const std::string& method);

}  // namespace cudatransform::test
