// The jobs that benchmarks time, on every engine: the same bytes, and only the output's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/kernel_jobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "tests/engine/frame.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

// Whole blocks, and planes of chroma that are none.
constexpr KernelSize kSize = {"small", 232, 136};

void add_dct_jobs(DctSpec spec, std::vector<KernelJob>* all) {
  for (int m = 0; m < kMethodCount; ++m) {
    spec.method = static_cast<Method>(m);
    if (effective_method(spec.method, spec.format.depth) != spec.method) continue;
    all->push_back(dct_job(spec));
  }
}

std::vector<KernelJob> dct_jobs() {
  constexpr PixelFormat kFormats[] = {{"I420", Sampling::k420, 8, false},
                                      {"NV12", Sampling::k420, 8, true},
                                      {"I422_10LE", Sampling::k422, 10, false},
                                      {"P010_10LE", Sampling::k420, 10, true},
                                      {"GRAY16_LE", Sampling::kGray, 16, false}};
  std::vector<KernelJob> all;
  for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
    DctSpec spec;
    spec.width = kSize.width;
    spec.height = kSize.height;
    spec.direction = direction;
    add_dct_jobs(spec, &all);
    for (const PixelFormat& format : kFormats) {
      DctSpec other = spec;
      other.format = format;
      other.width -= 3;
      add_dct_jobs(other, &all);
    }
    DctSpec other = spec;
    other.layout = Layout::kPlane;
    add_dct_jobs(other, &all);
    other.layout = Layout::kBlock;
    other.order = Order::kZigzag;
    add_dct_jobs(other, &all);
    for (const Method method : {Method::kFloat, Method::kIslow}) {
      spec.method = method;
      other = spec;
      for (const int scale : {2, 4, 8}) {
        other.scale = scale;
        if (direction == Direction::kInverse) all.push_back(dct_job(other));
      }
      if (direction == Direction::kInverse) continue;
      other = spec;
      other.measure = kMeasureSse;
      all.push_back(dct_job(other));
      for (const Quantizer quantizer : {Quantizer::kDeadZone, Quantizer::kRd}) {
        other = spec;
        other.quantizer = quantizer;
        all.push_back(dct_job(other));
      }
    }
  }
  return all;
}

std::vector<KernelJob> all_jobs() {
  std::vector<KernelJob> all = dct_jobs();
  for (const auto& jobs : {rgb_jobs(kSize), range_jobs(kSize), resize_jobs(kSize), apv_jobs(kSize),
                           filter_jobs(kSize), transpose_jobs(kSize)})
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
      kernel.gray = true;
      all.push_back(dwt_job(kSize, kernel));
    }
  return all;
}

// The least that floats' squared errors may differ by on either side of ties.
bool are_alike(const KernelJob& job, const PictureSums& a, const PictureSums& b) {
  for (int c = 0; c < kMaxComponents; ++c) {
    const auto first = static_cast<double>(a.sse[c]), second = static_cast<double>(b.sse[c]);
    if (std::fabs(first - second) > (job.tolerance > 0 ? 1e-3 * first : 0)) return false;
  }
  return true;
}

struct Expected {
  std::vector<uint8_t> input, output;
  PictureSums sums = {};
};

std::string run(const Engine& engine, const KernelJob& job, const Expected& expected) {
  GuardedBuffer in(engine, job.in_size), out(engine, job.out_size);
  std::unique_ptr<Memory> sums;
  Status status = engine.device->allocate(MemoryKind::kPinned, sizeof(PictureSums), &sums);
  std::memcpy(in.host(), expected.input.data(), expected.input.size());
  for (const Region& region : job.written)
    for (size_t y = 0; y < region.rows; ++y)
      out.allow(region.offset + y * region.pitch, region.row_bytes);
  if (status.ok()) status = in.upload(engine);
  if (status.ok()) status = out.upload(engine);
  if (status.ok())
    status = submit_and_wait(engine, [&](Device&, Queue&, FencePtr* done) {
      return job.submit(
          engine, {in.address(), out.address(), static_cast<PictureSums*>(sums->data())}, done);
    });
  if (status.ok()) status = in.download(engine);
  if (status.ok()) status = out.download(engine);
  if (!status.ok()) return status.message;
  if (const std::string fault = in.fault(); !fault.empty()) return "input, " + fault;
  if (const std::string fault = out.fault(); !fault.empty()) return "output, " + fault;
  if (job.measures && !are_alike(job, expected.sums, *static_cast<PictureSums*>(sums->data())))
    return "sums";
  return compare_outputs(job, expected.output, {out.host(), out.host() + job.out_size});
}

TEST(Kernels, TimedJobsAgree) {
  constexpr size_t kQuickBytes = 1 << 20;  // batches are for benchmarks
  for (const KernelJob& job : all_jobs()) {
    if (quick() && job.in_size > kQuickBytes) continue;
    Expected expected;
    expected.input = job.input();
    expected.output = output_of(job, expected.input, &expected.sums);
    EXPECT_TRUE(!job.measures || expected.sums.sse[0] > 0) << job.keys;
    for (const Engine& engine : engines()) {
      if (!job.runs_on(engine)) continue;
      EXPECT_EQ(run(engine, job, expected), "")
          << engine.name << ": " << job.kind << "/" << job.keys;
    }
  }
}

// A level more in every coefficient, or two in one, is a fault.
TEST(Kernels, ToleranceIsSmall) {
  DctSpec spec;
  spec.width = spec.height = 64;
  const KernelJob job = dct_job(spec);
  const std::vector<uint8_t> expected = output_of(job, job.input());
  std::vector<uint8_t> got = expected;
  const auto add = [&](size_t at, int more) {
    int16_t level = 0;
    std::memcpy(&level, &got[at], sizeof level);
    level = static_cast<int16_t>(level + more);
    std::memcpy(&got[at], &level, sizeof level);
  };
  add(0, 1);
  EXPECT_EQ(compare_outputs(job, expected, got), "");
  add(0, 1);
  EXPECT_NE(compare_outputs(job, expected, got), "");
  got = expected;
  for (size_t at = 0; at < job.out_size; at += 2) add(at, 1);
  EXPECT_NE(compare_outputs(job, expected, got), "");
}

}  // namespace
}  // namespace cudatransform::test
