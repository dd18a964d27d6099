// The cases of papers, and what they share: the engines, and repeated timing of jobs of whole
// planes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/turns.h"
#include "tests/engine/kernel_jobs.h"

namespace benchmark {
class State;
}

namespace cudatransform::bench {

// Plain C++ on one thread and on all cores, SIMD on one and on all, and the CUDA engine.
enum class Runner { kSerial, kTbb, kSimd, kSimdTbb, kCuda };

// The engine; null for kCuda if there is none, and then `*why` names what is missing.
const test::Engine* find_engine(Runner runner, std::string* why);
// The same; throws what is missing.
const test::Engine& engine_of(Runner runner);
const char* engine_key(Runner runner);  // "cpu", "cuda"

// A packed plane through one engine.
class PlaneJob {
 public:
  struct Plane {
    int width, height;
    QuantTable table;  // of quantized coefficients
  };

  // `quantized`: int16 quantized coefficients, block after block; else fp32 coefficients where the
  // samples are. Throws std::runtime_error.
  PlaneJob(const test::Engine& engine, Direction direction, Method method, bool quantized,
           const Plane& plane, const void* input);
  void read_coefs(void* data);  // of a forward job
  // By the device's clock. A reading has enough launches to last 0.3 ms; one job runs before all,
  // to warm up.
  Times time(int min_readings, double seconds);

 private:
  const test::Engine& engine_;
  Dct8x8Job job_;
  std::unique_ptr<Memory> in_, out_;
  size_t out_bytes_;
};

// What the cases of bench_papers take.
struct PaperOptions {
  std::string picture, jpeg;
  double seconds = 0.5;  // of a case's repetitions
  double budget = 60;    // seconds that one turn may take
  double shrink = 1;     // divides the sides of planes without a picture

  int shrunk(int side) const { return static_cast<int>(side / shrink / 8) * 8; }
};

// Registers a case; an exception is its error.
void add_case(const std::string& name, const std::function<void(benchmark::State&)>& work);
void add_whitepaper_cases(const PaperOptions& options);
void add_hong_cases(const PaperOptions& options);
void add_gpudct_cases(const PaperOptions& options);

}  // namespace cudatransform::bench
