// The wavelet transform and its inverse as the frame loop sees them: what both have.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_transform.h"

#include <algorithm>
#include <iterator>

#include "gst/dwt/dwt_base.h"
#include "gst/engine/debug.h"
#include "gst/stream/coef_caps.h"
#include "transform/dwt/engine.h"
#if CT_HAVE_CUDA
#include "cuda/dwt/engine.h"
#endif

namespace cudatransform {
namespace {

static_assert(int(Wavelet::kDd97) == GST_DWT_WAVELET_DD97 &&
              int(Wavelet::kJ2k53) == GST_DWT_WAVELET_J2K53);

const DwtOps& ops_of([[maybe_unused]] const Device& device) {
#if CT_HAVE_CUDA
  if (!device.is_host()) return cuda_dwt_ops();
#endif
  return host_dwt_ops();
}

bool read_dwt_caps(GstElement* element, const GstCaps* caps, GstDwtInfo* info) {
  gchar* reason = nullptr;
  return gst_dwt_info_from_caps(info, caps, &reason) || refuse_coef_caps(element, caps, reason);
}

// Caps decide about both pads, but the pads are linked one by one.
bool same_size(GstElement* element, const GstVideoInfo& raw, const GstDwtInfo& dwt) {
  if (raw.width == dwt.width && raw.height == dwt.height) return true;
  GST_ELEMENT_ERROR(element, STREAM, FORMAT,
                    ("Frames of %dx%d do not belong to coefficients of %dx%d", raw.width,
                     raw.height, dwt.width, dwt.height),
                    (nullptr));
  return false;
}

}  // namespace

const char* method_name(DwtMethod method) {
  return method == DwtMethod::kFused ? "fused" : "separable-slab";
}

DwtTransform::DwtTransform(GstCudaTransformBase* element, Direction direction)
    : element_(element),
      engine_(element->state->engine),
      transport_(element->state->transport),
      direction_(direction) {}

bool DwtTransform::configure(GstCaps* in, GstCaps* out) {
  GstCaps* raw_caps = is_forward() ? in : out;
  GstCaps* dwt_caps = is_forward() ? out : in;
  auto* element = GST_ELEMENT(element_);
  GstVideoInfo raw;
  GstDwtInfo dwt;
  if (!read_raw_caps(element, raw_caps, &raw) || !read_dwt_caps(element, dwt_caps, &dwt) ||
      !same_size(element, raw, dwt))
    return false;
  raw_ = raw;
  dwt_ = dwt;
  configure_ends(has_cuda_memory(raw_caps), has_cuda_memory(dwt_caps));
  return true;
}

Status DwtTransform::prepare() {
  GST_OBJECT_LOCK(element_);
  used_ = method;
  GST_OBJECT_UNLOCK(element_);
  return {};
}

void DwtTransform::describe(GstStructure* stats) const {
  gst_structure_set(stats, "method", G_TYPE_STRING, method_name(method), nullptr);
}

DwtJob DwtTransform::make_job(const RawView& raw, const Rects& coefs, const QuantIndices& indices,
                              MeasuredFrame* frame) {
  DwtJob job;
  job.direction = direction_;
  job.method = used_;
  job.wavelet = static_cast<Wavelet>(dwt_.wavelet);
  job.wavelet_ho = static_cast<Wavelet>(dwt_.wavelet_ho);
  job.levels = {static_cast<int>(dwt_.levels), static_cast<int>(dwt_.levels_ho)};
  job.type = dwt_.format == GST_COEF_FORMAT_S16LE ? DwtCoefType::kS16 : DwtCoefType::kS32;
  job.depth = static_cast<int>(dwt_.depth);
  job.components = component_planes(raw, job.samples);
  for (int c = 0; c < job.components; c++) {
    job.coefs[c] = {coefs.rect[c].data, static_cast<ptrdiff_t>(coefs.rect[c].pitch)};
    std::copy(std::begin(indices.of[c]), std::end(indices.of[c]), job.quant_index[c]);
  }
  if (!frame) return job;
  measure_job(frame, &job);
  for (int c = 0; c < job.components; c++) {
    const GstDwtComponent& component = dwt_.components[c];
    frame->coefficients[c] = guint64{component.padded_width} * component.padded_height;
    frame->bytes += frame->coefficients[c] * gst_coef_format_size(dwt_.format);
  }
  return job;
}

Status DwtTransform::run(const DwtJob& job, FencePtr* done) {
  Device& device = engine_.device();
  return ops_of(device).submit(device, engine_.queue(QueueKind::kCompute), job, done);
}

}  // namespace cudatransform

cudatransform::DwtTransform& gst_cuda_dwt_transform(gpointer element) {
  return static_cast<cudatransform::DwtTransform&>(
      *GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}
