// The 8x8 DCT and its inverse as the frame loop sees them: what both have.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_transform.h"

#include <algorithm>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/dct_base.h"
#include "gst/engine/debug.h"
#include "gst/stream/coef_caps.h"
#include "transform/dct8x8/engine.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#endif

namespace cudatransform {
namespace {

const Dct8x8Ops& ops_of([[maybe_unused]] const Device& device) {
#if CT_HAVE_CUDA
  if (!device.is_host()) return cuda_dct8x8_ops();
#endif
  return host_dct8x8_ops();
}

CoefType coef_type_of(GstCoefFormat format) {
  if (format == GST_COEF_FORMAT_S16LE) return CoefType::kS16;
  return format == GST_COEF_FORMAT_S32LE ? CoefType::kS32 : CoefType::kF32;
}

}  // namespace

DctTransform::DctTransform(GstCudaTransformBase* element, Direction direction)
    : element_(element),
      engine_(element->state->engine),
      transport_(element->state->transport),
      direction_(direction) {}

static bool read_caps(GstCudaTransformBase* element, GstCaps* raw_caps, GstCaps* dct_caps,
                      GstVideoInfo* raw, GstDctInfo* dct) {
  if (!read_raw_caps(GST_ELEMENT(element), raw_caps, raw)) return false;
  gchar* reason = nullptr;
  return gst_dct_info_from_caps(dct, dct_caps, &reason) ||
         refuse_coef_caps(GST_ELEMENT(element), dct_caps, reason);
}

bool DctTransform::configure(GstCaps* in, GstCaps* out) {
  GstCaps* raw_caps = is_forward() ? in : out;
  GstCaps* dct_caps = is_forward() ? out : in;
  GstVideoInfo raw;
  GstDctInfo dct;
  if (!read_caps(element_, raw_caps, dct_caps, &raw, &dct)) return false;
  raw_ = raw;
  dct_ = dct;
  caps_tables_.read(dct_caps, dct_);
  configure_ends(has_cuda_memory(raw_caps), has_cuda_memory(dct_caps));
  const int scale = scale_for(gst_cuda_dct_base_wanted_scale(GST_BASE_TRANSFORM(element_)));
  if (scale == 0) {
    GST_ELEMENT_ERROR(
        element_, STREAM, FORMAT,
        ("Frames of %dx%d do not belong to coefficients of %dx%d", GST_VIDEO_INFO_WIDTH(&raw),
         GST_VIDEO_INFO_HEIGHT(&raw), static_cast<int>(dct.width), static_cast<int>(dct.height)),
        (nullptr));
    return false;
  }
  GST_OBJECT_LOCK(element_);
  const Method method = settings.method;
  GST_OBJECT_UNLOCK(element_);
  use_method(effective_method(method, dct.depth, scale));
  return true;
}

// The scale at which the coefficients make frames of the negotiated size: `wanted` or, when that
// has just been changed and is not negotiated yet, the one that the frame before had. Small
// pictures have the same size at several scales. 0: there is none.
int DctTransform::scale_for(int wanted) {
  for (const int scale : {wanted, scale_, 1, 2, 4, 8}) {
    if (scaled_size(static_cast<int32_t>(dct_.width), scale) != raw_.width ||
        scaled_size(static_cast<int32_t>(dct_.height), scale) != raw_.height)
      continue;
    scale_ = scale;
    return scale;
  }
  return 0;
}

// For the active-method property.
void DctTransform::use_method(Method active) {
  GST_OBJECT_LOCK(element_);
  const bool changed = std::exchange(settings.active_method, active) != active;
  GST_OBJECT_UNLOCK(element_);
  if (changed) g_object_notify(G_OBJECT(element_), "active-method");
}

Status DctTransform::prepare() {
  frame_settings_ = {};
  GST_OBJECT_LOCK(element_);
  frame_settings_.scale = scale_for(settings.scale);
  frame_settings_.method = effective_method(settings.method, dct_.depth, frame_settings_.scale);
  GST_OBJECT_UNLOCK(element_);
  use_method(frame_settings_.method);
  return complete(&frame_settings_);
}

void DctTransform::describe(GstStructure* stats) const {
  gst_structure_set(stats, "method", G_TYPE_STRING, method_name(settings.active_method), nullptr);
}

// Fills in what `frame` is to measure, and has the job do so.
static void measure(const GstDctInfo& info, MeasuredFrame* frame, Dct8x8Job* job) {
  measure_job(frame, job);
  // Of a block, a scaled inverse needs a part; counting zeros takes all of it.
  const int read = job->measure & kMeasureZeros ? 64 : coefficients_needed(job->method, job->scale);
  const guint64 block_bytes = guint64(read) * gst_coef_format_size(info.format);
  for (int c = 0; c < job->components; c++) {
    const guint64 blocks = guint64(job->coefs[c].blocks_w) * job->coefs[c].blocks_h;
    frame->coefficients[c] = 64 * blocks;
    frame->bytes += blocks * block_bytes;
  }
}

Dct8x8Job DctTransform::make_job(const FrameSettings& used, const RawView& raw, const Rects& dct,
                                 MeasuredFrame* frame) {
  Dct8x8Job job;
  job.direction = direction_;
  job.method = used.method;
  job.scale = used.scale;
  job.type = coef_type_of(dct_.format);
  job.layout = dct_.layout == GST_DCT_LAYOUT_PLANE ? Layout::kPlane : Layout::kBlock;
  job.order = dct_.order == GST_DCT_ORDER_ZIGZAG ? Order::kZigzag : Order::kRaster;
  job.quantized = dct_.quantized;
  job.depth = dct_.depth;
  job.components = component_planes(raw, job.samples, chroma_rows());
  std::copy(std::begin(used.tables), std::end(used.tables), std::begin(job.tables));
  for (int c = 0; c < job.components; c++) {
    CoefPlane& plane = job.coefs[c];
    plane.data = dct.rect[c].data;
    plane.pitch = static_cast<ptrdiff_t>(dct.rect[c].pitch);
    plane.blocks_w = dct_.components[c].blocks_w;
    plane.blocks_h = dct_.components[c].blocks_h;
    plane.table = used.table_of[c];
  }
  if (frame) measure(dct_, frame, &job);
  return job;
}

Status DctTransform::run(const Dct8x8Job& job, FencePtr* done) {
  Device& device = engine_.device();
  return ops_of(device).submit(device, engine_.queue(QueueKind::kCompute), job, done);
}

}  // namespace cudatransform

cudatransform::DctTransform& gst_cuda_dct_transform(gpointer element) {
  return static_cast<cudatransform::DctTransform&>(
      *GST_CUDA_TRANSFORM_BASE(element)->state->transform);
}
