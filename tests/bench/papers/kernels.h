// The kernels of papers that are not methods of the elements (gpudct.cu, hong.cu, whitepaper.cu):
// their launches, and the distance of an output from the definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>

#include "tests/bench/gpu/driver.h"
#include "tests/bench/gpu/params.h"
#include "tests/engine/kernel_jobs.h"

namespace cudatransform::bench {

struct PaperKernel {
  const char* name;  // as a profiler prints it
  Direction direction;
  Layout layout;
  unsigned threads, blocks;  // of a CTA
  bool quantized;
  bool uses_scratch;
};
// Throws if none has that name.
const PaperKernel& paper_kernel(const std::string& name);

// A kernel for jobs of one spec: one 8-bit plane of whole blocks.
class PaperLaunch {
 public:
  PaperLaunch(const Gpu& gpu, Device& device, const PaperKernel& kernel, const test::DctSpec& spec);
  void enqueue(const Dct8x8Job& job) const;

 private:
  const Gpu& gpu_;
  const PaperKernel& kernel_;
  CUfunction function_;
  std::unique_ptr<Memory> scratch_;
};

// The distance of an output from the definition's: of a whole frame or, of a large one, of some
// thousands of blocks from all over it. Where the definition is between two numbers, either is
// right: the last bit of a flat block's arithmetic would decide over all its samples.
struct Exactness {
  double psnr = 0;  // dB, of 255; infinite where all is equal
  int max_error = 0;
  // GPUDCT's bound, and a quantized coefficient.
  bool passes() const { return psnr >= 50 && max_error <= 1; }
};

// Compares a job's output; `quantized`: whether the job divides by its table. `exact_as`:
// kReference for the definition, or a method whose bytes the output should have.
Exactness exactness_of(const Gpu& gpu, const Dct8x8Job& job, bool quantized, Method exact_as);

// Accepts inverse jobs of whole blocks in block layout, of any method. `cuda`: the engine of
// methods, whose device it shares.
const test::Engine& step_engine(const test::Engine& cuda, const std::string& step);

}  // namespace cudatransform::bench
