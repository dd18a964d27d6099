// Element cudaresize: frames of another size, with the samples of Pillow's resize().
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaresize
 * @title: cudaresize
 * @see_also: videoscale, cudascale, cudaidct8x8
 *
 * Resizes raw video on a CUDA device or, with the same result, on the CPU. The samples are those
 * of Pillow's Image.resize(), on which vision models are trained.
 *
 * docs/elements/cudaresize.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudaidct8x8 ! \
 *   cudaresize method=bicubic ! video/x-raw,format=RGB,width=224,height=224 ! fakesink
 * ]| A photograph as a vision model takes it.
 */

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cuda/resize/engine.h"
#include "gst/elements.h"
#include "gst/engine/properties.h"
#include "gst/resize/resize_transform.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/coef_caps.h"
#include "gst/stream/coef_transform.h"
#include "gst/stream/transform_base.h"

using namespace cudatransform;

GST_DEBUG_CATEGORY_STATIC(cudaresize_debug);

struct GstCudaResize {
  GstCudaTransformBase parent;
};

struct GstCudaResizeClass {
  GstCudaTransformBaseClass parent_class;
};

GType gst_cuda_resize_get_type(void);
G_DEFINE_TYPE_WITH_CODE(GstCudaResize, gst_cuda_resize, GST_TYPE_CUDA_TRANSFORM_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudaresize_debug, "cudaresize", 0,
                                                "CUDA video resizer"));
GST_ELEMENT_REGISTER_DEFINE(cudaresize, "cudaresize", GST_RANK_NONE, gst_cuda_resize_get_type());

// ---- Enumerations ----

#define GST_TYPE_CUDA_RESIZE_METHOD (gst_cuda_resize_method_get_type())
static GType gst_cuda_resize_method_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(ResizeFilter::kNearest), "Nearest neighbor", "nearest"},
      {int(ResizeFilter::kBox), "Box, support 0.5", "box"},
      {int(ResizeFilter::kBilinear), "Bilinear, support 1", "bilinear"},
      {int(ResizeFilter::kHamming), "Hamming, support 1", "hamming"},
      {int(ResizeFilter::kBicubic), "Bicubic (a = -0.5), support 2", "bicubic"},
      {int(ResizeFilter::kLanczos), "Lanczos, support 3", "lanczos"},
      {int(ResizeFilter::kMks2013), "Magic kernel sharp 2013, support 2.5", "mks2013"},
      {int(ResizeFilter::kMks2021), "Magic kernel sharp 2021, support 4.5", "mks2021"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaResizeMethod", kValues);
  return type;
}

#define GST_TYPE_CUDA_RESIZE_ORDER (gst_cuda_resize_order_get_type())
static GType gst_cuda_resize_order_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(ResizeOrder::kPillow13), "As Pillow 13", "pillow-13"},
      {int(ResizeOrder::kPillow12), "As Pillow 12.2 and 12.3", "pillow-12"},
      {int(ResizeOrder::kPillow11), "As Pillow up to 12.1", "pillow-11"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaResizeOrder", kValues);
  return type;
}

// ---- Caps ----

// `s` in the formats that it allows and that the memory can hold; false if there is none.
static bool limit_formats(GstStructure* s, bool cuda) {
  std::vector<std::string> formats;
  for (const ResizeFormat& format : resize_formats()) {
    const char* name = gst_video_format_to_string(format.format);
    if ((!cuda || format.in_cuda_memory) &&
        (!gst_structure_has_field(s, "format") || string_field_allows(s, "format", name)))
      formats.emplace_back(name);
  }
  if (formats.empty()) return false;
  set_strings(s, "format", formats);
  return true;
}

static void free_size(GstStructure* s) {
  gst_structure_set(s, "width", GST_TYPE_INT_RANGE, 1, kMaxResizeSide, "height", GST_TYPE_INT_RANGE,
                    1, kMaxResizeSide, nullptr);
  if (gst_structure_has_field(s, "pixel-aspect-ratio"))
    gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION_RANGE, 1, G_MAXINT, G_MAXINT, 1,
                      nullptr);
}

