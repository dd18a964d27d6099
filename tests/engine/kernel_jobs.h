// Jobs of RGB, ranges, coefficient filters and wavelets at any size: described once, compared on
// every engine by tests and timed by benchmarks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/engine/engines.h"

namespace cudatransform::test {

// Rows of bytes in a buffer.
struct Region {
  size_t offset, pitch, row_bytes, rows;
};

// A job that reads one buffer and writes another one.
struct KernelJob {
  std::string kind;     // "rgb", "range", "convert", "flip", "quant", "dwt"
  std::string keys;     // its properties as in benchmarks' names: "depth:12"
  std::string buffers;  // equal for jobs of one kind and size whose input and output are equal
  size_t in_size = 0, out_size = 0;    // of the buffers
  size_t in_bytes = 0, out_bytes = 0;  // that must be read and written, each once
  size_t samples = 0;                  // visible ones; pixels of RGB
  std::vector<Region> written;         // of the output
  std::function<std::vector<uint8_t>()> input;
  std::function<bool(const Engine& engine)> runs_on;  // whether the engine has this transform
  // Enqueues the job on the compute queue; `done` may be null.
  std::function<Status(const Engine& engine, void* in, void* out, FencePtr* done)> submit;
};

struct KernelSize {
  const char* name;
  int width, height;
};

// Planes of full-range YCbCr to RGB and back.
std::vector<KernelJob> rgb_jobs(const KernelSize& size);
// Limited to full range, 4:2:0.
std::vector<KernelJob> range_jobs(const KernelSize& size);
// One component: other layouts and types, flips, other tables.
std::vector<KernelJob> filter_jobs(const KernelSize& size);

// Four levels of 8 bits, S16 coefficients: 4:2:0, or one plane.
struct DwtKernel {
  Wavelet wavelet;
  int index;  // of all quantizers
  Direction direction;
  DwtMethod method = DwtMethod::kFused;
  bool grey = false;
  int64_t row_alignment = 256;  // bytes
};
KernelJob dwt_job(const KernelSize& size, const DwtKernel& kernel);

// A photograph, repeated as often as necessary; 8 bits.
std::vector<uint8_t> tiled_picture(int width, int height);

// What the CPU engine makes of an input.
std::vector<uint8_t> output_of(const KernelJob& job, std::vector<uint8_t> input);
// "", or the first row of what the job writes that differs.
std::string compare_outputs(const KernelJob& job, const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& got);

}  // namespace cudatransform::test
