// Element cudadctconvert: 8x8 DCT coefficients in another layout, order, format or memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadctconvert
 * @title: cudadctconvert
 * @see_also: cudadct8x8, cudaidct8x8
 *
 * Brings 8x8 DCT coefficients (video/x-dct) into another layout, order, format or memory, on a CUDA
 * device or, with the same result, on the CPU.
 *
 * docs/elements/cudadctconvert.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudadctconvert ! \
 *   video/x-dct,layout=band,format=F16LE ! filesink location=bands.f16
 * ]| The dequantised coefficients of a JPEG file, a plane for each frequency, as half floats.
 */

#include "gst/elements.h"
#include "gst/engine/property_types.h"
#include "gst/stream/caps_fields.h"
#include "gst/verbs/convert_transform.h"
#include "gst/verbs/verb_base.h"
#if CT_HAVE_CUDA
#include "cuda/verbs/engine.h"
#endif

using cudatransform::ConvertTransform;
using cudatransform::int_field_allows;
using cudatransform::set_ints;
using cudatransform::set_strings;
using cudatransform::StructurePtr;

GST_DEBUG_CATEGORY_STATIC(cudadctconvert_debug);

struct GstCudaDctConvert {
  GstCudaVerbBase parent;
};

struct GstCudaDctConvertClass {
  GstCudaVerbBaseClass parent_class;
};

G_DEFINE_TYPE_WITH_CODE(GstCudaDctConvert, gst_cuda_dct_convert, GST_TYPE_CUDA_VERB_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudadctconvert_debug, "cudadctconvert", 0,
                                                "converter of 8x8 DCT coefficients"));
GST_ELEMENT_REGISTER_DEFINE(cudadctconvert, "cudadctconvert", GST_RANK_NONE,
                            gst_cuda_dct_convert_get_type());

enum { PROP_0, PROP_QUALITY };

static ConvertTransform& transform_of(gpointer element) {
  return static_cast<ConvertTransform&>(*GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}

static void gst_cuda_dct_convert_set_property(GObject* object, guint id, const GValue* value,
                                              GParamSpec* pspec) {
  if (id != PROP_QUALITY) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK(object);
  transform_of(object).settings.use_preset(cudatransform::QuantPreset::kAnnexK,
                                           g_value_get_int(value));
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dct_convert_get_property(GObject* object, guint id, GValue* value,
                                              GParamSpec* pspec) {
  if (id != PROP_QUALITY) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK(object);
  g_value_set_int(value, transform_of(object).settings.quality);
  GST_OBJECT_UNLOCK(object);
}

static GstCaps* template_caps() {
  const StructurePtr own(gst_structure_new_empty(GST_DCT_MEDIA_TYPE));
  set_strings(own.get(), "format", {"S16LE", "S32LE", "F32LE", "F16LE"});
  set_strings(own.get(), "layout", {"block", "plane", "band"});
  set_strings(own.get(), "order", {"raster", "zigzag"});
  cudatransform::set_bools(own.get(), "quantized");
  return gst_cuda_verb_template_caps(own.get());
}

// The formats of some depths.
struct Formats {
  bool quantized;
  std::vector<int> depths;
  std::vector<std::string> formats;
};

// Appends `base`, which has none of these fields, in each layout.
static void append_layouts(const GstStructure* base, const Formats& formats,
                           std::vector<StructurePtr>* others) {
  std::vector<int> depths;
  for (const int depth : formats.depths)
    if (int_field_allows(base, "depth", depth)) depths.push_back(depth);
  if (depths.empty()) return;
  for (const bool raster : {true, false}) {
    StructurePtr other(gst_structure_copy(base));
    gst_structure_set(other.get(), "quantized", G_TYPE_BOOLEAN, formats.quantized, nullptr);
    // The coefficients are others then.
    if (!formats.quantized)
      gst_structure_remove_fields(other.get(), "quantization-tables", "component-tables", nullptr);
    set_ints(other.get(), "depth", depths);
    set_strings(other.get(), "format", formats.formats);
    set_strings(other.get(), "layout", {"block", raster ? "plane" : "band"});
    set_strings(other.get(), "order", {raster ? "raster" : "zigzag"});
    others->push_back(std::move(other));
  }
}

// As it is, or in any other way.
static void append_others(GstBaseTransform*, GstPadDirection, const GstStructure* s,
                          std::vector<StructurePtr>* others) {
  static const Formats kFormats[] = {{true, {8, 10, 12}, {"S16LE"}},
                                     {true, {16}, {"S32LE"}},
                                     {false, {8, 10, 12, 16}, {"F32LE", "F16LE", "S32LE"}}};
  others->emplace_back(gst_structure_copy(s));
  const StructurePtr base(gst_structure_copy(s));
  gst_structure_remove_fields(base.get(), "format", "layout", "order", "quantized", nullptr);
  for (const Formats& formats : kFormats) append_layouts(base.get(), formats, others);
}

static void gst_cuda_dct_convert_init(GstCudaDctConvert*) {}

static void gst_cuda_dct_convert_class_init(GstCudaDctConvertClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  object_class->set_property = gst_cuda_dct_convert_set_property;
  object_class->get_property = gst_cuda_dct_convert_get_property;
  g_object_class_install_property(
      object_class, PROP_QUALITY,
      g_param_spec_int(
          "quality", "Quality",
          "JPEG quality of the annex-k tables by which coefficients that are not "
          "quantised become levels",
          1, 100, 85,
          static_cast<GParamFlags>(cudatransform::kWhilePlaying | GST_PARAM_CONTROLLABLE)));
  base_class->element_name = "cudadctconvert";
  base_class->category = cudadctconvert_debug;
#if CT_HAVE_CUDA
  base_class->probe_kernels = cudatransform::probe_cuda_convert_kernels;
#endif
  base_class->make_transform =
      [](cudatransform::Transport& transport) -> std::unique_ptr<cudatransform::FrameTransform> {
    return std::make_unique<ConvertTransform>(transport);
  };
  GST_CUDA_VERB_BASE_CLASS(klass)->append_others = append_others;
  gst_cuda_transform_base_add_templates(element_class, template_caps(), template_caps());
  gst_element_class_set_static_metadata(
      element_class, "8x8 DCT coefficient converter", "Filter/Converter/Video/Hardware",
      "Converts 8x8 DCT coefficients between layouts, orders, formats and memories, on a CUDA "
      "device or on the CPU",
      "The cudatransform authors");
}
