// cudaresize's transform: frames of one size to frames of another.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/resize/resize_transform.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cuda/resize/engine.h"
#include "gst/engine/pools.h"
#include "gst/stream/formats.h"
#include "gst/stream/source_frames.h"

namespace cudatransform {

CT_ENGINE_OPS(ResizeOps, host_resize_ops, cuda_resize_ops)

namespace {

// Planes of a frame that are resized as one picture: all channels have the same size.
struct PlaneGroup {
  int first_plane, channels;
  int32_t step;
  bool has_alpha;
};

// Channels of packed pixels in the order of memory, alpha or the unused byte last.
std::vector<PlaneGroup> groups_of(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_RGB:
    case GST_VIDEO_FORMAT_BGR:
      return {{0, 3, 3, false}};
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_BGRx:
      return {{0, 4, 4, false}};
    case GST_VIDEO_FORMAT_RGBA:
    case GST_VIDEO_FORMAT_BGRA:
      return {{0, 4, 4, true}};
    case GST_VIDEO_FORMAT_RGBP:
    case GST_VIDEO_FORMAT_Y444:
      return {{0, 3, 1, false}};
    case GST_VIDEO_FORMAT_GRAY8:
      return {{0, 1, 1, false}};
    case GST_VIDEO_FORMAT_NV12:
      return {{0, 1, 1, false}, {1, 2, 2, false}};
    default:  // I420, Y42B
      return {{0, 1, 1, false}, {1, 2, 1, false}};
  }
}

// Of several channels in a plane, or of a plane each.
void set_channels(const Rects& rects, const PlaneGroup& group, ResizePicture* picture) {
  for (int c = 0; c < group.channels; c++) {
    const bool packed = group.step > 1;
    const Rect& rect = rects.rect[group.first_plane + (packed ? 0 : c)];
    picture->data[c] = rect.data + (packed ? c : 0);
    picture->pitch[c] = static_cast<ptrdiff_t>(rect.pitch);
  }
  const Rect& first = rects.rect[group.first_plane];
  picture->step = group.step;
  picture->width = static_cast<int32_t>(first.row_bytes / static_cast<gsize>(group.step));
  picture->height = static_cast<int32_t>(first.rows);
}

bool is_subsampled(const GstVideoInfo& info, int plane, bool down) {
  const int component = plane == 0 ? 0 : 1;
  return (down ? GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, component)
               : GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, component)) > 0;
}

guint64 bytes_of(const Rects& rects) {
  guint64 bytes = 0;
  for (int p = 0; p < rects.count; p++)
    bytes += guint64{rects.rect[p].row_bytes} * rects.rect[p].rows;
  return bytes;
}

int32_t halved(int32_t size, bool halves) { return halves ? (size + 1) / 2 : size; }

}  // namespace

const char* nick_of(ResizeFilter method) {
  static constexpr const char* kNicks[kResizeFilterCount] = {
      "nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"};
  return kNicks[static_cast<int>(method)];
}

const std::vector<ResizeFormat>& resize_formats() {
  static const std::vector<ResizeFormat> formats = [] {
    std::vector<ResizeFormat> all;
    for (const GstVideoFormat format :
         {GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx,
          GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGBP,
          GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y42B,
          GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_NV12}) {
      bool in_cuda = false;
      if (const RawFormat* raw = find_raw_format(format)) in_cuda = raw->in_cuda_memory;
      for (const RgbFormat& rgb : rgb_formats())
        if (rgb.format == format) in_cuda = rgb.in_cuda_memory;
      all.push_back({format, in_cuda});
    }
    return all;
  }();
  return formats;
}

