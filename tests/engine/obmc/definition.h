// Motion compensation by the specification, one sample after another: the judge of engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "transform/obmc/obmc.h"

namespace cudatransform::test {

// Consecutive rows of samples.
struct Grid {
  int32_t width = 0, height = 0;
  std::vector<int64_t> values;
  Grid(int32_t w, int32_t h)
      : width(w), height(h), values(static_cast<size_t>(w) * static_cast<size_t>(h)) {}
  int64_t& at(int64_t x, int64_t y) { return values[static_cast<size_t>(y * width + x)]; }
  // The value at the nearest existing place.
  int64_t clamped(int64_t x, int64_t y) const;
};

// Of (2 width - 1) x (2 height - 1): `plane` at whole and half positions.
Grid define_upsampled(const SamplePlane& plane, int depth);

// The samples of a component, as an engine stores them.
Grid define_compensated(const ObmcJob& job, int component);

}  // namespace cudatransform::test
