// Common to all transforms of pictures: directions, orientations, planes of samples, and
// measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform {

// The components of a picture: Y Cb Cr, R G B, or gray alone. Kernels' parameters are as long.
inline constexpr int kMaxComponents = 3;

enum class Direction { kForward, kInverse };

// How a picture is rotated and mirrored: rows become columns if `transposes`, then columns and rows
// are mirrored.
struct Orientation {
  bool transposes = false;
  bool mirrors_x = false;  // the left side becomes the right one
  bool mirrors_y = false;

  bool operator==(const Orientation&) const = default;
};

enum class SampleType {
  kU8,
  kU16,  // little endian, `shift` bits above the sample's own
  kS16,  // inverse only: signed, neither level shifted nor clamped to the depth (IEEE 1180 tests)
};

// One component's samples. Addresses are the engine's: host memory for the CPU engine, device
// memory for the CUDA engine. Components are in the order Y Cb Cr, or R G B.
struct SamplePlane {
  void* data = nullptr;    // the first sample
  ptrdiff_t pitch = 0;     // bytes from one row to the next
  int32_t width = 0;       // visible samples in a row
  int32_t height = 0;      // visible rows in memory
  int32_t stride = 1;      // bytes from a sample to its right neighbor (NV12 chroma: 2)
  int32_t shift = 0;       // kU16: left shift of a sample in its container (P010: 6)
  int32_t row_repeat = 1;  // inverse: memory rows that get each component row (4:4:0 as 4:4:4: 2)
  SampleType type = SampleType::kU8;

  int32_t rows() const { return (height + row_repeat - 1) / row_repeat; }  // component rows
};

// Sums over one frame, by component, over visible samples (sse) and all stored coefficients
// (zeros). The caller divides.
struct PictureSums {
  uint64_t sse[kMaxComponents];    // squared difference of samples at their own depth
  uint64_t zeros[kMaxComponents];  // coefficients equal to zero, as stored
};

// When the work began and ended by the engine's own clock, in ns; `end` is 0 until then.
struct PictureTimes {
  uint64_t begin;
  uint64_t end;
};

enum MeasureFlags : uint32_t {
  kMeasureSse = 1,    // forward: reconstruction by the same method against the source;
                      // inverse, scale 1 only: output against `reference`
  kMeasureZeros = 2,  // count zero coefficients (forward: written, inverse: read)
};

}  // namespace cudatransform
