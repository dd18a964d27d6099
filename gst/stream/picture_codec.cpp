// One picture that is decoded: its bytes, what it may take, and what has become of it.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/picture_codec.h"

#include <utility>

namespace cudatransform {

PictureJob::~PictureJob() {
  if (GstVideoCodecFrame* left = take_frame()) gst_video_codec_frame_unref(left);
}

// The frame, unmapped and the caller's; null once it has been taken.
GstVideoCodecFrame* PictureJob::take_frame() {
  if (mapped_) gst_buffer_unmap(input_.get(), &map_);
  mapped_ = false;
  input_.reset();
  return std::exchange(frame_, nullptr);
}

Status PictureJob::claim(guint64 bytes, guint width, guint height) {
  bytes_ += bytes;
  if (max_memory_ == 0 || bytes_ <= max_memory_) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "the picture has " + std::to_string(width) + "x" + std::to_string(height) +
                           " pixels and needs " + std::to_string(bytes_) +
                           " bytes, more than max-memory=" + std::to_string(max_memory_));
}

bool PictureJob::claim_if_possible(guint64 bytes) {
  if (max_memory_ != 0 && bytes_ + bytes > max_memory_) return false;
  bytes_ += bytes;
  return true;
}

void PictureJob::run() {
  if (!status_.ok() || late_) return;
  if (*interrupt_ != 0) {
    status_ = Status::error(StatusCode::kCancelled, "interrupted");
    return;
  }
  PictureFindings found;
  status_ = decode(&found);
  damage_ = std::move(found.damage);
  irregular_ = std::move(found.irregular);
  decoded_ = true;
}

FrameJob::Left PictureJob::look(bool wait) {
  if (!decoded_ || !status_.ok()) return Left::kNothing;
  Left left = Left::kNothing;
  PictureFindings found;
  status_ = settle(wait, &left, &found);
  if (!found.irregular.empty()) irregular_ = std::move(found.irregular);
  if (left == Left::kRun) decoded_ = false;
  return status_.ok() ? left : Left::kNothing;
}

}  // namespace cudatransform
