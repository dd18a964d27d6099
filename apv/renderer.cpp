// From frames of APV to samples on a device, by jobs for any engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/renderer.h"

#include <algorithm>
#include <array>
#include <new>
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

void ApvPicture::decode_chain(size_t i) {
  const size_t chain = host_chains_[i];
  frame.decode_chain(chain, static_cast<int16_t*>(coefs_.memory->data()));
  if (is_on_device()) renderer_->upload_chain(*this, chain);
}

void ApvPicture::begin() {
  if (is_begun()) return;
  const std::lock_guard lock(renderer_->mutex_);
  if (!is_begun()) renderer_->begin_batch();
}

Status ApvPicture::wait() {
  if (batch_ == nullptr || is_noted_) return {};
  CT_RETURN_IF_ERROR(upload_status_);
  begin();
  if (batch_->done != nullptr) CT_RETURN_IF_ERROR(batch_->done->wait());
  CT_RETURN_IF_ERROR(batch_->status);
  const auto* results = static_cast<const uint32_t*>(staged_.memory->data());
  for (size_t i = 0; i < frame.chain_count(); ++i)
    frame.note(i, static_cast<ApvChainError>(results[i]));
  is_noted_ = true;
  return {};
}

uint64_t ApvRenderer::need(const ApvFrame& frame, uint32_t on_device) const {
  const auto missing = [](const BudgetedPool& pool, uint64_t bytes) {
    return pool.keeps(bytes) ? uint64_t{0} : bytes;
  };
  const uint64_t coefs = coef_bytes(frame);
  uint64_t bytes = 0;
  if (on_device != kNoApvChains) {
    // And the queue's own memory.
    const uint64_t staged = staged_bytes(frame);
    bytes += missing(on_device_, coefs) + missing(staged_, staged) + staged;
  }
  if (on_device != kAllApvChains) bytes += missing(pictures_, coefs) + frame.payload().size();
  const bool uploads = on_device == kNoApvChains && !device_.is_host() &&
                       (uploaded_ == nullptr || uploaded_->size() < coefs);
  return bytes + (uploads ? coefs : 0);
}

size_t ApvRenderer::staged_bytes(const ApvFrame& frame) const {
  return result_bytes(frame) + ops_.entropy->block_bytes(frame);
}

bool ApvRenderer::trim() {
  const std::lock_guard lock(mutex_);
  return trim_kept();
}

bool ApvRenderer::trim_others(const ApvFrame& frame, uint32_t on_device) {
  const auto trim = [](BudgetedPool& pool, bool serves, uint64_t bytes) {
    return serves ? pool.trim_others(bytes) : pool.trim();
  };
  const uint64_t coefs = coef_bytes(frame);
  const bool some = on_device != kNoApvChains;
  bool any = trim(pictures_, on_device != kAllApvChains, coefs);
  any |= trim(on_device_, some, coefs);
  any |= trim(staged_, some, some ? staged_bytes(frame) : 0);
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
  if (picture.uploaded_ != nullptr) {  // not rendered
    picture.coefs_.read = picture.uploaded_;
    picture.device_coefs_.read = std::move(picture.uploaded_);
  }
  if (picture.coefs_.memory != nullptr) pictures_.give(std::exchange(picture.coefs_, {}));
  if (picture.device_coefs_.memory != nullptr)
    on_device_.give(std::exchange(picture.device_coefs_, {}));
  if (picture.staged_.memory != nullptr) staged_.give(std::exchange(picture.staged_, {}));
}

Status ApvRenderer::prepare(ApvPicture* picture, uint32_t on_device) {
  picture->release();
  picture->renderer_ = this;
  picture->on_device_ = on_device;
  picture->is_noted_ = false;
  CT_RETURN_IF_ERROR(list_host_chains(picture));
  const ApvFrame& frame = picture->frame;
  if (picture->is_on_device()) {
    CT_RETURN_IF_ERROR(on_device_.take(device_, coef_bytes(frame), &picture->device_coefs_));
    CT_RETURN_IF_ERROR(staged_.take(device_, staged_bytes(frame), &picture->staged_));
  }
  if (picture->host_chains_.empty()) return {};
  CT_RETURN_IF_ERROR(pictures_.take(device_, coef_bytes(frame), &picture->coefs_));
  // The device may still read what the last picture has left there.
  if (const FencePtr read = std::exchange(picture->coefs_.read, {}); read != nullptr)
    return read->wait();
  return {};
}

