// From frames of APV to samples on a device, by jobs for any engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/renderer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cudatransform {

namespace {

uint64_t coef_bytes(const ApvFrame& frame) { return sizeof(int16_t) * frame.coef_count(); }

// Results precede the block that is sent.
size_t result_bytes(const ApvFrame& frame) {
  constexpr size_t kAlignment = 64;
  const size_t bytes = sizeof(uint32_t) * frame.chain_count();
  return (bytes + kAlignment - 1) & ~(kAlignment - 1);
}

}  // namespace

void ApvPicture::release() {
  if (renderer_ != nullptr) std::exchange(renderer_, nullptr)->take_back(*this);
}

void ApvPicture::begin() {
  if (is_begun()) return;
  const std::lock_guard lock(renderer_->mutex_);
  if (!is_begun()) renderer_->begin_batch();
}

Status ApvPicture::wait() {
  if (batch_ == nullptr || is_noted_) return {};
  begin();
  if (batch_->done != nullptr) CT_RETURN_IF_ERROR(batch_->done->wait());
  CT_RETURN_IF_ERROR(batch_->status);
  const auto* results = static_cast<const uint32_t*>(staged_.memory->data());
  for (size_t i = 0; i < frame.chain_count(); ++i)
    frame.note(static_cast<ApvChainError>(results[i]));
  is_noted_ = true;
  return {};
}

uint64_t ApvRenderer::need(const ApvFrame& frame, bool on_device) const {
  const auto missing = [](const BudgetedPool& pool, uint64_t bytes) {
    return pool.keeps(bytes) ? uint64_t{0} : bytes;
  };
  const uint64_t coefs = coef_bytes(frame);
  if (on_device) {
    // And the queue's own memory.
    const uint64_t staged = staged_bytes(frame);
    return missing(on_device_, coefs) + missing(staged_, staged) + staged;
  }
  const bool uploads = !device_.is_host() && (uploaded_ == nullptr || uploaded_->size() < coefs);
  return missing(pictures_, coefs) + (uploads ? coefs : 0) + frame.payload().size();
}

size_t ApvRenderer::staged_bytes(const ApvFrame& frame) const {
  return result_bytes(frame) + ops_.entropy->block_bytes(frame);
}

bool ApvRenderer::trim() {
  const std::lock_guard lock(mutex_);
  return trim_kept();
}

bool ApvRenderer::trim_others(const ApvFrame& frame, bool on_device) {
  const size_t coefs = coef_bytes(frame);
  bool any = on_device ? pictures_.trim() : pictures_.trim_others(coefs);
  any |= on_device ? on_device_.trim_others(coefs) : on_device_.trim();
  any |= on_device ? staged_.trim_others(staged_bytes(frame)) : staged_.trim();
  return any;
}

bool ApvRenderer::trim_kept() {
  bool any = pictures_.trim();
  any |= on_device_.trim();
  any |= staged_.trim();
  any |= !idle_.empty();
  idle_.clear();  // and their memory for intermediates
  return any;
}

void ApvRenderer::take_back(ApvPicture& picture) {
  std::shared_ptr<ApvPicture::Batch> batch = std::move(picture.batch_);
  if (batch != nullptr) {
    std::unique_lock lock(mutex_);
    // A discarded picture: the device does not begin it, or may still write to its memory.
    std::erase(batch->pictures, &picture);
    const FencePtr done = batch->done;
    lock.unlock();
    if (done != nullptr) (void)done->wait();
    lock.lock();
    const bool is_last = batch != batch_ && batch->pictures.empty() && batch->queue != nullptr;
    if (is_last && idle_.size() < kMaxQueues) idle_.push_back(std::move(batch->queue));
  }
  if (picture.coefs_.memory != nullptr)
    (picture.is_on_device_ ? on_device_ : pictures_).give(std::exchange(picture.coefs_, {}));
  if (picture.staged_.memory != nullptr) staged_.give(std::exchange(picture.staged_, {}));
}

Status ApvRenderer::prepare(ApvPicture* picture, bool on_device) {
  picture->release();
  picture->renderer_ = this;
  picture->is_on_device_ = on_device;
  picture->is_noted_ = false;
  const ApvFrame& frame = picture->frame;
  if (on_device) {
    CT_RETURN_IF_ERROR(on_device_.take(device_, coef_bytes(frame), &picture->coefs_));
    return staged_.take(device_, staged_bytes(frame), &picture->staged_);
  }
  CT_RETURN_IF_ERROR(pictures_.take(device_, coef_bytes(frame), &picture->coefs_));
  // The device may still read what the last picture has left there.
  if (const FencePtr read = std::exchange(picture->coefs_.read, {}); read != nullptr)
    return read->wait();
  return {};
}

