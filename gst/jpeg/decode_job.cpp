// One picture of jpegcoefdec: its bytes, its destination, and its result.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/decode_job.h"

#include <cstring>
#include <utility>

#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/debug.h"
#include "gst/stream/sampling.h"
#include "jpeg/metadata.h"
#include "transform/device/host_device.h"

namespace cudatransform {

DecodeJob::DecodeJob(GstVideoCodecFrame* frame)
    : bytes(gst_buffer_get_size(frame->input_buffer)), frame_(frame) {}

DecodeJob::~DecodeJob() {
  if (GstVideoCodecFrame* left = take_frame()) gst_video_codec_frame_unref(left);
}

Status DecodeJob::map() {
  CT_RETURN_IF_ERROR(in_one_piece(frame_->input_buffer, &input_));
  mapped_ = gst_buffer_map(input_.get(), &map_, GST_MAP_READ);
  if (mapped_) return {};
  return Status::error(StatusCode::kFailed, "failed to map the JPEG buffer");
}

Status DecodeJob::find_trailing_data() {
  const FirstPicture first = first_picture(whole());
  const gsize trailing = map_.size - first.size;
  Status status = find_places(whole(), first.size, &others_);
  if (status.ok() && others_.count > 0) {
    status = check_places(whole(), others_);
    if (status.ok()) others_size_ = trailing;
  }
  if (!status.ok()) GST_DEBUG("%s", status.message.c_str());
  // Without an end and an index, the bytes after damage may be the rest of the picture.
  if (first.has_end || has_others()) trailing_size_ = trailing;
  if (has_others() || !ends_with_another(whole().first(first.size), others_)) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "truncated marker segment, followed by another MPF picture");
}

bool DecodeJob::defer_trailing_data() {
  defers_trailing_data_ = may_be_single_picture(whole());
  return defers_trailing_data_;
}

GstVideoCodecFrame* DecodeJob::take_frame() {
  if (mapped_) gst_buffer_unmap(input_.get(), &map_);
  mapped_ = false;
  input_.reset();
  return std::exchange(frame_, nullptr);
}

bool DecodeJob::is_small() const {
  constexpr gsize kBytes = 1024, kCoefficients = 32768;
  if (!status.ok() || is_late) return true;
  return !lane && file().size() < kBytes && info.size < kCoefficients;
}

void DecodeJob::run() {
  if (!status.ok() || is_late) return;
  if (*interrupts != 0) {
    status = Status::error(StatusCode::kCancelled, "interrupted");
    return;
  }
  status = decode();
  is_decoded = true;
}

FrameJob::Remaining DecodeJob::poll(bool wait) {
  if (!is_decoded || !status.ok()) return Remaining::kNothing;
  Remaining remaining = Remaining::kNothing;
  status = settle(wait, &remaining);
  if (remaining == Remaining::kRun) is_decoded = false;
  return status.ok() ? remaining : Remaining::kNothing;
}

// Ok without damage: the picture is good. Any other ok, or kInvalidArgument: it is damaged, and can
// still be shown if it conceals.
Status DecodeJob::decode() {
  damage.clear();
  if (device_coefs.block && !std::exchange(is_device_polled_, true))
    CT_RETURN_IF_ERROR(submit_to_device());
  if (!is_on_device) CT_RETURN_IF_ERROR(decode_on_cpu());
  if (!metadata) CT_RETURN_IF_ERROR(read_metadata());
  if (defers_trailing_data_) return keep_metadata ? find_trailing_data() : Status();
  return trailing_size() > 0 && !trailing ? read_trailing() : Status();
}

Status DecodeJob::submit_to_device() {
  JpegQcoefs qcoefs[kJpegMaxComponents];
  for (guint c = 0; c < info.n_components; c++) {
    const Rect& rect = device_coefs.rects.rect[c];
    qcoefs[c] = {reinterpret_cast<int16_t*>(rect.data), static_cast<ptrdiff_t>(rect.pitch),
                 info.components[c].blocks_w, info.components[c].blocks_h};
  }
  return lane->submit(measured, qcoefs, &tables, &is_on_device);
}

// Call it after a decode() that was ok: takes the device's result. The CPU decodes again what the
// device has not decoded.
Status DecodeJob::settle(bool wait, Remaining* remaining) {
  *remaining = Remaining::kNothing;
  if (!is_on_device) return {};
  if (!wait && !lane->is_ready()) {
    *remaining = Remaining::kWork;
    return {};
  }
  is_on_device = false;
  uint32_t found_there = 0;
  CT_RETURN_IF_ERROR(lane->finish(&is_by_device, &found_there));
  if (is_by_device)
    irregular |= found_there;
  else
    *remaining = Remaining::kRun;
  return {};
}

Status DecodeJob::decode_on_cpu() {
  if (!coefs) {
    coefs = std::make_unique<CoefFrame>();
    coefs->layout = layout_of(info);
    CT_RETURN_IF_ERROR(allocate_host_memory(info.size, &coefs->pinned));
    coefs->data = static_cast<guint8*>(coefs->pinned->data());
  }
  JpegQcoefs qcoefs[kJpegMaxComponents];
  for (guint c = 0; c < info.n_components; c++) {
    const GstDctComponent& component = info.components[c];
    qcoefs[c] = {reinterpret_cast<int16_t*>(coefs->data + component.offset),
                 static_cast<ptrdiff_t>(component.stride), component.blocks_w, component.blocks_h};
  }
  JpegFindings findings;
  const Status read = reader->read_coefficients(qcoefs, &tables, &findings, {conceals, interrupts});
  irregular = findings.irregular;
  damage = std::move(findings.damage);
  return read;
}

// Of CMYK the Adobe marker is kept in any case: it indicates whether the values are inverted.
Status DecodeJob::read_metadata() {
  JpegKept kept{.staying = keep_metadata,
                .index = keep_metadata && has_others(),
                .adobe = is_of(info.sampling, "CMYK")};
  size_t size_of_all = jpeg_metadata_size(file(), kept);
  if (size_of_all == 0 && kept.adobe) {
    kept.staying = kept.index = false;
    size_of_all = jpeg_metadata_size(file(), kept);
  }
  if (size_of_all == 0) return {};
  auto* segments = static_cast<uint8_t*>(g_try_malloc(size_of_all));
  if (!segments)
    return Status::error(StatusCode::kOutOfMemory, "no memory for JPEG metadata of " +
                                                       std::to_string(size_of_all) + " bytes");
  copy_jpeg_metadata(file(), kept, segments);
  metadata.reset(g_bytes_new_take(segments, size_of_all));
  return {};
}

// A copy, because the file's memory may be its sender's.
Status DecodeJob::read_trailing() {
  auto* bytes = static_cast<uint8_t*>(g_try_malloc(trailing_size()));
  if (!bytes)
    return Status::error(StatusCode::kOutOfMemory, "no memory for trailing data of " +
                                                       std::to_string(trailing_size()) + " bytes");
  memcpy(bytes, whole().last(trailing_size()).data(), trailing_size());
  trailing.reset(g_bytes_new_take(bytes, trailing_size()));
  return {};
}

}  // namespace cudatransform
