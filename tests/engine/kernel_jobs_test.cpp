// The jobs that benchmarks time, on every engine: the same bytes, and none beside the output's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/kernel_jobs.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/engine/frame.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

// Whole blocks, and planes of chroma that are none.
constexpr KernelSize kSize = {"small", 232, 136};

std::vector<KernelJob> all_jobs() {
  std::vector<KernelJob> all;
  for (const auto& jobs : {rgb_jobs(kSize), range_jobs(kSize), filter_jobs(kSize)})
    all.insert(all.end(), jobs.begin(), jobs.end());
  for (int w = 0; w < kWaveletCount; ++w)
    for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
      DwtKernel kernel = {static_cast<Wavelet>(w), 8, direction};
      all.push_back(dwt_job(kSize, kernel));
      if (quick()) continue;
      kernel.method = DwtMethod::kSeparableSlab;
      all.push_back(dwt_job(kSize, kernel));
      kernel.method = DwtMethod::kFused;
      kernel.index = 0;
      kernel.row_alignment = 1;
      all.push_back(dwt_job(kSize, kernel));
      kernel.grey = true;
      all.push_back(dwt_job(kSize, kernel));
    }
  return all;
}

std::string run(const Engine& engine, const KernelJob& job, const std::vector<uint8_t>& input,
                const std::vector<uint8_t>& expected) {
  GuardedBuffer in(engine, job.in_size), out(engine, job.out_size);
  std::memcpy(in.host(), input.data(), input.size());
  for (const Region& region : job.written)
    for (size_t y = 0; y < region.rows; ++y)
      out.allow(region.offset + y * region.pitch, region.row_bytes);
  Status status = in.upload(engine);
  if (status.ok()) status = out.upload(engine);
  if (status.ok())
    status = submit_and_wait(engine, [&](Device&, Queue&, FencePtr* done) {
      return job.submit(engine, in.address(), out.address(), done);
    });
  if (status.ok()) status = in.download(engine);
  if (status.ok()) status = out.download(engine);
  if (!status.ok()) return status.message;
  if (const std::string fault = in.fault(); !fault.empty()) return "input, " + fault;
  if (const std::string fault = out.fault(); !fault.empty()) return "output, " + fault;
  return compare_outputs(job, expected, {out.host(), out.host() + job.out_size});
}

TEST(Kernels, TimedJobsAgree) {
  for (const KernelJob& job : all_jobs()) {
    const std::vector<uint8_t> input = job.input(), expected = output_of(job, input);
    for (const Engine& engine : engines()) {
      if (!job.runs_on(engine)) continue;
      EXPECT_EQ(run(engine, job, input, expected), "")
          << engine.name << ": " << job.kind << "/" << job.keys;
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
