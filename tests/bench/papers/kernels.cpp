// The list of the papers' kernels, their parameters, and the comparison with the definition.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "tests/engine/dct8x8/definition.h"
#include "transform/dct8x8/block.h"

namespace cudatransform::bench {

namespace {

constexpr Direction kForward = Direction::kForward, kInverse = Direction::kInverse;
constexpr PaperKernel kKernels[] = {
    {"gpudct_lut", kInverse, Layout::kBlock, 256, 4, true, false},
    {"gpudct_next", kInverse, Layout::kBlock, 256, 32, true, false},
    {"gpudct_next16", kInverse, Layout::kBlock, 256, 64, true, false},
    {"hong_naive_block", kForward, Layout::kPlane, 64, 64, false, false},
    {"hong_naive_global", kForward, Layout::kPlane, 256, 4, false, false},
    {"hong_naive_shared", kForward, Layout::kPlane, 256, 4, false, false},
    {"hong_matrix_block", kForward, Layout::kPlane, 64, 64, false, false},
    {"hong_matrix_global", kForward, Layout::kPlane, 256, 4, false, true},
    {"hong_matrix_shared", kForward, Layout::kPlane, 256, 4, false, false},
    {"hong_rowcolumn_block", kForward, Layout::kPlane, 64, 64, false, false},
    {"whitepaper_short", kForward, Layout::kBlock, 256, 32, true, false},
};

// Frames of up to this many blocks are compared whole; larger ones in this many rows of blocks.
constexpr int kWholeBlocks = 1 << 17, kRows = 16;

// One row of blocks of a job, on the host.
struct BlockRow {
  std::vector<uint8_t> samples;
  std::vector<int16_t> coefs;
};

BlockRow read_row(const Gpu& gpu, const Dct8x8Job& job, int by) {
  const SamplePlane& samples = job.samples[0];
  const CoefPlane& coefs = job.coefs[0];
  BlockRow row;
  row.samples.resize(8 * static_cast<size_t>(samples.pitch));
  const ptrdiff_t coef_bytes = coefs.pitch * (job.layout == Layout::kBlock ? 1 : 8);
  row.coefs.resize(static_cast<size_t>(coef_bytes) / sizeof(int16_t));
  gpu.read(row.samples.data(), static_cast<const uint8_t*>(samples.data) + 8 * by * samples.pitch,
           row.samples.size());
  gpu.read(row.coefs.data(), static_cast<const uint8_t*>(coefs.data) + by * coef_bytes,
           static_cast<size_t>(coef_bytes));
  return row;
}

// A block's samples and coefficients.
struct BlockPair {
  double samples[64], coefs[64];
};

BlockPair block_of(const Dct8x8Job& job, const BlockRow& row, int bx) {
  BlockPair block;
  const auto pitch = static_cast<size_t>(job.samples[0].pitch);
  const auto coef_pitch = static_cast<size_t>(job.coefs[0].pitch) / sizeof(int16_t);
  const auto x = static_cast<size_t>(8 * bx);
  for (size_t i = 0; i < 64; ++i) {
    block.samples[i] = row.samples[i / 8 * pitch + x + i % 8];
    block.coefs[i] =
        row.coefs[job.layout == Layout::kBlock ? 8 * x + i : i / 8 * coef_pitch + x + i % 8];
  }
  return block;
}

// The valid outputs: one number, or two where the definition is a tie.
struct Expected {
  double low, high;
  double error(double is) const { return is < low ? low - is : is > high ? is - high : 0; }
};

Expected rounded(double value) {
  constexpr double kDoubt = 1e-8;  // the error of double precision
  return {test::round_half_away(value - kDoubt), test::round_half_away(value + kDoubt)};
}
double clamp_byte(double value) { return std::clamp(value, 0.0, 255.0); }

// The expected output.
void expect(const Dct8x8Job& job, const BlockPair& block, bool quantized, Expected* expected) {
  const QuantTable& table = job.tables[job.coefs[0].table];
  const auto step = [&](int i) { return quantized ? static_cast<double>(table.q[i]) : 1.0; };
  double from[64], to[64];
  if (job.direction == Direction::kForward) {
    for (int i = 0; i < 64; ++i) from[i] = block.samples[i] - 128;
    test::definition_dct(from, to);
    for (int i = 0; i < 64; ++i) expected[i] = rounded(to[i] / step(i));
  } else {
    for (int i = 0; i < 64; ++i) from[i] = block.coefs[i] * step(i);
    test::definition_idct(from, to);
    for (int i = 0; i < 64; ++i) {
      const Expected sample = rounded(to[i] + 128);
      expected[i] = {clamp_byte(sample.low), clamp_byte(sample.high)};
    }
  }
}

// The same by ifast's arithmetic, forward.
void expect_ifast(const ForwardTable& table, const BlockPair& block, Expected* expected) {
  int32_t v[64];
  int16_t coefs[64];
  std::copy_n(block.samples, 64, v);
  forward_block<IfastMethod, int16_t>(v, table, 128, coefs);
  for (int i = 0; i < 64; ++i) expected[i] = {double(coefs[i]), double(coefs[i])};
}

}  // namespace

const PaperKernel& paper_kernel(const std::string& name) {
  for (const PaperKernel& kernel : kKernels)
    if (kernel.name == name) return kernel;
  throw std::runtime_error("no paper's kernel has the name " + name);
}

PaperLaunch::PaperLaunch(const Gpu& gpu, Device& device, const PaperKernel& kernel,
                         const test::DctSpec& spec)
    : gpu_(gpu), kernel_(kernel), function_(gpu.kernel(kernel.name)) {
  if (spec.format.sampling != test::Sampling::kGray || spec.width % 8 != 0 ||
      spec.height % 8 != 0 || spec.direction != kernel.direction || spec.layout != kernel.layout)
    throw std::runtime_error(std::string(kernel.name) + " is not for this frame");
  const size_t samples = static_cast<size_t>(spec.width) * static_cast<size_t>(spec.height);
  if (kernel.uses_scratch)
    scratch_ = memory_on(device, MemoryKind::kDevice, samples * sizeof(float));
}

void PaperLaunch::enqueue(const Dct8x8Job& job) const {
  const SamplePlane& samples = job.samples[0];
  const CoefPlane& coefs = job.coefs[0];
  const QuantTable& table = job.tables[coefs.table];
  PaperParams params = {};
  params.samples = static_cast<uint8_t*>(samples.data);
  params.coefs = static_cast<int16_t*>(coefs.data);
  params.scratch = scratch_ != nullptr ? static_cast<float*>(scratch_->data()) : nullptr;
  params.sample_pitch = static_cast<int32_t>(samples.pitch);
  params.coef_pitch = static_cast<int32_t>(coefs.pitch / ptrdiff_t{sizeof(int16_t)});
  params.blocks_w = static_cast<uint32_t>(coefs.blocks_w);
  params.blocks = params.blocks_w * static_cast<uint32_t>(coefs.blocks_h);
  if (kernel_.direction == Direction::kForward && kernel_.quantized)
    params.forward = make_forward_table(Method::kIfast, &table);
  if (kernel_.direction == Direction::kInverse)
    params.inverse = make_inverse_table(Method::kNaive, &table);
  void* arguments[] = {&params};
  gpu_.launch(function_, (params.blocks + kernel_.blocks - 1) / kernel_.blocks, kernel_.threads,
              arguments);
}

Exactness exactness_of(const Gpu& gpu, const Dct8x8Job& job, bool quantized, Method exact_as) {
  const CoefPlane& coefs = job.coefs[0];
  const ForwardTable ifast = make_forward_table(Method::kIfast, &job.tables[coefs.table]);
  const bool whole = int64_t{coefs.blocks_w} * coefs.blocks_h <= kWholeBlocks;
  const int rows = whole ? coefs.blocks_h : std::min(coefs.blocks_h, kRows);
  double squares = 0;
  int64_t values = 0;
  Exactness exactness;
  for (int i = 0; i < rows; ++i) {
    // From the first row to the last.
    const int by = rows > 1 ? i * (coefs.blocks_h - 1) / (rows - 1) : 0;
    const BlockRow row = read_row(gpu, job, by);
    for (int bx = 0; bx < coefs.blocks_w; ++bx) {
      const BlockPair block = block_of(job, row, bx);
      Expected expected[64];
      if (exact_as == Method::kIfast)
        expect_ifast(ifast, block, expected);
      else
        expect(job, block, quantized, expected);
      const double* is = job.direction == Direction::kForward ? block.coefs : block.samples;
      for (int k = 0; k < 64; ++k) {
        const double error = expected[k].error(is[k]);
        squares += error * error;
        exactness.max_error = std::max(exactness.max_error, static_cast<int>(error));
      }
      values += 64;
    }
  }
  exactness.psnr = squares > 0
                       ? 10 * std::log10(255.0 * 255.0 * static_cast<double>(values) / squares)
                       : std::numeric_limits<double>::infinity();
  return exactness;
}

namespace {

constexpr const char* kSteps[] = {"lut", "next", "next16"};

void launch(Device& device, Queue& queue, const Dct8x8Job& job, const PaperKernel& kernel) {
  static const Gpu gpu(static_cast<CUstream>(queue.native()));
  for (int c = 0; c < job.components; ++c) {
    test::DctSpec spec;
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
