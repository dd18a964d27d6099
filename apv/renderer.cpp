// From frames of APV to samples on a device, by jobs for any engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/renderer.h"

#include <utility>

namespace cudatransform {

namespace {

uint64_t coef_bytes(const ApvFrame& frame) { return sizeof(int16_t) * frame.coef_count(); }

}  // namespace

void ApvPicture::release() {
  if (coefs_.memory != nullptr) pool_->give(std::exchange(coefs_, {}));
}

uint64_t ApvRenderer::need(const ApvFrame& frame) const {
  return (device_.is_host() ? 1 : 2) * coef_bytes(frame) + frame.payload().size();
}

bool ApvRenderer::trim() { return pictures_.trim(); }

Status ApvRenderer::prepare(ApvPicture* picture) {
  picture->release();
  CT_RETURN_IF_ERROR(pictures_.take(device_, coef_bytes(picture->frame), &picture->coefs_));
  picture->pool_ = &pictures_;
  // The device may still read what the last picture has left there.
  if (const FencePtr read = std::exchange(picture->coefs_.read, {}); read != nullptr)
    return read->wait();
  return {};
}

Status ApvRenderer::upload(ApvPicture* picture, const int16_t** coefs) {
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
  const Status status = inverse_.submit(device_, queue(), job, nullptr);
  picture->release();
  return status;
}

}  // namespace cudatransform
