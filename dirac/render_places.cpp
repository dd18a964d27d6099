// The places of a picture's samples, coefficients and residuals in a renderer's memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/render_places.h"

namespace cudatransform {

namespace {

constexpr size_t kAlignment = 64;

size_t rounded_up(size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace

SamplePlane describe_dirac_plane(const DiracSequence& sequence, int component, SampleType type) {
  SamplePlane plane;
  plane.type = type;
  plane.stride = type == SampleType::kU8 ? 1 : 2;
  plane.width = static_cast<int32_t>(sequence.picture_width(component));
  plane.height = static_cast<int32_t>(sequence.picture_height(component));
  plane.pitch = static_cast<ptrdiff_t>(
      rounded_up(static_cast<size_t>(plane.width) * static_cast<size_t>(plane.stride)));
  return plane;
}
SampleType dirac_sample_type(const DiracSequence& sequence, int component) {
  return sequence.depth(component) <= 8 ? SampleType::kU8 : SampleType::kU16;
}

bool has_dirac_levels(const DiracPicture& picture) {
  const DwtLevels& levels = picture.transform().levels;
  return levels.both + levels.horizontal > 0;
}

DiracResidualPlaces dirac_residual_places(const DiracPicture& picture, size_t coef_bytes,
                                          bool is_final) {
  DiracResidualPlaces places;
  const auto take = [&](ptrdiff_t pitch, int64_t rows) {
    const size_t at = places.bytes;
    places.bytes += static_cast<size_t>(pitch) * static_cast<size_t>(rows);
    return at;
  };
  const auto pitch_of = [](int64_t width, size_t bytes) {
    return static_cast<ptrdiff_t>(rounded_up(static_cast<size_t>(width) * bytes));
  };
  for (int c = 0; c < kMaxComponents; ++c) {
    const DiracPaddedSize size = dirac_padded(picture.sequence(), picture.transform().levels, c);
    places.pyramid_pitch[c] = pitch_of(size.width, coef_bytes);
    places.pyramid[c] = take(places.pyramid_pitch[c], size.height);
    places.pyramid_bytes += places.bytes - places.pyramid[c];
    // Without a wavelet coefficients are the residual. Padding has room there.
    places.residual_pitch[c] = places.pyramid_pitch[c];
    places.residual[c] = places.pyramid[c];
    if (is_final || !has_dirac_levels(picture)) continue;
    places.residual_pitch[c] = pitch_of(size.width, sizeof(int16_t));
    places.residual[c] = take(places.residual_pitch[c], size.height);
  }
  return places;
}

size_t bytes_of_dirac_picture(const DiracSequence& sequence) {
  size_t bytes = 0;
  for (int c = 0; c < kMaxComponents; ++c)
    bytes += bytes_of_plane(describe_dirac_plane(sequence, c, dirac_sample_type(sequence, c)));
  return bytes;
}

size_t bytes_of_dirac_frame(const DiracSequence& sequence) {
  size_t count = 0, width = 1;
  for (int c = 0; c < kMaxComponents; ++c) {
    count += size_t{sequence.picture_width(c)} * sequence.frame_height(c);
    if (dirac_sample_type(sequence, c) == SampleType::kU16) width = 2;
  }
  return count * width;
}

bool writes_dirac_samples(const DiracPicture& picture) {
  const DiracSequence& sequence = picture.sequence();
  const int depth = sequence.depth(0);
  return picture.header().is_intra() && picture.has_residual() && has_dirac_levels(picture) &&
         depth == sequence.depth(1) && (depth == 8 || depth == 10 || depth == 12 || depth == 16);
}

}  // namespace cudatransform
