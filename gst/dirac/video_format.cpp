// The raw video format of a Dirac or VC-2 sequence, and its frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dirac/video_format.h"

#include <algorithm>
#include <string>

#include "cuda/dirac/engine.h"
#include "dirac/jobs.h"
#include "gst/engine/engine.h"
#include "gst/stream/formats.h"

namespace cudatransform {

CT_ENGINE_OPS(DiracStoreOps, portable_dirac_store_ops, cuda_dirac_store_ops)
namespace {

constexpr uint32_t kMatrixYCoCg = 2, kMatrixGbr = 3;

// The bit depths of formats.
int depth_of_format(int depth) {
  for (const int wider : {8, 10, 12}) {
    if (depth <= wider) return wider;
  }
  return 16;
}

GstVideoFormat format_of(const DiracSequence& sequence, int depth) {
  struct Row {
    int depth;
    GstVideoFormat k420, k422, k444, gbr;
  };
  static constexpr GstVideoFormat kNone = GST_VIDEO_FORMAT_UNKNOWN;
  static constexpr Row kRows[] = {
      {8, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
       GST_VIDEO_FORMAT_GBR},
      {10, GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_Y444_10LE,
       GST_VIDEO_FORMAT_GBR_10LE},
      {12, GST_VIDEO_FORMAT_I420_12LE, GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_Y444_12LE,
       GST_VIDEO_FORMAT_GBR_12LE},
      {16, kNone, kNone, GST_VIDEO_FORMAT_Y444_16LE, kNone},
  };
  const Row& row =
      *std::find_if(std::begin(kRows), std::end(kRows), [&](auto& r) { return r.depth == depth; });
  const bool is_gbr = sequence.color.matrix == kMatrixGbr;
  switch (sequence.chroma) {
    case DiracChroma::k420:
      return is_gbr ? kNone : row.k420;
    case DiracChroma::k422:
      return is_gbr ? kNone : row.k422;
    case DiracChroma::k444:
      break;
  }
  return is_gbr ? row.gbr : row.k444;
}

std::string name_of(const DiracSequence& sequence, int depth) {
  static constexpr const char* kChroma[] = {"4:4:4", "4:2:2", "4:2:0"};
  return std::string(sequence.color.matrix == kMatrixGbr ? "GBR " : "") +
         kChroma[static_cast<int>(sequence.chroma)] + " of " + std::to_string(depth) + " bits";
}

GstVideoColorimetry colorimetry_of(const DiracSequence& sequence) {
  static constexpr GstVideoColorPrimaries kPrimaries[] = {
      GST_VIDEO_COLOR_PRIMARIES_BT709, GST_VIDEO_COLOR_PRIMARIES_SMPTE170M,
      GST_VIDEO_COLOR_PRIMARIES_BT470BG, GST_VIDEO_COLOR_PRIMARIES_SMPTEST428,
      GST_VIDEO_COLOR_PRIMARIES_BT2020};
  static constexpr GstVideoColorMatrix kMatrices[] = {
      GST_VIDEO_COLOR_MATRIX_BT709, GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_MATRIX_UNKNOWN,
      GST_VIDEO_COLOR_MATRIX_RGB, GST_VIDEO_COLOR_MATRIX_BT2020};
  const DiracColor& color = sequence.color;
  GstVideoColorimetry to = {};
  if (color.primaries < G_N_ELEMENTS(kPrimaries)) to.primaries = kPrimaries[color.primaries];
  if (color.matrix < G_N_ELEMENTS(kMatrices)) to.matrix = kMatrices[color.matrix];
  const bool is_deep_2020 = to.matrix == GST_VIDEO_COLOR_MATRIX_BT2020 && sequence.depth(0) > 10;
  switch (color.transfer) {
    case 0:
    case 1:
      to.transfer = is_deep_2020 ? GST_VIDEO_TRANSFER_BT2020_12 : GST_VIDEO_TRANSFER_BT709;
      break;
    case 2:
      to.transfer = GST_VIDEO_TRANSFER_GAMMA10;
      break;
    case 4:
      to.transfer = GST_VIDEO_TRANSFER_SMPTE2084;
      break;
    case 5:
      to.transfer = GST_VIDEO_TRANSFER_ARIB_STD_B67;
      break;
    default:
      break;  // ST 428-1: GStreamer has no name for it
  }
  const bool is_full = sequence.range[0].offset == 0;
  to.range = is_full ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
  return to;
}

}  // namespace

Status dirac_video_info(const DiracSequence& sequence, GstVideoInfo* info,
                        bool* unspecified_matrix) {
  const int depth = depth_of_format(std::max(sequence.depth(0), sequence.depth(1)));
  const GstVideoFormat format = format_of(sequence, depth);
  if (format == GST_VIDEO_FORMAT_UNKNOWN) {
    return Status::error(StatusCode::kUnsupported,
                         "no video format for " + name_of(sequence, depth));
  }
  const GstVideoInterlaceMode mode = sequence.interlaced ? GST_VIDEO_INTERLACE_MODE_INTERLEAVED
                                                         : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
  if (!gst_video_info_set_interlaced_format(info, format, mode, sequence.width, sequence.height)) {
    return Status::error(StatusCode::kUnsupported, "invalid frame size " +
                                                       std::to_string(sequence.width) + "x" +
                                                       std::to_string(sequence.height));
  }
  if (sequence.interlaced) {
    GST_VIDEO_INFO_FIELD_ORDER(info) = sequence.top_field_first
                                           ? GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST
                                           : GST_VIDEO_FIELD_ORDER_BOTTOM_FIELD_FIRST;
  }
  const auto fits = [](const DiracRational& r) {
    return r.numerator > 0 && r.denominator > 0 && r.numerator <= G_MAXINT &&
           r.denominator <= G_MAXINT;
  };
  if (fits(sequence.frame_rate)) {
    info->fps_n = static_cast<gint>(sequence.frame_rate.numerator);
    info->fps_d = static_cast<gint>(sequence.frame_rate.denominator);
  }
  if (fits(sequence.pixel_aspect_ratio)) {
    info->par_n = static_cast<gint>(sequence.pixel_aspect_ratio.numerator);
    info->par_d = static_cast<gint>(sequence.pixel_aspect_ratio.denominator);
  }
  info->colorimetry = colorimetry_of(sequence);
  *unspecified_matrix = sequence.color.matrix == kMatrixYCoCg;
  return {};
}

bool has_clean_area(const DiracSequence& sequence) {
  const uint64_t right = uint64_t{sequence.clean_left} + sequence.clean_width;
  const uint64_t bottom = uint64_t{sequence.clean_top} + sequence.clean_height;
  const bool is_all =
      sequence.clean_width == sequence.width && sequence.clean_height == sequence.height;
  return !is_all && sequence.clean_width > 0 && sequence.clean_height > 0 &&
         right <= sequence.width && bottom <= sequence.height;
}

Status write_dirac_picture(Engine& engine, const DiracRendered& picture, uint32_t number,
                           const GstVideoInfo& info, const Rects& rects) {
  const DiracSequence& sequence = *picture.sequence;
  const bool is_field = sequence.field_coding;
  // The earlier field has an even number.
  const bool is_bottom = is_field && (number % 2 == 0) != sequence.top_field_first;
  const int format_depth = static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&info, 0));
  for (int c = 0; c < kMaxComponents; ++c) {
    const Rect& rect = rects.rect[c];
    const guint first = is_bottom ? 1 : 0, step = is_field ? 2 : 1;
    if (rect.rows <= first) continue;
    DiracStoreJob job;
    job.from = picture.samples[c];
    job.rows =
        std::min(job.from.height, static_cast<int32_t>((rect.rows - first + step - 1) / step));
    job.to = rect.data + first * rect.pitch;
    job.pitch = static_cast<ptrdiff_t>(step * rect.pitch);
    job.container = format_depth > 8 ? 2 : 1;
    job.shift = format_depth - sequence.depth(c);
    CT_RETURN_IF_ERROR(engine.ops<DiracStoreOps>().submit(engine.device(),
                                                          engine.queue(QueueKind::kCompute), job));
  }
  return {};
}

