// The raw video format of an APV frame, and its colorimetry and HDR metadata in caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/apv/video_format.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "gst/engine/engine.h"
#include "gst/stream/formats.h"

namespace cudatransform {
namespace {

constexpr uint8_t kMatrixGbr = 0;

// By name, because versions of GStreamer differ in which they know. The first known one of a
// chroma format that is deep enough is what frames are decoded to; bytes and interleaved components
// are only encoded.
struct Row {
  ApvChroma chroma;
  bool is_gbr;
  int depth;  // the most bits
  const char* format;
  int container;  // the bits of a sample in it
  // Bytes before the first sample of each component in its plane, of which GStreamer does not know
  // those of Y210.
  uint8_t offset[3] = {};
};
constexpr Row kRows[] = {
    {ApvChroma::k400, false, 10, "GRAY10_LE16", 10}, {ApvChroma::k400, false, 12, "GRAY16_LE", 16},
    {ApvChroma::k422, false, 10, "I422_10LE", 10},   {ApvChroma::k422, false, 12, "I422_12LE", 12},
    {ApvChroma::k444, false, 10, "Y444_10LE", 10},   {ApvChroma::k444, false, 12, "Y444_12LE", 12},
    {ApvChroma::k444, true, 10, "GBR_10LE", 10},     {ApvChroma::k444, true, 12, "GBR_12LE", 12},
    {ApvChroma::k4444, false, 10, "A444_10LE", 10},  {ApvChroma::k4444, false, 12, "A444_12LE", 12},
    {ApvChroma::k4444, true, 10, "GBRA_10LE", 10},   {ApvChroma::k4444, true, 12, "GBRA_12LE", 12},
};
constexpr Row kEncodedRows[] = {
    {ApvChroma::k400, false, 8, "GRAY8", 8},
    {ApvChroma::k422, false, 8, "Y42B", 8},
    {ApvChroma::k444, false, 8, "Y444", 8},
    {ApvChroma::k444, true, 8, "GBR", 8},
    {ApvChroma::k4444, false, 8, "A444", 8},
    {ApvChroma::k4444, true, 8, "GBRA", 8},
    {ApvChroma::k422, false, 10, "Y210", 16, {0, 2, 6}},
    {ApvChroma::k422, false, 12, "Y212_LE", 16, {0, 2, 6}},
    {ApvChroma::k422, false, 8, "NV16", 8, {0, 0, 1}},
    {ApvChroma::k422, false, 8, "NV61", 8, {0, 1, 0}},
    {ApvChroma::k422, false, 8, "YUY2", 8, {0, 1, 3}},
    {ApvChroma::k422, false, 8, "UYVY", 8, {1, 0, 2}},
    {ApvChroma::k422, false, 8, "YVYU", 8, {0, 3, 1}},
    {ApvChroma::k422, false, 8, "VYUY", 8, {1, 2, 0}},
};

std::string name_of(const ApvOutput& output) {
  const char* chroma = output.chroma == ApvChroma::k400   ? "4:0:0"
                       : output.chroma == ApvChroma::k422 ? "4:2:2"
                       : output.chroma == ApvChroma::k444 ? "4:4:4"
                                                          : "4:4:4:4";
  return std::string(output.color.matrix == kMatrixGbr ? "GBR " : "") + chroma + " of " +
         std::to_string(output.depth) + " bits";
}

// Denominators of coordinates and of luminances, in streams and in caps.
constexpr guint64 kOurs = 65536, kOfCaps = 50000;
constexpr guint64 kMaxUnits = 256, kMinUnits = 16384, kLuminanceOfCaps = 10000;

// Units of 1/denominator to units of 1/wanted, rounded.
guint64 in_units(guint64 value, guint64 denominator, guint64 wanted) {
  return (value * wanted + denominator / 2) / denominator;
}

GstVideoMasteringDisplayInfo mastering_of(const ApvMasteringDisplay& from) {
  GstVideoMasteringDisplayInfo to = {};
  for (int i = 0; i < 3; i++) {
    to.display_primaries[i].x =
        static_cast<guint16>(in_units(from.primaries[i][0], kOurs, kOfCaps));
    to.display_primaries[i].y =
        static_cast<guint16>(in_units(from.primaries[i][1], kOurs, kOfCaps));
  }
  to.white_point.x = static_cast<guint16>(in_units(from.white[0], kOurs, kOfCaps));
  to.white_point.y = static_cast<guint16>(in_units(from.white[1], kOurs, kOfCaps));
  const auto luminance = [](guint64 value, guint64 units) {
    return static_cast<guint32>(
        std::min<guint64>(in_units(value, units, kLuminanceOfCaps), G_MAXUINT32));
  };
  to.max_display_mastering_luminance = luminance(from.max_luminance, kMaxUnits);
  to.min_display_mastering_luminance = luminance(from.min_luminance, kMinUnits);
  return to;
}

using Rows = std::vector<Row>;

// `features` with their parentheses, or empty.
GstCaps* template_of(const Rows& rows, const std::string& features, bool (*has)(GstVideoFormat)) {
  std::string formats;
  for (const Row& row : rows) {
    const GstVideoFormat format = gst_video_format_from_string(row.format);
    if (format == GST_VIDEO_FORMAT_UNKNOWN || !has(format)) continue;
    formats += (formats.empty() ? "" : ", ") + std::string(row.format);
  }
  if (formats.empty()) return gst_caps_new_empty();
  const std::string text =
      "video/x-raw" + features + ", format={ " + formats +
      " }, width=(int)[1, max], height=(int)[1, max], framerate=(fraction)[0, max]";
  return gst_caps_from_string(text.c_str());
}

// As mastering_of(), the other way.
ApvMasteringDisplay mastering_from(const GstVideoMasteringDisplayInfo& from) {
  ApvMasteringDisplay to = {};
  const auto coordinate = [](guint64 value) {
    return static_cast<uint16_t>(std::min<guint64>(in_units(value, kOfCaps, kOurs), G_MAXUINT16));
  };
  for (int i = 0; i < 3; i++) {
    to.primaries[i][0] = coordinate(from.display_primaries[i].x);
    to.primaries[i][1] = coordinate(from.display_primaries[i].y);
  }
  to.white[0] = coordinate(from.white_point.x);
  to.white[1] = coordinate(from.white_point.y);
  const auto luminance = [](guint64 value, guint64 units) {
    return static_cast<uint32_t>(
        std::min<guint64>(in_units(value, kLuminanceOfCaps, units), G_MAXUINT32));
  };
  to.max_luminance = luminance(from.max_display_mastering_luminance, kMaxUnits);
  to.min_luminance = luminance(from.min_display_mastering_luminance, kMinUnits);
  return to;
}

Rows decoded_rows() { return Rows(std::begin(kRows), std::end(kRows)); }
Rows encoded_rows() {
  Rows rows = decoded_rows();
  rows.insert(rows.end(), std::begin(kEncodedRows), std::end(kEncodedRows));
  return rows;
}

// In system memory and, where this build has it, in CUDA memory.
GstCaps* template_of(const Rows& rows) {
  GstCaps* caps = template_of(rows, "", [](GstVideoFormat) { return true; });
#if CT_HAVE_CUDA
  std::string features(kCudaMemoryFeature);
  features.insert(0, 1, '(').push_back(')');
  GstCaps* all = template_of(rows, features, [](GstVideoFormat format) {
    const RawFormat* known = find_raw_format(format);
    return known != nullptr && known->in_cuda_memory;
  });
  gst_caps_append(all, caps);
  return all;
#else
  return caps;
#endif
}

}  // namespace

Status apv_video_format(const ApvOutput& output, GstVideoFormat* format, int* shift) {
  const bool is_gbr = output.color.matrix == kMatrixGbr && output.chroma != ApvChroma::k400 &&
                      output.chroma != ApvChroma::k422;
  for (const Row& row : kRows) {
    if (row.chroma != output.chroma || row.is_gbr != is_gbr || row.depth < output.depth) continue;
    *format = gst_video_format_from_string(row.format);
    *shift = row.container - output.depth;
    if (*format != GST_VIDEO_FORMAT_UNKNOWN) return {};
  }
  *format = GST_VIDEO_FORMAT_UNKNOWN;
  return Status::error(StatusCode::kUnsupported, "no video format for " + name_of(output));
}

void set_apv_colorimetry(const ApvColor& color, GstVideoInfo* info) {
  constexpr uint8_t kOpen = 2;
  GstVideoColorimetry& to = info->colorimetry;
  if (color.primaries != kOpen) to.primaries = gst_video_color_primaries_from_iso(color.primaries);
  if (color.transfer != kOpen) to.transfer = gst_video_transfer_function_from_iso(color.transfer);
  if (color.matrix != kOpen) to.matrix = gst_video_color_matrix_from_iso(color.matrix);
  if (color == ApvColor()) return;
  to.range = color.full_range ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
}

void add_apv_light(const ApvOutput& output, GstCaps* caps) {
  if (output.mastering) {
    const GstVideoMasteringDisplayInfo display = mastering_of(*output.mastering);
    gst_video_mastering_display_info_add_to_caps(&display, caps);
  }
  if (output.light) {
    GstVideoContentLightLevel light = {};
    light.max_content_light_level = output.light->max_content;
    light.max_frame_average_light_level = output.light->max_average;
    gst_video_content_light_level_add_to_caps(&light, caps);
  }
}

GstCaps* apv_template_caps() { return template_of(decoded_rows()); }

// ---- Frames that are encoded ----

GstCaps* apv_input_template_caps() { return template_of(encoded_rows()); }

bool find_apv_input(GstVideoFormat format, ApvInput* input) {
  constexpr int kMinDepth = 10;
  for (const Row& row : encoded_rows()) {
    if (gst_video_format_from_string(row.format) != format) continue;
    input->chroma = row.chroma;
    input->is_gbr = row.is_gbr;
    // Gray has a profile of 10 bits alone.
    input->depth = row.chroma == ApvChroma::k400 ? kMinDepth : std::max(row.depth, kMinDepth);
    input->type = row.container == 8 ? SampleType::kU8 : SampleType::kU16;
    input->shift = std::max(row.container - input->depth, 0);
    std::copy(std::begin(row.offset), std::end(row.offset), input->offset);
    return true;
  }
  return false;
}

ApvColor apv_color_of(const GstCaps* caps, const GstVideoInfo& info, const ApvInput& input) {
  ApvColor color;
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  if (gst_structure_has_field(structure, "colorimetry")) {
    const GstVideoColorimetry& from = info.colorimetry;
    const auto code = [](guint iso) { return static_cast<uint8_t>(iso == 0 ? 2 : iso); };
    color.primaries = code(gst_video_color_primaries_to_iso(from.primaries));
    color.transfer = code(gst_video_transfer_function_to_iso(from.transfer));
    if (from.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN)
      color.matrix = static_cast<uint8_t>(gst_video_color_matrix_to_iso(from.matrix));
    color.full_range = from.range == GST_VIDEO_COLOR_RANGE_0_255;
  }
  // Decoders tell R, G and B by the matrix alone.
  constexpr uint8_t kOpen = 2;
  if (input.is_gbr) {
    color.matrix = kMatrixGbr;
    color.full_range |= !gst_structure_has_field(structure, "colorimetry");
  } else if (color.matrix == kMatrixGbr) {
    color.matrix = kOpen;
  }
  return color;
}

ApvMetadata apv_light_of(const GstCaps* caps) {
  ApvMetadata metadata;
  GstVideoMasteringDisplayInfo display;
  if (gst_video_mastering_display_info_from_caps(&display, caps))
    metadata.mastering = mastering_from(display);
  GstVideoContentLightLevel light;
  if (gst_video_content_light_level_from_caps(&light, caps))
    metadata.light = {light.max_content_light_level, light.max_frame_average_light_level};
  return metadata;
}

}  // namespace cudatransform