Status ResizeTransform::configure(const GstCaps* in, const GstCaps* out) {
  GstVideoInfo in_info, out_info;
  if (!gst_video_info_from_caps(&in_info, in) || !gst_video_info_from_caps(&out_info, out))
    return Status::error(StatusCode::kUnsupported, "Unsupported raw video caps");
  if (GST_VIDEO_INFO_FORMAT(&in_info) != GST_VIDEO_INFO_FORMAT(&out_info))
    return Status::error(StatusCode::kInvalidArgument,
                         "Input and output caps have different formats");
  if (GST_VIDEO_INFO_IS_INTERLACED(&in_info))
    return Status::error(StatusCode::kUnsupported,
                         "Interlaced frames are not supported; deinterlace them first");
  for (const GstVideoInfo* info : {&in_info, &out_info})
    if (info->width > kMaxResizeSide || info->height > kMaxResizeSide)
      return Status::error(StatusCode::kUnsupported,
                           "Frame size " + size_text(info->width, info->height) +
                               ", expected at most " + std::to_string(kMaxResizeSide) +
                               " on a side");
  give_up_memory();
  in_info_ = in_info;
  out_info_ = out_info;
  same_caps_ = gst_caps_is_equal(in, out);
  out_.configure(out_info_, has_cuda_memory(out));
  std::vector<int> channels;
  for (const PlaneGroup& group : groups_of(GST_VIDEO_INFO_FORMAT(&out_info_)))
    channels.push_back(group.channels);
  borders_.configure(out_info_, channels);
  return {};
}

void ResizeTransform::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  propose_raw_pool(engine_, query, caps, buffers);
}

Status ResizeTransform::take_settings(const char**) {
  if (settings.reducing_gap > 0 && settings.reducing_gap < 1) {
    return Status::error(
        StatusCode::kInvalidSetting,
        "reducing-gap of " + std::to_string(settings.reducing_gap) + ", expected 0 or at least 1");
  }
  taken_ = settings;
  return {};
}

Status ResizeTransform::find_crop(GstBuffer* in, PixelRect* crop) const {
  *crop = {0, 0, in_info_.width, in_info_.height};
  const GstVideoCropMeta* meta = gst_buffer_get_video_crop_meta(in);
  if (!meta) return {};
  const auto width = static_cast<guint>(in_info_.width);
  const auto height = static_cast<guint>(in_info_.height);
  if (meta->width < 1 || meta->height < 1 || meta->width > width || meta->height > height ||
      meta->x > width - meta->width || meta->y > height - meta->height) {
    return Status::error(StatusCode::kInvalidArgument,
                         "Crop of " + std::to_string(meta->width) + "x" +
                             std::to_string(meta->height) + " at (" + std::to_string(meta->x) +
                             "," + std::to_string(meta->y) + ") is outside the frame of " +
                             size_text(in_info_.width, in_info_.height));
  }
  *crop = {static_cast<int32_t>(meta->x), static_cast<int32_t>(meta->y),
           static_cast<int32_t>(meta->width), static_cast<int32_t>(meta->height)};
  return {};
}

// The box of the properties within the crop.
Status ResizeTransform::find_box(const PixelRect& crop, ResizeBox* box) const {
  const ResizeSettings& from = taken_;
  box->left = from.left;
  box->top = from.top;
  box->right = from.width > 0 ? from.left + from.width : crop.width;
  box->bottom = from.height > 0 ? from.top + from.height : crop.height;
  const auto is_within = [](double from, double to, int32_t side) {
    return static_cast<float>(from) < static_cast<float>(to) && to <= side;
  };
  if (is_within(box->left, box->right, crop.width) && is_within(box->top, box->bottom, crop.height))
    return {};
  return Status::error(StatusCode::kInvalidSetting,
                       "Box from (" + std::to_string(box->left) + "," + std::to_string(box->top) +
                           ") to (" + std::to_string(box->right) + "," +
                           std::to_string(box->bottom) + ") is empty or exceeds the picture of " +
                           size_text(crop.width, crop.height));
}

bool ResizeTransform::passes(const PixelRect& crop) const {
  return same_caps_ && !taken_.has_box() && crop.width == in_info_.width &&
         crop.height == in_info_.height;
}

// The frame is forwarded unchanged. Forwarded frames are not measured.
Status ResizeTransform::pass(FrameTask& task) {
  task.out.buffer.reset(gst_buffer_ref(task.in));
  if (!task.measured) return {};
  task.measured->kinds = 0;
  task.measured->components = 0;
  return engine_.queue(QueueKind::kCompute).record(&task.measured->fence);
}

// Where the box goes in a frame of the output.
PixelRect ResizeTransform::inside_of(const ResizeBox& box) const {
  if (!taken_.add_borders) return {0, 0, out_info_.width, out_info_.height};
  return place_within(in_info_, box.right - box.left, box.bottom - box.top, out_info_,
                      GST_VIDEO_FORMAT_INFO_W_SUB(out_info_.finfo, 1) > 0,
                      GST_VIDEO_FORMAT_INFO_H_SUB(out_info_.finfo, 1) > 0);
}

