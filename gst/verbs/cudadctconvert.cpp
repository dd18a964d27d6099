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
 */

#include "gst/elements.h"
#include "gst/stream/caps_fields.h"
#include "gst/verbs/convert_transform.h"
#include "gst/verbs/verb_base.h"

using cudatransform::set_strings;

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

static GstCaps* template_caps() {
  const cudatransform::StructurePtr own(gst_structure_new_empty(GST_DCT_MEDIA_TYPE));
  set_strings(own.get(), "format", {"S16LE", "S32LE", "F32LE"});
  set_strings(own.get(), "layout", {"block", "plane"});
  set_strings(own.get(), "order", {"raster", "zigzag"});
  cudatransform::set_bools(own.get(), "quantized");
  return gst_cuda_verb_template_caps(own.get());
}

static void gst_cuda_dct_convert_init(GstCudaDctConvert*) {}

static void gst_cuda_dct_convert_class_init(GstCudaDctConvertClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "cudadctconvert";
  base_class->category = cudadctconvert_debug;
  base_class->make_transform =
      [](cudatransform::Transport& transport) -> std::unique_ptr<cudatransform::FrameTransform> {
    return std::make_unique<cudatransform::ConvertTransform>(transport);
  };
  gst_cuda_transform_base_add_templates(element_class, template_caps(), template_caps());
  gst_element_class_set_static_metadata(
      element_class, "8x8 DCT coefficient converter", "Filter/Converter/Video/Hardware",
      "Converts 8x8 DCT coefficients between layouts, orders, formats and memories, on a CUDA "
      "device or on the CPU",
      "The cudatransform authors");
}
