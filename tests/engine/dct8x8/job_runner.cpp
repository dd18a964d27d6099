// Jobs from specs, by the same order of calls as in the elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/job_runner.h"

#include <cstring>

namespace cudatransform::test {

Dct8x8Job job_of(const Spec& spec, Direction direction, int components) {
  Dct8x8Job job;
  job.direction = direction;
  job.method = spec.method;
  job.type = spec.type;
  job.layout = spec.layout;
  job.order = spec.order;
  job.quantized = spec.quantized;
  job.depth = spec.depth;
  job.scale = spec.scale;
  job.components = components;
  job.measure = spec.measure;
  if (direction == Direction::kForward) {
    job.quantizer = spec.quantizer;
    job.dead_zone = spec.dead_zone;
    job.rd_lambda = spec.rd_lambda;
  }
  // Component c uses table (c + 1) % 4: this exposes an engine that ignores the index.
  std::memset(job.tables, 0, sizeof job.tables);
  if (spec.quantized) {
    for (QuantTable& table : job.tables)
      for (uint16_t& q : table.q) q = 7;
    for (int c = 0; c < components; ++c) job.tables[c + 1] = spec.tables[c];
  }
  return job;
}

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture) {
  Coefficients coefs = empty_coefficients(picture);
  CoefFrame output(engine, coefs, spec.type, spec.layout, spec.order, true, spec.seed + 1);
  return run_forward_job(engine, *engine.ops, spec, picture,
                         job_of(spec, Direction::kForward, static_cast<int>(picture.size())),
                         std::move(output), std::move(coefs));
}

InverseResult run_inverse(const Engine& engine, const Spec& spec, const Coefficients& coefs,
                          const Picture& like, const Picture* reference) {
  InverseResult result;
  result.picture = like;
  Dct8x8Job job = job_of(spec, Direction::kInverse, static_cast<int>(coefs.size()));
  CoefFrame input(engine, coefs, spec.type, spec.layout, spec.order, false, spec.seed + 1);
  SampleFrame output(engine, like, spec.depth, spec.arrangement, spec.chroma_row_repeat, true,
                     spec.seed);
  input.fill(coefs);
  input.describe(job.coefs);
  output.describe(job.samples);
  const auto original = make_reference(engine, spec, reference, job.reference);
  result.fault = run_job(engine, *engine.ops, job, input, output, original.get(), &result.sums);
  if (result.fault.empty()) result.fault = output.read(&result.picture);
  return result;
}

}  // namespace cudatransform::test
