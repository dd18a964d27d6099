// Parameters of the 8x8 DCT's kernels, general, fast and scaled: plain structs, passed to a kernel
// by value.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/common/divider.h"
#include "cuda/dct8x8/tuning.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quantizer.h"

namespace cudatransform::cuda {

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
  int64_t block_step;  // bytes from a block to its right neighbor
  int64_t row_step;    // bytes from a row of blocks to the next
  int64_t group_step;  // bytes from a group of eight to the block's next
};

struct PlaneParams {
  SampleParams samples;
  SampleParams reference;  // inverse with kMeasureSse
  CoefParams coefs;
  uint32_t blocks_w;
  Divider by_blocks_w;
  uint32_t blocks;      // of this plane
  uint32_t first_cta;   // no CTA has blocks of two planes; UINT32_MAX: no such plane
  int32_t level_shift;  // added by the inverse
  int32_t low, high;    // the range of samples that it is added to
};

struct FrameParams {
  PlaneParams planes[kMaxComponents];
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
  ForwardTable tables[kMaxComponents];
  InverseTable inverse_tables[kMaxComponents];
};
struct InverseParams {
  FrameParams frame;
  InverseTable tables[kMaxComponents];
};
// Where quantized coefficients are decided. The tables are islow's for every method: see
// decision.h.
struct DecidedParams {
  ForwardParams forward;
  int32_t dead_zone;  // thousandths
  uint32_t rd_weight;
  uint32_t chroma;  // a bit for each component
};
inline uint32_t chroma_bits(const Dct8x8Job& job) {
  uint32_t bits = 0;
  for (int c = 0; c < job.components; ++c) bits |= uint32_t(job.coefs[c].chroma) << c;
  return bits;
}
static_assert(sizeof(DecidedParams) <= 4096, "kernel parameters of drivers before CUDA 12.1");

// The features that distinguish kernels, in the words of kernels.h: the layout of a component's
// coefficients (and whether several threads share a block), the planes of samples that a kernel
// takes, and its additional work.
enum class Arrangement : uint32_t { kBlock, kZigzag, kPlane, kSplit, kSplitPlane };
enum class Planes { kEdged, kPairs, kFull };
enum class Variant { kPlain, kMeasure, kTimed };

// The words that collect measured sums on the device. The low `shift` bits of a word are a sum, the
// rest counts the additions to it: one atomic operation does both, and the word itself shows its
// reader whether it is complete. No memset before the kernel, no copy after it, no fence in
// between. Warps add to one of many parts: additions to one address take 7 ns each.
inline constexpr uint32_t kSumParts = 64;
struct SumInProgress {
  uint64_t parts[kSumParts];
};
struct SumsInProgress {
  SumInProgress sse[kMaxComponents];
  SumInProgress zeros[kMaxComponents];
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
  uint32_t first_cta[kMaxComponents];  // of each plane; UINT32_MAX: no such plane
  uint32_t timed;       // whether to write `times`; next to fields that every kernel reads first
  PictureTimes* times;  // pinned host memory
  uint32_t successor_first;  // whether the next kernel may be launched before this one waits
  FastPlane planes[kMaxComponents];
  float peak;                // 2^depth - 1
  float forward_dc;          // float: subtracted from the DC value
  float inverse_dc;          // float: added to the DC value
  SumsInProgress* progress;  // of kernels that are timed or measure
  // Only with measurements:
  PictureSums* sums;                 // pinned host memory
  SumLayout layout[kMaxComponents];  // by component
  uint32_t measure;
};

// float: coefficient = value x mul.
// islow: coefficient = value x mul, rounded; mul is 1 / (8 q) (1 + 2^-16), of 12 bits (1 + 2^-19):
// see FastIslow::quantize().
struct alignas(16) FastForwardTable {
  float mul[64];
};
// float: normalized value (1 is the peak) = coefficient x mul.
// islow: one word for two neighbors: bits 0..7 the first one's q, bits 24..31 the second one's;
// and the quantized coefficients that need no saturation, as pairs of 16 bits. See dequantize_low()
// and exceeds_limits(). Of 12 bits q has 16 bits, and there are no limits.
struct alignas(16) FastInverseTable {
  union {
    float mul[64];
    struct {
      uint32_t q[32];
      uint32_t limit[32];
    };
  };
};
// The limits with the other sign, which islow uses for rows of a plane.
struct FastMinusLimits {
  uint32_t of[kMaxComponents][32];  // by component
};

// Each KB of parameters makes a launch .3 us longer. Fields that few kernels need come last, and
// the most common kernels omit them.
struct FastForwardParams {
  FastFrame frame;
  FastForwardTable tables[kMaxComponents];
};
struct FastMeasureParams {
  FastForwardParams forward;
  FastInverseTable inverse[kMaxComponents];
};
// Where quantized coefficients are decided. The forward tables are islow's for every method, except
// DC.
struct FastDecidedParams {
  FastMeasureParams measure;
  // The smallest coefficient in eighths that is no zero: of a half, or of the dead zone.
  int32_t limit[kMaxComponents][64];
  uint32_t rd_weight;
  uint32_t chroma;  // a bit for each component
};
struct FastInverseParams {
  FastFrame frame;
  FastInverseTable tables[kMaxComponents];
};
struct FastPlaneInverseParams {
  FastInverseParams inverse;
  FastMinusLimits minus_limits;
};
static_assert(offsetof(FastPlaneInverseParams, inverse) == 0, "most kernels take the first part");
struct FastCompareParams {
  FastPlaneInverseParams plane;
  FastPlane reference[kMaxComponents];  // as frame.planes, with other samples
};

// Each thread makes one block of 8/scale x 8/scale samples; all of a CTA's blocks are neighbors in
// one row of blocks.
struct ScaledPlaneParams {
  // Coefficients. Groups of eight are consecutive in every layout.
  const uint8_t* coefs;
  int64_t block_step;  // bytes from a block to its right neighbor
  int64_t row_step;    // bytes from a row of blocks to the next
  int64_t group_step;  // bytes from a group of eight to the block's next
  int32_t blocks_w;
  uint32_t first_cta;     // UINT32_MAX: no such plane
  uint32_t ctas_per_row;  // of blocks

  // Samples.
  uint8_t* samples;
  int64_t pitch;
  int32_t width;
  int32_t rows;    // of the component
  int32_t height;  // in memory: rows x row_repeat, or less
  int32_t row_repeat;
  int32_t stride;
  int32_t shift;
  int32_t level_shift;  // added by the inverse,
  int32_t low, high;    // the range of samples with it,
  int32_t bias;         // and subtracted again after rounding (signed samples)
};

struct ScaledParams {
  ScaledPlaneParams planes[kMaxComponents];
  PictureSums* sums;  // device memory; kMeasureZeros only
  Order order;
  SampleType sample_type;
  // By component.
  InverseTable tables[kMaxComponents];
  FastInverseTable islow_tables[kMaxComponents];  // of the fast islow kernels of 1/2 and 1/4 alone
};
static_assert(sizeof(ScaledParams) <= 4096, "kernel parameters of drivers before CUDA 12.1");

}  // namespace cudatransform::cuda
