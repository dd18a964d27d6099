// The samples of a picture by the specifications: the judge of dirac/ and its renderer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/dirac/encoder/picture.h"
#include "tests/engine/dwt/definition.h"
#include "tests/engine/frame.h"
#include "transform/picture.h"

namespace cudatransform::test {

// Not copied: the plane points into it. It may be moved.
class WidePlane {
 public:
  WidePlane(int width, int height, SampleType type)
      : data_(static_cast<size_t>(width) * static_cast<size_t>(height)) {
    plane.data = data_.data();
    plane.type = type;
    plane.stride = 2;
    plane.width = width;
    plane.height = height;
    plane.pitch = ptrdiff_t{2} * width;
  }
  WidePlane(WidePlane&&) = default;
  WidePlane(const WidePlane&) = delete;
  WidePlane& operator=(const WidePlane&) = delete;

  void set(int x, int y, int64_t value) {
    data_[static_cast<size_t>(y) * static_cast<size_t>(plane.width) + static_cast<size_t>(x)] =
        static_cast<uint16_t>(value);
  }
  SamplePlane plane;

 private:
  std::vector<uint16_t> data_;
};

// The prediction of the coefficient at (x, y) of an intra picture's coarsest band, from the ones
// left of, above, and above to the left of it.
template <typename Coefficients>
int64_t dc_prediction(const Coefficients& known, int x, int y) {
  if (x == 0 && y == 0) return 0;
  if (y == 0) return known.at(x - 1, y);
  if (x == 0) return known.at(x, y - 1);
  const int64_t sum = int64_t{known.at(x - 1, y)} + known.at(x - 1, y - 1) + known.at(x, y - 1) + 1;
  return sum >= 0 ? sum / 3 : -((-sum + 2) / 3);
}

// Dirac specification 2.2.3, clauses 13 and 15; SMPTE ST 2042-1, clauses 13 and 15. The wavelet and
// motion compensation are those of tests/engine.

struct DefinedPicture {
  uint32_t number = 0;
  bool is_damaged = false;  // a reference was missing, of this picture or of one of its references
  Plane planes[kMaxComponents];
};

// Mid-gray, for a missing reference.
DefinedPicture define_gray(const DiracSequence& sequence);

// A value from a quantized coefficient.
int64_t define_dequantized(int64_t qcoef, int quantizer, bool is_intra, dwt::Rule rule);

// `references`: the picture's own. `rule`: where numbers wrap.
DefinedPicture define_picture(const DiracSequence& sequence, const CodedPicture& picture,
                              const DefinedPicture* const* references, dwt::Rule rule);

// Quantized coefficients of a component whose values are `values`, padded, with the picture's
// quantizers: the inverse of the definition, except for the quantizers' losses.
void quantize_component(CodedPicture* picture, int component, const dwt::Values& values);
dwt::Shape shape_of(const DiracTransform& transform);

}  // namespace cudatransform::test
