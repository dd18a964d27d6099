// libjpeg-turbo as a judge: planes to quantized coefficients, quantized coefficients to planes,
// through its raw-data interface.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/flat_job.h"

namespace cudatransform::test {

// Sampling factors of the luma component; those of chroma are 1. {1, 1} is also gray.
struct JpegSampling {
  int h, v;
};

// Source planes of a JPEG file.
struct Source {
  std::string name;
  JpegSampling sampling;
  int width, height;
  BytePicture planes;
};

// Components of a picture whose luma has the samples fill(c, x, y), and whose chroma has those at
// its positions in luma. Adds kind and sizes to the name.
using Fill = std::function<int(size_t c, int x, int y)>;
Source make_source(const std::string& name, JpegSampling sampling, size_t components, int width,
                   int height, const Fill& fill);

// The qualities at which all samples and quantized coefficients are compared with libjpeg-turbo's.
inline constexpr int kQualities[] = {1, 5, 25, 50, 75, 90, 95, 100};
// Annex K at that quality: luma for the first component, chroma for the others.
std::vector<QuantTable> tables_for(size_t components, int quality);

// All throw std::runtime_error with libjpeg's message on an error.

// `planes`: 1 or 3, of the sizes that the factors give; edges are replicated here. Tables of
// components 0 and 1 (2 shares with 1). `width` x `height`: of the picture. `rgb`: the three planes
// are R, G and B, all of table 0.
std::vector<uint8_t> jpeg_from_planes(const BytePicture& planes, JpegSampling sampling, int width,
                                      int height, std::span<const QuantTable> tables, Method method,
                                      bool rgb = false);

struct JpegContents {
  int width = 0, height = 0;
  JpegSampling sampling{1, 1};
  Qcoefs qcoefs;
  std::vector<QuantTable> tables;  // one per component
  BytePicture planes;              // sizes alone, or samples after jpeg_planes()
};
JpegContents jpeg_qcoefs(const std::vector<uint8_t>& file);
// Samples as `method` decodes them, without upsampling or color conversion.
JpegContents jpeg_planes(const std::vector<uint8_t>& file, Method method);

// The tables (luma, chroma) of jpeg_set_quality(quality, TRUE).
std::vector<QuantTable> jpeg_quality_tables(int quality);

}  // namespace cudatransform::test
