// Jobs of every transform at any size: described once, compared on every engine by tests and timed
// by benchmarks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/frame.h"

namespace cudatransform::test {

// Rows of bytes in a buffer.
struct Region {
  size_t offset, pitch, row_bytes, rows;
};

// Where a job works.
struct KernelMemory {
  void *in, *out;
  PictureSums* sums = nullptr;  // of jobs that measure: host memory (CUDA: pinned)
};

enum class OutputNumber { kU8, kU16, kS16, kS32 };

// A job that reads one buffer and writes another one.
struct KernelJob {
  std::string kind;     // "dct", "rgb", "range", "resize", "apv", "apv-forward", "convert", "flip",
                        // "quant", "transpose", "dwt"
  std::string keys;     // its properties as in benchmarks' names: "depth:12"
  std::string buffers;  // equal for jobs of one kind and size whose input and output are equal
  size_t in_size = 0, out_size = 0;    // of the buffers
  size_t in_bytes = 0, out_bytes = 0;  // that must be read and written, each once
  size_t samples = 0;                  // visible ones; pixels of RGB
  size_t blocks = 0;                   // of the DCT
  bool measures = false;               // writes sums, too
  bool stages = false;          // waits for memory of its parameters, so no graph can capture it
  std::vector<Region> written;  // of the output
  int tolerance = 0;            // how far a few numbers of the output may be from the CPU engine's
  OutputNumber number = OutputNumber::kU8;
  std::function<std::vector<uint8_t>()> input;
  std::function<bool(const Engine& engine)> runs_on;  // whether the engine has this transform
  // Enqueues the job on the compute queue; `done` may be null.
  std::function<Status(const Engine& engine, const KernelMemory& memory, FencePtr* done)> submit;
};

struct KernelSize {
  const char* name;
  int width, height;
};

struct PixelFormat {
  const char* name;  // GStreamer's
  Sampling sampling;
  int depth;
  bool semi_planar;  // chroma interleaved; above 8 bits samples in the high bits
};

// The DCT of a picture, at quality 85.
struct DctSpec {
  PixelFormat format = {"GRAY8", Sampling::kGray, 8, false};
  int width = 0, height = 0;  // of the full picture
  Direction direction = Direction::kForward;
  Method method = Method::kFloat;
  Layout layout = Layout::kBlock;
  Order order = Order::kRaster;
  uint32_t measure = 0;
  Quantizer quantizer = Quantizer::kRound;  // forward
  int scale = 1;                            // inverse: samples are at 1/scale of the size

  bool quantized = true;  // else F32

  CoefType type() const {
    if (!quantized) return CoefType::kF32;
    return format.depth == 16 ? CoefType::kS32 : CoefType::kS16;
  }
};
Dct8x8Job place_dct(const DctSpec& spec, const KernelMemory& memory);
// The least traffic: visible samples, and whole blocks. For a scaled inverse only the parts of
// blocks, in memory's units of 32 bytes, that the method depends on by transform/dct8x8/dct8x8.h.
KernelJob dct_job(const DctSpec& spec);

// Planes of full-range YCbCr to RGB and back.
std::vector<KernelJob> rgb_jobs(const KernelSize& size);
// Limited to full range, 4:2:0.
std::vector<KernelJob> range_jobs(const KernelSize& size);
// RGB to a square as vision models take it, several pictures a job.
std::vector<KernelJob> resize_jobs(const KernelSize& size);
// RGB, rotated.
std::vector<KernelJob> transpose_jobs(const KernelSize& size);

// APV's transforms, 4:2:2; sizes are rounded down to macroblocks of 16x16.
std::vector<KernelJob> apv_jobs(const KernelSize& size);
// One component: other layouts and types, flips, other tables.
std::vector<KernelJob> filter_jobs(const KernelSize& size);

// Four levels of 8 bits, S16 coefficients: 4:2:0, or one plane.
struct DwtKernel {
  Wavelet wavelet;
  int index;  // of all quantizers
  Direction direction;
  DwtMethod method = DwtMethod::kFused;
  bool gray = false;
  int64_t row_alignment = 256;  // bytes
};
KernelJob dwt_job(const KernelSize& size, const DwtKernel& kernel);

// A photograph, repeated as often as necessary; 8 bits.
std::vector<uint8_t> tiled_picture(int width, int height);

// What the CPU engine makes of an input; `sums` as KernelMemory's.
std::vector<uint8_t> output_of(const KernelJob& job, const std::vector<uint8_t>& input,
                               PictureSums* sums = nullptr);
// "", or the first row of what the job writes that differs by more than it may.
std::string compare_outputs(const KernelJob& job, const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& got);

}  // namespace cudatransform::test
