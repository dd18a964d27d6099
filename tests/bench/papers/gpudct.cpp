// Levels of both kinds through one method's inverse.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/papers/jobs.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/inverse_judge.h"
#include "tests/jpeg/codec.h"
#ifdef CT_HAVE_CUDA
#include "tests/bench/papers/kernels.h"
#endif

namespace cudatransform::bench {
namespace {

const test::Engine& engine_of(Runner runner, [[maybe_unused]] const GpudctStep& step) {
  std::string why;
  const test::Engine* engine = find_engine(runner, &why);
  if (engine == nullptr) throw std::runtime_error(why);
#ifdef CT_HAVE_CUDA
  if (step.is_kernel) return step_engine(*engine, step.name);
#endif
  return *engine;
}

// The cases reuse one file.
const test::JpegContents& contents_of(const std::string& path) {
  static std::string known;
  static test::JpegContents contents;
  if (known != path) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), {}};
    if (file.empty()) throw std::runtime_error(path + " cannot be read");
    contents = test::jpeg_levels(file);
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

}  // namespace

GpudctTimes run_random(Runner runner, const GpudctStep& step, int side, double seconds) {
  // Products of any level and table entry would exceed the range of an 8-bit sample's coefficient.
  std::mt19937 random(1);
  QuantTable table;
  for (auto& entry : table.q) entry = static_cast<uint16_t>(1 + random() % 64);
  std::vector<int16_t> levels(static_cast<size_t>(side) * side);
  // Levels of large planes repeat, with a period beyond any cache and not of whole rows.
  const size_t period = std::min(levels.size(), (size_t{1} << 24) + 64 * 1001);
  for (size_t i = 0; i < period; ++i)
    levels[i] = static_cast<int16_t>(static_cast<int>(random() % 33) - 16);
  for (size_t at = period; at < levels.size(); at += period)
    std::copy_n(levels.begin(), std::min(period, levels.size() - at), levels.begin() + at);
  PlaneJob job(engine_of(runner, step), Direction::kInverse, step.method, true,
               {{side, side, table}});
  job.write_input(0, levels.data());
  return {job.time(5, seconds), static_cast<double>(levels.size())};
}

GpudctErrors judge_jpeg(Runner runner, const GpudctStep& step, const std::string& path) {
  const test::JpegContents& file = contents_of(path);
  const test::FlatOptions options{step.method, file.tables};
  const test::BytePicture planes =
      test::inverse_planes(engine_of(runner, step), options, file.levels, file.planes);
  GpudctErrors errors;
  for (size_t c = 0; c < planes.size(); ++c) {
    const test::InverseErrors found = test::judge_inverse(gold_of_file(path)[c], planes[c]);
    errors.samples.push_back(static_cast<double>(planes[c].samples.size()));
    errors.sse.push_back(found.all);
    errors.sse_without_ties.push_back(found.without_ties);
  }
  return errors;
}

}  // namespace cudatransform::bench
