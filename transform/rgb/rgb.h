// RGB from the planes of a JPEG file, and back, as jobs: chroma's sampling, and color.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The bytes are those of libjpeg-turbo. Every engine offers an RgbOps; all of them write the same
// bytes. Samples are of 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform {

inline constexpr int32_t kMaxRgbSide = 1 << 16;  // files have 65535
inline constexpr int kMaxRgbSubsampling = 4;

// The bytes of a pixel in the order of their addresses. x is written as 255, opaque, and not read.
// RGBA, BGRA, ARGB and ABGR are the packings that have x there.
enum class RgbPacking { kRgb, kBgr, kRgbx, kBgrx, kXrgb, kXbgr, kPlanar };
inline constexpr int kRgbPackingCount = 7;

struct RgbImage {
  RgbPacking packing = RgbPacking::kRgb;
  int32_t width = 0, height = 0;
  // kPlanar: of R, G and B, in any order; else the first alone.
  void* data[3] = {};
  ptrdiff_t pitch[3] = {};  // bytes from one row to the next

  int planes() const { return packing == RgbPacking::kPlanar ? 3 : 1; }
};

// The meaning of planes, as declared by files.
enum class RgbColor {
  kGray,   // one component, which is all of R, G and B; the inverse: their luma
  kYcbcr,  // three: JFIF's, full range
  kRgb,    // three: R, G, B as they are
};

// How many samples of the picture one of a component covers, in a row and in a column. After
// a scaled inverse the picture is the smaller one; and where libjpeg gives chroma a larger inverse
// than luma, this is the remainder.
struct RgbSubsampling {
  int x = 1, y = 1;  // 1 to kMaxRgbSubsampling
};

// The scale of the inverse of a component whose picture is reduced to 1/`scale`, and its remaining
// subsampling. As in libjpeg (jdmaster.c), a component that has half the columns and half the rows
// gets an inverse twice as large instead of an upsampling.
struct RgbScale {
  int scale;
  RgbSubsampling left;
};
inline RgbScale rgb_scale(RgbSubsampling by, int scale) {
  for (; scale > 1 && by.x % 2 == 0 && by.y % 2 == 0; scale /= 2) by = {by.x / 2, by.y / 2};
  return {scale, by};
}

enum class ChromaUpsampling {
  // Triangle filters where a component has half the columns, half the rows, or both. Samples of all
  // others are repeated, and so are those of components with half the columns that have one or two.
  // libjpeg-turbo does so without options, but repeats after an inverse at 1/8 of the size.
  kFancy,
  kNearest,  // each sample is repeated, as by `djpeg -nosmooth`
};

struct RgbJob {
  // kInverse, after the inverse DCT: planes to RGB; kForward: RGB to planes.
  Direction direction = Direction::kInverse;
  RgbColor color = RgbColor::kYcbcr;
  RgbSubsampling subsampling[kMaxComponents];
  // Bytes side by side. Inverse: of rgb_plane_side(). Forward: at least as large, and at most as
  // large as that in whole blocks of 8x8. Samples after the picture's are those that cjpeg fills
  // blocks with. They differ from chroma's last column, which the DCT repeats by itself.
  SamplePlane planes[kMaxComponents];
  RgbImage rgb;
  ChromaUpsampling upsampling = ChromaUpsampling::kFancy;  // for the inverse

  int components() const { return color == RgbColor::kGray ? 1 : 3; }
};

// The samples of a component along a side of the picture.
inline int32_t rgb_plane_side(int32_t picture, int subsampling) {
  return (picture + subsampling - 1) / subsampling;
}

// Checks everything that an engine relies on; no memory that is written overlaps other memory.
Status validate(const RgbJob& job);

// The operation of one engine. The call returns immediately; `fence` (may be null) is done when
// outputs are complete.
struct RgbOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const RgbJob& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch), oneTBB over strips of rows.
const RgbOps& host_rgb_ops();

// The same with rows in portable C++. The vector code is tested against it, and takes from it rows
// that are shorter than a vector.
const RgbOps& portable_rgb_ops();

}  // namespace cudatransform
