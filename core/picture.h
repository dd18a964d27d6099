// Pictures of quantized coefficients: their layout in memory, and what else of their files they
// keep.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cudatransform.h"
#include "core/engine.h"
#include "jpeg/tables.h"
#include "transform/coeffilter/coefs.h"

namespace cudatransform::core {

// The bytes of a row of blocks.
constexpr int64_t qcoef_row_bytes(int32_t blocks_w) { return int64_t{blocks_w} * 64 * 2; }

CtColor color_of(JpegColor color);
JpegSampling sampling_of(const CtPicture& picture);
JpegColor color_of(CtColor color);

// Whether sizes, factors, components and tables of a caller's picture belong together.
// kInvalidArgument: why not.
Status check_qcoefs(const CtPicture& picture);
// Sets the sizes of components by those of the picture, their factors and color.
void set_sizes(CtPicture* picture);
// Gives a picture with sizes a block for its quantized coefficients.
Status make_qcoefs(CtEngine& engine, CtPicture* picture);
// The quantized coefficients of a component, as engines take them.
CoefArray coefs_of(const CtComponent& component);

// Memory for the rest of a file, to be filled in: attachments' places, segments, and trailing data.
// The picture has their sizes; without any it has no such memory.
struct RestMemory {
  CtPlace* places = nullptr;
  uint8_t *markers = nullptr, *trailing = nullptr;
};
Status make_rest(size_t places, size_t markers, size_t trailing, CtPicture* picture,
                 RestMemory* rest);

}  // namespace cudatransform::core
