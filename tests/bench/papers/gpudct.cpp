// GPUDCT: inverse transforms of random and of a JPEG file's quantized coefficients, timed and
// judged.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/test_data.h"
#include "tests/jpeg/codec.h"
#ifdef CT_HAVE_CUDA
#include "tests/bench/papers/kernels.h"
#endif

namespace cudatransform::bench {
namespace {

// The steps of GPUDCT's ladder: our methods, the benchmark's kernels, and two further steps of
// ours.
struct Step {
  const char* name;
  Method method;
  bool is_kernel = false;  // for the CUDA engine alone; `method` means nothing
};
constexpr Step kSteps[] = {{"naive", Method::kNaive},         {"lut", Method::kNaive, true},
                           {"separable", Method::kSeparable}, {"decomposed", Method::kDecomposed},
                           {"no_shared", Method::kShuffle},   {"next", Method::kNaive, true},
                           {"next16", Method::kNaive, true},  {"float", Method::kFloat},
                           {"islow", Method::kIslow},         {"ifast", Method::kIfast},
                           {"reference", Method::kReference}};

const test::Engine& engine_of(Runner runner, [[maybe_unused]] const Step& step) {
  const test::Engine& engine = bench::engine_of(runner);
#ifdef CT_HAVE_CUDA
  if (step.is_kernel) return step_engine(engine, step.name);
#endif
  return engine;
}

// The cases reuse one file.
const test::JpegContents& contents_of(const std::string& path) {
  static std::string known;
  static test::JpegContents contents;
  if (known != path) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), {}};
    if (file.empty()) throw std::runtime_error(path + " cannot be read");
    contents = test::jpeg_qcoefs(file);
    known = path;
  }
  return contents;
}

const std::vector<std::vector<test::Gold>>& gold_of_file(const std::string& path) {
  static std::string known;
  static std::vector<std::vector<test::Gold>> gold;
  if (known != path) {
    gold = test::gold_of(contents_of(path));
    known = path;
  }
  return gold;
}

// Random quantized coefficients and tables of 16 bits, a plane of side x side samples.
void time_random(benchmark::State& state, Runner runner, const Step& step, int side,
                 double seconds) {
  // Products of any quantized coefficient and table entry would exceed the range of an 8-bit
  // sample's coefficient.
  std::mt19937 random(1);
  QuantTable table;
  for (auto& entry : table.q) entry = static_cast<uint16_t>(1 + random() % 64);
  std::vector<int16_t> qcoefs(static_cast<size_t>(side) * side);
  // Quantized coefficients of large planes repeat, with a period beyond any cache and not of whole
  // rows.
  const size_t period = std::min(qcoefs.size(), (size_t{1} << 24) + 64 * 1001);
  for (size_t i = 0; i < period; ++i)
    qcoefs[i] = static_cast<int16_t>(static_cast<int>(random() % 33) - 16);
  for (size_t at = period; at < qcoefs.size(); at += period)
    std::copy_n(qcoefs.begin(), std::min(period, qcoefs.size() - at), qcoefs.begin() + at);
  PlaneJob job(engine_of(runner, step), Direction::kInverse, step.method, true, {side, side, table},
               qcoefs.data());
  const Times times = job.time(5, seconds);
  state.counters["samples"] = static_cast<double>(qcoefs.size());
  state.counters["ms avg"] = 1e3 * times.mean();
  state.counters["ms min"] = 1e3 * times.least();
  state.counters["ms max"] = 1e3 * times.most();
}

// Against the definition in double precision, by component; ties: either neighbor is right, see
// tests/conformance/test_data.h.
void judge(benchmark::State& state, Runner runner, const Step& step, const std::string& path) {
  if (path.empty()) throw std::runtime_error("no file: give --jpeg=FILE.jpg");
  const test::JpegContents& file = contents_of(path);
  const test::FlatOptions options{step.method, file.tables};
  const test::BytePicture planes =
      test::inverse_planes(engine_of(runner, step), options, file.qcoefs, file.planes);
  for (size_t c = 0; c < planes.size(); ++c) {
    const test::InverseErrors found = test::judge_inverse(gold_of_file(path)[c], planes[c]);
    const std::string number = std::to_string(c);
    state.counters["samples" + number] = static_cast<double>(planes[c].samples.size());
    state.counters["sse" + number] = found.all;
    state.counters["ties" + number] = found.without_ties;
  }
}

}  // namespace

void add_gpudct_cases(const PaperOptions& options) {
  for (const Runner runner : {Runner::kSimdTbb, Runner::kCuda})
    for (const Step& step : kSteps) {
      const bool cuda = runner == Runner::kCuda;
      if (step.is_kernel && !cuda) continue;
      const std::string engine = std::string("engine:") + engine_key(runner);
      const std::string of = std::string("/step:") + step.name;
      // bench_cuda times the kernels of the steps; this checks their output.
      if ((!cuda || step.method <= Method::kFloat) && step.method != Method::kReference)
        add_case(engine + "/case:gpudct" + of, [=, &step](benchmark::State& state) {
          time_random(state, runner, step, options.shrunk(cuda ? 32768 : 4096), options.seconds);
        });
      add_case(engine + "/case:judge" + of,
               [=, &step](benchmark::State& state) { judge(state, runner, step, options.jpeg); });
    }
}

}  // namespace cudatransform::bench