static GstCaps* template_caps() {
  const CapsPtr all(gst_caps_new_empty_simple("video/x-raw"));
  return caps_in_each_memory(
      all.get(), {.cuda = true}, [](GstCaps* one, const GstStructure* s, bool cuda) {
        StructurePtr own(gst_structure_copy(s));
        if (!limit_formats(own.get(), cuda)) return;
        free_size(own.get());
        gst_structure_set(own.get(), "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1,
                          nullptr);
        gst_caps_append_structure_full(one, own.release(), features_for(cuda));
      });
}

static GstCaps* gst_cuda_resize_transform_caps(GstBaseTransform* trans, GstPadDirection,
                                               GstCaps* caps, GstCaps* filter) {
  GstCaps* found = caps_in_each_memory(
      caps, gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans)),
      [](GstCaps* one, const GstStructure* s, bool cuda) {
        StructurePtr other(gst_structure_copy(s));
        if (!limit_formats(other.get(), cuda)) return;
        free_size(other.get());
        gst_caps_append_structure_full(one, other.release(), features_for(cuda));
      });
  return filter_caps(trans, caps, found, filter);
}

// A frame's shape, of pixels that need not be square.
struct Shape {
  gint width = 0, height = 0, par_n = 1, par_d = 1;

  explicit Shape(const GstStructure* s) {
    gst_structure_get_int(s, "width", &width);
    gst_structure_get_int(s, "height", &height);
    gst_structure_get_fraction(s, "pixel-aspect-ratio", &par_n, &par_d);
  }
  double pixel() const { return double(par_n) / par_d; }
  double display() const { return double(width) / height * pixel(); }
};

static gint rounded_side(double side) {
  return static_cast<gint>(std::lround(std::min(std::max(side, 1.), double(kMaxResizeSide))));
}

// False if there is none.
static bool nearest_fraction(double value, gint* n, gint* d) {
  gst_util_double_to_fraction(value, n, d);
  return *n > 0 && *d > 0;
}

// As videoscale: keeps the display aspect ratio, by the pixels' if the size is fixed.
static void fixate_size(GstStructure* s, const Shape& like) {
  gint width = 0, height = 0;
  const bool has_width = gst_structure_get_int(s, "width", &width);
  const bool has_height = gst_structure_get_int(s, "height", &height);
  const bool has_pixel = gst_structure_has_field(s, "pixel-aspect-ratio");
  if (has_width && has_height) {
    gint n = 1, d = 1;
    if (has_pixel && nearest_fraction(like.display() * height / width, &n, &d))
      gst_structure_fixate_field_nearest_fraction(s, "pixel-aspect-ratio", n, d);
    return;
  }
  if (has_pixel)
    gst_structure_fixate_field_nearest_fraction(s, "pixel-aspect-ratio", like.par_n, like.par_d);
  const double ratio = like.display() / Shape(s).pixel();  // of samples
  if (!has_width && !has_height) gst_structure_fixate_field_nearest_int(s, "width", like.width);
  if (!has_height) {
    const gint own = Shape(s).width;
    const bool same = own == like.width && ratio * like.height == like.width;
    gst_structure_fixate_field_nearest_int(s, "height",
                                           same ? like.height : rounded_side(own / ratio));
  } else {
    gst_structure_fixate_field_nearest_int(s, "width", rounded_side(height * ratio));
  }
}

// Frames stay in the input's memory.
static GstCaps* gst_cuda_resize_fixate_caps(GstBaseTransform*, GstPadDirection, GstCaps* caps,
                                            GstCaps* others) {
  if (gst_caps_is_empty(others) || gst_caps_is_any(others)) return others;
  const bool in_cuda = has_cuda_memory(caps);
  GstCaps* chosen = keep_best(others, [=](const GstStructure*, const GstCapsFeatures* features) {
    return features_have_cuda(features) == in_cuda ? 1 : 0;
  });
  chosen = gst_caps_make_writable(chosen);
  fixate_size(gst_caps_get_structure(chosen, 0), Shape(gst_caps_get_structure(caps, 0)));
  return gst_caps_fixate(chosen);
}

