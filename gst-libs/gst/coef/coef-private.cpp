// Shared code of all kinds of coefficients: refusals, caps fields, places in a buffer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/coef/coef-private.h>

#include <stdarg.h>

namespace gstcoef {

Refusal::Refusal(GstDebugCategory* category, gchar** reason)
    : category_(category), reason_(reason) {
  if (reason != nullptr) *reason = nullptr;
}

gboolean Refusal::operator()(const char* format, ...) const {
  va_list args;
  va_start(args, format);
  gchar* text = g_strdup_vprintf(format, args);
  va_end(args);
  GST_CAT_DEBUG(category_, "%s", text);
  if (reason_ != nullptr) {
    *reason_ = text;
  } else {
    g_free(text);
  }
  return FALSE;
}

const GstStructure* fixed_structure(const GstCaps* caps, const char* media_type,
                                    const Refusal& refuse) {
  if (!gst_caps_is_fixed(caps)) {
    refuse("the caps are not fixed");
    return nullptr;
  }
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  if (gst_structure_has_name(s, media_type)) return s;
  refuse("the caps are %s, expected %s", gst_structure_get_name(s), media_type);
  return nullptr;
}

namespace {

gboolean read_framerate(const GstStructure* s, gint* fps_n, gint* fps_d, const Refusal& refuse) {
  *fps_n = 0;
  *fps_d = 1;
  if (gst_structure_has_field(s, "framerate") &&
      (!gst_structure_get_fraction(s, "framerate", fps_n, fps_d) || *fps_n < 0))
    return refuse("framerate is not a fraction of at least 0/1");
  return TRUE;
}

}  // namespace

gboolean read_picture_fields(const GstStructure* s, PictureFields* fields, const Refusal& refuse) {
  gint depth = 0;
  if (!gst_structure_get_boolean(s, "quantized", &fields->quantized) ||
      !gst_structure_get_int(s, "depth", &depth) ||
      !gst_structure_get_int(s, "width", &fields->width) ||
      !gst_structure_get_int(s, "height", &fields->height))
    return refuse("quantized, depth, width or height is missing or of another type");
  fields->depth = static_cast<guint>(MAX(depth, 0));
  const char* format = gst_structure_get_string(s, "format");
  fields->format = gst_coef_format_from_string(format);
  if (fields->format == GST_COEF_FORMAT_UNKNOWN)
    return refuse("format is %s, expected S16LE, S32LE, F32LE or F16LE", GST_STR_NULL(format));
  const char* sampling = gst_structure_get_string(s, "sampling");
  fields->sampling = gst_coef_sampling_from_string(sampling);
  if (fields->sampling == GST_COEF_SAMPLING_UNKNOWN)
    return refuse(
        "sampling is %s, expected GRAYSCALE, YCbCr-4:2:0, 4:2:2, 4:4:4, 4:4:0, 4:1:1, 4:4:1, RGB, "
        "CMYK-4:4:4, YCCK-4:2:0 and so on, or by factors, such as RGB-2x2,2x2,1x1",
        GST_STR_NULL(sampling));
  const char* colorspace = gst_structure_get_string(s, "colorspace");
  if (g_strcmp0(colorspace, gst_coef_sampling_get_colorspace(fields->sampling)) != 0)
    return refuse("colorspace %s contradicts sampling %s", GST_STR_NULL(colorspace), sampling);
  // It would make width and height ambiguous.
  if (g_strcmp0(gst_structure_get_string(s, "interlace-mode"), "alternate") == 0)
    return refuse("interlace-mode=alternate is not supported");
  return read_framerate(s, &fields->fps_n, &fields->fps_d, refuse);
}

gboolean check_picture(GstCoefFormat format, guint depth, GstCoefSampling sampling, gint width,
                       gint height, const Refusal& refuse) {
  if (gst_coef_sampling_components(sampling) == 0 || gst_coef_format_size(format) == 0)
    return refuse("unknown sampling or format");
  if (depth != 8 && depth != 10 && depth != 12 && depth != 16)
    return refuse("depth %u, expected 8, 10, 12 or 16", depth);
  if (width < 1 || height < 1)
    return refuse("size %d x %d, expected at least 1 x 1", width, height);
  return TRUE;
}

bool place_rows(gsize row_bytes, guint rows, gsize* offset) {
  gsize bytes = 0;
  return !__builtin_mul_overflow(row_bytes, gsize{rows}, &bytes) &&
         !__builtin_add_overflow(*offset, bytes, offset) && *offset <= G_MAXSSIZE;
}

gboolean check_placement(const Placement& p, GstCoefFormat format, guint index, gsize buffer_size,
                         const Refusal& refuse) {
  const guint alignment = gst_coef_format_size(format);
  if (p.offset % alignment != 0 || p.stride % alignment != 0)
    return refuse("component %u has offset %" G_GSIZE_FORMAT " and stride %" G_GSIZE_FORMAT
                  ", expected multiples of the %u bytes of a coefficient",
                  index, p.offset, p.stride, alignment);
  if (p.stride < p.row_bytes)
    return refuse("component %u has a stride of %" G_GSIZE_FORMAT
                  " bytes, expected at least %" G_GSIZE_FORMAT,
                  index, p.stride, p.row_bytes);
  gsize end = 0;
  if (__builtin_mul_overflow(p.stride, gsize{p.rows} - 1, &end) ||
      __builtin_add_overflow(end, p.row_bytes, &end) || __builtin_add_overflow(end, p.offset, &end))
    return refuse("component %u with offset %" G_GSIZE_FORMAT " and stride %" G_GSIZE_FORMAT
                  " exceeds the address space",
                  index, p.offset, p.stride);
  if (end > buffer_size)
    return refuse("component %u ends at byte %" G_GSIZE_FORMAT
                  ", exceeds the buffer of %" G_GSIZE_FORMAT " bytes",
                  index, end, buffer_size);
  return TRUE;
}

}  // namespace gstcoef
