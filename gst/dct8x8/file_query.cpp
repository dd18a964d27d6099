// What downstream elements do with coefficients: queries for the options of JPEG files, and
// for raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/file_query.h"

#include <string>

#include "gst/stream/sampling.h"
#if CT_HAVE_JPEG
#include "jpeg/metadata.h"
#endif

namespace cudatransform {

static constexpr char kName[] = "GstCudaTransformJpegOptions";
static constexpr char kRawName[] = "GstCudaTransformRawCaps";

static bool has_name(GstQuery* query, const char* name) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_CUSTOM) return false;
  const GstStructure* structure = gst_query_get_structure(query);
  return structure && gst_structure_has_name(structure, name);
}

GstQuery* make_file_query() {
  return gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new_empty(kName));
}

bool is_file_query(GstQuery* query) { return has_name(query, kName); }

GstQuery* make_raw_query(const GstCaps* caps) {
  return gst_query_new_custom(
      GST_QUERY_CUSTOM, gst_structure_new(kRawName, "coefficients", GST_TYPE_CAPS, caps, nullptr));
}

static const GstCaps* caps_field(const GstStructure* answer, const char* field) {
  const GValue* value = gst_structure_get_value(answer, field);
  return value && GST_VALUE_HOLDS_CAPS(value) ? gst_value_get_caps(value) : nullptr;
}

const GstCaps* raw_query_caps(GstQuery* query) {
  if (!has_name(query, kRawName)) return nullptr;
  return caps_field(gst_query_get_structure(query), "coefficients");
}

void answer_raw_query(GstQuery* query, const RawOffer& offer) {
  gst_structure_set(gst_query_writable_structure(query), "made", GST_TYPE_CAPS, offer.made.get(),
                    "accepted", GST_TYPE_CAPS, offer.accepted.get(), nullptr);
}

RawOffer read_raw_query(const GstQuery* query) {
  const GstStructure* answer = gst_query_get_structure(const_cast<GstQuery*>(query));
  const auto caps = [answer](const char* field) {
    const GstCaps* found = caps_field(answer, field);
    return CapsPtr(found ? gst_caps_copy(found) : gst_caps_new_empty());
  };
  return {caps("made"), caps("accepted")};
}

#if CT_HAVE_JPEG

bool answer_file_query(GstQuery* query, const JpegOptions& options) {
  if (!is_file_query(query)) return false;
  gst_structure_set(gst_query_writable_structure(query), "progressive", G_TYPE_BOOLEAN,
                    gboolean{options.progressive}, "arithmetic", G_TYPE_BOOLEAN,
                    gboolean{options.arithmetic}, "optimize", G_TYPE_BOOLEAN,
                    gboolean{options.optimize}, "restart-interval", G_TYPE_UINT,
                    guint{options.restart_interval}, "keep-metadata", G_TYPE_BOOLEAN,
                    gboolean{options.keep_metadata}, nullptr);
  return true;
}

JpegOptions read_file_query(const GstQuery* query) {
  const GstStructure* answer = gst_query_get_structure(const_cast<GstQuery*>(query));
  const auto flag = [answer](const char* name) {
    gboolean value = FALSE;
    return gst_structure_get_boolean(answer, name, &value) && value;
  };
  JpegOptions options;
  options.progressive = flag("progressive");
  options.arithmetic = flag("arithmetic");
  options.optimize = flag("optimize");
  gboolean keep = TRUE;
  (void)gst_structure_get_boolean(answer, "keep-metadata", &keep);
  options.keep_metadata = keep;
  guint interval = 0;
  if (gst_structure_get_uint(answer, "restart-interval", &interval))
    options.restart_interval = MIN(interval, kJpegMaxRestartInterval);
  return options;
}

Status require_baseline(const char* property, const QueryDownstream& send, JpegOptions* options) {
  *options = {};
  const QueryPtr query(make_file_query());
  if (send && send(query.get())) *options = read_file_query(query.get());
  if (!options->progressive && !options->arithmetic) return {};
  return Status::error(StatusCode::kInvalidSetting,
                       std::string(property) + " requires baseline JPEG: set " +
                           (options->progressive ? "progressive" : "arithmetic") +
                           "=false on the encoder");
}

static constexpr struct {
  JpegColor color;
  const char* colorspace;
} kColors[] = {{JpegColor::kYcbcr, "sYUV"}, {JpegColor::kRgb, "sRGB"},  {JpegColor::kGray, "GRAY"},
               {JpegColor::kCmyk, "CMYK"},  {JpegColor::kYcck, "YCCK"}, {JpegColor::kTwo, "2CLR"}};

JpegColor jpeg_color_of(GstCoefSampling sampling) {
  for (const auto& [color, colorspace] : kColors)
    if (is_of(sampling, colorspace)) return color;
  return JpegColor::kYcbcr;
}

const char* colorspace_of(JpegColor wanted) {
  for (const auto& [color, colorspace] : kColors)
    if (color == wanted) return colorspace;
  return "sYUV";
}

void describe_jpeg_file(const GstDctInfo& info, GstBuffer* coefficients, JpegPicture* file) {
  *file = {};
  file->width = info.width;
  file->height = info.height;
  file->depth = info.depth;
  file->color = jpeg_color_of(info.sampling);
  for (guint c = 0; c < info.n_components; c++) {
    file->sampling.h[c] = info.components[c].h_samp;
    file->sampling.v[c] = info.components[c].v_samp;
  }
  for (guint c = 0; c < info.n_components; c++) {
    file->qcoefs[c].blocks_w = info.components[c].blocks_w;
    file->qcoefs[c].blocks_h = info.components[c].blocks_h;
  }
  const GstDctJpegMeta* jpeg = coefficients ? gst_buffer_get_dct_jpeg_meta(coefficients) : nullptr;
  if (!jpeg) return;
  if (jpeg->segments) {
    gsize size = 0;
    const auto* data = static_cast<const uint8_t*>(g_bytes_get_data(jpeg->segments, &size));
    file->metadata = {data, size};
  }
  file->is_adobe = have_adobe(file->metadata);
  file->others = MIN(jpeg->n_attachments, guint{GST_DCT_JPEG_MAX_ATTACHMENTS});
}

#endif

}  // namespace cudatransform
