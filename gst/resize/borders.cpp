// Black borders of a picture that keeps its display aspect ratio.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/resize/borders.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cudatransform {

namespace {

constexpr size_t kPixelBytes = 16;  // of a group, with what aligns the next

// The opaque black of a group's channels.
void set_black(const GstVideoInfo& info, size_t group, int channels, guint8* pixel) {
  gint offsets[GST_VIDEO_MAX_COMPONENTS], scales[GST_VIDEO_MAX_COMPONENTS];
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offsets, scales);
  const bool is_rgb = GST_VIDEO_INFO_IS_RGB(&info);
  for (int c = 0; c < channels; c++) {
    // Chroma is in the second group, or with luma in planes of one size.
    const int component = is_rgb ? 0 : static_cast<int>(group) + c;
    pixel[c] = c == 3 ? 255 : static_cast<guint8>(offsets[component]);
  }
}

}  // namespace

ResizePicture part_of(const ResizePicture& picture, const PixelRect& rect, int channels) {
  ResizePicture part = picture;
  part.width = rect.width;
  part.height = rect.height;
  for (int c = 0; c < channels; c++)
    part.data[c] = static_cast<guint8*>(picture.data[c]) + rect.top * picture.pitch[c] +
                   ptrdiff_t{rect.left} * picture.step;
  return part;
}

PixelRect place_within(const GstVideoInfo& in, double width, double height, const GstVideoInfo& out,
                       bool aligns_x, bool aligns_y) {
  const double across = width * in.par_n * out.par_d, down = height * in.par_d * out.par_n;
  PixelRect rect = {0, 0, out.width, out.height};
  const double fitting_height = std::floor(out.width * down / across);
  if (fitting_height <= out.height)
    rect.height = std::max(1, static_cast<int32_t>(fitting_height));
  else
    rect.width = std::clamp(static_cast<int32_t>(out.height * across / down), 1, out.width);
  rect.left = (out.width - rect.width) / 2;
  rect.top = (out.height - rect.height) / 2;
  if (aligns_x) rect.left -= rect.left % 2;
  if (aligns_y) rect.top -= rect.top % 2;
  return rect;
}

void Borders::configure(const GstVideoInfo& info, const std::vector<int>& channels) {
  channels_ = channels;
  black_.assign(channels.size() * kPixelBytes, 0);
  for (size_t g = 0; g < channels.size(); g++)
    set_black(info, g, channels[g], &black_[g * kPixelBytes]);
  pixels_.reset();
}

Status Borders::prepare(Engine& engine) {
  if (pixels_ != nullptr) return {};
  Device& device = engine.device();
  std::unique_ptr<Memory> pixels;
  CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, black_.size(), &pixels));
  CT_RETURN_IF_ERROR(device.upload(device.queue(QueueKind::kCompute),
                                   copy_of_bytes(pixels->data(), black_.data(), black_.size())));
  pixels_ = std::move(pixels);
  return {};
}

void Borders::add(size_t group, const ResizePicture& frame, const PixelRect& inside,
                  std::vector<ResizeJob>* jobs) const {
  const int32_t right = inside.left + inside.width, bottom = inside.top + inside.height;
  for (const PixelRect& rect : {PixelRect{0, 0, frame.width, inside.top},
                                PixelRect{0, bottom, frame.width, frame.height - bottom},
                                PixelRect{0, inside.top, inside.left, inside.height},
                                PixelRect{right, inside.top, frame.width - right, inside.height}}) {
    if (rect.width == 0 || rect.height == 0) continue;
    ResizeJob& job = jobs->emplace_back();
    job.channels = channels_[group];
    job.filter = ResizeFilter::kNearest;
    job.from.width = job.from.height = 1;
    job.from.step = job.channels;
    job.to = part_of(frame, rect, job.channels);
    for (int c = 0; c < job.channels; c++) {
      job.from.data[c] = static_cast<guint8*>(pixels_->data()) + group * kPixelBytes + c;
      job.from.pitch[c] = kPixelBytes;
    }
    job.box = whole_box(job);
  }
}

}  // namespace cudatransform
