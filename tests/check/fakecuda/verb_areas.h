// Memory that the kernels of verbs, of RGB, of range conversions and of upsampling read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuda/obmc/params.h"
#include "cuda/range/params.h"
#include "cuda/rgb/params.h"
#include "cuda/verbs/convert_params.h"
#include "cuda/verbs/flip_quant_params.h"

namespace fakecuda {

// `add` takes first address, pitch, width and rows of an area, and whether it is written; `bytes`
// are those of a coefficient.

template <typename Add>
void add_blocks(const uint8_t* data, const cudatransform::cuda::VerbSteps& steps, int bytes,
                int64_t across, int64_t down, bool written, const Add& add) {
  const int64_t eight = 8 * bytes;
  if (steps.across == 8 * eight)
    add(data, steps.down, across * 8 * eight, down, written);
  else if (steps.across == eight)
    add(data, steps.lane, across * eight, 8 * down, written);
  else  // bands
    add(data, steps.down, across * bytes, 64 * down, written);
}

template <typename Add>
void flip_areas(const cudatransform::cuda::FlipParams& params, int bytes, bool transposes,
                const Add& add) {
  // The first source block of a row or column of blocks, and how many there are to the last one.
  // Blocks of partial MCUs stay where they are, so sources are not in order.
  const auto sources = [](int32_t blocks, int32_t first, bool mirrors, int32_t mirrored) {
    int32_t least = INT32_MAX, most = 0;
    for (int32_t i = 0; i < blocks; ++i) {
      const int32_t at = cudatransform::flip_source(i, first, mirrors, mirrored).at;
      least = std::min(least, at);
      most = std::max(most, at);
    }
    return std::pair(least, most - least + 1);
  };
  for (const auto& plane : params.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    const cudatransform::FlipPlace& place = plane.place;
    auto [x, across] = sources(plane.blocks_w, place.left, params.mirrors_x, place.mirrored_w);
    auto [y, down] = sources(plane.blocks_h, place.top, params.mirrors_y, place.mirrored_h);
    if (transposes) {
      std::swap(x, y);
      std::swap(across, down);
    }
    add_blocks(plane.from + y * plane.from_steps.down + int64_t{x} * plane.from_steps.across,
               plane.from_steps, bytes, across, down, false, add);
    add_blocks(plane.to, plane.to_steps, bytes, plane.blocks_w, plane.blocks_h, true, add);
  }
}

template <typename Add>
void convert_areas(const cudatransform::cuda::ConvertParams& params, int from_bytes, int to_bytes,
                   const Add& add) {
  for (int32_t c = 0; c < params.components; ++c) {
    const cudatransform::cuda::ConvertPlane& plane = params.planes[c];
    add_blocks(plane.from, plane.from_steps, from_bytes, plane.blocks_w, plane.blocks_h, false,
               add);
    add_blocks(plane.to, plane.to_steps, to_bytes, plane.blocks_w, plane.blocks_h, true, add);
  }
}

template <typename Add>
void quant_areas(const cudatransform::cuda::RequantParams& params, int bytes, const Add& add) {
  for (const auto& plane : params.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    const int64_t down = plane.blocks / plane.blocks_w;
    add_blocks(plane.from, plane.from_steps, bytes, plane.blocks_w, down, false, add);
    add_blocks(plane.to, plane.to_steps, bytes, plane.blocks_w, down, true, add);
  }
}

template <typename Add>
void rgb_areas(const cudatransform::cuda::RgbParams& params, bool inverse, bool is_general,
               const Add& add) {
  const bool planar = params.places == cudatransform::cuda::RgbPlaces::kPlanes;
  for (uint32_t c = 0; c < 3; ++c) {
    const auto& plane = params.planes[c];
    // The general kernel writes one component.
    const bool used = inverse || !is_general || c == params.component;
    if (used && plane.data != nullptr)
      add(plane.data, plane.pitch, plane.width, plane.height, !inverse);
    if (c == 0 || planar)
      add(params.rgb[c], params.pitch[c], int64_t{params.width} * params.pixel_bytes, params.height,
          inverse);
  }
}

template <typename Add>
void range_areas(const cudatransform::cuda::RangeParams& params, const Add& add) {
  for (const auto& plane : params.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    add(plane.from, plane.from_pitch, plane.row_bytes, plane.rows, false);
    add(plane.to, plane.to_pitch, plane.row_bytes, plane.rows, true);
  }
}

// `bytes` are those of a sample.
template <typename Add>
void upsample_areas(const cudatransform::cuda::UpsampleParams& params, int64_t bytes,
                    const Add& add) {
  for (const auto& component : params.components) {
    if (component.first_cta == UINT32_MAX) continue;
    for (int p = 0; p < 4; p++)
      add(component.planes[p].data, component.planes[p].pitch, component.width * bytes,
          component.height, p > 0);
  }
}

}  // namespace fakecuda
