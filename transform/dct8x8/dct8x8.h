// The 8x8 DCT as a job: what to transform, how, from where to where, and what to measure.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every engine offers a Dct8x8Ops; all of them take the same Dct8x8Job and, for the integer
// methods, write the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/dct8x8/quant_table.h"
#include "transform/device/device.h"
#include "transform/picture.h"

namespace cudatransform {

// docs/architecture.md has what each promises. kIslow exists at depths 8 and 12, kIfast at 8;
// effective_method() returns the method for a job of another depth.
enum class Method {
  kIslow,       // int32, libjpeg's accurate integer method; bit-exact to libjpeg-turbo
  kIfast,       // 16-bit, libjpeg's fast integer method; bit-exact to libjpeg-turbo
  kFloat,       // fp32 AA&N, scaling folded into the tables; the fastest
  kReference,   // the fp64 definition
  kNaive,       // fp32, the definition with cosines computed at run time
  kMatrix,      // fp32, two matrix products with a cosine table (whitepaper CUDA 1)
  kSeparable,   // fp32, rows then columns from the table, one thread per sample on a GPU
  kDecomposed,  // fp32, Sung's eight-tap decomposition (whitepaper CUDA 2)
  kShuffle,     // fp32, the same, transposed by warp shuffles on a GPU
};
inline constexpr int kMethodCount = 9;

// "islow", "float", ...: the spelling of the method property.
const char* method_name(Method method);

// The method that really runs at `depth` bits and, for the inverse, at `scale`. libjpeg has 8 and
// 12 bits: float replaces islow and ifast at others, and ifast at 12. Scaled inverses exist as
// islow, float and reference: at 8 bits islow replaces ifast, as it does in libjpeg, and float the
// teaching methods.
Method effective_method(Method method, int depth, int scale = 1);

// Samples of a row or column of `size` samples at 1/scale of it: ceil(size / scale). Subsampling
// first and scaling then gives the same as in the other order.
constexpr int32_t scaled_size(int32_t size, int scale) { return (size - 1) / scale + 1; }

// The number of a block's 64 coefficients that the inverse at `scale` depends on: see
// transform/dct8x8/scaled.h.
int coefficients_needed(Method method, int scale);

// How coefficients become quantized coefficients. kDeadZone and kRd exist for 8 bits and islow,
// ifast or float, and concern AC: DC always rounds.
enum class Quantizer {
  kRound,     // to the nearest quantized coefficient
  kDeadZone,  // likewise, but small coefficients become 0
  kRd,  // to the quantized coefficient, or the next smaller one or 0, that costs a JPEG file least
        // in bits and in error together; for divisors up to 255
};

// "round", "dead-zone", "rd": the spelling of the quantizer property.
const char* quantizer_name(Quantizer quantizer);

enum class CoefType { kS16, kS32, kF32 };
enum class Layout {
  kBlock,  // 64 consecutive coefficients a block, blocks in raster order, block rows pitched
  kPlane,  // coefficient (u, v) of block (bx, by) at row 8 by + v, column 8 bx + u, rows pitched
};
enum class Order { kRaster, kZigzag };  // inside a block; kPlane is always kRaster

// One component's coefficients: blocks_w x blocks_h blocks that cover the samples exactly
// (ceil(scale x width / 8) x ceil(scale x rows() / 8)).
struct CoefPlane {
  void* data = nullptr;  // aligned to the coefficient type; CUDA: 16 bytes, as the pitch
  ptrdiff_t pitch = 0;  // kBlock: bytes from one row of blocks to the next; kPlane: of coefficients
  int32_t blocks_w = 0;
  int32_t blocks_h = 0;
  int32_t table = 0;    // index into Dct8x8Job::tables
  bool chroma = false;  // kRd: to weigh errors and count bits as those of chroma
};

struct Dct8x8Job {
  Direction direction = Direction::kForward;
  Method method = Method::kIslow;  // an effective one for `depth` and `scale`
  // Allowed: quantized with kS16 (depth <= 12) or kS32 (depth 16), unquantized with kS32 (rounded)
  // or kF32. Unquantized values are orthonormal: DC = 8 x (mean - 2^(depth-1)).
  CoefType type = CoefType::kS16;
  Layout layout = Layout::kBlock;
  Order order = Order::kRaster;
  bool quantized = true;
  int depth = 8;  // 8, 10, 12, 16; level shift 2^(depth-1)
  // Inverse: 1, 2, 4 or 8. samples[] is the picture at 1/scale of its size, every block becomes
  // 8/scale x 8/scale samples. The full size need not be known: as 8/scale is whole, the blocks of
  // `n` full samples are those of scaled_size(n, scale) scaled ones.
  int scale = 1;
  int components = 0;  // 1 or 3
  SamplePlane samples[kMaxComponents];
  CoefPlane coefs[kMaxComponents];
  // Natural order, entries 1..65535, of the inverse 0 as well; ignored when !quantized.
  QuantTable tables[4];
  Quantizer quantizer = Quantizer::kRound;  // forward, quantized
  // kDeadZone: a coefficient below this many thousandths of its divisor becomes 0. 500 to 1000.
  int dead_zone = 600;
  // kRd: Lagrange multiplier: squared error in quantized coefficients per bit, in blocks without
  // detail. .001 to 1.
  double rd_lambda = 0.0625;
  uint32_t measure = 0;
  SamplePlane
      reference[kMaxComponents];  // inverse with kMeasureSse; sizes as samples[] (row_repeat 1)
  PictureSums* sums = nullptr;  // with measure: host memory (CUDA: pinned), valid once the fence is
                                // done and until then the engine's; 0 if not measured
  // Both, or neither: they time the work. A kernel that can read a clock writes to `times`, because
  // two events around it cost as much as a small kernel; all other work is timed by `timer`.
  Timer* timer = nullptr;
  PictureTimes* times = nullptr;  // as `sums`; all zero
};

// Checks everything that an engine relies on (sizes, pitches, pairs of type and depth, tables
// to quantize by without zeros, methods that exist at the depth), so that a job that passes cannot
// make a kernel leave its buffers. Engines call it first.
Status validate(const Dct8x8Job& job);

// The operations of one engine. submit() returns immediately; `fence` (may be null) is done when
// outputs and sums are complete. Partial blocks at the right and bottom are filled by replicating
// the last column and row (forward) or dropped (inverse); padding bytes of the output pitch are
// never written.
struct Dct8x8Ops {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch) for islow, ifast and float, plain C++ for the rest,
// oneTBB over block rows.
const Dct8x8Ops& host_dct8x8_ops();

// The same in portable C++ alone, one block at a time: the SIMD code is tested against it. Its
// arithmetic is the GPU's, except for `float` at full size.
const Dct8x8Ops& portable_dct8x8_ops();

}  // namespace cudatransform
