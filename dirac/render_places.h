// Where the samples, coefficients and residuals of a picture lie in a renderer's memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

#include "dirac/picture.h"
#include "transform/picture.h"

namespace cudatransform {

// A component's samples side by side, rows aligned; without data.
SamplePlane describe_dirac_plane(const DiracSequence& sequence, int component, SampleType type);
// Of a component of a rendered picture.
SampleType dirac_sample_type(const DiracSequence& sequence, int component);
inline size_t bytes_of_plane(const SamplePlane& plane) {
  return static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
}
// Of a picture's samples.
size_t bytes_of_dirac_picture(const DiracSequence& sequence);
// Of a frame that is written, all of whose samples are as wide as the widest.
size_t bytes_of_dirac_frame(const DiracSequence& sequence);

// Whether there is a transform.
bool has_dirac_levels(const DiracPicture& picture);
// Whether its inverse may write the picture's samples itself.
bool writes_dirac_samples(const DiracPicture& picture);

// Where the coefficients and the residual of a picture lie in the scratch memory; `is_final`: the
// residual are the samples, which do not lie there.
struct DiracResidualPlaces {
  ptrdiff_t pyramid_pitch[kMaxComponents], residual_pitch[kMaxComponents];
  size_t pyramid[kMaxComponents], residual[kMaxComponents];
  size_t pyramid_bytes = 0, bytes = 0;
};

DiracResidualPlaces dirac_residual_places(const DiracPicture& picture, size_t coef_bytes,
                                          bool is_final);

}  // namespace cudatransform
