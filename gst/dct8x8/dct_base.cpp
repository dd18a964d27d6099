// The base class of cudadct8x8 and cudaidct8x8: the properties that both have, and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_base.h"

#include "gst/dct8x8/dct_transform.h"
#include "gst/engine/property_types.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#endif

using cudatransform::DctTransform;
using cudatransform::Method;

#define gst_cuda_dct_base_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDctBase, gst_cuda_dct_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

enum { PROP_0, PROP_METHOD, PROP_ACTIVE_METHOD };

#define GST_TYPE_CUDA_DCT_METHOD (gst_cuda_dct_method_get_type())
static GType gst_cuda_dct_method_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(Method::kIslow), "Accurate integer, bit-exact to libjpeg-turbo (8 bits)", "islow"},
      {int(Method::kIfast), "Fast integer, bit-exact to libjpeg-turbo (8 bits)", "ifast"},
      {int(Method::kFloat), "Single precision, fused, the fastest", "float"},
      {int(Method::kReference), "Double precision, the definition", "reference"},
      {int(Method::kNaive), "The definition with cosines computed as they are needed", "naive"},
      {int(Method::kMatrix), "Two matrix products from a cosine table", "matrix"},
      {int(Method::kSeparable), "Rows, then columns; on a GPU one thread per sample", "separable"},
      {int(Method::kDecomposed), "Eight-tap decomposition; on a GPU through shared memory",
       "decomposed"},
      {int(Method::kShuffle), "Eight-tap decomposition; on a GPU transposed by warp shuffles",
       "shuffle"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaDctMethod", kValues);
  return type;
}

static void gst_cuda_dct_base_set_property(GObject* object, guint id, const GValue* value,
                                           GParamSpec* pspec) {
  auto& settings = gst_cuda_dct_transform(object).settings;
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_METHOD:
      settings.method = static_cast<Method>(g_value_get_enum(value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

static void gst_cuda_dct_base_get_property(GObject* object, guint id, GValue* value,
                                           GParamSpec* pspec) {
  const auto& settings = gst_cuda_dct_transform(object).settings;
  GST_OBJECT_LOCK(object);
  switch (id) {
    case PROP_METHOD:
      g_value_set_enum(value, int(settings.method));
      break;
    case PROP_ACTIVE_METHOD:
      g_value_set_enum(value, int(settings.active_method));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK(object);
}

// Moves a meta that is about places in the picture to the scaled one, where the meta's own code can
// do that; those that cannot are dropped.
static void scale_meta(const DctTransform& dct, GstBuffer* out, GstMeta* meta, GstBuffer* in) {
  GstVideoInfo from = dct.raw_info(), to = from;
  from.width = dct.dct_info().width;
  from.height = dct.dct_info().height;
  GstVideoMetaTransform sizes = {&from, &to};
  if (meta->info->transform_func)
    meta->info->transform_func(out, meta, in, gst_video_meta_transform_scale_get_quark(), &sizes);
}

static gboolean gst_cuda_dct_base_transform_meta(GstBaseTransform* trans, GstBuffer* out,
                                                 GstMeta* meta, GstBuffer* in) {
  const GType api = meta->info->api;
  if (api == GST_DCT_META_API_TYPE || api == GST_COEF_REFERENCE_META_API_TYPE) return FALSE;
  if (!GST_BASE_TRANSFORM_CLASS(parent_class)->transform_meta(trans, out, meta, in)) return FALSE;
  const DctTransform& dct = gst_cuda_dct_transform(trans);
  if (!dct.is_scaled() ||
      !gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR)))
    return TRUE;
  scale_meta(dct, out, meta, in);
  return FALSE;
}

static void gst_cuda_dct_base_init(GstCudaDctBase*) {}

static void gst_cuda_dct_base_class_init(GstCudaDctBaseClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
#if CT_HAVE_CUDA
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels = cudatransform::probe_cuda_kernels;
#endif
  object_class->set_property = gst_cuda_dct_base_set_property;
  object_class->get_property = gst_cuda_dct_base_get_property;
  g_object_class_install_property(
      object_class, PROP_METHOD,
      g_param_spec_enum("method", "Method", "How the transform is computed",
                        GST_TYPE_CUDA_DCT_METHOD, int(Method::kIslow),
                        cudatransform::kWhilePlaying));
  g_object_class_install_property(
      object_class, PROP_ACTIVE_METHOD,
      g_param_spec_enum("active-method", "Active method",
                        "The method in use: above 8 bits float answers for islow and ifast; scaled "
                        "inverses exist as islow, float and reference",
                        GST_TYPE_CUDA_DCT_METHOD, int(Method::kIslow), cudatransform::kReadOnly));
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_meta);
  gst_cuda_dct_base_install_negotiation(trans_class);
}
