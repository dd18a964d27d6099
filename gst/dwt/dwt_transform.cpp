// The wavelet transform as the frame loop sees it, and the base class of its elements.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_transform.h"

#include <algorithm>
#include <iterator>

#include "cuda/dwt/engine.h"
#include "gst/engine/properties.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

CT_ENGINE_OPS(DwtOps, host_dwt_ops, cuda_dwt_ops)

Status DwtTransform::check_settings() const {
  return is_forward() ? cudatransform::check_settings(settings) : Status();
}

Status DwtTransform::read_caps(const GstCaps* coefs, const GstVideoInfo& raw, CoefStream* stream) {
  GstDwtInfo dwt;
  CT_RETURN_IF_ERROR(read_dwt_caps(coefs, &dwt));
  // Caps decide about both pads, but the pads are linked one by one.
  if (raw.width != dwt.width || raw.height != dwt.height)
    return sizes_differ(raw, dwt.width, dwt.height);
  dwt_ = dwt;
  indices_ = {};
  stream->layout = layout_of(dwt_);
  stream->picture = {dwt.sampling, dwt.depth, dwt.width, dwt.height};
  return {};
}

bool DwtTransform::is_negotiated(const DwtShape& shape) const {
  return shape.wavelet == dwt_.wavelet && shape.wavelet_ho == dwt_.wavelet_ho &&
         shape.levels == dwt_.levels && shape.levels_ho == dwt_.levels_ho;
}

Status DwtTransform::take_settings(const char**) {
  method_ = settings.method;
  keeps_reference_ = reference.keep;
  if (!is_forward()) return {};
  CT_RETURN_IF_ERROR(check_transform(settings));
  // Changed settings that are not negotiated yet take effect with the next frame.
  return is_negotiated(settings.shape()) ? fill_indices(settings.quant, dwt_, &indices_) : Status();
}

void DwtTransform::describe(GstStructure* stats) const {
  const char* method = settings.method == DwtMethod::kFused ? "fused" : "separable-slab";
  gst_structure_set(stats, "method", G_TYPE_STRING, method, nullptr);
}

GstCaps* DwtTransform::fixate(GstCaps* candidates, bool prefer_cuda) const {
  return fixate_dwt_caps(candidates, prefer_cuda);
}

bool DwtTransform::size_of(const GstCaps* coefs, gsize* size) const {
  GstDwtInfo info;
  if (!read_dwt_caps(coefs, &info).ok()) return false;
  *size = info.size;
  return true;
}

Status DwtTransform::submit(FrameTask& task) {
  CoefStep step;
  if (!is_forward())
    CT_RETURN_IF_ERROR(find_coefficients(engine_, task.in, dwt_, &step.places, &indices_));
  CT_RETURN_IF_ERROR(begin(task, &step));
  CT_RETURN_IF_ERROR(enqueue(task.measured, &step));
  CT_RETURN_IF_ERROR(finish(task, &step));
  if (is_forward()) add_dwt_meta(task.out.buffer.get(), dwt_, indices_, step.places);
  return {};
}

Status DwtTransform::enqueue(MeasuredFrame* frame, CoefStep* step) {
  const Rects& coefs = step->coefs();
  DwtJob job;
  job.direction = direction();
  job.method = method_;
  job.wavelet = static_cast<Wavelet>(dwt_.wavelet);
  job.wavelet_ho = static_cast<Wavelet>(dwt_.wavelet_ho);
  job.levels = {static_cast<int>(dwt_.levels), static_cast<int>(dwt_.levels_ho)};
  job.type = dwt_.format == GST_COEF_FORMAT_S16LE ? DwtCoefType::kS16 : DwtCoefType::kS32;
  job.depth = static_cast<int>(dwt_.depth);
  job.components = component_planes(raw_, step->raw(), job.samples);
  for (int c = 0; c < job.components; c++) {
    job.coefs[c] = {coefs.rect[c].data, static_cast<ptrdiff_t>(coefs.rect[c].pitch)};
    std::copy(std::begin(indices_.of[c]), std::end(indices_.of[c]), job.quant_index[c]);
  }
  if (frame) {
    measure_job(frame, step->source() ? step->source()->planes : nullptr, &job);
    for (int c = 0; c < job.components; c++) {
      const GstDwtComponent& component = dwt_.components[c];
      frame->coefficients[c] = guint64{component.padded_width} * component.padded_height;
      frame->bytes += frame->coefficients[c] * gst_coef_format_size(dwt_.format);
    }
  }
  return engine_.ops<DwtOps>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job,
                                      &step->done);
}

}  // namespace cudatransform

using namespace cudatransform;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDwtBase, gst_cuda_dwt_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

#define GST_TYPE_CUDA_DWT_METHOD (gst_cuda_dwt_method_get_type())
static GType gst_cuda_dwt_method_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(DwtMethod::kFused), "Both directions of a level in one kernel, fastest", "fused"},
      {int(DwtMethod::kSeparableSlab), "Row kernel, then column kernel (van der Laan)",
       "separable-slab"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaDwtMethod", kValues);
  return type;
}

// The caps that raw video becomes: coefficients of the properties' transform in cudadwt, any in
// cudaidwt. Contradictory settings, which may occur while the user sets one after the other, do not
// keep elements from being linked: the first frame reports them.
static GstCaps* coefs_of_raw(GstBaseTransform* trans, GstCaps* caps) {
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const DwtTransform& transform = transform_of<DwtTransform>(trans);
  if (!transform.is_forward()) return raw_to_dwt_caps(caps, kinds, nullptr);
  GST_OBJECT_LOCK(trans);
  const DwtShape shape = transform.settings.shape();
  const bool exists = check_transform(transform.settings).ok();
  GST_OBJECT_UNLOCK(trans);
  return raw_to_dwt_caps(caps, kinds, exists ? &shape : nullptr);
}

static GstCaps* gst_cuda_dwt_base_transform_caps(GstBaseTransform* trans, GstPadDirection direction,
                                                 GstCaps* caps, GstCaps* filter) {
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const bool from_raw =
      transform_of<DwtTransform>(trans).is_forward() == (direction == GST_PAD_SINK);
  GstCaps* found = from_raw ? coefs_of_raw(trans, caps) : dwt_to_raw_caps(caps, kinds);
  return filter_caps(trans, caps, found, filter);
}

static void gst_cuda_dwt_base_init(GstCudaDwtBase*) {}

/**
 * GstCudaDwtBase:method:
 *
 * CUDA algorithm to use (identical output).
 *
 * Since: 1.0
 */

static void gst_cuda_dwt_base_class_init(GstCudaDwtBaseClass* klass) {
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels = CT_CUDA_PROBE(probe_cuda_dwt_kernels);
  const auto dwt = settings_of<&DwtTransform::settings>();
  install_properties(G_OBJECT_CLASS(klass),
                     {dwt.row("method", "Method", "CUDA algorithm to use (identical output)",
                              &DwtSettings::method, {.type = GST_TYPE_CUDA_DWT_METHOD})});
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dwt_base_transform_caps);
  install_coef_negotiation(trans_class);
}