static gboolean gst_cuda_resize_get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return FALSE;
  *size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

// Metas about places in the frame are dropped; the crop has been applied.
static gboolean gst_cuda_resize_transform_meta(GstBaseTransform* trans, GstBuffer* out,
                                               GstMeta* meta, GstBuffer* in) {
  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE) return FALSE;
  for (const char* tag : {GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR})
    if (gst_meta_api_type_has_tag(meta->info->api, g_quark_from_static_string(tag))) return FALSE;
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_resize_parent_class)
      ->transform_meta(trans, out, meta, in);
}

// ---- Properties ----

/**
 * GstCudaResize:method:
 *
 * Resampling filter.
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:order:
 *
 * Order of the horizontal and vertical passes: the version of Pillow to be bit-exact with.
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:box-x:
 *
 * Left edge of the box to resize, in pixels, with fractions.
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:box-y:
 *
 * Top edge of the box to resize, in pixels, with fractions.
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:box-width:
 *
 * Width of the box to resize, in pixels (0 = to the right edge).
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:box-height:
 *
 * Height of the box to resize, in pixels (0 = to the bottom edge).
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:reducing-gap:
 *
 * Reduce by whole factors first, down to this multiple of the output size (0 = disabled).
 *
 * Since: 1.0
 */

/**
 * GstCudaResize:add-borders:
 *
 * Keep the display aspect ratio by black borders where the output's size does not.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const auto resize = settings_of<&ResizeTransform::settings>();
  const SettingTraits<ResizeSettings, double> samples = {.max = kMaxResizeSide,
                                                         .flags = kControllable};
  install_properties(
      klass,
      {resize.row("method", "Method", "Resampling filter", &ResizeSettings::method,
                  {.type = GST_TYPE_CUDA_RESIZE_METHOD}),
       resize.row("order", "Order", "Order of the horizontal and vertical passes",
                  &ResizeSettings::order, {.type = GST_TYPE_CUDA_RESIZE_ORDER}),
       resize.row("box-x", "Box X", "Left edge of the box to resize, in pixels",
                  &ResizeSettings::left, samples),
       resize.row("box-y", "Box Y", "Top edge of the box to resize, in pixels",
                  &ResizeSettings::top, samples),
       resize.row("box-width", "Box Width",
                  "Width of the box to resize, in pixels (0 = to the right edge)",
                  &ResizeSettings::width, samples),
       resize.row("box-height", "Box Height",
                  "Height of the box to resize, in pixels (0 = to the bottom edge)",
                  &ResizeSettings::height, samples),
       resize.row("reducing-gap", "Reducing Gap",
                  "Reduce by whole factors first, down to this multiple of the output size (0 = "
                  "disabled)",
                  &ResizeSettings::reducing_gap, {.max = 1000}),
       resize.row("add-borders", "Add Borders",
                  "Add black borders if needed to keep the display aspect ratio",
                  &ResizeSettings::add_borders)});
}

static void gst_cuda_resize_init(GstCudaResize*) {}

static void gst_cuda_resize_class_init(GstCudaResizeClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_resize_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_resize_fixate_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_resize_get_unit_size);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_resize_transform_meta);
  base_class->element_name = "cudaresize";
  base_class->only_measures = kMeasureTime;
  base_class->category = cudaresize_debug;
  base_class->probe_kernels = CT_CUDA_PROBE(probe_cuda_resize_kernels);
  base_class->make_transform = make_transform<ResizeTransform>;
  gst_cuda_transform_base_add_templates(element_class, template_caps(), template_caps());
  gst_element_class_set_static_metadata(
      element_class, "CUDA Video Resizer", "Filter/Converter/Video/Scaler/Hardware",
      "Resizes raw video with Pillow's samples using CUDA or the CPU", "The cudatransform authors");
}
