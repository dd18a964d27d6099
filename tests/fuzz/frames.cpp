// Shared by the fuzz targets of elements: frames and coefficients with wrong sizes and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/frames.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tests/check/rawformats.h"

namespace fuzzing {
namespace {
constexpr int kMaxSamples = 72;  // width and height

// Changes one field of a sound meta; false if it changes nothing.
bool apply_lie(GstVideoMeta* meta, guint8 which, guint32 value) {
  using Lie = void (*)(GstVideoMeta * m, guint plane, guint32 v);
  static constexpr Lie kLies[] = {
      [](GstVideoMeta* m, guint p, guint32 v) { m->offset[p] = v & 1 ? G_MAXSIZE - v : v; },
      [](GstVideoMeta* m, guint p, guint32 v) { m->stride[p] = static_cast<gint>(v & 1 ? -v : v); },
      [](GstVideoMeta* m, guint, guint32 v) { m->width = v; },
      [](GstVideoMeta* m, guint, guint32 v) { m->height = v; },
      [](GstVideoMeta* m, guint, guint32 v) { m->n_planes = v; },
      // As a C program may do it: also to values outside the enum.
      [](GstVideoMeta* m, guint, guint32 v) {
        const guint32 format = v & 1 ? ~v : v % 128;
        memcpy(&m->format, &format, sizeof format);
      },
      [](GstVideoMeta* m, guint p, guint32 v) { m->offset[p] += v % 256; },
      [](GstVideoMeta* m, guint p, guint32 v) { m->stride[p] = G_MAXINT - static_cast<gint>(v); },
  };
  const guint number = which & 0x0f;
  if (number < 1 || number > G_N_ELEMENTS(kLies)) return false;
  kLies[number - 1](meta, (which >> 4) % GST_VIDEO_MAX_PLANES, value);
  return true;
}

// The bytes in one memory or in several.
GstBuffer* make_buffer(ElementRun* run, const std::vector<guint8>& bytes, gsize first) {
  first = std::min(first, bytes.size());
  if (first == 0) return run->make_buffer(bytes.data(), bytes.size());
  return gst_buffer_append(run->make_buffer(bytes.data(), first),
                           run->make_buffer(bytes.data() + first, bytes.size() - first));
}

GstVideoInfo video_info_of(Input* input, bool with_rgb) {
  static constexpr GstVideoFormat kRgb[] = {
      GST_VIDEO_FORMAT_RGB,  GST_VIDEO_FORMAT_BGR,  GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_xRGB,
      GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_BGRP};
  const guint8 number = input->byte();
  const bool is_rgb = with_rgb && number >= 0xc0;
  const GstVideoFormat format = is_rgb
                                    ? kRgb[number % G_N_ELEMENTS(kRgb)]
                                    : testing::kRaws[number % G_N_ELEMENTS(testing::kRaws)].format;
  const guint width = 1 + input->byte() % kMaxSamples, height = 1 + input->byte() % kMaxSamples;
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, width, height);
  return info;
}

// `*sound` says whether the element has to output the frame.
GstBuffer* make_raw_frame(ElementRun* run, Input* input, GstVideoInfo info, bool* sound) {
  const guint8 shape = input->byte(), lie = input->byte();
  const guint32 value = input->word();
  *sound = true;
  const gsize size = (shape & 0x0f) == 0x0f ? other_size(value, info.size, sound) : info.size;
  std::vector<guint8> bytes(size);
  input->take(bytes.data(), size);
  GstBuffer* buffer = make_buffer(run, bytes, shape & 0x10 ? value : 0);
  if (!(shape & 0x60)) return buffer;
  GstVideoMeta* meta = gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo->format, info.width, info.height,
      info.finfo->n_planes, info.offset, info.stride);
  // A plane that a meta describes is in one memory.
  if (apply_lie(meta, lie, value) || gst_buffer_n_memory(buffer) > 1) *sound = false;
  return buffer;
}

}  // namespace