bool cuda_memory_holds(const GstVideoInfo& info, bool* downloads_well) {
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&info);
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  *downloads_well = !cuda_memory_loses_a_plane(format, GST_VIDEO_INFO_HEIGHT(&info), minor, micro);
  const RawFormat* known = find_raw_format(format);
  return known != nullptr && known->in_cuda_memory;
}

// `features` with their brackets, or empty.
static GstCaps* template_of(const std::string& features, const std::string& formats) {
  const std::string text =
      "video/x-raw" + features + ", format={ " + formats +
      " }, width=(int)[1, max], height=(int)[1, max], framerate=(fraction)[0, max]";
  return gst_caps_from_string(text.c_str());
}

GstCaps* dirac_template_caps() {
  GstCaps* caps = template_of("", kDiracFormats);
#if CT_HAVE_CUDA
  std::string formats;
  gchar** names = g_strsplit(kDiracFormats, ", ", 0);
  for (gchar** name = names; *name != nullptr; ++name) {
    const RawFormat* format = find_raw_format(gst_video_format_from_string(*name));
    if (format == nullptr || !format->in_cuda_memory) continue;
    formats += (formats.empty() ? "" : ", ") + std::string(*name);
  }
  g_strfreev(names);
  std::string features(kCudaMemoryFeature);
  features.insert(0, 1, '(').push_back(')');
  GstCaps* all = template_of(features, formats);
  gst_caps_append(all, caps);
  return all;
#else
  return caps;
#endif
}

}  // namespace cudatransform