Status ApvRenderer::list_host_chains(ApvPicture* picture) {
  const ApvFrame& frame = picture->frame;
  picture->bytes_on_device_ = 0;
  picture->host_chains_.clear();
  picture->uploading_ = 0;
  picture->upload_status_ = {};
  try {
    for (size_t i = 0; i < frame.chain_count(); ++i) {
      if (frame.bytes_of(i) <= picture->on_device_)
        picture->bytes_on_device_ += frame.bytes_of(i);
      else
        picture->host_chains_.push_back(static_cast<uint32_t>(i));
    }
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for the chains of a frame");
  }
  std::stable_sort(picture->host_chains_.begin(), picture->host_chains_.end(),
                   [&](auto a, auto b) { return frame.bytes_of(a) > frame.bytes_of(b); });
  const std::lock_guard lock(upload_mutex_);
  if (picture->host_chains_.empty() || !picture->is_on_device() || upload_queue_ != nullptr)
    return {};
  return ops_.entropy->make_queue(device_, &upload_queue_);
}

void ApvRenderer::upload_chain(ApvPicture& picture, size_t chain) {
  constexpr ptrdiff_t kBlockBytes = 64 * sizeof(int16_t);
  const ApvFrame& frame = picture.frame;
  const ApvTile& tile = frame.tile_of(chain);
  const int c = frame.component_of(chain);
  const ptrdiff_t at = kBlockBytes * static_cast<ptrdiff_t>(frame.first_block(tile, c));
  Copy2D copy;
  copy.src = static_cast<const uint8_t*>(picture.coefs_.memory->data()) + at;
  copy.dst = static_cast<uint8_t*>(picture.device_coefs_.memory->data()) + at;
  copy.src_pitch = copy.dst_pitch = kBlockBytes * frame.blocks_across(c);
  copy.row_bytes = size_t{kBlockBytes} * tile.mbs_across * frame.info().mb_blocks_across(c);
  copy.rows = size_t{tile.mbs_down} * ApvFrameInfo::kMbBlocksDown;
  const std::lock_guard lock(upload_mutex_);
  Status& status = picture.upload_status_;
  if (picture.uploading_ == 0) status = upload_queue_->wait_for(picture.device_coefs_.read);
  if (status.ok()) status = device_.upload(*upload_queue_, copy);
  if (++picture.uploading_ < picture.host_chains_.size()) return;
  const Status recorded = upload_queue_->record(&picture.uploaded_);
  if (status.ok()) status = recorded;
}

ApvEntropyJob ApvRenderer::entropy_job(const ApvPicture& picture) const {
  auto* const staged = static_cast<uint8_t*>(picture.staged_.memory->data());
  ApvEntropyJob job;
  job.frame = &picture.frame;
  job.max_bytes = picture.on_device_;
  job.results = reinterpret_cast<uint32_t*>(staged);
  job.block = staged + result_bytes(picture.frame);
  job.coefs = static_cast<int16_t*>(picture.device_coefs_.memory->data());
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
    CT_RETURN_IF_ERROR(batch.queue->wait_for(picture->device_coefs_.read));
    jobs[count++] = entropy_job(*picture);
  }
  if (count == 0) return {};
  return ops_.entropy->submit(device_, *batch.queue, {jobs.data(), count}, batch.in_flight,
                              &batch.done);
}

Status ApvRenderer::upload(ApvPicture* picture, const int16_t** coefs) {
  if (picture->is_on_device()) {
    *coefs = static_cast<const int16_t*>(picture->device_coefs_.memory->data());
    return queue().wait_for(picture->uploaded_);
  }
  const void* const from = picture->coefs_.memory->data();
  if (device_.is_host()) {
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
  const bool reads_picture = picture->is_on_device();
  const Status status =
      ops_.inverse->submit(device_, queue(), job, reads_picture ? &done : nullptr);
  if (reads_picture && status.ok()) {
    picture->device_coefs_.read = std::move(done);
    picture->coefs_.read = std::move(picture->uploaded_);
  }
  picture->release();
  return status;
}

}  // namespace cudatransform
