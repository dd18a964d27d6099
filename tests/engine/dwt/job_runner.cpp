// Wavelet jobs from specs.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dwt/job_runner.h"

#include <algorithm>

namespace cudatransform::test::dwt {
namespace {

DwtJob job_of(const Spec& spec, Direction direction, size_t components) {
  DwtJob job;
  job.direction = direction;
  job.wavelet = spec.shape.wavelet;
  job.wavelet_ho = spec.shape.wavelet_ho;
  job.levels = {spec.shape.levels, spec.shape.levels_ho};
  job.type = spec.type;
  job.depth = spec.depth;
  job.components = static_cast<int>(components);
  job.measure = spec.measure;
  for (size_t c = 0; c < components; ++c)
    std::copy(spec.quant_index[c].begin(), spec.quant_index[c].end(), job.quant_index[c]);
  return job;
}

}  // namespace

Pyramids empty_pyramids(const Picture& picture, const Shape& shape) {
  Pyramids pyramids;
  for (const Plane& plane : picture)
    pyramids.emplace_back(padded_width(shape, plane.width), padded_height(shape, plane.rows));
  return pyramids;
}

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture) {
  Pyramids coefs = empty_pyramids(picture, spec.shape);
  PyramidFrame output(engine, coefs, spec.type, true, spec.seed + 1);
  return run_forward_job(engine, *engine.dwt_ops, spec, picture,
                         job_of(spec, Direction::kForward, picture.size()), std::move(output),
                         std::move(coefs));
}

InverseResult run_inverse(const Engine& engine, const Spec& spec, const Pyramids& coefs,
                          const Picture& like, const Picture* reference) {
  InverseResult result;
  result.picture = like;
  DwtJob job = job_of(spec, Direction::kInverse, coefs.size());
  PyramidFrame input(engine, coefs, spec.type, false, spec.seed + 1);
  // Every other plane of residuals has room for the padding.
  job.samples_have_room = spec.arrangement == Arrangement::kResidual &&
                          spec.chroma_row_repeat == 1 && spec.seed / 8 % 2 == 0;
  Picture memory = like;
  for (size_t c = 0; c < like.size() && job.samples_have_room; ++c)
    memory[c] = Plane(coefs[c].width, coefs[c].rows);
  SampleFrame output(engine, memory, spec.depth, spec.arrangement, spec.chroma_row_repeat, true,
                     spec.seed);
  input.fill(coefs);
  input.describe(job.coefs);
  output.describe(job.samples);
  for (size_t c = 0; c < like.size(); ++c) {
    if (!job.samples_have_room) break;
    job.samples[c].width = like[c].width;
    job.samples[c].height = like[c].rows;
  }
  const auto original = make_reference(engine, spec, reference, job.reference);
  result.fault = run_job(engine, *engine.dwt_ops, job, input, output, original.get(), &result.sums);
  if (result.fault.empty()) result.fault = output.read(&memory);
  for (size_t c = 0; c < like.size(); ++c) {
    for (int y = 0; y < like[c].rows; ++y)
      for (int x = 0; x < like[c].width; ++x) result.picture[c].at(x, y) = memory[c].at(x, y);
  }
  return result;
}

std::vector<Engine> dwt_engines() {
  std::vector<Engine> list;
  for (const Engine& engine : engines())
    if (engine.dwt_ops != nullptr) list.push_back(engine);
  return list;
}

}  // namespace cudatransform::test::dwt
