// What the 8x8 DCT kernels are told: plain structs, passed to a kernel by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"

namespace cudatransform::cuda {

// Threads in a CTA of the fused kernels, and how many 8x8 blocks those have.
inline constexpr unsigned kFusedThreads = 64;
// Where a frame is small: threads that share a block, and those in a CTA.
inline constexpr unsigned kSplitThreads = 8, kSplitCtaThreads = 128;
// Threads in a CTA of the repack and teaching kernels: four 8x8 blocks with a thread a sample.
inline constexpr unsigned kRepackThreads = 256;

// n / d for n < 2^31 as (n * multiplier) >> shift: a multiplication instead of some twenty
// instructions. Exact with shift = 31 + ceil(log2 d) and multiplier = ceil(2^shift / d): see
// T. Granlund, P. Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994.
struct Divider {
  uint32_t multiplier;
  uint32_t shift;
};

struct SampleParams {
  uint8_t* data;
  int64_t pitch;
  int32_t width;
  int32_t rows;    // of the component
  int32_t height;  // in memory: rows x row_repeat, or less
  int32_t stride;
  int32_t shift;
  int32_t bias;  // taken off after rounding: the level shift of signed samples, else 0
  int32_t row_repeat;
  SampleType type;
};

// Groups of eight coefficients are consecutive in every layout: a row of a block, or an eighth of
// its zigzag sequence.
struct CoefParams {
  uint8_t* data;
  int64_t block_step;  // bytes from a block to its right neighbour
  int64_t row_step;    // bytes from a row of blocks to the next
  int64_t group_step;  // bytes from a group of eight to the block's next
};

struct PlaneParams {
  SampleParams samples;
  SampleParams reference;  // inverse with kMeasureSse
  CoefParams coefs;
  uint32_t blocks_w;
  Divider by_blocks_w;
  uint32_t blocks;       // of this plane
  uint32_t first_block;  // in the sequence of all planes' blocks; UINT32_MAX: no such plane
  uint32_t first_cta;    // fused kernels: no CTA has blocks of two planes
  int32_t level_shift;   // what the inverse adds
  int32_t low, high;     // the range of samples that it is added to
};

struct FrameParams {
  PlaneParams planes[3];
  PictureSums* sums;  // device memory
  uint32_t measure;
  CoefType type;
  Order order;
  int32_t peak;  // 2^depth - 1
};

// Tables are by component, not by CoefPlane::table. The forward kernels need the inverse's too when
// they measure.
struct ForwardParams {
  FrameParams frame;
  ForwardTable tables[3];
  InverseTable inverse_tables[3];
};
struct InverseParams {
  FrameParams frame;
  InverseTable tables[3];
};
// Repack kernels work on blocks first .. first + count - 1 of the sequence of all planes' blocks.
struct RepackParams {
  ForwardParams job;
  uint32_t first;
  uint32_t count;
};
static_assert(sizeof(RepackParams) <= 4096, "kernel parameters of drivers before CUDA 12.1");

// ---- The fast kernels: the common formats, with little to be told and to compute per block ----

// Where measured sums are collected on the device. The low `shift` bits of a word are a sum, the
// rest counts the additions to it: one atomic operation does both, and whoever reads a word knows
// whether it is complete. No memset before the kernel, no copy behind it, no fence in between.
// Warps add to one of many parts: additions to one address take 7 ns each.
inline constexpr uint32_t kSumParts = 64;
struct SumInProgress {
  uint64_t parts[kSumParts];
};
struct SumsInProgress {
  SumInProgress sse[3];
  SumInProgress zeros[3];
  SumInProgress finished;  // of a kernel that is timed and measures nothing: counts warps
};
struct SumLayout {
  uint32_t sse_shift, zeros_shift;
  uint32_t warps;  // that add; 0: no such component
};

// Words, not bytes: only those can be loaded into uniform registers.
struct FastPlane {
  uint8_t* samples;    // aligned to a row of a block: 8 bytes, or 16 of 16-bit samples
  uint8_t* coefs[2];   // [1]: of the second component, where two share the plane
  int64_t row_step;    // Layout::kPlane: bytes from a row of blocks to the next
  int32_t coef_pitch;  // Layout::kPlane: bytes from a row of coefficients to the next
  int32_t pitch;
  int32_t width, rows;
  uint32_t blocks_w;
  Divider by_blocks_w;
  uint32_t blocks;  // of both components
  int32_t shift;
  // Two components whose samples alternate (NV12's chroma). Blocks alternate as well: even ones
  // belong to the first component.
  uint32_t interleaved;
  uint32_t component[2];
};

struct FastFrame {
  uint32_t first_cta[3];  // of each plane; UINT32_MAX: no such plane
  uint32_t timed;         // whether `times` is to be written; beside what every kernel reads first
  PictureTimes* times;    // pinned host memory
  FastPlane planes[3];
  float peak;                // 2^depth - 1
  float forward_dc;          // float: what the DC value loses
  float inverse_dc;          // float: what the DC value gets
  SumsInProgress* progress;  // of kernels that are timed or measure
  // Only with measurements:
  PictureSums* sums;    // pinned host memory
  SumLayout layout[3];  // by component
  uint32_t measure;
};

// float: coefficient = value x mul.
// islow: coefficient = value x mul, rounded; mul is 1 / (8 q) (1 + 2^-16): see
// FastIslow::quantize().
struct alignas(16) FastForwardTable {
  float mul[64];
};
// float: normalised value (1 is the peak) = coefficient x mul.
// islow: one word for two neighbours: bits 0..7 the first one's q, bits 24..31 the second one's;
// and the levels that need no saturation, as pairs of 16 bits. See dequantize_low()
// and exceeds_limits().
struct alignas(16) FastInverseTable {
  union {
    float mul[64];
    struct {
      uint32_t q[32];
      uint32_t limit[32];
    };
  };
};
// The limits with the other sign, which islow wants for rows of a plane.
struct FastMinusLimits {
  uint32_t of[3][32];  // by component
};

// A launch takes .3 us longer for each KB that it tells a kernel: what few kernels want comes last,
// and the commonest do not take it.
struct FastForwardParams {
  FastFrame frame;
  FastForwardTable tables[3];
};
struct FastMeasureParams {
  FastForwardParams forward;
  FastInverseTable inverse[3];
};
struct FastInverseParams {
  FastFrame frame;
  FastInverseTable tables[3];
};
struct FastPlaneInverseParams {
  FastInverseParams inverse;
  FastMinusLimits minus_limits;
};
static_assert(offsetof(FastPlaneInverseParams, inverse) == 0, "most kernels take the first part");
struct FastCompareParams {
  FastPlaneInverseParams plane;
  FastPlane reference[3];  // as frame.planes, with other samples
};

}  // namespace cudatransform::cuda
