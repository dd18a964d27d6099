// The base class of cudadct8x8 and cudaidct8x8: the methods, and the matching of caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_base.h"

#include "cuda/dct8x8/engine.h"
#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/file_query.h"
#include "gst/engine/properties.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/pinned_setting.h"

using cudatransform::CapsPtr;
using cudatransform::DctSettings;
using cudatransform::DctTransform;
using cudatransform::Method;

#define gst_cuda_dct_base_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDctBase, gst_cuda_dct_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

DctTransform& gst_cuda_dct_transform(gpointer element) {
  return static_cast<DctTransform&>(*GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}

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

static void install_properties(GObjectClass* klass) {
  const cudatransform::SettingsOf<DctSettings> dct(
      [](gpointer element) -> auto& { return gst_cuda_dct_transform(element).settings; });
  cudatransform::install_properties(
      klass, {dct.row("method", "Method", "How the transform is computed", &DctSettings::method,
                      {.type = GST_TYPE_CUDA_DCT_METHOD}),
              dct.row("active-method", "Active method",
                      "The method in use: above 8 bits float answers for islow and ifast; scaled "
                      "inverses exist as islow, float and reference",
                      &DctSettings::active_method,
                      {.type = GST_TYPE_CUDA_DCT_METHOD, .flags = cudatransform::kReadOnly})});
}

using PinnedScale = cudatransform::PinnedSetting<int>;

static int scale_of(GstBaseTransform* trans) {
  return cudatransform::locked(trans, gst_cuda_dct_transform(trans).settings.scale);
}

// The raw video that a CAPS event becomes which changes the size alone. The event's caps are known
// by their address.
struct ResizedCaps {
  const GstCaps* coefs = nullptr;
  GstCaps* raw = nullptr;
};
using PinnedCaps = cudatransform::PinnedSetting<ResizedCaps>;

// The present raw video in the size of `coefs`, or null: resized_raw_caps() of caps.h.
static GstCaps* resized_raw_caps(GstBaseTransform* trans, const GstCaps* coefs) {
  const CapsPtr before(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  const CapsPtr raw_before(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SRC_PAD(trans)));
  if (!before || !raw_before) return nullptr;
  return cudatransform::resized_raw_caps(coefs, before.get(), raw_before.get(),
                                         PinnedScale::of(trans, scale_of));
}

// If new coefficients differ in width and height alone, format and memory stay as they are, where
// downstream accepts that. A sequence of JPEG files may have another size in each, and a small one
// is decoded in a tenth of the time that is needed to negotiate anew.
static GstCaps* keep_raw_format(GstBaseTransform* trans, const GstCaps* coefs) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  if (GST_PAD_NEEDS_RECONFIGURE(src)) return nullptr;
  CapsPtr raw(resized_raw_caps(trans, coefs));
  return raw && cudatransform::peer_accepts(src, raw.get()) ? raw.release() : nullptr;
}

static gboolean gst_cuda_dct_base_sink_event(GstBaseTransform* trans, GstEvent* event) {
  CapsPtr raw;
  GstCaps* coefs = nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !gst_cuda_dct_transform(trans).is_forward()) {
    gst_event_parse_caps(event, &coefs);
    raw.reset(keep_raw_format(trans, coefs));
  }
  const PinnedCaps pinned(trans, ResizedCaps{coefs, raw.get()});
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
}

// GstBaseTransform would also intersect the other pad's caps with its template. Where caps differ
// from those of the stream in their size alone, all that can be wrong is the size.
static gboolean gst_cuda_dct_base_accept_caps(GstBaseTransform* trans, GstPadDirection direction,
                                              GstCaps* caps) {
  GstPad* pad = direction == GST_PAD_SINK ? trans->sinkpad : trans->srcpad;
  if (direction == GST_PAD_SINK && !gst_cuda_dct_transform(trans).is_forward()) {
    const CapsPtr raw(resized_raw_caps(trans, caps));
    if (raw) return TRUE;
  }
  const CapsPtr all(gst_pad_get_pad_template_caps(pad));
  if (!gst_caps_is_subset(caps, all.get())) return FALSE;
  const CapsPtr other(
      GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(trans, direction, caps, nullptr));
  return !gst_caps_is_empty(other.get());
}

static GstCaps* gst_cuda_dct_base_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                                 GstCaps* caps, GstCaps* filter) {
  const ResizedCaps resized =
      PinnedCaps::of(trans, [](GstBaseTransform*) { return ResizedCaps(); });
  if (direction == GST_PAD_SINK && resized.raw && caps == resized.coefs)
    return cudatransform::filter_caps(trans, caps, gst_caps_ref(resized.raw), filter);
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const cudatransform::Direction way = gst_cuda_dct_transform(trans).direction();
  const bool is_forward = way == cudatransform::Direction::kForward;
  const bool from_raw = is_forward == (direction == GST_PAD_SINK);
  const int scale = PinnedScale::of(trans, scale_of);
  GstCaps* found = from_raw ? cudatransform::raw_to_dct_caps(caps, kinds, way, scale)
                            : cudatransform::dct_to_raw_caps(caps, kinds, way, scale);
  return cudatransform::filter_caps(trans, caps, found, filter);
}

// An inverse transform answers with its raw video. The forward one passes nothing on: its own
// coefficients are other ones.
static gboolean take_raw_query(GstBaseTransform* trans, GstQuery* query, const GstCaps* coefs) {
  if (gst_cuda_dct_transform(trans).is_forward()) return FALSE;
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr ours(gst_pad_get_pad_template_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  const CapsPtr known(gst_caps_intersect(ours.get(), const_cast<GstCaps*>(coefs)));
  cudatransform::RawOffer offer;
  offer.made.reset(cudatransform::dct_to_raw_caps(
      known.get(), kinds, cudatransform::Direction::kInverse, PinnedScale::of(trans, scale_of)));
  offer.accepted.reset(gst_pad_peer_query_caps(src, all.get()));
  cudatransform::answer_raw_query(query, offer);
  return TRUE;
}

static gboolean gst_cuda_dct_base_query(GstBaseTransform* trans, GstPadDirection direction,
                                        GstQuery* query) {
  if (cudatransform::is_file_query(query)) return FALSE;
  const PinnedScale pinned(trans, scale_of);
  if (const GstCaps* coefs = cudatransform::raw_query_caps(query))
    return take_raw_query(trans, query, coefs);
  return GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query);
}

static void gst_cuda_dct_base_init(GstCudaDctBase*) {}

static void gst_cuda_dct_base_class_init(GstCudaDctBaseClass* klass) {
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels =
      CT_CUDA_PROBE(cudatransform::probe_cuda_kernels);
  install_properties(G_OBJECT_CLASS(klass));
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_caps);
  trans_class->accept_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_accept_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_sink_event);
  trans_class->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_query);
  cudatransform::install_coef_negotiation(trans_class);
}