ApvEntropyJob ApvRenderer::entropy_job(const ApvPicture& picture) const {
  auto* const staged = static_cast<uint8_t*>(picture.staged_.memory->data());
  ApvEntropyJob job;
  job.frame = &picture.frame;
  job.results = reinterpret_cast<uint32_t*>(staged);
  job.block = staged + result_bytes(picture.frame);
  job.coefs = static_cast<int16_t*>(picture.coefs_.memory->data());
  return job;
}

Status ApvRenderer::stage(const ApvPicture& picture, int part, int parts) const {
  return ops_.entropy->stage(entropy_job(picture), part, parts);
}

Status ApvRenderer::decode(ApvPicture* picture, int in_flight) {
  // Streams share the driver's few channels to the device (8, unless the process has chosen
  // otherwise), where they wait for each other; but of many launches few wait for their last
  // chains.
  constexpr int kLaunches = 12;
  const size_t wanted = std::clamp<size_t>(in_flight / kLaunches, 1, kMaxApvEntropyJobs);
  const std::lock_guard lock(mutex_);
  if (batch_ == nullptr) CT_RETURN_IF_ERROR(open_batch());
  picture->batch_ = batch_;
  batch_->in_flight = in_flight;
  batch_->pictures.push_back(picture);
  // The queue's own memory grows with the bytes.
  constexpr size_t kMaxBytes = size_t{128} << 20;
  batch_->bytes += staged_bytes(picture->frame);
  if (batch_->pictures.size() >= wanted || batch_->bytes >= kMaxBytes) begin_batch();
  return {};
}

Status ApvRenderer::open_batch() {
  auto batch = std::make_shared<ApvPicture::Batch>();
  if (idle_.empty()) {
    CT_RETURN_IF_ERROR(ops_.entropy->make_queue(device_, &batch->queue));
  } else {
    batch->queue = std::move(idle_.back());
    idle_.pop_back();
  }
  batch_ = std::move(batch);
  return {};
}

void ApvRenderer::begin_batch() {
  const std::shared_ptr<ApvPicture::Batch> batch = std::move(batch_);
  batch->status = submit(*batch);
  if (batch->status.code == StatusCode::kOutOfMemory && trim_kept()) batch->status = submit(*batch);
  // Work that has been enqueued still uses the pictures' memory.
  if (!batch->status.ok() && batch->queue->record(&batch->done).ok()) (void)batch->done->wait();
  batch->is_begun = true;
}

Status ApvRenderer::submit(ApvPicture::Batch& batch) {
  std::array<ApvEntropyJob, kMaxApvEntropyJobs> jobs;
  size_t count = 0;
  for (ApvPicture* picture : batch.pictures) {
    if (const FencePtr read = std::exchange(picture->coefs_.read, {}); read != nullptr)
      CT_RETURN_IF_ERROR(batch.queue->wait_for(read));
    jobs[count++] = entropy_job(*picture);
  }
  if (count == 0) return {};
  return ops_.entropy->submit(device_, *batch.queue, {jobs.data(), count}, batch.in_flight,
                              &batch.done);
}

Status ApvRenderer::upload(ApvPicture* picture, const int16_t** coefs) {
  const void* const from = picture->coefs_.memory->data();
  if (device_.is_host() || picture->is_on_device_) {
    *coefs = static_cast<const int16_t*>(from);
    return {};
  }
  const uint64_t bytes = coef_bytes(picture->frame);
  if (uploaded_ == nullptr || uploaded_->size() < bytes) {
    uploaded_.reset();
    CT_RETURN_IF_ERROR(budget_->allocate(device_, MemoryKind::kDevice, bytes, &uploaded_));
  }
  CT_RETURN_IF_ERROR(device_.upload(queue(), copy_of_bytes(uploaded_->data(), from, bytes)));
  *coefs = static_cast<const int16_t*>(uploaded_->data());
  return queue().record(&picture->coefs_.read);
}

Status ApvRenderer::render(ApvPicture* picture, const ApvSamples& to) {
  CT_RETURN_IF_ERROR(picture->wait());
  const ApvFrame& frame = picture->frame;
  const int16_t* coefs = nullptr;
  CT_RETURN_IF_ERROR(upload(picture, &coefs));
  ApvInverseJob job = frame.inverse_job();
  job.shift = to.shift;
  for (int c = 0; c < job.components; ++c) {
    job.plane[c].coefs = coefs + frame.coef_offset(c);
    job.plane[c].samples = to.data[c];
    job.plane[c].pitch = to.pitch[c];
  }
  FencePtr done;
  const bool reads_picture = picture->is_on_device_;
  const Status status =
      ops_.inverse->submit(device_, queue(), job, reads_picture ? &done : nullptr);
  if (reads_picture) picture->coefs_.read = std::move(done);
  picture->release();
  return status;
}

}  // namespace cudatransform
