// Turns jobs of the engines' kind into launches of the papers' kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/steps.h"

#include <map>
#include <stdexcept>

#include "tests/bench/papers/kernels.h"

namespace cudatransform::bench {
namespace {

constexpr const char* kSteps[] = {"lut", "next", "next16"};

void launch(Device& device, Queue& queue, const Dct8x8Job& job, const PaperKernel& kernel) {
  static const Gpu gpu(static_cast<CUstream>(queue.native()));
  for (int c = 0; c < job.components; ++c) {
    JobSpec spec;
    spec.direction = job.direction;
    spec.layout = job.layout;
    spec.width = job.samples[c].width;
    spec.height = job.samples[c].height;
    Dct8x8Job plane = job;
    plane.components = 1;
    plane.samples[0] = job.samples[c];
    plane.coefs[0] = job.coefs[c];
    PaperLaunch(gpu, device, kernel, spec).enqueue(plane);
  }
}

template <int kStep>
Status submit(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  static const PaperKernel& kernel = paper_kernel(std::string("gpudct_") + kSteps[kStep]);
  launch(device, queue, job, kernel);
  return fence == nullptr ? Status{} : queue.record(fence);
}

constexpr Dct8x8Ops kOps[] = {{"lut", submit<0>}, {"next", submit<1>}, {"next16", submit<2>}};

}  // namespace

const test::Engine& step_engine(const test::Engine& cuda, const std::string& step) {
  static std::map<std::string, test::Engine> engines;
  for (const Dct8x8Ops& ops : kOps) {
    if (ops.name != step) continue;
    test::Engine engine = cuda;
    engine.name = step;
    engine.ops = &ops;
    return engines.emplace(step, engine).first->second;
  }
  throw std::runtime_error("no kernel of a step has the name " + step);
}

}  // namespace cudatransform::bench
