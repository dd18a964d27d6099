// The source frames of coefficients: kept with them, and found again for comparison.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/source_frames.h"

#include <string>

#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/pools.h"
#include "gst/stream/sampling.h"

namespace cudatransform {
namespace {

// We avoid gst_buffer_copy_deep(), which ends the process if memory runs out.
GstBuffer* copy_frame(GstBuffer* in) {
  GstBuffer* copy = copy_bytes(in);
  if (!copy) return nullptr;
  constexpr int kParts = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS;
  gst_buffer_copy_into(copy, in, static_cast<GstBufferCopyFlags>(kParts), 0, -1);
  if (GstVideoMeta* meta = gst_buffer_get_video_meta(in))
    gst_buffer_add_video_meta_full(copy, meta->flags, meta->format, meta->width, meta->height,
                                   meta->n_planes, meta->offset, meta->stride);
  return copy;
}

bool matches(const GstVideoInfo& info, const SourcePicture& picture) {
  if (info.width != picture.width || info.height != picture.height) return false;
  if (picture.may_be_rgb && is_rgb_format(GST_VIDEO_INFO_FORMAT(&info))) return true;
  const RawFormat* format = find_raw_format(GST_VIDEO_INFO_FORMAT(&info));
  return format && sampling_of(*format) == picture.sampling && holds_depth(*format, picture.depth);
}

}  // namespace

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

bool SourceKeeper::must_copy(FrameMover& mover, GstBuffer* in) {
  const guint maximum = mover.known_pool_maximum(in);
  const guint kept = kWorkingBuffers + kBuffers + mover.async_depth() - 1;
  if (maximum == 0 || maximum >= kept) return false;
  mover.warn_once("keep-reference copies each frame: upstream pool has " + std::to_string(maximum) +
                      " buffers, expected at least " + std::to_string(kept),
                  &warned_);
  return true;
}

Status SourceKeeper::keep(GstBuffer* in, const GstVideoInfo& raw, bool copy, const Placed& source,
                          GstBuffer* coefficients) {
  GstVideoInfo info = raw;
  const Rects& planes = source.rects;
  if (source.block) {
    for (int p = 0; p < planes.count; p++) {
      GST_VIDEO_INFO_PLANE_STRIDE(&info, p) = static_cast<gint>(planes.rect[p].pitch);
      GST_VIDEO_INFO_PLANE_OFFSET(&info, p) = planes.rect[p].data - source.block.data;
    }
    GST_VIDEO_INFO_SIZE(&info) =
        MIN(GST_VIDEO_INFO_SIZE(&info), gst_buffer_get_size(source.block.buffer.get()));
    gst_buffer_add_coef_reference_meta(coefficients, source.block.buffer.get(), &info);
    return {};
  }
  if (const GstVideoMeta* meta = gst_buffer_get_video_meta(in)) {
    for (int p = 0; p < planes.count; p++) {
      GST_VIDEO_INFO_PLANE_STRIDE(&info, p) = meta->stride[p];
      GST_VIDEO_INFO_PLANE_OFFSET(&info, p) = meta->offset[p];
    }
  }
  BufferPtr copied(copy ? copy_frame(in) : nullptr);
  if (copy && !copied) return no_system_memory("a source to keep", gst_buffer_get_size(in));
  gst_buffer_add_coef_reference_meta(coefficients, copied ? copied.get() : in, &info);
  return {};
}

// Reports why there is no PSNR: the meta is missing, or has another picture.
void SourceFinder::warn(FrameMover& mover, const GstCoefReferenceMeta* meta,
                        const SourcePicture& picture) {
  if (warned_) return;
  std::string why =
      std::string("no reference frame (set keep-reference=true on ") + producer_ + ")";
  if (meta)
    why = std::string("reference frame is ") + GST_VIDEO_INFO_NAME(&meta->info) + " " +
          size_text(meta->info.width, meta->info.height) + ", expected " +
          gst_coef_sampling_to_string(picture.sampling) + " " +
          size_text(picture.width, picture.height) + " at " + std::to_string(picture.depth) +
          " bits";
  mover.warn_once("PSNR unavailable: " + why, &warned_);
}

Status SourceFinder::find(FrameMover& mover, GstBuffer* coefficients, const SourcePicture& picture,
                          SourceFrame* source) {
  const GstCoefReferenceMeta* meta = gst_buffer_get_coef_reference_meta(coefficients);
  if (!meta || !matches(meta->info, picture)) {
    warn(mover, meta, picture);
    return {};
  }
  CT_RETURN_IF_ERROR(
      source->input.bring_in(mover, meta->source, meta->info, InPlace::kAlways, blocks_, nullptr));
  source->buffer = meta->source;
  source->info = meta->info;
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&meta->info);
  if (is_rgb_format(format)) return {};
  component_planes(meta->info, source->input.placed().rects, source->planes);
  source->planes[0].shift += bits_below(format, picture.depth);
  return {};
}

}  // namespace cudatransform
