// One frame of coefficients, from its arrival to its JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/encode_job.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "gst/dct8x8/file_query.h"
#include "gst/engine/cuda_sync.h"
#include "jpeg/metadata.h"
#include "jpeg/xmp.h"

namespace cudatransform {
namespace {

// The bytes after a picture.
struct Trailing {
  std::span<const uint8_t> bytes;
  FilePlace places[GST_DCT_JPEG_MAX_ATTACHMENTS];
  guint count = 0;

  std::span<const FilePlace> attachments() const { return {places, count}; }
};

// kInvalidArgument: attachments that cannot be: too many, outside of the bytes, over each other.
Status read_trailing(GstBuffer* coefficients, Trailing* trailing) {
  const GstDctJpegMeta* jpeg = gst_buffer_get_dct_jpeg_meta(coefficients);
  if (!jpeg) return {};
  const auto wrong = [](const std::string& what) {
    return Status::error(StatusCode::kInvalidArgument, "GstDctJpegMeta: " + what);
  };
  if (jpeg->n_attachments > GST_DCT_JPEG_MAX_ATTACHMENTS)
    return wrong(std::to_string(jpeg->n_attachments) + " attachments, expected at most " +
                 std::to_string(GST_DCT_JPEG_MAX_ATTACHMENTS));
  gsize size = 0;
  if (jpeg->trailing) {
    const auto* data = static_cast<const uint8_t*>(g_bytes_get_data(jpeg->trailing, &size));
    trailing->bytes = {data, size};
  }
  for (guint i = 0; i < jpeg->n_attachments; i++) {
    const FilePlace place = {jpeg->attachments[i].offset, jpeg->attachments[i].size};
    if (place.size == 0 || place.begin > size || place.size > size - place.begin)
      return wrong("attachment " + std::to_string(i) + " " + place.text() +
                   " exceeds the trailing data of " + std::to_string(size) + " bytes");
    for (const FilePlace& other : trailing->attachments())
      if (place.overlaps(other))
        return wrong("attachment " + std::to_string(i) + " " + place.text() + " overlaps another " +
                     other.text());
    trailing->places[trailing->count++] = place;
  }
  return {};
}

// Without a copy: the buffer frees what the writer has allocated.
GstBuffer* wrap(JpegBytes* bytes) {
  const gsize size = bytes->size(), capacity = bytes->capacity();
  uint8_t* data = bytes->release();
  return gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), data, capacity, 0, size, data,
                                     std::free);
}

}  // namespace

Status EncodeJob::prepare(Engine& engine, const GstDctInfo& info, const CapsTables& caps_tables,
                          const JpegOptions& options, DeviceCoder& coder,
                          GstVideoCodecFrame* frame) {
  clear();
  engine_ = &engine;
  info_ = info;
  frame_ = frame;
  options_ = options;
  coefficients_.reset(gst_buffer_ref(frame->input_buffer));
  const GstDctMeta* meta = nullptr;
  CoefPlaces places;
  CT_RETURN_IF_ERROR(
      find_coefficients(engine, coefficients_.get(), info, caps_tables, &meta, &places));
  if (meta && meta != gst_buffer_get_dct_meta(coefficients_.get())) {
    stand_in_ = *meta;
    meta = &stand_in_;
  }
  meta_ = meta;
  const bool by_device = is_parallel(options, info.depth) && coder.takes_next();
  // Our queues wait on the device, all others here.
  CT_RETURN_IF_ERROR(input_.open(engine, coefficients_.get(), places,
                                 by_device ? QueueKind::kCompute : QueueKind::kDownload));
  Rects rects = input_.rects();
  describe(info, *meta, rects);
  if (!input_.is_on_device()) return {};
  if (!by_device) {
    CT_RETURN_IF_ERROR(fetch(engine, &rects));
    describe(info, *meta, rects);
    return {};
  }
  const Status status = begin_scan(coder);
  const bool can_fetch =
      status.code == StatusCode::kUnsupported || status.code == StatusCode::kOutOfMemory;
  return can_fetch ? fetch_qcoefs() : status;
}

// kUnsupported or kOutOfMemory: no work is in flight, and another coder can take the coefficients.
Status EncodeJob::begin_scan(DeviceCoder& coder) {
  CT_RETURN_IF_ERROR(wait_for_producer(coefficients_.get(), engine_->queue(QueueKind::kCompute)));
  FencePtr read;
  CT_RETURN_IF_ERROR(scan_.begin(coder, picture_, options_, &read));
  input_.mark_read(read);
  return {};
}

// Replaces the device's coding: begins the download of the coefficients and updates picture_.
Status EncodeJob::fetch_qcoefs() {
  // The compute queue is the one that has waited until they are written.
  FencePtr written;
  CT_RETURN_IF_ERROR(engine_->queue(QueueKind::kCompute).record(&written));
  CT_RETURN_IF_ERROR(engine_->queue(QueueKind::kDownload).wait_for(written));
  Rects rects = input_.rects();
  CT_RETURN_IF_ERROR(fetch(*engine_, &rects));
  describe(info_, *meta_, rects);
  return {};
}

