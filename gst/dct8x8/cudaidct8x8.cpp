// Element cudaidct8x8: 8x8 DCT coefficients to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaidct8x8
 * @title: cudaidct8x8
 * @short_description: dequantization and 8x8 inverse DCT
 * @see_also: cudadct8x8, jpegcoefdec
 *
 * Dequantizes 8x8 DCT coefficients (video/x-dct) with the tables that each buffer carries and
 * reconstructs raw video, using CUDA or, with identical output of the integer methods, the CPU.
 *
 * #GstCudaIdct8x8:scale reconstructs pictures at a half, a quarter or an eighth of their size,
 * which is faster than full size. RGB output is bit-exact with libjpeg-turbo, and so with djpeg,
 * Pillow and OpenCV.
 *
 * docs/elements/cudaidct8x8.md is the manual.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! cudadct8x8 quality=50 ! cudaidct8x8 ! \
 *   videoconvert ! autovideosink
 * ]| Shows the test picture at JPEG quality 50.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! video/x-raw,width=1920,height=1080 ! cudadct8x8 ! \
 *   cudaidct8x8 scale=eighth ! videoconvert ! pngenc ! filesink location=thumbnail.png
 * ]| Writes a thumbnail of 240x135.
 *
 * Since: 1.0
 */

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/dct_transform.h"
#include "gst/elements.h"
#include "gst/engine/properties.h"

using namespace cudatransform;

GST_DEBUG_CATEGORY_STATIC(cudaidct8x8_debug);

struct GstCudaIdct8x8 {
  GstCudaDctBase parent;
};

struct GstCudaIdct8x8Class {
  GstCudaDctBaseClass parent_class;
};

#define gst_cuda_idct_8x8_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaIdct8x8, gst_cuda_idct_8x8, GST_TYPE_CUDA_DCT_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudaidct8x8_debug, "cudaidct8x8", 0,
                                                "CUDA 8x8 inverse DCT"));
GST_ELEMENT_REGISTER_DEFINE(cudaidct8x8, "cudaidct8x8", GST_RANK_NONE,
                            gst_cuda_idct_8x8_get_type());

#define GST_TYPE_CUDA_IDCT_SCALE (gst_cuda_idct_scale_get_type())
static GType gst_cuda_idct_scale_get_type(void) {
  static const GEnumValue kValues[] = {
      {1, "Full size", "full"},
      {2, "Half width and height", "half"},
      {4, "Quarter width and height", "quarter"},
      {8, "Eighth width and height", "eighth"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaIdctScale", kValues);
  return type;
}

#define GST_TYPE_CUDA_IDCT_UPSAMPLING (gst_cuda_idct_upsampling_get_type())
static GType gst_cuda_idct_upsampling_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(ChromaUpsampling::kFancy), "Triangle filter", "fancy"},
      {int(ChromaUpsampling::kNearest), "Nearest neighbor", "nearest"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaIdctUpsampling", kValues);
  return type;
}

/**
 * GstCudaIdct8x8:scale:
 *
 * Output scale.
 *
 * Since: 1.0
 */

/**
 * GstCudaIdct8x8:chroma-upsampling:
 *
 * Chroma upsampling filter for RGB output.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const auto dct = settings_of<&DctTransform::settings>();
  // The next buffer negotiates the new size first.
  const auto rescale = [](GObject* object, bool differs) {
    if (differs) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
  };
  install_properties(
      klass,
      {dct.row("scale", "Scale", "Output scale", &DctSettings::scale,
               {.type = GST_TYPE_CUDA_IDCT_SCALE, .changed = rescale}),
       dct.row("chroma-upsampling", "Chroma Upsampling", "Chroma upsampling filter for RGB output",
               &DctSettings::chroma_upsampling, {.type = GST_TYPE_CUDA_IDCT_UPSAMPLING})});
}

// Scales a meta about places in the picture if the meta's own code can do that. Other such metas
// are dropped.
static void scale_meta(const DctTransform& dct, GstBuffer* out, GstMeta* meta, GstBuffer* in) {
  GstVideoInfo from = dct.raw_info(), to = from;
  from.width = dct.dct_info().width;
  from.height = dct.dct_info().height;
  GstVideoMetaTransform sizes = {&from, &to};
  if (meta->info->transform_func)
    meta->info->transform_func(out, meta, in, gst_video_meta_transform_scale_get_quark(), &sizes);
}

static gboolean gst_cuda_idct_8x8_transform_meta(GstBaseTransform* trans, GstBuffer* out,
                                                 GstMeta* meta, GstBuffer* in) {
  if (!GST_BASE_TRANSFORM_CLASS(parent_class)->transform_meta(trans, out, meta, in)) return FALSE;
  const DctTransform& dct = transform_of<DctTransform>(trans);
  const GQuark has_places = g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR);
  if (!dct.is_scaled() || !gst_meta_api_type_has_tag(meta->info->api, has_places)) return TRUE;
  scale_meta(dct, out, meta, in);
  return FALSE;
}

static void gst_cuda_idct_8x8_init(GstCudaIdct8x8*) {}

static void gst_cuda_idct_8x8_class_init(GstCudaIdct8x8Class* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "cudaidct8x8";
  base_class->category = cudaidct8x8_debug;
  base_class->make_transform = make_transform<DctTransform, Direction::kInverse>;
  install_properties(G_OBJECT_CLASS(klass));
  GST_BASE_TRANSFORM_CLASS(klass)->transform_meta =
      GST_DEBUG_FUNCPTR(gst_cuda_idct_8x8_transform_meta);
  gst_cuda_transform_base_add_templates(element_class, dct_template_caps(),
                                        raw_template_caps(RgbFrames::kPictures));
  gst_element_class_set_static_metadata(
      element_class, "CUDA 8x8 Inverse DCT", "Filter/Converter/Video/Hardware",
      "Reconstructs raw video from 8x8 DCT coefficients using CUDA or the CPU",
      "The cudatransform authors");
}
