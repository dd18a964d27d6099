// What the fuzz targets share that feed or get raw video: frames whose sizes and GstVideoMetas lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/raw_frames.h"

#include <gst/coef/coef.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/check/rawformats.h"

namespace fuzzing {
namespace {

constexpr int kMostSamples = 72;  // width and height

// Changes one field of a sound meta; false if nothing is changed.
bool tell_lie(GstVideoMeta* meta, guint8 which, guint32 value) {
  const guint plane = (which >> 4) % GST_VIDEO_MAX_PLANES;
  const gsize wide = value & 1 ? G_MAXSIZE - value : value;
  switch (which & 0x0f) {
    case 1:
      meta->offset[plane] = wide;
      break;
    case 2:
      meta->stride[plane] = static_cast<gint>(value & 1 ? -value : value);
      break;
    case 3:
      meta->width = value;
      break;
    case 4:
      meta->height = value;
      break;
    case 5:
      meta->n_planes = value;
      break;
    case 6: {
      // As a program in C may do it: also to what the enum does not have.
      const guint32 format = value & 1 ? wide : value % 128;
      memcpy(&meta->format, &format, sizeof format);
      break;
    }
    case 7:
      meta->offset[plane] += value % 256;
      break;
    case 8:
      meta->stride[plane] = G_MAXINT - static_cast<gint>(value);
      break;
    default:
      return false;
  }
  return true;
}

// The bytes in one memory or in several.
GstBuffer* make_buffer(ElementRun* run, const std::vector<guint8>& bytes, gsize first) {
  first = std::min(first, bytes.size());
  if (first == 0) return run->make_buffer(bytes.data(), bytes.size());
  return gst_buffer_append(run->make_buffer(bytes.data(), first),
                           run->make_buffer(bytes.data() + first, bytes.size() - first));
}

}  // namespace

GstVideoInfo video_info_of(Input* input) {
  const testing::Raw& raw = testing::kRaws[input->byte() % G_N_ELEMENTS(testing::kRaws)];
  const guint width = 1 + input->byte() % kMostSamples, height = 1 + input->byte() % kMostSamples;
  GstVideoInfo info;
  gst_video_info_set_format(&info, raw.format, width, height);
  return info;
}

GstBuffer* make_raw_frame(ElementRun* run, Input* input, GstVideoInfo info, bool* sound) {
  const guint8 shape = input->byte(), lie = input->byte();
  const guint32 value = input->word();
  gsize size = info.size;
  *sound = true;
  if ((shape & 0x0f) == 0x0f) {
    size = value % (info.size + 64);
    *sound = size >= info.size;
  }
  std::vector<guint8> bytes(size);
  input->take(bytes.data(), size);
  GstBuffer* buffer = make_buffer(run, bytes, shape & 0x10 ? value : 0);
  if (!(shape & 0x60)) return buffer;
  GstVideoMeta* meta = gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo->format, info.width, info.height,
      info.finfo->n_planes, info.offset, info.stride);
  // A plane that a meta describes lies in one memory.
  if (tell_lie(meta, lie, value) || gst_buffer_n_memory(buffer) > 1) *sound = false;
  return buffer;
}

void read_raw_frame(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  promise(caps != nullptr && gst_video_info_from_caps(&info, caps), "frames have caps");
  GstVideoFrame frame;
  promise(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ), "frames can be read");
  guint sum = 0;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    const gint rows = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p);
    const gint bytes =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    for (gint y = 0; y < rows; y++, row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p))
      for (gint x = 0; x < bytes; x++) sum += row[x];
  }
  promise(sum < G_MAXUINT, "samples are small");
  gst_video_frame_unmap(&frame);
}

bool add_reference(GstBuffer* buffer, bool is_444, guint width, guint height, guint8 kind) {
  GstVideoInfo video;
  const GstVideoFormat format = is_444     ? GST_VIDEO_FORMAT_Y444
                                : kind & 1 ? GST_VIDEO_FORMAT_GRAY8
                                           : GST_VIDEO_FORMAT_I420;
  gst_video_info_set_format(&video, format, kind & 2 ? width : 16, height);
  const gsize bytes = kind & 4 ? video.size : video.size / 2;
  GstBuffer* source = gst_buffer_new_allocate(nullptr, bytes, nullptr);
  gst_buffer_memset(source, 0, kind, bytes);
  if (kind & 8) video.stride[0] = kind * 1000;
  gst_buffer_add_coef_reference_meta(buffer, source, &video);
  gst_buffer_unref(source);
  return (kind & 4) && !(kind & 8);
}

}  // namespace fuzzing