// Each plane is a picture by itself. Planes of half the size cover the same area, as in JPEG files.
Status ResizeTransform::make_jobs(const PixelRect& crop, const Rects& from, const Rects& to) {
  ResizeBox box;
  CT_RETURN_IF_ERROR(find_box(crop, &box));
  const PixelRect inside = inside_of(box);
  if (inside.width < out_info_.width || inside.height < out_info_.height)
    CT_RETURN_IF_ERROR(borders_.prepare(engine_));
  const std::vector<PlaneGroup> groups = groups_of(GST_VIDEO_INFO_FORMAT(&in_info_));
  jobs_.clear();
  for (size_t g = 0; g < groups.size(); g++) {
    const PlaneGroup& group = groups[g];
    const bool half_x = is_subsampled(in_info_, group.first_plane, false);
    const bool half_y = is_subsampled(in_info_, group.first_plane, true);
    ResizePicture frame;
    set_channels(to, group, &frame);
    const PixelRect place = {half_x ? inside.left / 2 : inside.left,
                             half_y ? inside.top / 2 : inside.top, halved(inside.width, half_x),
                             halved(inside.height, half_y)};
    borders_.add(g, frame, place, &jobs_);
    ResizeJob& job = jobs_.emplace_back();
    job.to = part_of(frame, place, group.channels);
    job.channels = group.channels;
    job.has_alpha = group.has_alpha;
    job.filter = taken_.method;
    job.order = taken_.order;
    set_channels(from, group, &job.from);
    job.from = part_of(job.from,
                       {half_x ? crop.left / 2 : crop.left, half_y ? crop.top / 2 : crop.top,
                        halved(crop.width, half_x), halved(crop.height, half_y)},
                       group.channels);
    const double across = double(job.from.width) / crop.width;
    const double down = double(job.from.height) / crop.height;
    job.box = {box.left * across, box.top * down,
               std::min(box.right * across, double(job.from.width)),
               std::min(box.bottom * down, double(job.from.height))};
    if (taken_.reducing_gap > 0) CT_RETURN_IF_ERROR(set_reducing_gap(taken_.reducing_gap, &job));
  }
  return {};
}

// `bytes`: of both frames. Time alone is measured.
Status ResizeTransform::run(guint64 bytes, MeasuredFrame* frame, FencePtr* done) {
  Queue& queue = engine_.queue(QueueKind::kCompute);
  Timer* timer = nullptr;
  if (frame) {
    frame->kinds &= kMeasureTime;
    frame->components = 0;
    frame->bytes = bytes;
    if (frame->kinds) timer = frame->kernel.get();
  }
  if (timer) CT_RETURN_IF_ERROR(timer->begin(queue));
  CT_RETURN_IF_ERROR(engine_.ops<ResizeOps>().submit(engine_.device(), queue, jobs_, nullptr));
  if (timer) CT_RETURN_IF_ERROR(timer->end(queue));
  return queue.record(done);
}

Status ResizeTransform::submit(FrameTask& task) {
  PixelRect crop;
  CT_RETURN_IF_ERROR(find_crop(task.in, &crop));
  if (passes(crop)) return pass(task);
  FrameInput input;
  CT_RETURN_IF_ERROR(
      input.bring_in(mover_, task.in, in_info_, InPlace::kAlways, input_blocks_, task.measured));
  const Rects& from = input.placed().rects;
  Rects to;
  CT_RETURN_IF_ERROR(out_.begin(&task.out, &to));
  CT_RETURN_IF_ERROR(make_jobs(crop, from, to));
  FencePtr done;
  CT_RETURN_IF_ERROR(run(bytes_of(from) + bytes_of(to), task.measured, &done));
  mover_.mark_read(task.in, input.placed(), done);
  return out_.finish(mover_, to, done, task.measured, &task.out);
}

void ResizeTransform::describe(GstStructure* stats) const {
  gst_structure_set(stats, "method", G_TYPE_STRING, nick_of(settings.method), nullptr);
}

void ResizeTransform::give_up_memory() {
  input_blocks_.clear();
  out_.stop();
  borders_.stop();
}

}  // namespace cudatransform
