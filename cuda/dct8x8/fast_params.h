// Parameters of the fast kernels: plain structs, passed to a kernel by value. Few words, and little
// to compute from them for each block.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/common/divider.h"
#include "cuda/dct8x8/general_params.h"

namespace cudatransform::cuda {

// The features that tell kernels apart, in the words of kernels.h: the layout of a component's
// coefficients (and whether several threads share a block), the planes of samples that a kernel
// takes, and its additional work.
enum class Arrangement : uint32_t { kBlock, kZigzag, kPlane, kSplit, kSplitPlane };
enum class Planes { kEdged, kPairs, kFull };
enum class Variant { kPlain, kMeasure, kTimed };

// The words that collect measured sums on the device. The low `shift` bits of a word are a sum, the
// rest counts the additions to it: one atomic operation does both, and the word itself tells its
// reader whether it is complete. No memset before the kernel, no copy behind it, no fence in
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
  uint32_t timed;       // whether to write `times`; beside fields that every kernel reads first
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
  uint32_t of[kMaxComponents][32];  // by component
};

// Each KB of parameters makes a launch .3 us longer. Fields that few kernels want come last, and
// the commonest kernels do not take them.
struct FastForwardParams {
  FastFrame frame;
  FastForwardTable tables[kMaxComponents];
};
struct FastMeasureParams {
  FastForwardParams forward;
  FastInverseTable inverse[kMaxComponents];
};
// Where levels are decided. The forward tables are islow's for every method, but for DC.
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

}  // namespace cudatransform::cuda