// Begins the download to our staging memory and points `*rects` there.
Status EncodeJob::fetch(Engine& engine, Rects* rects) {
  Rects to = *rects;
  gsize bytes = 0;
  for (int c = 0; c < to.count; c++) bytes += to.rect[c].row_bytes * to.rect[c].rows;
  if (!staging_ || staging_->size() < bytes)
    CT_RETURN_IF_ERROR(engine.allocate_for_copies(bytes, &staging_));
  auto* data = static_cast<guint8*>(staging_->data());
  for (int c = 0; c < to.count; c++) {
    to.rect[c].data = data;
    to.rect[c].pitch = to.rect[c].row_bytes;
    data += to.rect[c].row_bytes * to.rect[c].rows;
  }
  Queue& queue = engine.queue(QueueKind::kDownload);
  CT_RETURN_IF_ERROR(wait_for_producer(coefficients_.get(), queue));
  CT_RETURN_IF_ERROR(download(engine.device(), queue, *rects, to));
  CT_RETURN_IF_ERROR(queue.record(&downloaded_));
  input_.mark_read(downloaded_);
  *rects = to;
  return {};
}

void EncodeJob::describe(const GstDctInfo& info, const GstDctMeta& meta, const Rects& rects) {
  describe_jpeg_file(info, coefficients_.get(), &picture_);
  for (guint c = 0; c < info.n_components; c++) {
    JpegQcoefs& qcoefs = picture_.qcoefs[c];
    qcoefs.data = reinterpret_cast<int16_t*>(rects.rect[c].data);
    qcoefs.stride = static_cast<ptrdiff_t>(rects.rect[c].pitch);
    qcoefs.blocks_w = info.components[c].blocks_w;
    qcoefs.blocks_h = info.components[c].blocks_h;
    picture_.tables[c] = meta.tables[meta.components[c].table].values;
  }
}

void EncodeJob::run() {
  status_ = code();
  if (!status_.ok() || !options_.keep_metadata) return;
  Trailing trailing;
  status_ = read_trailing(coefficients_.get(), &trailing);
  if (!status_.ok()) return;
  const gsize size = file_ ? gst_buffer_get_size(file_.get()) : bytes_.size();
  // A picture may come without the trailing data of its file, or with other data.
  length_mismatch_ =
      check_container(picture_.metadata, size, trailing.bytes, trailing.attachments()).message;
  if (!trailing.bytes.empty()) status_ = append(trailing.bytes, trailing.attachments());
}

Status EncodeJob::code() {
  if (scan_.is_begun()) {
    GstBuffer* file = nullptr;
    CT_RETURN_IF_ERROR(scan_.finish(&file));
    file_.reset(file);
    is_by_device_ = file_ != nullptr;
    if (is_by_device_) return {};
    CT_RETURN_IF_ERROR(fetch_qcoefs());
  }
  if (downloaded_) CT_RETURN_IF_ERROR(downloaded_->wait());
  return writer_.write(picture_, options_, &bytes_);
}

// A contiguous file with its trailing data, whose index gets the current sizes.
Status EncodeJob::append(std::span<const uint8_t> trailing,
                         std::span<const FilePlace> attachments) {
  if (!file_) file_.reset(wrap(&bytes_));
  const gsize size = gst_buffer_get_size(file_.get()), whole_size = size + trailing.size();
  auto* data = static_cast<uint8_t*>(std::malloc(whole_size));
  if (!data)
    return Status::error(StatusCode::kOutOfMemory,
                         "no memory for a JPEG file of " + std::to_string(whole_size) + " bytes");
  if (gst_buffer_extract(file_.get(), 0, data, size) != size) {
    std::free(data);
    return Status::error(StatusCode::kOutOfMemory, "failed to read the JPEG buffer");
  }
  memcpy(data + size, trailing.data(), trailing.size());
  file_.reset(gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), data, whole_size, 0,
                                          whole_size, data, std::free));
  return attachments.empty() ? Status() : rewrite_mpf({data, size}, attachments);
}

Status EncodeJob::finish(GstVideoCodecFrame** frame) {
  *frame = nullptr;
  Status status = std::move(status_);
  if (status.ok()) {
    frame_->output_buffer = file_ ? file_.release() : wrap(&bytes_);
    *frame = std::exchange(frame_, nullptr);
  }
  clear();
  return status;
}

void EncodeJob::clear() {
  if (downloaded_)
    (void)downloaded_->wait();  // a failure is reported where the coefficients are used
  downloaded_.reset();
  scan_.clear();
  file_.reset();
  is_by_device_ = false;
  length_mismatch_.clear();
  input_.close();
  coefficients_.reset();
  if (frame_) gst_video_codec_frame_unref(frame_);
  frame_ = nullptr;
  status_ = {};
}

}  // namespace cudatransform
