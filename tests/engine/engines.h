// The engines under test: portable, SIMD for every Highway target of this CPU, CUDA.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transform/apv/apv.h"
#include "transform/apv/forward.h"
#include "transform/coeffilter/convert.h"
#include "transform/coeffilter/flip.h"
#include "transform/coeffilter/quant.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/device.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"
#include "transform/range/range.h"
#include "transform/resize/resize.h"
#include "transform/rgb/rgb.h"
#include "transform/transpose/transpose.h"

namespace cudatransform::test {

struct Engine {
  std::string name;  // "portable", "host", "host/AVX2", "cuda", "cuda/split"
  std::shared_ptr<Device> device;
  const Dct8x8Ops* ops = nullptr;
  int64_t highway_target = 0;  // 0: the best of this CPU
  bool is_cuda = false;
  int kernel_choice = 0;            // cuda::KernelChoice of cuda/dct8x8/engine.h, which `ops` have
  const DwtOps* dwt_ops = nullptr;  // null where another engine's are the same
  const ObmcOps* obmc_ops = nullptr;    // as dwt_ops
  const RgbOps* rgb_ops = nullptr;      // as dwt_ops
  const RangeOps* range_ops = nullptr;  // likewise
  const ResizeOps* resize_ops = nullptr;
  const FlipOps* flip_ops = nullptr;  // likewise
  const RequantOps* requant_ops = nullptr;
  const ConvertOps* convert_ops = nullptr;
  const ApvInverseOps* apv_ops = nullptr;
  const ApvForwardOps* apv_forward_ops = nullptr;
  const TransposeOps* transpose_ops = nullptr;  // likewise

  // Makes Highway use this engine's target. Call before every job.
  void activate() const;
  // Targets below the best one need only be tested where there is SIMD code, kernels where there is
  // a choice of them.
  bool covers(Method method) const;
};

// The engines that --engine= chose; the first call decides. Portable, if chosen, comes first.
const std::vector<Engine>& engines();
// Those that implement a transform: engines_with(&Engine::dwt_ops).
template <typename Ops>
std::vector<Engine> engines_with(const Ops* Engine::*ops) {
  std::vector<Engine> list;
  for (const Engine& engine : engines())
    if (engine.*ops != nullptr) list.push_back(engine);
  return list;
}
// The first of the host and of CUDA, whichever were chosen: for work that all engines of a kind of
// device do equally.
std::vector<const Engine*> engine_of_each_kind();
// The judge of the integer methods, which always exists.
const Engine& portable_engine();
// With every transform that it has, on a device.
Engine host_engine(std::shared_ptr<Device> device);
#ifdef CT_HAVE_CUDA
Engine cuda_engine(std::shared_ptr<Device> device);
#endif

// CUDATRANSFORM_TEST_QUICK=1, CUDATRANSFORM_VALGRIND=1 or sanitized(): a fraction of the cases.
bool quick();
// CUDATRANSFORM_SANITIZED=1. Sanitizers check memory: of cases that differ in the numbers alone a
// part is enough, but every geometry counts.
bool sanitized();
// One case in how many is tested. Of cases that sanitizers run in full it is a fifth if
// CUDATRANSFORM_TEST_QUICK=1 requests less.
size_t case_step();

// Flags shared by all test programs: --engine=host|cuda|all. False: nothing to test, the program
// ends with *exit_code (77: skipped).
bool choose_engines(int* argc, char** argv, int* exit_code);

}  // namespace cudatransform::test
