// The pipelines' yardsticks: the engines' kernels alone, and copies alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <vector>

#include "tests/bench/pipeline/line.h"
#include "tests/engine/kernel_jobs.h"

namespace cudatransform::bench {

// Forward and inverse jobs on 4:2:0 frames with a picture in them, quality 85: from a ring of
// frames into two alternating outputs, as pools have it.
class Kernels {
 public:
  // `threads` 0: on CUDA device 0.
  Kernels(const PipeSize& size, Method method, int threads);
  // Seconds of a forward and an inverse job together: on CUDA between two events around many of
  // each, on the CPU by the clock.
  double run(double seconds, int min_frames);

 private:
  struct Set {
    std::unique_ptr<Memory> source;
    std::shared_ptr<Memory> coefs, result;
  };
  double time_direction(bool forward, double seconds, int min_frames);

  test::Engine engine_;
  test::KernelJob forward_, inverse_;
  std::vector<Set> sets_;
};

// Uploads and downloads of frames between pinned and device memory of CUDA device 0, in both
// directions simultaneously, `depth` of each in flight.
class Copies {
 public:
  Copies(const PipeSize& size, int depth);
  double run(double seconds, int min_frames);

 private:
  struct Slot {
    std::unique_ptr<Memory> from, to, uploaded, downloaded;
    FencePtr up, down;
  };
  PipeSize size_;
  std::unique_ptr<Device> device_;
  std::vector<Slot> slots_;
};

}  // namespace cudatransform::bench
