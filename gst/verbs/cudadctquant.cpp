// Element cudadctquant: quantised 8x8 DCT coefficients with other quantisation tables.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadctquant
 * @title: cudadctquant
 * @see_also: cudadct8x8, jpegcoefenc
 *
 * Gives quantised 8x8 DCT coefficients (video/x-dct) other quantisation tables, on a CUDA device
 * or, with the same result, on the CPU. No sample is made: levels are multiplied by their old
 * divisors and divided by the new ones.
 *
 * docs/elements/cudadctquant.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudadctquant quality=50 ! \
 *   jpegcoefenc ! filesink location=smaller.jpg
 * ]| A smaller file of the same photograph.
 */

#include "gst/dct8x8/quant_settings.h"
#include "gst/elements.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/property_types.h"
#include "gst/stream/caps_fields.h"
#include "gst/verbs/quant_transform.h"
#include "gst/verbs/verb_base.h"
#if CT_HAVE_CUDA
#include "cuda/verbs/engine.h"
#endif

using cudatransform::QuantTransform;
using cudatransform::set_strings;
using cudatransform::Status;

GST_DEBUG_CATEGORY_STATIC(cudadctquant_debug);

struct GstCudaDctQuant {
  GstCudaVerbBase parent;
};

struct GstCudaDctQuantClass {
  GstCudaVerbBaseClass parent_class;
};

#define gst_cuda_dct_quant_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDctQuant, gst_cuda_dct_quant, GST_TYPE_CUDA_VERB_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudadctquant_debug, "cudadctquant", 0,
                                                "quantiser of 8x8 DCT coefficients"));
GST_ELEMENT_REGISTER_DEFINE(cudadctquant, "cudadctquant", GST_RANK_NONE,
                            gst_cuda_dct_quant_get_type());

namespace {
enum {
  PROP_0,
  PROP_QUALITY,
  PROP_QUANT_PRESET,
  PROP_LUMA_QTABLE,
  PROP_CHROMA_QTABLE,
  PROP_QTABLE_FILE,
  PROP_COARSER_ONLY,
  PROP_TARGET_SIZE,
};
}  // namespace

static constexpr cudatransform::QuantProperties kQuantProperties = {
    .quality = PROP_QUALITY,
    .quant_preset = PROP_QUANT_PRESET,
    .luma_qtable = PROP_LUMA_QTABLE,
    .chroma_qtable = PROP_CHROMA_QTABLE,
    .qtable_file = PROP_QTABLE_FILE,
};

static QuantTransform& transform_of(gpointer element) {
  return static_cast<QuantTransform&>(*GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}

static cudatransform::VerbQuantSettings& settings_of(gpointer element) {
  return transform_of(element).settings;
}

static void gst_cuda_dct_quant_set_property(GObject* object, guint id, const GValue* value,
                                            GParamSpec* pspec) {
  auto& settings = settings_of(object);
  if (cudatransform::set_quant_property(kQuantProperties, object, &settings.quant, id, value))
    return;
  GST_OBJECT_LOCK(object);
  if (id == PROP_COARSER_ONLY)
    settings.coarser_only = g_value_get_boolean(value);
  else if (id == PROP_TARGET_SIZE)
    settings.target_size = g_value_get_uint(value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dct_quant_get_property(GObject* object, guint id, GValue* value,
                                            GParamSpec* pspec) {
  const auto& settings = settings_of(object);
  GST_OBJECT_LOCK(object);
  if (id == PROP_COARSER_ONLY)
    g_value_set_boolean(value, settings.coarser_only);
  else if (id == PROP_TARGET_SIZE)
    g_value_set_uint(value, settings.target_size);
  else if (!cudatransform::get_quant_property(kQuantProperties, settings.quant, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  GST_OBJECT_UNLOCK(object);
}

static GstStateChangeReturn gst_cuda_dct_quant_change_state(GstElement* element,
                                                            GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    GST_OBJECT_LOCK(element);
    const cudatransform::VerbQuantSettings& settings = settings_of(element);
    Status status = cudatransform::check_quant_settings(settings.quant);
    if (status.ok()) status = cudatransform::check_target_size(settings);
    GST_OBJECT_UNLOCK(element);
    GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(element);
    transform_of(element).ask_downstream = [src](GstQuery* query) {
      return gst_pad_peer_query(src, query);
    };
    if (!status.ok()) {
      cudatransform::post_error(element, status);
      return GST_STATE_CHANGE_FAILURE;
    }
  }
  return GST_ELEMENT_CLASS(parent_class)->change_state(element, transition);
}

// Tables of caps are the old ones. Each buffer has the new ones in its meta.
static void append_others(GstBaseTransform*, GstPadDirection, const GstStructure* s,
                          std::vector<cudatransform::StructurePtr>* others) {
  others->emplace_back(gst_structure_copy(s));
  gst_structure_remove_fields(others->back().get(), "quantization-tables", "component-tables",
                              nullptr);
}

static GstCaps* template_caps() {
  const cudatransform::StructurePtr own(gst_structure_new_empty(GST_DCT_MEDIA_TYPE));
  set_strings(own.get(), "format", {"S16LE", "S32LE"});
  set_strings(own.get(), "layout", {"block", "plane"});
  set_strings(own.get(), "order", {"raster", "zigzag"});
  gst_structure_set(own.get(), "quantized", G_TYPE_BOOLEAN, TRUE, nullptr);
  return gst_cuda_verb_template_caps(own.get());
}

static void gst_cuda_dct_quant_init(GstCudaDctQuant*) {}

static void gst_cuda_dct_quant_class_init(GstCudaDctQuantClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  object_class->set_property = gst_cuda_dct_quant_set_property;
  object_class->get_property = gst_cuda_dct_quant_get_property;
  cudatransform::install_quant_properties(object_class, kQuantProperties);
  g_object_class_install_property(
      object_class, PROP_COARSER_ONLY,
      g_param_spec_boolean("coarser-only", "Coarser only",
                           "Keep old divisors that are larger than the new ones, which would cost "
                           "bits and bring nothing back",
                           TRUE, cudatransform::kWhilePlaying));
  g_object_class_install_property(
      object_class, PROP_TARGET_SIZE,
      g_param_spec_uint("target-size", "Target size",
                        "Maximum size of each JPEG file in bytes, at the highest quality that "
                        "allows it (0 = disabled)",
                        0, G_MAXUINT, 0, cudatransform::kWhilePlaying));
  element_class->change_state = GST_DEBUG_FUNCPTR(gst_cuda_dct_quant_change_state);
  GST_CUDA_VERB_BASE_CLASS(klass)->keeps_file = false;
  base_class->element_name = "cudadctquant";
#if CT_HAVE_CUDA
  base_class->probe_kernels = cudatransform::probe_cuda_requant_kernels;
#endif
  base_class->category = cudadctquant_debug;
  base_class->make_transform =
      [](cudatransform::Transport& transport) -> std::unique_ptr<cudatransform::FrameTransform> {
    return std::make_unique<QuantTransform>(transport);
  };
  GST_CUDA_VERB_BASE_CLASS(klass)->append_others = append_others;
  gst_cuda_transform_base_add_templates(element_class, template_caps(), template_caps());
  gst_element_class_set_static_metadata(
      element_class, "8x8 DCT quantizer", "Filter/Converter/Video/Hardware",
      "Gives quantised 8x8 DCT coefficients other quantisation tables, on a CUDA device or on the "
      "CPU",
      "The cudatransform authors");
}
