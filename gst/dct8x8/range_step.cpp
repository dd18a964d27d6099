// Limited range beside the DCT: frames of limited range to frames of full range, which the DCT
// reads.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/range_step.h"

#include "cuda/range/engine.h"
#include "gst/stream/sampling.h"
#include "transform/range/range.h"

namespace cudatransform {

CT_ENGINE_OPS(RangeOps, host_range_ops, cuda_range_ops)
namespace {

constexpr gsize kRowAlignment = 128;  // a line of a GPU's cache

}  // namespace

Status RangeStep::begin(const GstVideoInfo& info, guint depth, const Rects& frame) {
  const bool is_rgb = GST_VIDEO_INFO_IS_RGB(&info);
  const gsize sample_bytes = depth == 8 ? 1 : 2;
  job_ = {};
  job_.depth = static_cast<int>(depth);
  job_.shift =
      GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0) + bits_below(GST_VIDEO_INFO_FORMAT(&info), depth);
  job_.planes = frame.count;
  converted_ = frame;
  gsize size = 0;
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  for (int p = 0; p < frame.count; p++) {
    Rect& rect = converted_.rect[p];
    rect.pitch = (rect.row_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    offset[p] = size;
    size += rect.pitch * rect.rows;
  }
  if (!memory_ || memory_->size() < size)
    CT_RETURN_IF_ERROR(engine_.device().allocate(MemoryKind::kDevice, size, &memory_));
  for (int p = 0; p < frame.count; p++) {
    Rect& rect = converted_.rect[p];
    rect.data = static_cast<guint8*>(memory_->data()) + offset[p];
    job_.plane[p] = {.from = frame.rect[p].data,
                     .to = rect.data,
                     .from_pitch = static_cast<ptrdiff_t>(frame.rect[p].pitch),
                     .to_pitch = static_cast<ptrdiff_t>(rect.pitch),
                     .samples = static_cast<int32_t>(rect.row_bytes / sample_bytes),
                     .rows = static_cast<int32_t>(rect.rows),
                     .is_chroma = p > 0 && !is_rgb};
  }
  return {};
}

Status RangeStep::submit() {
  return engine_.ops<RangeOps>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job_,
                                        nullptr);
}

}  // namespace cudatransform
