// The 8x8 DCT as the frame loop sees it, and the base class of its elements.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_transform.h"

#include <algorithm>
#include <utility>

#include "cuda/dct8x8/engine.h"
#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/dct8x8/file_query.h"
#include "gst/engine/properties.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/pinned_setting.h"
#include "gst/stream/sampling.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

CT_ENGINE_OPS(Dct8x8Ops, host_dct8x8_ops, cuda_dct8x8_ops)
namespace {

CoefType coef_type_of(GstCoefFormat format) {
  if (format == GST_COEF_FORMAT_S16LE) return CoefType::kS16;
  return format == GST_COEF_FORMAT_S32LE ? CoefType::kS32 : CoefType::kF32;
}

// Whether coefficients give frames of that size at `scale`.
bool fits(const GstDctInfo& dct, const GstVideoInfo& raw, int scale) {
  return scaled_size(static_cast<int32_t>(dct.width), scale) == raw.width &&
         scaled_size(static_cast<int32_t>(dct.height), scale) == raw.height;
}

const char* why_incomparable(int scale) {
  switch (scale) {
    case 2:
      return "PSNR unavailable at scale=half";
    case 4:
      return "PSNR unavailable at scale=quarter";
    case 8:
      return "PSNR unavailable at scale=eighth";
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
  if (is_rgb_format(GST_VIDEO_INFO_FORMAT(&raw)))
    CT_RETURN_IF_ERROR(check_rgb(raw, dct, coefs, direction()));
  stop_conversions();
  dct_ = dct;
  has_full_range_ = has_full_range(coefs) && dct.depth <= kMaxRangeDepth;
  converts_range_ = is_forward() && converts_range_of(raw);
  caps_tables_.read(coefs, dct_);
  stream->layout = layout_of(dct_);
  stream->picture = {dct.sampling, dct.depth, static_cast<gint>(dct.width),
                     static_cast<gint>(dct.height), dct.depth == 8};
  return {};
}

// Whether frames of `raw` have another range than the coefficients. YCbCr converted from RGB has
// JPEG's.
bool DctTransform::converts_range_of(const GstVideoInfo& raw) const {
  return has_limited_range(raw) && (has_full_range_ || is_rgb_format(GST_VIDEO_INFO_FORMAT(&raw)));
}

// The scale of the next frame: `wanted`, or the previous frame's while a change is not negotiated
// yet. Small pictures have the same size at several scales.
int DctTransform::scale_for(int wanted) const {
  for (const int scale : {wanted, scale_, 1, 2, 4})
    if (fits(dct_, raw_, scale)) return scale;
  return 8;
}

Status DctTransform::check_settings() const {
  if (!is_forward()) return {};
  CT_RETURN_IF_ERROR(check_quant_settings(settings.quant));
  return check_rate(settings.rate, settings.quant, settings.tables_in_caps);
}

void DctTransform::start() {
  rate.start();
  notified_quality_ = -1;
  CoefTransform::start();
}

Status DctTransform::take_settings(const char** changed_property) {
  has_new_tables_ = false;
  keeps_reference_ = reference.keep;
  if (!is_forward()) {
    scale_ = scale_for(settings.scale);
    incomparable_ = why_incomparable(scale_);
  }
  const int depth = static_cast<int>(dct_.depth);
  wanted_method_ = settings.method;
  method_ = effective_method(wanted_method_, depth, scale_);
  chroma_upsampling_ = settings.chroma_upsampling;
  if (std::exchange(settings.active_method, method_) != method_)
    *changed_property = "active-method";
  quantizer_ = {};
  if (!is_forward()) return {};
  if (!*changed_property) {
    const double quality = rate.result().quality;  // of the frame before
    const double notified = std::exchange(notified_quality_, quality);
    // The first one of the property `quality` is no news.
    if (notified != quality && (notified >= 0 || settings.rate.is_on()))
      *changed_property = "active-quality";
  }
  CT_RETURN_IF_ERROR(check_rate(settings.rate, settings.quant, settings.tables_in_caps));
  CT_RETURN_IF_ERROR(rate.prepare(settings.rate, settings.quant, dct_));
  if (!dct_.quantized) return {};
  CT_RETURN_IF_ERROR(fill_tables(settings.quant, dct_, &tables_));
  CT_RETURN_IF_ERROR(choose_quantizer(settings.quant, dct_, method_, tables_, &quantizer_));
  has_new_tables_ =
      settings.tables_in_caps && !written_tables_.same(view_of(tables_), dct_.n_components);
  return {};
}

Status DctTransform::submit(FrameTask& task) {
  if (has_new_tables_)
    task.change_caps([this](GstCaps* caps) {
      written_tables_.write(caps, view_of(tables_), dct_.n_components);
    });
  CoefStep step;
  if (is_forward())
    rate.take_time(task.in);
  else
    CT_RETURN_IF_ERROR(find(task.in, &step.places));
  CT_RETURN_IF_ERROR(begin(task, &step));
  CT_RETURN_IF_ERROR(enqueue(task.measured, &step));
  CT_RETURN_IF_ERROR(finish(task, &step));
  if (is_forward()) add_dct_meta(task.out.buffer.get(), dct_, view_of(tables_), step.places);
  return {};
}

void DctTransform::write_tables(GstCaps* caps) {
  GstDctInfo info;
  FrameTables tables;
  if (!settings.tables_in_caps || !read_dct_caps(caps, &info).ok() || !info.quantized) return;
  // Wrong settings fail the next frame.
  if (fill_tables(settings.quant, info, &tables).ok())
    written_tables_.write(caps, view_of(tables), info.n_components);
}

void DctTransform::stop_conversions() {
  rgb_.stop();
  source_rgb_.stop();
  range_.stop();
  source_range_.stop();
}

void DctTransform::stop() {
  stop_conversions();
  rate.stop();
  CoefTransform::stop();
}

void DctTransform::describe(GstStructure* stats) const {
  gst_structure_set(stats, "method", G_TYPE_STRING, method_name(settings.active_method), nullptr);
  if (!is_forward()) return;
  const RateResult& result = rate.result();
  gst_structure_set(stats, "active-quality", G_TYPE_DOUBLE, result.quality.load(), "file-size",
                    G_TYPE_UINT64, result.file_size.load(), "oversized-files", G_TYPE_UINT64,
                    result.oversized_files.load(), "vbv-fill", G_TYPE_DOUBLE, result.fill.load(),
                    nullptr);
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
  tables_ = tables_of(dct_, meta);
  return {};
}

// Prepares `frame` and the job for measuring. `rgb_bytes`: those of a frame in
// RGB.
static void measure(const GstDctInfo& info, const SamplePlane* reference, guint64 rgb_bytes,
                    MeasuredFrame* frame, Dct8x8Job* job) {
  measure_job(frame, reference, job);
  // A GPU's cache holds the planes between the two kernels.
  if (rgb_bytes) frame->bytes = rgb_bytes;
  // A scaled inverse needs part of a block; counting zeros takes all of it.
  const int read = job->measure & kMeasureZeros ? 64 : coefficients_needed(job->method, job->scale);
  const guint64 block_bytes = guint64(read) * gst_coef_format_size(info.format);
  for (int c = 0; c < job->components; c++) {
    const guint64 blocks = guint64(job->coefs[c].blocks_w) * job->coefs[c].blocks_h;
    frame->coefficients[c] = 64 * blocks;
    frame->bytes += blocks * block_bytes;
  }
}

Dct8x8Job DctTransform::job_for(const Rects& coefs) const {
  Dct8x8Job job;
  job.direction = direction();
  job.method = method_;
  job.scale = scale_;
  job.type = coef_type_of(dct_.format);
  job.layout = dct_.layout == GST_DCT_LAYOUT_PLANE ? Layout::kPlane : Layout::kBlock;
  job.order = dct_.order == GST_DCT_ORDER_ZIGZAG ? Order::kZigzag : Order::kRaster;
  job.quantized = dct_.quantized;
  job.depth = static_cast<int>(dct_.depth);
  job.components = static_cast<int>(dct_.n_components);
  std::copy(std::begin(tables_.tables), std::end(tables_.tables), std::begin(job.tables));
  for (int c = 0; c < job.components; c++) {
    CoefPlane& plane = job.coefs[c];
    plane.data = coefs.rect[c].data;
    plane.pitch = static_cast<ptrdiff_t>(coefs.rect[c].pitch);
    plane.blocks_w = dct_.components[c].blocks_w;
    plane.blocks_h = dct_.components[c].blocks_h;
    plane.table = tables_.table_of[c];
  }
  quantizer_.apply(dct_, &job);
  return job;
}

Status DctTransform::place_samples(const Rects& raw, Dct8x8Job* job) {
  if (converts_range_) CT_RETURN_IF_ERROR(range_.begin(raw_, dct_.depth, raw));
  if (is_rgb()) {
    CT_RETURN_IF_ERROR(
        rgb_.begin(raw_, dct_, {direction(), is_forward(), scale_, chroma_upsampling_}));
    std::copy_n(rgb_.planes(), rgb_.components(), job->samples);
    return {};
  }
  const Rects& frame = converts_range_ ? range_.converted() : raw;
  // 4:4:0 and 4:4:1 are written as 4:4:4: several rows of the frame have the same chroma.
  job->components = component_planes(raw_, frame, job->samples, rows_of_chroma(dct_.sampling));
  job->samples[0].shift += bits_below(GST_VIDEO_INFO_FORMAT(&raw_), dct_.depth);
  return {};
}

// Enqueues the conversions between a frame's memory and the planes of the DCT.
Status DctTransform::convert(const Rects& raw) {
  if (converts_range_) CT_RETURN_IF_ERROR(range_.submit());
  return is_rgb() ? rgb_.submit(converts_range_ ? range_.converted() : raw) : Status();
}

// Samples are compared, not colors: a source in RGB or of another range is converted first.
Status DctTransform::find_reference(const SourceFrame& source, const SamplePlane** reference) {
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&source.info);
  const Rects* frame = &source.input.placed().rects;
  *reference = source.planes;
  if (converts_range_of(source.info)) {
    CT_RETURN_IF_ERROR(source_range_.begin(source.info, dct_.depth, *frame));
    CT_RETURN_IF_ERROR(source_range_.submit());
    frame = &source_range_.converted();
  }
  if (is_rgb_format(format)) {
    CT_RETURN_IF_ERROR(source_rgb_.begin(source.info, dct_, {Direction::kForward}));
    *reference = source_rgb_.planes();
    return source_rgb_.submit(*frame);
  }
  if (frame == &source.input.placed().rects) return {};
  component_planes(source.info, *frame, converted_source_);
  converted_source_[0].shift += bits_below(format, dct_.depth);
  *reference = converted_source_;
  return {};
}

Status DctTransform::enqueue(MeasuredFrame* frame, CoefStep* step) {
  const Rects& raw = step->raw();
  FencePtr* const done = &step->done;
  Dct8x8Job job = job_for(step->coefs());
  CT_RETURN_IF_ERROR(place_samples(raw, &job));
  const auto work = [&]() -> Status {
    const SamplePlane* reference = nullptr;
    if (step->source()) CT_RETURN_IF_ERROR(find_reference(*step->source(), &reference));
    if (is_forward()) CT_RETURN_IF_ERROR(choose_tables(raw, frame, &job));
    if (frame) measure(dct_, reference, is_rgb() ? rgb_.frame_bytes() : 0, frame, &job);
    return converts() ? submit_with_conversion(job, raw, done) : submit_job(job, done);
  };
  const Status status = work();
  // The caller releases memory that a part of the work may still use.
  FencePtr part;
  if (!status.ok() && engine_.queue(QueueKind::kCompute).record(&part).ok()) (void)part->wait();
  return status;
}

// Scales the tables, if a rate is to be kept.
Status DctTransform::choose_tables(const Rects& raw, MeasuredFrame* frame, Dct8x8Job* job) {
  if (rate.is_on()) {
    if (converts()) CT_RETURN_IF_ERROR(convert(raw));
    CT_RETURN_IF_ERROR(rate.choose(engine_.ops<Dct8x8Ops>(), *job, &tables_));
    std::copy(std::begin(tables_.tables), std::end(tables_.tables), std::begin(job->tables));
  }
  if (frame) {
    frame->quality = rate.result().quality;
    frame->file_size = rate.is_on() ? rate.result().file_size.load() : 0;
  }
  return {};
}

Status DctTransform::submit_job(const Dct8x8Job& job, FencePtr* done) {
  return engine_.ops<Dct8x8Ops>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job,
                                         done);
}

