// Element cudaidwt: wavelet coefficients to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaidwt
 * @title: cudaidwt
 * @short_description: dequantization and inverse wavelet transform
 * @see_also: cudadwt
 *
 * Dequantizes wavelet coefficients (video/x-dwt) with the quantization indices that each buffer
 * carries and reconstructs raw video, using CUDA or, with identical output, the CPU. The caps name
 * filters and levels.
 *
 * docs/elements/cudaidwt.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! cudadwt quant-index=24 ! cudaidwt ! \
 *   videoconvert ! autovideosink
 * ]| Shows the test picture as a wavelet codec reconstructs it.
 *
 * Since: 1.0
 */

#include "gst/dwt/coefficients.h"
#include "gst/dwt/dwt_transform.h"
#include "gst/elements.h"

GST_DEBUG_CATEGORY_STATIC(cudaidwt_debug);

struct GstCudaIdwt {
  GstCudaDwtBase parent;
};

struct GstCudaIdwtClass {
  GstCudaDwtBaseClass parent_class;
};

G_DEFINE_TYPE_WITH_CODE(GstCudaIdwt, gst_cuda_idwt, GST_TYPE_CUDA_DWT_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudaidwt_debug, "cudaidwt", 0,
                                                "CUDA inverse wavelet transform"));
GST_ELEMENT_REGISTER_DEFINE(cudaidwt, "cudaidwt", GST_RANK_NONE, gst_cuda_idwt_get_type());

static void gst_cuda_idwt_init(GstCudaIdwt*) {}

static void gst_cuda_idwt_class_init(GstCudaIdwtClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "cudaidwt";
  base_class->category = cudaidwt_debug;
  base_class->make_transform = cudatransform::make_transform<cudatransform::DwtTransform,
                                                             cudatransform::Direction::kInverse>;
  gst_cuda_transform_base_add_templates(element_class, cudatransform::dwt_template_caps(),
                                        cudatransform::raw_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "CUDA Inverse Wavelet Transform", "Filter/Converter/Video/Hardware",
      "Reconstructs raw video from wavelet coefficients using CUDA or the CPU",
      "The cudatransform authors");
}
