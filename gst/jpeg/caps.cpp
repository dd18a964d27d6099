// Caps of JPEG files and of their coefficients, and what downstream refuses of them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/caps.h"

#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gst/coef/dct.h>
#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/file_query.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/sampling.h"
#include "jpeg/writer.h"
#include "transform/picture.h"

namespace cudatransform {
namespace {

GstStructure* new_size_structure(const char* name) {
  return gst_structure_new(name, "width", GST_TYPE_INT_RANGE, 1, int(kJpegMaxSize), "height",
                           GST_TYPE_INT_RANGE, 1, int(kJpegMaxSize), "framerate",
                           GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
}

// That of most files of the colorspace.
void set_default_sampling(GstStructure* s) {
  for (const GstCoefSampling sampling :
       {GST_COEF_SAMPLING_420, GST_COEF_SAMPLING_RGB, GST_COEF_SAMPLING_GRAYSCALE,
        GST_COEF_SAMPLING_CMYK, GST_COEF_SAMPLING_YCCK_420,
        gst_coef_sampling_from_string("2CLR-1x1,1x1")}) {
    const char* colorspace = gst_coef_sampling_get_colorspace(sampling);
    if (!string_field_allows(s, "colorspace", colorspace)) continue;
    gst_structure_set(s, "sampling", G_TYPE_STRING, gst_coef_sampling_to_string(sampling),
                      "colorspace", G_TYPE_STRING, colorspace, nullptr);
    return;
  }
}

void append_coefs(GstCaps* caps, const char* memory) {
  for (const char* colorspace : kColorspaces) {
    GstStructure* s = new_size_structure(GST_DCT_MEDIA_TYPE);
    gst_structure_set(s, "format", G_TYPE_STRING, "S16LE", "layout", G_TYPE_STRING, "block",
                      "order", G_TYPE_STRING, "raster", "quantized", G_TYPE_BOOLEAN, TRUE, nullptr);
    set_ints(s, "depth", {8, 12});
    // Of any sampling: those without a name are many.
    set_strings(s, "colorspace", {colorspace});
    if (g_str_equal(colorspace, "GRAY")) set_default_sampling(s);
    gst_caps_append_structure_full(caps, s, gst_caps_features_new(memory, nullptr));
  }
}

// The fields of an image/jpeg structure that coefficient caps share.
GstStructure* coefs_of_file(const GstStructure* file) {
  GstStructure* s = gst_structure_new_empty(GST_DCT_MEDIA_TYPE);
  for (const char* field : {"width", "height", "framerate", "pixel-aspect-ratio", "interlace-mode",
                            "sampling", "colorspace"})
    if (const GValue* value = gst_structure_get_value(file, field))
      gst_structure_set_value(s, field, value);
  return s;
}

}  // namespace

bool is_ycbcr(GstCoefSampling sampling) { return is_of(sampling, "sYUV"); }

GstCaps* jpeg_coefs_template_caps([[maybe_unused]] bool cuda_first) {
  GstCaps* caps = gst_caps_new_empty();
#if CT_HAVE_CUDA
  if (cuda_first) append_coefs(caps, kCudaMemoryFeature);
  append_coefs(caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
  if (!cuda_first) append_coefs(caps, kCudaMemoryFeature);
#else
  append_coefs(caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
#endif
  return caps;
}

GstCaps* jpeg_template_caps() {
  GstStructure* s = new_size_structure("image/jpeg");
  set_strings(s, "colorspace", {std::begin(kColorspaces), std::end(kColorspaces)});
  return gst_caps_new_full(s, nullptr);
}

GstCaps* jpeg_coefs_for(const GstCaps* files, const GstCaps* coefs) {
  const CapsPtr wanted(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(files); i++)
    gst_caps_append_structure_full(wanted.get(), coefs_of_file(gst_caps_get_structure(files, i)),
                                   gst_caps_features_new_any());
  const CapsPtr fitting(gst_caps_is_any(files)
                            ? gst_caps_copy(coefs)
                            : gst_caps_intersect_full(const_cast<GstCaps*>(coefs), wanted.get(),
                                                      GST_CAPS_INTERSECT_FIRST));
  GstCaps* result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(fitting.get()); i++) {
    const GstStructure* s = gst_caps_get_structure(fitting.get(), i);
    const GstCapsFeatures* features = gst_caps_get_features(fitting.get(), i);
    const char* colorspace = gst_structure_get_string(s, "colorspace");
    if (g_strcmp0(colorspace, "sYUV") == 0 || g_strcmp0(colorspace, "GRAY") == 0) {
      GstStructure* preferred = gst_structure_copy(s);
      gst_structure_set(preferred, "colorimetry", G_TYPE_STRING, kJpegColorimetry, nullptr);
      gst_caps_append_structure_full(result, preferred, gst_caps_features_copy(features));
    }
    gst_caps_append_structure_full(result, gst_structure_copy(s), gst_caps_features_copy(features));
  }
  return result;
}

GstCaps* with_common_depth(GstCaps* caps) {
  const auto has_eight = [](const GstStructure* s) { return int_field_allows(s, "depth", 8); };
  GstCaps* common = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    if (!has_eight(gst_caps_get_structure(caps, i))) continue;
    GstStructure* s = gst_structure_copy(gst_caps_get_structure(caps, i));
    set_ints(s, "depth", {8});
    gst_caps_append_structure_full(common, s,
                                   gst_caps_features_copy(gst_caps_get_features(caps, i)));
  }
  if (gst_caps_is_empty(common)) std::swap(common, caps);
  gst_caps_unref(caps);
  return common;
}

bool jpeg_coefs_for_gap(CapsPtr caps, const GstStructure* file, GstDctInfo* info) {
  constexpr int kWidth = 1280, kHeight = 720;
  GstCoefSampling sampling =
      gst_coef_sampling_from_string(file ? gst_structure_get_string(file, "sampling") : nullptr);
  if (sampling == GST_COEF_SAMPLING_UNKNOWN) sampling = GST_COEF_SAMPLING_420;
  const CapsPtr named(gst_caps_new_simple(
      GST_DCT_MEDIA_TYPE, "sampling", G_TYPE_STRING, gst_coef_sampling_to_string(sampling),
      "colorspace", G_TYPE_STRING, gst_coef_sampling_get_colorspace(sampling), nullptr));
  gst_caps_set_features_simple(named.get(), gst_caps_features_new_any());
  CapsPtr fitting(gst_caps_intersect_full(caps.get(), named.get(), GST_CAPS_INTERSECT_FIRST));
  if (gst_caps_is_empty(fitting.get())) fitting.swap(caps);

  fitting.reset(gst_caps_truncate(fitting.release()));
  if (!gst_caps_is_empty(fitting.get())) {
    fitting.reset(gst_caps_make_writable(fitting.release()));
    GstStructure* s = gst_caps_get_structure(fitting.get(), 0);
    for (const char* field : {"width", "height"})
      if (const GValue* value = file ? gst_structure_get_value(file, field) : nullptr)
        if (gst_value_is_fixed(value)) gst_structure_set_value(s, field, value);
    if (!gst_structure_has_field(s, "sampling")) set_default_sampling(s);
    gst_structure_fixate_field_nearest_int(s, "width", kWidth);
    gst_structure_fixate_field_nearest_int(s, "height", kHeight);
    fitting.reset(gst_caps_fixate(fitting.release()));
  }
  return gst_dct_info_from_caps(info, fitting.get(), nullptr);
}

GstCaps* jpeg_caps_for(const GstDctInfo& info) {
  return gst_caps_new_simple("image/jpeg", "parsed", G_TYPE_BOOLEAN, TRUE, "sampling",
                             G_TYPE_STRING, gst_coef_sampling_to_string(info.sampling),
                             "colorspace", G_TYPE_STRING,
                             gst_coef_sampling_get_colorspace(info.sampling), nullptr);
}

std::string colorimetry_warning(const GstDctInfo& info, const GstCaps* caps) {
  const char* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
  GstVideoColorimetry found;
  const bool has_chroma = is_ycbcr(info.sampling);
  if (!text || !(has_chroma || info.sampling == GST_COEF_SAMPLING_GRAYSCALE)) return {};
  // JPEG says nothing about primaries and the transfer function.
  const bool known = gst_video_colorimetry_from_string(&found, text);
  const bool range = known && found.range == GST_VIDEO_COLOR_RANGE_0_255;
  const bool matrix = !has_chroma || (known && found.matrix == GST_VIDEO_COLOR_MATRIX_BT601);
  if (range && matrix) return {};
  std::string warning = "colorimetry " + std::string(text) + ", JPEG requires " + kJpegColorimetry +
                        " (full-range BT.601): convert by videoconvert ! video/x-raw,";
  // videoconvert (GStreamer 1.22) leaves samples as they are where the matrix is the same, but on
  // its way to RGB.
  warning += matrix ? "format=RGB" : "colorimetry=";
  if (!matrix) warning += kJpegColorimetry;
  return warning += " ! cudadct8x8";
}

namespace {

std::string name_of(const GstDctInfo& info) {
  std::string name = std::string("the picture is ") + gst_coef_sampling_to_string(info.sampling) +
                     ", " + std::to_string(info.width) + "x" + std::to_string(info.height);
  return info.depth == 8 ? name : name + " at " + std::to_string(info.depth) + " bits";
}

// Why there is no raw video of such coefficients.
std::string no_raw_video(const GstDctInfo& info) {
  std::string text = "no raw video format for " +
                     std::string(gst_coef_sampling_to_string(info.sampling)) + " at " +
                     std::to_string(info.depth) + " bits";
  if (!has_whole_ratios(info.sampling))
    text += ", and none in RGB: libjpeg does not upsample by fractions";
  else if (info.n_components <= kMaxComponents)
    text += ", only for 4:2:0, 4:2:2, 4:4:4 and grayscale";
  return text;
}

// The formats of the file's own color space; those of RGB are many.
std::string raw_video(const RawOffer& offer) {
  const CapsPtr own(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(offer.made.get()); i++) {
    const GstStructure* s = gst_caps_get_structure(offer.made.get(), i);
    if (!string_field_allows(s, "format", "RGB"))
      gst_caps_append_structure(own.get(), gst_structure_copy(s));
  }
  const bool has_rgb = gst_caps_get_size(own.get()) < gst_caps_get_size(offer.made.get());
  if (gst_caps_is_empty(own.get())) return "cudaidct8x8 outputs only RGB of it";
  return "cudaidct8x8 outputs " + field_values(own.get(), "format") + (has_rgb ? " or RGB" : "");
}

// Empty: cudaidct8x8 is not downstream, or its raw video is accepted.
std::string raw_refusal(GstPad* src, const GstCaps* caps, const GstDctInfo& info) {
  const QueryPtr query(make_raw_query(caps));
  if (!gst_pad_peer_query(src, query.get())) return {};
  const RawOffer offer = read_raw_query(query.get());
  if (gst_caps_is_empty(offer.made.get())) return no_raw_video(info);
  if (gst_caps_can_intersect(offer.made.get(), offer.accepted.get())) return {};
  const Misfit misfit = find_misfit(offer.made.get(), offer.accepted.get());
  const bool is_format = misfit.field && std::string(misfit.field) == "format";
  return (is_format ? raw_video(offer) + ", " : "") + misfit.text();
}

// What downstream accepts of all coefficients.
std::string refusal(GstPad* src, const GstCaps* caps) {
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr accepted(gst_pad_peer_query_caps(src, all.get()));
  return find_misfit(caps, accepted.get()).text();
}

}  // namespace

Status query_downstream(GstPad* src, GstCaps* caps) {
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, caps, nullptr) || peer_accepts(src, caps)) return {};
  std::string why = raw_refusal(src, caps, info);
  if (why.empty()) why = refusal(src, caps);
  return Status::error(StatusCode::kUnsupported, name_of(info) + "; " + why);
}

}  // namespace cudatransform
