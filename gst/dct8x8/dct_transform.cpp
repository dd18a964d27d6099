// The 8x8 DCT and its inverse as the frame loop sees them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_transform.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/stream/sampling.h"
#include "transform/dct8x8/engine.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#endif

namespace cudatransform {
namespace {

const Dct8x8Ops& ops_of([[maybe_unused]] const Engine& engine) {
#if CT_HAVE_CUDA
  if (engine.is_cuda()) return cuda_dct8x8_ops();
#endif
  return host_dct8x8_ops();
}

CoefType coef_type_of(GstCoefFormat format) {
  if (format == GST_COEF_FORMAT_S16LE) return CoefType::kS16;
  return format == GST_COEF_FORMAT_S32LE ? CoefType::kS32 : CoefType::kF32;
}

// Whether coefficients make frames of that size at `scale`.
bool fits(const GstDctInfo& dct, const GstVideoInfo& raw, int scale) {
  return scaled_size(static_cast<int32_t>(dct.width), scale) == raw.width &&
         scaled_size(static_cast<int32_t>(dct.height), scale) == raw.height;
}

const char* why_incomparable(int scale) {
  switch (scale) {
    case 2:
      return "PSNR is not measured at scale=1/2: the source frame has another size";
    case 4:
      return "PSNR is not measured at scale=1/4: the source frame has another size";
    case 8:
      return "PSNR is not measured at scale=1/8: the source frame has another size";
    default:
      return nullptr;
  }
}

}  // namespace

Status DctTransform::read_caps(const GstCaps* coefs, const GstVideoInfo& raw, CoefStream* stream) {
  GstDctInfo dct;
  CT_RETURN_IF_ERROR(read_dct_caps(coefs, &dct));
  const int largest = is_forward() ? 1 : 8;
  int scale = 1;
  while (scale <= largest && !fits(dct, raw, scale)) scale *= 2;
  if (scale > largest)
    return sizes_differ(raw, static_cast<int>(dct.width), static_cast<int>(dct.height));
  dct_ = dct;
  caps_tables_.read(coefs, dct_);
  stream->layout = layout_of(dct_);
  stream->picture = {dct.sampling, dct.depth, static_cast<gint>(dct.width),
                     static_cast<gint>(dct.height)};
  return {};
}

// The scale of the next frame: `wanted`, or the previous frame's while a change is not negotiated
// yet. Small pictures have the same size at several scales.
int DctTransform::scale_for(int wanted) const {
  for (const int scale : {wanted, scale_, 1, 2, 4})
    if (fits(dct_, raw_, scale)) return scale;
  return 8;
}

Status DctTransform::prepare(FrameRequest* request) {
  keeps_reference_ = keep_reference;
  if (!is_forward()) {
    scale_ = scale_for(settings.scale);
    incomparable_ = why_incomparable(scale_);
  }
  method_ = effective_method(settings.method, static_cast<int>(dct_.depth), scale_);
  if (std::exchange(settings.active_method, method_) != method_)
    request->changed_property = "active-method";
  quantizer_ = {};
  if (!is_forward() || !dct_.quantized) return {};
  CT_RETURN_IF_ERROR(fill_tables(settings.quant, dct_, &tables_));
  CT_RETURN_IF_ERROR(choose_quantizer(settings.quant, dct_, method_, tables_, &quantizer_));
  request->new_caps = settings.tables_in_caps && !told_.same(tables_.view(), dct_.n_components);
  return {};
}

void DctTransform::complete_caps(GstCaps* caps) {
  told_.tell(caps, tables_.view(), dct_.n_components);
}

void DctTransform::tell_tables(GstCaps* caps) {
  GstDctInfo info;
  FrameTables tables;
  if (!settings.tables_in_caps || !read_dct_caps(caps, &info).ok() || !info.quantized) return;
  // Wrong settings fail the next frame.
  if (fill_tables(settings.quant, info, &tables).ok())
    told_.tell(caps, tables.view(), info.n_components);
}

void DctTransform::describe(GstStructure* stats) const {
  gst_structure_set(stats, "method", G_TYPE_STRING, method_name(settings.active_method), nullptr);
}

GstCaps* DctTransform::fixate(GstCaps* candidates, bool prefer_cuda) const {
  return fixate_dct_caps(candidates, prefer_cuda);
}

bool DctTransform::size_of(const GstCaps* coefs, gsize* size) const {
  GstDctInfo info;
  if (!read_dct_caps(coefs, &info).ok()) return false;
  *size = info.size;
  return true;
}

Status DctTransform::find(GstBuffer* in, CoefPlaces* places) {
  const GstDctMeta* meta = nullptr;
  CT_RETURN_IF_ERROR(find_coefficients(engine_, in, dct_, caps_tables_, &meta, places));
  tables_ = {};
  if (!meta || !dct_.quantized) return {};
  tables_.count = static_cast<int>(meta->n_tables);
  for (guint t = 0; t < meta->n_tables; t++)
    std::copy_n(meta->tables[t].values, 64, tables_.tables[t].q);
  for (guint c = 0; c < dct_.n_components; c++)
    tables_.table_of[c] = static_cast<int>(meta->components[c].table);
  return {};
}

// Prepares `frame` for measuring, and tells the job to measure.
static void measure(const GstDctInfo& info, const SamplePlane* reference, MeasuredFrame* frame,
                    Dct8x8Job* job) {
  measure_job(frame, reference, job);
  // A scaled inverse needs part of a block; counting zeros takes all of it.
  const int read = job->measure & kMeasureZeros ? 64 : coefficients_needed(job->method, job->scale);
  const guint64 block_bytes = guint64(read) * gst_coef_format_size(info.format);
  for (int c = 0; c < job->components; c++) {
    const guint64 blocks = guint64(job->coefs[c].blocks_w) * job->coefs[c].blocks_h;
    frame->coefficients[c] = 64 * blocks;
    frame->bytes += blocks * block_bytes;
  }
}

Status DctTransform::enqueue(const Rects& raw, const Rects& coefs, const SamplePlane* reference,
                             MeasuredFrame* frame, FencePtr* done) {
  Dct8x8Job job;
  job.direction = direction();
  job.method = method_;
  job.scale = scale_;
  job.type = coef_type_of(dct_.format);
  job.layout = dct_.layout == GST_DCT_LAYOUT_PLANE ? Layout::kPlane : Layout::kBlock;
  job.order = dct_.order == GST_DCT_ORDER_ZIGZAG ? Order::kZigzag : Order::kRaster;
  job.quantized = dct_.quantized;
  job.depth = static_cast<int>(dct_.depth);
  // 4:4:0 is written as 4:4:4: every two rows of the frame have the same chroma.
  const int chroma_rows = dct_.sampling == GST_COEF_SAMPLING_440 ? 2 : 1;
  job.components = component_planes(raw_, raw, job.samples, chroma_rows);
  job.samples[0].shift += bits_below(GST_VIDEO_INFO_FORMAT(&raw_), dct_.depth);
  std::copy(std::begin(tables_.tables), std::end(tables_.tables), std::begin(job.tables));
  for (int c = 0; c < job.components; c++) {
    CoefPlane& plane = job.coefs[c];
    plane.data = coefs.rect[c].data;
    plane.pitch = static_cast<ptrdiff_t>(coefs.rect[c].pitch);
    plane.blocks_w = dct_.components[c].blocks_w;
    plane.blocks_h = dct_.components[c].blocks_h;
    plane.table = tables_.table_of[c];
  }
  quantizer_.tell(dct_, &job);
  if (frame) measure(dct_, reference, frame, &job);
  return ops_of(engine_).submit(engine_.device(), engine_.queue(QueueKind::kCompute), job, done);
}

void DctTransform::attach(GstBuffer* coefficients, const CoefPlaces& places) const {
  add_dct_meta(coefficients, dct_, tables_.view(), places);
}

}  // namespace cudatransform
