// The cases of papers: the engines, repeated timing of jobs of whole planes, and each paper's
// measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/flat_job.h"
#include "tests/engine/engines.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::bench {

// Plain C++ on one thread and on all cores, SIMD on one and on all, and the CUDA engine.
enum class Runner { kSerial, kTbb, kSimd, kSimdTbb, kCuda };

// The engine; null for kCuda if there is none, and then `*why` names what is missing.
const test::Engine* find_engine(Runner runner, std::string* why);

// Seconds of a job: one reading after the other, sorted.
struct Times {
  std::vector<double> readings;

  double least() const { return readings.front(); }
  double most() const { return readings.back(); }
  double median() const { return readings[readings.size() / 2]; }
  double mean() const;
};

// `turn` returns the seconds of one turn. Runs at least `least_turns` of them, and more until
// `seconds` are over.
template <typename Turn>
Times repeat(int least_turns, double seconds, Turn&& turn) {
  using Clock = std::chrono::steady_clock;
  Times times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (int i = 0; i < least_turns || Clock::now() < end; ++i) times.readings.push_back(turn());
  std::sort(times.readings.begin(), times.readings.end());
  return times;
}

// One or several planes through one engine, packed, in separate memory.
class PlaneJob {
 public:
  struct Plane {
    int width, height;
    QuantTable table;  // of quantised coefficients
  };

  // `quantized`: int16 levels, block after block; else fp32 coefficients where the samples are.
  // Throws std::runtime_error.
  PlaneJob(const test::Engine& engine, Direction direction, Method method, bool quantized,
           const std::vector<Plane>& planes);
  ~PlaneJob();
  PlaneJob(const PlaneJob&) = delete;
  PlaneJob& operator=(const PlaneJob&) = delete;

  void write_input(size_t plane, const void* data);
  void read_output(size_t plane, void* data);
  // By the device's clock. A reading has enough launches to last `shortest` seconds; one job runs
  // before all, to warm up.
  Times time(int least_readings, double seconds, double shortest = 3e-4);

 private:
  double run(int launches);

  const test::Engine& engine_;
  Dct8x8Job job_;
  std::vector<std::unique_ptr<Memory>> samples_, coefs_;
  std::vector<size_t> sample_bytes_, coef_bytes_;
  std::unique_ptr<Timer> timer_;
};

// The steps of GPUDCT's ladder: our methods, the benchmark's kernels, and two further steps of
// ours.
struct GpudctStep {
  const char* name;
  Method method;
  bool is_kernel = false;  // for the CUDA engine alone; `method` means nothing
};
inline constexpr GpudctStep kGpudctSteps[] = {
    {"naive", Method::kNaive},         {"lut", Method::kNaive, true},
    {"separable", Method::kSeparable}, {"decomposed", Method::kDecomposed},
    {"no_shared", Method::kShuffle},   {"next", Method::kNaive, true},
    {"next16", Method::kNaive, true},  {"float", Method::kFloat},
    {"islow", Method::kIslow},         {"ifast", Method::kIfast},
    {"reference", Method::kReference}};

struct GpudctTimes {
  Times times;
  double samples;
};

// Random levels and tables of 16 bits, a plane of side x side samples. Throws, as all here.
GpudctTimes run_random(Runner runner, const GpudctStep& step, int side, double seconds);

// Against the definition in double precision, by component; without ties: see
// tests/conformance/inverse_judge.h.
struct GpudctErrors {
  std::vector<double> samples, sse, sse_without_ties;
};
GpudctErrors judge_jpeg(Runner runner, const GpudctStep& step, const std::string& path);

enum class HongAlgorithm {
  kNaive,      // the double sum, in double precision, with cosines and roots computed in the loops
  kMatrix,     // T M T^T with T in a table: the engine's method matrix
  kRowColumn,  // a fast one-dimensional transform of rows and columns: decomposed; with SIMD float
};
inline constexpr HongAlgorithm kHongAlgorithms[] = {HongAlgorithm::kNaive, HongAlgorithm::kMatrix,
                                                    HongAlgorithm::kRowColumn};
const char* hong_name(HongAlgorithm algorithm);

// The SIMD code is a fast transform of rows and columns; CUDA's cases are bench_cuda's.
bool hong_exists(HongAlgorithm algorithm, Runner runner);

struct HongResult {
  Times times;   // of the whole plane
  double share;  // of the plane's rows that were transformed in a reading; times are over it
  double error;  // largest difference from the definition's coefficients
};

// Transforms a plane of side x side samples to unquantised fp32 coefficients. If the plane would
// take longer than `budget` seconds, it transforms as many rows as fit. Throws.
HongResult run_hong(HongAlgorithm algorithm, Runner runner, int side, double seconds,
                    double budget);

// Keys' bicubic interpolation (a = -1/2) to `factor` times the size, sample centres on centres of
// area, edges replicated, rounded once after both directions.
test::BytePlane enlarge(const test::BytePlane& plane, int factor);

struct WhitepaperResult {
  int width, height;
  double sse;       // against the source
  double sse_gold;  // against the picture of plain C++
  Times forward, inverse;
};

// The picture enlarged `factor` times, quantised by the whitepaper's table. Throws.
WhitepaperResult run_whitepaper(Runner runner, Method method, const test::BytePlane& picture,
                                int factor, double seconds);

}  // namespace cudatransform::bench
