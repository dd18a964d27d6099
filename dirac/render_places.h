// The places of a picture's samples, coefficients and residuals in a renderer's memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

#include "dirac/picture.h"
#include "transform/picture.h"

namespace cudatransform {

// A component's samples side by side, rows aligned; without data.
SamplePlane describe_dirac_plane(const DiracSequence& sequence, int component, SampleType type);
// The sample type of a component of a rendered picture.
SampleType dirac_sample_type(const DiracSequence& sequence, int component);
inline size_t bytes_of_plane(const SamplePlane& plane) {
  return static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
}
// The bytes of a picture's samples.
size_t bytes_of_dirac_picture(const DiracSequence& sequence);
// The bytes of a frame that is written, all of whose samples are as wide as the widest.
size_t bytes_of_dirac_frame(const DiracSequence& sequence);

// Whether there is a transform.
bool has_dirac_levels(const DiracPicture& picture);
// Whether its inverse may write the picture's samples itself.
bool writes_dirac_samples(const DiracPicture& picture);

// The places of a picture's coefficients and residual in the scratch memory; `is_final`: the
// residual is the samples, which lie elsewhere.
struct DiracResidualPlaces {
  ptrdiff_t pyramid_pitch[kMaxComponents], residual_pitch[kMaxComponents];
  size_t pyramid[kMaxComponents], residual[kMaxComponents];
  size_t pyramid_bytes = 0, bytes = 0;
};

DiracResidualPlaces dirac_residual_places(const DiracPicture& picture, size_t coef_bytes,
                                          bool is_final);

}  // namespace cudatransform
