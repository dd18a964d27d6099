// Losslessly rotates, mirrors and crops the coefficients of a picture, as a job.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A block's cosines are even or odd: mirroring a block negates every second coefficient, and
// rotating it transposes them. The rules of edges are those of libjpeg's jpegtran.
#pragma once

#include <cstdint>
#include <string>

#include "transform/coeffilter/coefs.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/device/device.h"
#include "transform/device/host_device_macros.h"
#include "transform/picture.h"

namespace cudatransform {

// ---- The geometry of a picture ----

// A picture and the samples of a whole MCU, the blocks that belong together across components:
// 8 x the largest sampling factor; 8 for a single component.
struct FlipPicture {
  int32_t width = 0, height = 0;
  int32_t mcu_width = 8, mcu_height = 8;
};

struct FlipRequest {
  Orientation orientation;
  // Of the transformed picture, in samples. It begins at a whole MCU: columns and rows before the
  // requested ones stay if necessary. A size of 0 goes to the edge.
  int32_t left = 0, top = 0, width = 0, height = 0;
  // Drop the partial MCUs that would have to become the first ones.
  bool trim = false;
  // Fail where there are such.
  bool perfect = false;

  bool operator==(const FlipRequest&) const = default;
};

struct FlipPlan {
  int32_t width = 0, height = 0;  // of the result
  int32_t left = 0, top = 0;      // its first MCU in the transformed picture, in MCUs
  // The MCUs of the transformed picture from its left and top that are mirrored. Those after stay
  // at their places, because a file cannot begin with a partial one: jpegtran does so.
  int32_t mirrored_w = 0, mirrored_h = 0;
};

// Fails where the requested rectangle is not in the transformed picture, and for what `perfect`
// rejects.
Status plan_flip(const FlipPicture& picture, const FlipRequest& request, FlipPlan* plan);

// What was done to a picture.
struct PictureFlip {
  FlipPicture picture;  // before
  Orientation orientation;
  FlipPlan plan;
  bool is_upright = false;  // the orientation is the one that undoes the Exif orientation
};

// Where the result has partial MCUs that should have been mirrored: "right edge", "bottom edge" or
// "right and bottom edges"; empty: nowhere.
std::string unmirrored_edges(const PictureFlip& flip);
// Whether the result shows all of the picture, except for less than half a sample of an image of
// that size.
bool shows_all(const PictureFlip& flip, const FlipPicture& size);
// Moves a sample of the picture to its place in the result; false where that does not show it.
bool flip_point(const PictureFlip& flip, int32_t* x, int32_t* y);
// The flip of `other`, an image of the same view in another size (a gain map, a preview), that
// corresponds to the picture's. False where that is not possible without loss: where `other` would
// have an edge that is not mirrored or a crop that is not at its MCUs and samples, and where only a
// part remains and the two differ in their aspect ratio.
bool flip_along(const PictureFlip& flip, const FlipPicture& other, FlipRequest* request);

// ---- A job ----

// The blocks of one component, counted in the transformed component: the result's first one; and up
// to which ones they are mirrored, among themselves.
struct FlipPlace {
  int32_t left = 0, top = 0;
  int32_t mirrored_w = 0, mirrored_h = 0;
};

// Of a component that has this many blocks of an MCU of the result.
FlipPlace flip_place(const FlipPlan& plan, int32_t across, int32_t down);
// The divisors of a picture that is transposed.
QuantTable transposed(const QuantTable& table);

struct FlipJob {
  CoefNumber number = CoefNumber::kS16;
  CoefArrangement arrangement = CoefArrangement::kBlock;  // not kBand
  Orientation orientation;
  int components = 0;
  CoefArray from[kMaxCoefArrays], to[kMaxCoefArrays];
  FlipPlace places[kMaxCoefArrays];
  Timer* timer = nullptr;
};

// Checks everything that an engine relies on. Engines call it first. Both sides do not overlap.
Status validate(const FlipJob& job);

// The operation of one engine. The call returns immediately; `fence` (may be null) is done when the
// output is complete.
struct FlipOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const FlipJob& job, FencePtr* fence);
};

// The CPU engine, on a host device.
const FlipOps& host_flip_ops();

// ---- Arithmetic that engines share ----

// The source of a block of the result along one axis, and whether it is mirrored on it.
struct FlipSource {
  int32_t at;
  bool mirrored;
};
CT_HD FlipSource flip_source(int32_t block, int32_t first, bool mirrors, int32_t mirrored) {
  const int32_t at = first + block;
  const bool is_mirrored = mirrors && at < mirrored;
  return {is_mirrored ? mirrored - 1 - at : at, is_mirrored};
}

// Bit i of the result: the coefficient at natural index i of a mirrored block is negated.
constexpr uint64_t flip_negated(bool x, bool y) {
  constexpr uint64_t kOddColumns = 0xaaaaaaaaaaaaaaaa, kOddRows = 0xff00ff00ff00ff00;
  return (x ? kOddColumns : 0) ^ (y ? kOddRows : 0);
}

}  // namespace cudatransform
