// The wavelet transform and its inverse as the frame loop sees them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_transform.h"

#include <algorithm>
#include <iterator>

#include "cuda/dwt/engine.h"
#include "gst/engine/element_errors.h"
#include "transform/dwt/dwt.h"

namespace cudatransform {

CT_ENGINE_OPS(DwtOps, host_dwt_ops, cuda_dwt_ops)
namespace {

static_assert(int(Wavelet::kDd97) == GST_DWT_WAVELET_DD97 &&
              int(Wavelet::kJ2k53) == GST_DWT_WAVELET_J2K53);

// The info of a small picture with this transform.
Status grey_info(const DwtSettings& settings, GstDwtInfo* info) {
  const DwtShape shape = settings.shape();
  gchar* reason = nullptr;
  if (gst_dwt_info_set(info, shape.wavelet, shape.wavelet_ho, shape.levels, shape.levels_ho, TRUE,
                       8, GST_COEF_SAMPLING_GRAYSCALE, 1, 1, &reason))
    return {};
  return error_of(StatusCode::kInvalidSetting, reason, "no transform");
}

}  // namespace

Status check_transform(const DwtSettings& settings) {
  GstDwtInfo grey;
  return grey_info(settings, &grey);
}

Status DwtTransform::check_settings() const {
  if (!is_forward()) return {};
  GstDwtInfo grey;
  CT_RETURN_IF_ERROR(grey_info(settings, &grey));
  QuantIndices indices;
  return fill_indices(settings.quant, grey, &indices);
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
