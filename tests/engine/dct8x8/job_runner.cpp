// Jobs from specs, in the order of calls that the elements use too.
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
  // Component c uses table (c + 1) % 4: an engine that ignores the index is found out.
  std::memset(job.tables, 0, sizeof job.tables);
  if (spec.quantized) {
    for (QuantTable& table : job.tables)
      for (uint16_t& q : table.q) q = 7;
    for (int c = 0; c < components; ++c) job.tables[c + 1] = spec.tables[c];
  }
  return job;
}

std::unique_ptr<Memory> make_sums(const Engine& engine) {
  std::unique_ptr<Memory> memory;
  if (!engine.device->allocate(MemoryKind::kPinned, sizeof(PictureSums), &memory).ok()) return {};
  std::memset(memory->data(), 0xA5, sizeof(PictureSums));
  return memory;
}

Status submit_and_wait(const Engine& engine, const Dct8x8Job& job) {
  engine.activate();
  Device& device = *engine.device;
  FencePtr uploaded, done;
  CT_RETURN_IF_ERROR(device.queue(QueueKind::kUpload).record(&uploaded));
  Queue& compute = device.queue(QueueKind::kCompute);
  CT_RETURN_IF_ERROR(compute.wait_for(uploaded));
  CT_RETURN_IF_ERROR(engine.ops->submit(device, compute, job, &done));
  if (!done) return Status::error(StatusCode::kFailed, "submit() gave no fence");
  CT_RETURN_IF_ERROR(device.queue(QueueKind::kDownload).wait_for(done));
  CT_RETURN_IF_ERROR(done->wait());
  if (!done->done()) return Status::error(StatusCode::kFailed, "waited, but not done()");
  return {};
}

namespace {

void use_tables(Dct8x8Job* job) {
  for (int c = 0; c < job->components; ++c) job->coefs[c].table = c + 1;
}

// What both directions do once their frames are filled.
template <typename Frame1, typename Frame2>
std::string run(const Engine& engine, Dct8x8Job& job, Frame1& input, Frame2& output,
                SampleFrame* reference, PictureSums* sums) {
  std::unique_ptr<Memory> pinned;
  if (job.measure != 0) {
    pinned = make_sums(engine);
    if (!pinned) return "no pinned memory";
    job.sums = static_cast<PictureSums*>(pinned->data());
  }
  output.poison();
  Status status = input.upload();
  if (status.ok()) status = output.upload();
  if (status.ok() && reference != nullptr) status = reference->upload();
  if (status.ok()) status = submit_and_wait(engine, job);
  if (status.ok()) status = output.download();
  if (status.ok()) status = input.download();
  if (status.ok() && reference != nullptr) status = reference->download();
  if (!status.ok()) return status.message.empty() ? "failed without a message" : status.message;
  if (pinned) std::memcpy(sums, pinned->data(), sizeof *sums);
  if (const std::string fault = output.fault(); !fault.empty()) return "output, " + fault;
  if (const std::string fault = input.fault(); !fault.empty()) return "input, " + fault;
  if (reference != nullptr)
    if (const std::string fault = reference->fault(); !fault.empty()) return "reference, " + fault;
  return "";
}

}  // namespace

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture) {
  ForwardResult result;
  result.coefs = empty_coefficients(picture);
  Dct8x8Job job = job_of(spec, Direction::kForward, static_cast<int>(picture.size()));
  SampleFrame input(engine, picture, spec.depth, spec.arrangement, 1, false, spec.seed);
  CoefFrame output(engine, result.coefs, spec.type, spec.layout, spec.order, true, spec.seed + 1);
  input.fill(picture);
  input.describe(job.samples);
  output.describe(job.coefs);
  use_tables(&job);
  result.fault = run(engine, job, input, output, nullptr, &result.sums);
  output.read(&result.coefs);
  return result;
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
  use_tables(&job);
  std::unique_ptr<SampleFrame> original;
  if (reference != nullptr) {
    original = std::make_unique<SampleFrame>(engine, *reference, spec.depth, spec.arrangement, 1,
                                             false, spec.seed + 2);
    original->fill(*reference);
    original->describe(job.reference);
  }
  result.fault = run(engine, job, input, output, original.get(), &result.sums);
  if (result.fault.empty()) result.fault = output.read(&result.picture);
  return result;
}

}  // namespace cudatransform::test