// The transform and the conversion of a frame, timed as one.
Status DctTransform::submit_with_conversion(const Dct8x8Job& timed, const Rects& raw,
                                            FencePtr* done) {
  Queue& queue = engine_.queue(QueueKind::kCompute);
  Dct8x8Job job = timed;
  job.timer = nullptr;
  job.times = nullptr;
  if (timed.timer) CT_RETURN_IF_ERROR(timed.timer->begin(queue));
  // Rate control has converted the frame to planes already.
  if (!is_forward())
    CT_RETURN_IF_ERROR(submit_inverse(job));
  else if (!rate.is_on())
    CT_RETURN_IF_ERROR(convert(raw));
  CT_RETURN_IF_ERROR(is_forward() ? submit_job(job, nullptr) : convert(raw));
  if (timed.timer) CT_RETURN_IF_ERROR(timed.timer->end(queue));
  return queue.record(done);
}

// A component may have another scale than the picture: rgb_scale() in transform/rgb/rgb.h. Then
// each has a separate job. Only a job of all components counts their zeros: it computes such a one
// in vain.
Status DctTransform::submit_inverse(const Dct8x8Job& job) {
  int scales[kMaxComponents] = {job.scale, job.scale, job.scale};
  if (is_rgb())
    for (int c = 0; c < job.components; c++) scales[c] = rgb_scale_of(dct_, c, job.scale).scale;
  const auto is_same = [&job](int scale) { return scale == job.scale; };
  if (std::all_of(std::begin(scales), std::end(scales), is_same)) return submit_job(job, nullptr);
  if (job.measure) {
    Dct8x8Job all = job;
    for (int c = 0; c < job.components; c++) {
      all.samples[c].width = scaled_size(job.samples[c].width, job.scale / scales[c]);
      all.samples[c].height = scaled_size(job.samples[c].height, job.scale / scales[c]);
    }
    CT_RETURN_IF_ERROR(submit_job(all, nullptr));
  }
  for (int c = 0; c < job.components; c++) {
    if (job.measure && is_same(scales[c])) continue;
    Dct8x8Job one = job;
    one.components = 1;
    one.measure = 0;
    one.sums = nullptr;
    one.scale = scales[c];
    one.method = effective_method(wanted_method_, static_cast<int>(dct_.depth), one.scale);
    one.samples[0] = job.samples[c];
    one.coefs[0] = job.coefs[c];
    CT_RETURN_IF_ERROR(submit_job(one, nullptr));
  }
  return {};
}

}  // namespace cudatransform