void push_raw_frames(ElementRun* run, Input* input, bool with_rgb) {
  constexpr guint kMaxFrames = 8;
  GstVideoInfo info = video_info_of(input, with_rgb);
  run->begin(gst_video_info_to_caps(&info), GST_FORMAT_TIME);
  const FrameMaker maker = {[&](guint8, bool*) {
                              info = video_info_of(input, with_rgb);
                              return gst_video_info_to_caps(&info);
                            },
                            [&] { return gst_video_info_to_caps(&info); },
                            [&](bool* sound) { return make_raw_frame(run, input, info, sound); }};
  push_frames(run, input, maker, kMaxFrames, true, true);
}

gsize other_size(guint32 value, gsize whole, bool* sound) {
  const gsize size = value % (whole + 64);
  if (size < whole) *sound = false;
  return size;
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

bool DctKind::info_of(Input* input, GstDctInfo* info) {
  constexpr GstCoefFormat kFormats[] = {GST_COEF_FORMAT_S16LE, GST_COEF_FORMAT_S32LE,
                                        GST_COEF_FORMAT_F32LE, GST_COEF_FORMAT_S16LE};
  constexpr GstCoefSampling kSamplings[] = {
      GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_420,     GST_COEF_SAMPLING_422,
      GST_COEF_SAMPLING_444,       GST_COEF_SAMPLING_440,     GST_COEF_SAMPLING_411,
      GST_COEF_SAMPLING_RGB,       GST_COEF_SAMPLING_YCCK_420};
  constexpr guint kDepths[] = {8, 8, 10, 12, 16, 9, 0, 8};
  const guint8 shape = input->byte(), kind = input->byte(), depth = input->byte();
  const int width = 1 + input->byte() % kMaxSamples, height = 1 + input->byte() % kMaxSamples;
  return gst_dct_info_set(
      info, kFormats[shape & 3], shape & 4 ? GST_DCT_LAYOUT_PLANE : GST_DCT_LAYOUT_BLOCK,
      shape & 8 ? GST_DCT_ORDER_ZIGZAG : GST_DCT_ORDER_RASTER, (shape & 16) == 0,
      kDepths[depth % 8], kSamplings[kind % 8], width, height, nullptr);
}

GstDctMeta* DctKind::add_meta(GstBuffer* buffer, const GstDctInfo& info, guint8 number) {
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  if (!info.quantized) return meta;
  guint16 divisors[64];
  std::fill(std::begin(divisors), std::end(divisors), static_cast<guint16>(1 + number));
  for (guint t = 0; t < 2; t++) gst_dct_meta_set_table(meta, t, divisors);
  meta->components[info.n_components - 1].table = 1;
  return meta;
}

bool DwtKind::info_of(Input* input, GstDwtInfo* info) {
  const guint8 wavelets = input->byte(), levels = input->byte(), picture = input->byte();
  const guint depth = 1 + input->byte() % 16;
  const gint width = 1 + input->byte() % kMaxSamples, height = 1 + input->byte() % kMaxSamples;
  return gst_dwt_info_set(
      info, static_cast<GstDwtWavelet>(wavelets & 7), static_cast<GstDwtWavelet>(wavelets >> 4 & 7),
      levels % (GST_DWT_MAX_LEVELS + 1), (levels >> 4) % (GST_DWT_MAX_LEVELS_HO + 1),
      picture >> 3 & 1, depth, static_cast<GstCoefSampling>(picture & 7), width, height, nullptr);
}

GstDwtMeta* DwtKind::add_meta(GstBuffer* buffer, const GstDwtInfo& info, guint8 number) {
  GstDwtMeta* meta = gst_buffer_add_dwt_meta(buffer, &info);
  for (guint c = 0; info.quantized && c < info.n_components; c++)
    for (guint b = 0; b < gst_dwt_info_get_n_bands(&info); b++)
      gst_dwt_meta_set_quant_index(meta, c, b, (number + b) % (GST_DWT_MAX_QUANT_INDEX + 1));
  return meta;
}

void read_passed_coefficients(GstBuffer* buffer, GstCaps* caps) {
  GstDctInfo info;
  if (gst_buffer_get_dct_meta(buffer)) return read_coefficients<DctKind>(buffer, caps);
  promise(gst_dct_info_from_caps(&info, caps, nullptr) &&
              gst_dct_meta_validate(nullptr, &info, gst_buffer_get_size(buffer), nullptr),
          "coefficients without a meta need none");
  read_bytes(buffer);
}

}  // namespace fuzzing
