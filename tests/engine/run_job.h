// Runs one job of any transform: uploads guarded planes, submits, waits, reads back, checks the
// borders.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "tests/engine/frame.h"

namespace cudatransform::test {

// A job's results. `fault` names a failure other than wrong values: "" for none.
template <typename Coefs>
struct ForwardOf {
  std::string fault;
  Coefs coefs;
  PictureSums sums{};
};
struct InverseResult {
  std::string fault;
  Picture picture;
  PictureSums sums{};
};

// The planes that an inverse job is compared with; null where `reference` is.
template <typename Spec>
std::unique_ptr<SampleFrame> make_reference(const Engine& engine, const Spec& spec,
                                            const Picture* reference, SamplePlane planes[3]) {
  if (reference == nullptr) return nullptr;
  auto frame = std::make_unique<SampleFrame>(engine, *reference, spec.depth, spec.arrangement, 1,
                                             false, spec.seed + 2);
  frame->fill(*reference);
  frame->describe(planes);
  return frame;
}

// Pinned memory for one PictureSums, filled with junk.
inline std::unique_ptr<Memory> make_sums(const Engine& engine) {
  std::unique_ptr<Memory> memory;
  if (!engine.device->allocate(MemoryKind::kPinned, sizeof(PictureSums), &memory).ok()) return {};
  std::memset(memory->data(), 0xA5, sizeof(PictureSums));
  return memory;
}

// Uploads must have been enqueued; returns when the job is done and its outputs can be downloaded.
// `submit(device, queue, &done)` enqueues it.
template <typename Submit>
Status submit_and_wait(const Engine& engine, const Submit& submit) {
  engine.activate();
  Device& device = *engine.device;
  FencePtr uploaded, done;
  CT_RETURN_IF_ERROR(device.queue(QueueKind::kUpload).record(&uploaded));
  Queue& compute = device.queue(QueueKind::kCompute);
  CT_RETURN_IF_ERROR(compute.wait_for(uploaded));
  CT_RETURN_IF_ERROR(submit(device, compute, &done));
  if (!done) return Status::error(StatusCode::kFailed, "submit() gave no fence");
  CT_RETURN_IF_ERROR(device.queue(QueueKind::kDownload).wait_for(done));
  CT_RETURN_IF_ERROR(done->wait());
  if (!done->done()) return Status::error(StatusCode::kFailed, "waited, but not done()");
  return {};
}

template <typename Ops, typename Job>
Status submit_and_wait(const Engine& engine, const Ops& ops, const Job& job) {
  return submit_and_wait(engine, [&](Device& device, Queue& queue, FencePtr* done) {
    return ops.submit(device, queue, job, done);
  });
}

// Uploads filled frames, runs the job, downloads them, and checks their borders. "" or the failure.
template <typename Ops, typename Job, typename Input, typename Output>
std::string run_on_frames(const Engine& engine, const Ops& ops, const Job& job, Input& input,
                          Output& output) {
  output.poison();
  Status status = input.upload();
  if (status.ok()) status = output.upload();
  if (status.ok()) status = submit_and_wait(engine, ops, job);
  if (status.ok()) status = output.download();
  if (status.ok()) status = input.download();
  if (!status.ok()) return status.message.empty() ? "failed without a message" : status.message;
  if (const std::string fault = output.fault(); !fault.empty()) return "output, " + fault;
  if (const std::string fault = input.fault(); !fault.empty()) return "input, " + fault;
  return "";
}

// The part of a job after its frames are filled, in both directions. "" or a failure apart from
// wrong values.
template <typename Ops, typename Job, typename Input, typename Output>
std::string run_job(const Engine& engine, const Ops& ops, Job& job, Input& input, Output& output,
                    SampleFrame* reference, PictureSums* sums) {
  std::unique_ptr<Memory> pinned;
  if (job.measure != 0) {
    pinned = make_sums(engine);
    if (!pinned) return "no pinned memory";
    job.sums = static_cast<PictureSums*>(pinned->data());
  }
  Status status;
  if (reference != nullptr) status = reference->upload();
  if (!status.ok()) return status.message;
  if (const std::string fault = run_on_frames(engine, ops, job, input, output); !fault.empty())
    return fault;
  if (pinned) std::memcpy(sums, pinned->data(), sizeof *sums);
  if (reference == nullptr) return "";
  if (status = reference->download(); !status.ok()) return status.message;
  const std::string fault = reference->fault();
  return fault.empty() ? "" : "reference, " + fault;
}

// The forward job of a Spec: `output` has the layout of `coefs`, which are all zero.
template <typename Ops, typename Job, typename Spec, typename Frame, typename Coefs>
ForwardOf<Coefs> run_forward_job(const Engine& engine, const Ops& ops, const Spec& spec,
                                 const Picture& picture, Job job, Frame output, Coefs coefs) {
  ForwardOf<Coefs> result;
  SampleFrame input(engine, picture, spec.depth, spec.arrangement, 1, false, spec.seed);
  input.fill(picture);
  input.describe(job.samples);
  output.describe(job.coefs);
  result.fault = run_job(engine, ops, job, input, output, nullptr, &result.sums);
  output.read(&coefs);
  result.coefs = std::move(coefs);
  return result;
}

}  // namespace cudatransform::test