using namespace cudatransform;

#define gst_cuda_dct_base_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaDctBase, gst_cuda_dct_base, GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

#define GST_TYPE_CUDA_DCT_METHOD (gst_cuda_dct_method_get_type())
static GType gst_cuda_dct_method_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(Method::kIslow), "Accurate integer, bit-exact to libjpeg-turbo (8 and 12 bits)",
       "islow"},
      {int(Method::kIfast), "Fast integer, bit-exact to libjpeg-turbo (8 bits)", "ifast"},
      {int(Method::kFloat), "Single precision, fused, fastest", "float"},
      {int(Method::kReference), "Double-precision reference", "reference"},
      {int(Method::kNaive), "Direct evaluation", "naive"},
      {int(Method::kMatrix), "Two matrix products with a cosine table", "matrix"},
      {int(Method::kSeparable), "Rows, then columns, one thread per sample on the GPU",
       "separable"},
      {int(Method::kDecomposed), "8-point factorization (Sung), transposed through shared memory",
       "decomposed"},
      {int(Method::kShuffle), "8-point factorization (Sung), transposed by warp shuffles",
       "shuffle"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaDctMethod", kValues);
  return type;
}

/**
 * GstCudaDctBase:active-method:
 *
 * Method in use (may differ from the method property).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctBase:method:
 *
 * DCT algorithm to use.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const auto dct = settings_of<&DctTransform::settings>();
  install_properties(klass, {dct.row("method", "Method", "DCT algorithm to use",
                                     &DctSettings::method, {.type = GST_TYPE_CUDA_DCT_METHOD}),
                             dct.row("active-method", "Active Method",
                                     "Method in use (may differ from the method property)",
                                     &DctSettings::active_method,
                                     {.type = GST_TYPE_CUDA_DCT_METHOD, .flags = kReadOnly})});
}

using PinnedScale = PinnedSetting<int>;

static int scale_of(GstBaseTransform* trans) {
  return locked(trans, transform_of<DctTransform>(trans).settings.scale);
}

// The raw video that a CAPS event becomes which changes the size alone. The event's caps are known
// by their address.
struct ResizedCaps {
  const GstCaps* coefs = nullptr;
  GstCaps* raw = nullptr;
};
using PinnedCaps = PinnedSetting<ResizedCaps>;

// The present raw video in the size of `coefs`, or null: resized_raw_caps() of caps.h.
static GstCaps* resized_raw_caps(GstBaseTransform* trans, const GstCaps* coefs) {
  const CapsPtr before(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  const CapsPtr raw_before(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SRC_PAD(trans)));
  if (!before || !raw_before) return nullptr;
  return resized_raw_caps(coefs, before.get(), raw_before.get(), PinnedScale::of(trans, scale_of));
}

// If new coefficients differ in width and height alone, format and memory stay as they are, where
// downstream accepts that. Each JPEG file of a sequence may have another size, and renegotiation
// takes ten times as long as decoding a small one.
static GstCaps* keep_raw_format(GstBaseTransform* trans, const GstCaps* coefs) {
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  if (GST_PAD_NEEDS_RECONFIGURE(src)) return nullptr;
  CapsPtr raw(resized_raw_caps(trans, coefs));
  return raw && peer_accepts(src, raw.get()) ? raw.release() : nullptr;
}

static gboolean gst_cuda_dct_base_sink_event(GstBaseTransform* trans, GstEvent* event) {
  CapsPtr raw;
  GstCaps* coefs = nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !transform_of<DctTransform>(trans).is_forward()) {
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
  if (direction == GST_PAD_SINK && !transform_of<DctTransform>(trans).is_forward()) {
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
    return filter_caps(trans, caps, gst_caps_ref(resized.raw), filter);
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  const Direction way = transform_of<DctTransform>(trans).direction();
  const bool is_forward = way == Direction::kForward;
  const bool from_raw = is_forward == (direction == GST_PAD_SINK);
  const int scale = PinnedScale::of(trans, scale_of);
  GstCaps* found = from_raw ? raw_to_dct_caps(caps, kinds, way, scale)
                            : dct_to_raw_caps(caps, kinds, way, scale);
  return filter_caps(trans, caps, found, filter);
}

// An inverse transform answers with its raw video. The forward one forwards none: its output has
// its own coefficients.
static gboolean take_raw_query(GstBaseTransform* trans, GstQuery* query, const GstCaps* coefs) {
  if (transform_of<DctTransform>(trans).is_forward()) return FALSE;
  const auto kinds = gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans));
  GstPad* src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr ours(gst_pad_get_pad_template_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  const CapsPtr known(gst_caps_intersect(ours.get(), const_cast<GstCaps*>(coefs)));
  RawOffer offer;
  offer.made.reset(
      dct_to_raw_caps(known.get(), kinds, Direction::kInverse, PinnedScale::of(trans, scale_of)));
  offer.accepted.reset(gst_pad_peer_query_caps(src, all.get()));
  answer_raw_query(query, offer);
  return TRUE;
}

static gboolean gst_cuda_dct_base_query(GstBaseTransform* trans, GstPadDirection direction,
                                        GstQuery* query) {
  if (is_file_query(query)) return FALSE;
  const PinnedScale pinned(trans, scale_of);
  if (const GstCaps* coefs = raw_query_caps(query)) return take_raw_query(trans, query, coefs);
  return GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query);
}

static void gst_cuda_dct_base_init(GstCudaDctBase*) {}

static void gst_cuda_dct_base_class_init(GstCudaDctBaseClass* klass) {
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_CUDA_TRANSFORM_BASE_CLASS(klass)->probe_kernels = CT_CUDA_PROBE(probe_cuda_kernels);
  install_properties(G_OBJECT_CLASS(klass));
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_transform_caps);
  trans_class->accept_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_accept_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_sink_event);
  trans_class->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_base_query);
  install_coef_negotiation(trans_class);
}
