// What lists of kernels' jobs are made with: submissions, sizes, inputs.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/engine/kernel_jobs.h"

namespace cudatransform::test {

// `make(memory)` returns the job of the engine's kind; `ops` are the engine's for it.
template <typename Ops, typename Make>
void run_by(const Ops* Engine::*ops, const Make& make, KernelJob* job) {
  job->runs_on = [ops](const Engine& engine) { return engine.*ops != nullptr; };
  job->submit = [ops, make](const Engine& engine, const KernelMemory& memory, FencePtr* done) {
    Device& device = *engine.device;
    return (engine.*ops)->submit(device, device.queue(QueueKind::kCompute), make(memory), done);
  };
}

// Buffers without gaps.
inline void set_sizes(size_t in, size_t out, KernelJob* job) {
  job->in_size = job->in_bytes = in;
  job->out_size = job->out_bytes = out;
  job->written = {{0, out, out, 1}};
}

inline size_t area(int width, int height) {
  return static_cast<size_t>(width) * static_cast<size_t>(height);
}

// A picture of this many bytes, of any meaning.
inline std::vector<uint8_t> picture_bytes(int width, size_t bytes) {
  std::vector<uint8_t> picture =
      tiled_picture(width, static_cast<int>(bytes / static_cast<size_t>(width)) + 1);
  picture.resize(bytes);
  return picture;
}

// Quantized coefficients as pictures have them: few, and small.
inline std::vector<uint8_t> some_qcoefs(size_t bytes) {
  std::mt19937 random(1);
  std::vector<int16_t> qcoefs(bytes / sizeof(int16_t));
  for (int16_t& qcoef : qcoefs) {
    const auto any = static_cast<uint32_t>(random());
    qcoef = static_cast<int16_t>(any % 4 == 0 ? int(any >> 8) % 31 - 15 : 0);
  }
  std::vector<uint8_t> input(bytes);
  std::memcpy(input.data(), qcoefs.data(), bytes);
  return input;
}

}  // namespace cudatransform::test
