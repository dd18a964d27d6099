// Element cudaidct8x8: 8x8 DCT coefficients to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaidct8x8
 * @title: cudaidct8x8
 * @see_also: cudadct8x8
 *
 * Dequantises 8x8 DCT coefficients (video/x-dct) with the tables that each buffer carries and
 * transforms them back to planar video, on a CUDA device or, with the same result, on the CPU.
 *
 * docs/elements/cudaidct8x8.md lists every property, caps field and statistics field.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! cudadct8x8 quality=50 ! cudaidct8x8 ! \
 *   videoconvert ! autovideosink
 * ]| The test picture, as a JPEG of quality 50 would show it.
 */

#include "gst/cudaidct8x8.h"

#include "gst/caps.h"
#include "gst/dct_base.h"

struct GstCudaIdct8x8 {
  GstCudaDctBase parent;
};

struct GstCudaIdct8x8Class {
  GstCudaDctBaseClass parent_class;
};

G_DEFINE_TYPE(GstCudaIdct8x8, gst_cuda_idct_8x8, GST_TYPE_CUDA_DCT_BASE);
GST_ELEMENT_REGISTER_DEFINE(cudaidct8x8, "cudaidct8x8", GST_RANK_NONE,
                            gst_cuda_idct_8x8_get_type());

static void gst_cuda_idct_8x8_init(GstCudaIdct8x8*) {}

static void gst_cuda_idct_8x8_class_init(GstCudaIdct8x8Class* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  klass->parent_class.direction = cudatransform::Direction::kInverse;
  klass->parent_class.element_name = "cudaidct8x8";
  GstCaps* dct = cudatransform::dct_template_caps(true);
  GstCaps* raw = cudatransform::raw_template_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, dct));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, raw));
  gst_caps_unref(dct);
  gst_caps_unref(raw);
  gst_element_class_set_static_metadata(
      element_class, "8x8 inverse DCT", "Filter/Converter/Video/Hardware",
      "Transforms 8x8 DCT coefficients back to planar video, on a CUDA device or on the CPU",
      "The cudatransform authors");
}
