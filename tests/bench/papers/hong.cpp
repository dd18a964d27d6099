// Hong et al.: the forward DCT of a plane by three algorithms, serially, with oneTBB and with SIMD.
// The naive loops are the paper's, the other algorithms the CPU engine's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tests/bench/cpu/frames.h"
#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::bench {
namespace {

const std::vector<uint8_t>& plane_of(int side) {
  static std::vector<uint8_t> samples;
  const size_t count = static_cast<size_t>(side) * side;
  if (samples.size() != count) {
    const test::Picture picture =
        test::make_picture(test::Sampling::kGray, side, side, 8, test::Content::kPhoto, 1);
    samples.assign(picture[0].samples.begin(), picture[0].samples.end());
  }
  return samples;
}

// Called through volatile variables: otherwise the compiler moves cosines and roots out of the
// loops, which is already the next algorithm.
double (*volatile cosine)(double) = std::cos;
double (*volatile root)(double) = std::sqrt;

// One coefficient of the block at `block`.
double naive_coefficient(const uint8_t* block, int pitch, int u, int v) {
  double sum = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      sum += (block[ptrdiff_t{y} * pitch + x] - 128) *
             cosine((2 * x + 1) * u * std::numbers::pi / 16) *
             cosine((2 * y + 1) * v * std::numbers::pi / 16);
  return root(u == 0 ? 1.0 / 8 : 1.0 / 4) * root(v == 0 ? 1.0 / 8 : 1.0 / 4) * sum;
}

void naive_block_row(const uint8_t* samples, int side, int by, float* coefs) {
  const ptrdiff_t top = ptrdiff_t{8} * by * side;
  for (int bx = 0; bx < side / 8; ++bx)
    for (int v = 0; v < 8; ++v)
      for (int u = 0; u < 8; ++u)
        coefs[top + ptrdiff_t{v} * side + 8 * bx + u] =
            static_cast<float>(naive_coefficient(samples + top + 8 * bx, side, u, v));
}

Times run_naive(Runner runner, int side, double seconds, double budget, double* share,
                std::vector<float>* coefs) {
  const std::vector<uint8_t>& samples = plane_of(side);
  const Threads threads = runner == Runner::kSerial ? Threads::kOne : Threads::kAll;
  const int all = side / 8;
  const auto turn = [&](int rows) {
    return seconds_of([&] {
      for_block_rows(threads, rows,
                     [&](int by) { naive_block_row(samples.data(), side, by, coefs->data()); });
    });
  };
  const int few = std::min(all, 2 * thread_count(threads));
  turn(few);  // warm
  const double expected = turn(few) / few * all;
  // Whole rounds of the threads, so that none idles at the end of a part.
  const int affordable = static_cast<int>(all * std::min(1.0, budget / expected));
  const int rows = affordable == all ? all : std::max(few, affordable / few * few);
  *share = static_cast<double>(rows) / all;
  return repeat(seconds, 1, [&] { return turn(rows) / *share; });
}

// Against the definition, over the first rows of blocks.
double largest_error(const std::vector<float>& coefs, int side) {
  const std::vector<uint8_t>& samples = plane_of(side);
  double worst = 0;
  for (int by = 0; by < 2 && by < side / 8; ++by)
    for (int bx = 0; bx < side / 8; ++bx) {
      double block[64], expected[64];
      const auto at = [&](int i) { return size_t(8 * by + i / 8) * side + 8 * bx + i % 8; };
      for (int i = 0; i < 64; ++i) block[i] = samples[at(i)] - 128.0;
      test::definition_dct(block, expected);
      for (int i = 0; i < 64; ++i) worst = std::max(worst, std::fabs(coefs[at(i)] - expected[i]));
    }
  return worst;
}

// The SIMD code is a fast transform of rows and columns; CUDA's cases are bench_cuda's.
struct Algorithm {
  const char* name;
  bool is_naive;  // the double sum, with cosines and roots computed in the loops
  Method method;
  bool has_simd;  // float
};
constexpr Algorithm kAlgorithms[] = {
    {"naive", true, Method::kNaive, false},
    {"matrix", false, Method::kMatrix, false},        // T M T^T with T in a table
    {"rowcolumn", false, Method::kDecomposed, true},  // a fast transform of rows and columns
};

// Transforms a plane of side x side samples to unquantized fp32 coefficients. If the plane would
// take longer than the budget, it transforms as many rows as fit.
void run(benchmark::State& state, const Algorithm& algorithm, Runner runner, int side,
         const PaperOptions& options) {
  std::vector<float> coefs(static_cast<size_t>(side) * side);
  Times times;  // of the whole plane
  double share = 1;
  if (algorithm.is_naive) {
    times = run_naive(runner, side, options.seconds, options.budget, &share, &coefs);
  } else {
    const bool simd = runner == Runner::kSimd || runner == Runner::kSimdTbb;
    PlaneJob job(engine_of(runner), Direction::kForward, simd ? Method::kFloat : algorithm.method,
                 false, {side, side, {}}, plane_of(side).data());
    times = job.time(5, options.seconds);
    job.read_coefs(coefs.data());
  }
  const double error = largest_error(coefs, side);
  if (!(error < 0.01)) throw std::runtime_error("its coefficients are wrong");
  state.counters["width"] = side;
  state.counters["ms"] = 1e3 * times.median();
  state.counters["share"] = share;
  state.counters["error"] = error;
}

}  // namespace

void add_hong_cases(const PaperOptions& options) {
  constexpr const char* kForms[] = {"serial", "tbb", "simd", "simd+tbb"};
  for (const int side : {1024, 2048, 4096})
    for (const Algorithm& algorithm : kAlgorithms)
      for (size_t form = 0; form < (algorithm.has_simd ? 4u : 2u); ++form)
        add_case("engine:cpu/case:hong/size:" + std::to_string(side) +
                     "/algorithm:" + algorithm.name + "/form:" + kForms[form],
                 [=, &algorithm](benchmark::State& state) {
                   run(state, algorithm, static_cast<Runner>(form), options.shrunk(side), options);
                 });
}

}  // namespace cudatransform::bench
