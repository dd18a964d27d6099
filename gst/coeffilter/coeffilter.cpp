// The base class of elements from coefficients to coefficients, and of their transforms.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/coeffilter/coeffilter.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/dct8x8/file_query.h"
#include "gst/engine/engine.h"
#include "gst/engine/pools.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/coef_caps.h"
#include "gst/stream/coef_transform.h"
#include "gst/stream/sampling.h"

namespace cudatransform {
namespace {

void fill_arrays(const GstDctInfo& info, const Rects& rects, const FrameTables& tables,
                 CoefArray arrays[kMaxCoefArrays]) {
  for (guint c = 0; c < info.n_components; c++) {
    arrays[c].data = rects.rect[c].data;
    arrays[c].pitch = static_cast<ptrdiff_t>(rects.rect[c].pitch);
    arrays[c].blocks_w = static_cast<int32_t>(info.components[c].blocks_w);
    arrays[c].blocks_h = static_cast<int32_t>(info.components[c].blocks_h);
    arrays[c].table = tables.table_of[c];
  }
}

// Tables in caps are not the picture's: each buffer has its own.
bool same_without_tables(const GstCaps* one, const GstCaps* other) {
  const CapsPtr a(gst_caps_copy(one)), b(gst_caps_copy(other));
  remove_tables(a.get());
  remove_tables(b.get());
  return gst_caps_is_equal(a.get(), b.get());
}

}  // namespace

CoefNumber number_of(const GstDctInfo& info) {
  switch (info.format) {
    case GST_COEF_FORMAT_S16LE:
      return CoefNumber::kS16;
    case GST_COEF_FORMAT_S32LE:
      return CoefNumber::kS32;
    case GST_COEF_FORMAT_F16LE:
      return CoefNumber::kF16;
    default:
      return CoefNumber::kF32;
  }
}

CoefArrangement arrangement_of(const GstDctInfo& info) {
  if (info.layout == GST_DCT_LAYOUT_PLANE) return CoefArrangement::kPlane;
  if (info.layout == GST_DCT_LAYOUT_BAND) return CoefArrangement::kBand;
  return info.order == GST_DCT_ORDER_ZIGZAG ? CoefArrangement::kZigzagBlock
                                            : CoefArrangement::kBlock;
}

Status CoefFilter::agree() {
  if (in_info_.width == out_info_.width && in_info_.height == out_info_.height &&
      in_info_.sampling == out_info_.sampling && in_info_.depth == out_info_.depth)
    return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "Input and output caps describe different pictures");
}

Status CoefFilter::make_tables(const FrameTables& from, FrameTables* to) {
  *to = from;
  return {};
}

// Refused caps change nothing: the stream may go on with those that it had.
Status CoefFilter::configure(const GstCaps* in, const GstCaps* out) {
  GstDctInfo in_info, out_info;
  CT_RETURN_IF_ERROR(read_dct_caps(in, &in_info));
  CT_RETURN_IF_ERROR(read_dct_caps(out, &out_info));
  std::swap(in_info_, in_info);
  std::swap(out_info_, out_info);
  const Status agreed = agree();
  if (!agreed.ok()) {
    in_info_ = in_info;
    out_info_ = out_info;
    return agreed;
  }
  release_memory();
  same_caps_ = same_without_tables(in, out);
  same_tables_ = gst_caps_is_equal(in, out);
  caps_tables_.read(in, in_info_);
  out_.configure(layout_of(out_info_), has_cuda_memory(out));
  return {};
}

Status CoefFilter::allocate(GstQuery* query, GstCaps*) { return out_.allocate(query); }

void CoefFilter::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  gst_query_add_allocation_meta(query, GST_DCT_META_API_TYPE, nullptr);
  promise_to_honor_fence(query);
  GstDctInfo info;
  if (read_dct_caps(caps, &info).ok())
    propose_coefficient_pool(engine_, query, caps, info.size, buffers);
}

Status CoefFilter::submit(FrameTask& task) {
  GstBuffer* const in = task.in;
  MeasuredFrame* const frame = task.measured;
  const GstDctMeta* meta = nullptr;
  CoefPlaces places;
  CT_RETURN_IF_ERROR(find_coefficients(engine_, in, in_info_, caps_tables_, &meta, &places));
  const FrameTables from_tables = tables_of(in_info_, meta);
  // Tables of the caps, for a buffer without meta, have to stay in them.
  const bool may_stay = same_caps_ && (same_tables_ || gst_buffer_get_dct_meta(in));
  if (may_stay && keeps(from_tables)) return pass(task, places);
  CoefInput input;
  CT_RETURN_IF_ERROR(input.bring_in(mover_, in, places, input_blocks_, frame));
  CoefArray from[kMaxCoefArrays], to[kMaxCoefArrays];
  fill_arrays(in_info_, input.rects(), from_tables, from);
  bool stays = false;
  CT_RETURN_IF_ERROR(choose(in, from, from_tables, &stays));
  if (may_stay && stays) return pass(task, places);
  FrameTables to_tables;
  CT_RETURN_IF_ERROR(make_tables(from_tables, &to_tables));

  EngineCoefs coefs;
  CT_RETURN_IF_ERROR(out_.begin_on_engine(&task.out, &coefs));
  fill_arrays(out_info_, coefs.rects, to_tables, to);
  FencePtr done;
  CT_RETURN_IF_ERROR(enqueue(from, from_tables, to, to_tables, frame, &done));
  input.mark_read(mover_, done);
  CT_RETURN_IF_ERROR(
      out_.finish_on_engine(mover_, std::move(coefs), done, frame, &task.out, &places));
  add_dct_meta(task.out.buffer.get(), out_info_, view_of(to_tables), places);
  return {};
}

// The frame is forwarded unchanged. Forwarded frames are not measured.
Status CoefFilter::pass(FrameTask& task, const CoefPlaces& places) {
  // A peer that does not know the fence may read at any time.
  if (!out_.fence_is_honored()) CT_RETURN_IF_ERROR(wait_written(engine_, places.fence, nullptr));
  task.out.buffer.reset(gst_buffer_ref(task.in));
  if (!task.measured) return {};
  task.measured->kinds = 0;
  task.measured->components = 0;
  return engine_.queue(QueueKind::kCompute).record(&task.measured->fence);
}

void CoefFilter::release_memory() {
  input_blocks_.clear();
  out_.stop();
}

}  // namespace cudatransform

using namespace cudatransform;

#define gst_cuda_coef_filter_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaCoefFilter, gst_cuda_coef_filter,
                                 GST_TYPE_CUDA_TRANSFORM_BASE,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

// The fields that describe how the same coefficients are stored, and what it costs to change one:
// the sum is the cost of a path.
static constexpr struct {
  const char* field;
  int price;
} kWays[] = {{"layout", 2}, {"order", 1}, {"format", 4}, {"quantized", 8}};
static constexpr int kPriceOfRounding = 4;  // more than that of another layout and order
static constexpr int kPriceOfMemory = 32;   // a copy over the bus

void gst_cuda_coef_filter_add_templates(GstElementClass* klass,
                                        const std::vector<std::string>& formats,
                                        const std::vector<std::string>& layouts,
                                        bool quantized_only) {
  const StructurePtr s(gst_structure_new_empty(GST_DCT_MEDIA_TYPE));
  set_strings(s.get(), "format", formats);
  set_strings(s.get(), "layout", layouts);
  set_strings(s.get(), "order", {"raster", "zigzag"});
  if (quantized_only)
    gst_structure_set(s.get(), "quantized", G_TYPE_BOOLEAN, TRUE, nullptr);
  else
    set_bools(s.get(), "quantized");
  set_ints(s.get(), "depth", {8, 10, 12, 16});
  // Of any sampling: those without a name are many.
  set_strings(s.get(), "colorspace", {std::begin(kColorspaces), std::end(kColorspaces)});
  GstCaps* caps = template_caps_in_each_memory(s.get());
  gst_cuda_transform_base_add_templates(klass, gst_caps_ref(caps), caps);
}

static GstCaps* gst_cuda_coef_filter_transform_caps(GstBaseTransform* trans,
                                                    GstPadDirection direction, GstCaps* caps,
                                                    GstCaps* filter) {
  const GstCudaCoefFilterClass* klass = GST_CUDA_COEF_FILTER_GET_CLASS(trans);
  GstCaps* found = caps_in_each_memory(
      caps, gst_cuda_transform_base_memories(GST_CUDA_TRANSFORM_BASE(trans)),
      [&](GstCaps* one, const GstStructure* s, bool cuda) {
        std::vector<StructurePtr> others;
        if (klass->append_others)
          klass->append_others(trans, direction, s, &others);
        else
          others.emplace_back(gst_structure_copy(s));
        for (StructurePtr& other : others)
          gst_caps_append_structure_full(one, other.release(), features_for(cuda));
      });
  return filter_caps(trans, caps, found, filter);
}

// Whether `s` can have the value that `wanted`, which is fixed, has.
static bool allows(const GstStructure* s, const GstStructure* wanted, const char* field) {
  const GValue* value = gst_structure_get_value(wanted, field);
  const GValue* allowed = gst_structure_get_value(s, field);
  return value && (!allowed || gst_value_intersect(nullptr, value, allowed));
}

// Whether `wanted` are halves, which single precision holds and integers round.
static bool are_halves(const GstStructure* wanted) {
  return g_strcmp0(gst_structure_get_string(wanted, "format"), "F16LE") == 0;
}

// The cheapest path: the coefficients as they are, then in the same memory, then with the least
// change.
static GstCaps* gst_cuda_coef_filter_fixate_caps(GstBaseTransform* trans, GstPadDirection,
                                                 GstCaps* caps, GstCaps* othercaps) {
  if (gst_caps_is_empty(othercaps) || gst_caps_is_any(othercaps)) return othercaps;
  const GstStructure* wanted = gst_caps_get_structure(caps, 0);
  const bool cuda = has_cuda_memory(caps);
  GstCaps* best = keep_best(othercaps, [&](const GstStructure* s, const GstCapsFeatures* f) {
    int price = features_have_cuda(f) == cuda ? 0 : kPriceOfMemory;
    for (const auto& way : kWays)
      if (!allows(s, wanted, way.field)) price += way.price;
    if (are_halves(wanted) && !allows(s, wanted, "format") &&
        !string_field_allows(s, "format", "F32LE"))
      price += kPriceOfRounding;
    return -price;
  });
  GstStructure* s = gst_caps_get_structure(best, 0);
  for (const auto& way : kWays)
    if (allows(s, wanted, way.field))
      gst_structure_set_value(s, way.field, gst_structure_get_value(wanted, way.field));
  if (are_halves(wanted) && allows(s, wanted, "quantized"))
    fixate_to_first_allowed(s, "format", {"F16LE", "F32LE"});
  GstCaps* const fixated = fixate_dct_caps(best, cuda);
  GST_DEBUG_OBJECT(trans, "fixated to %" GST_PTR_FORMAT " for %" GST_PTR_FORMAT, fixated, caps);
  return fixated;
}

static gboolean gst_cuda_coef_filter_get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  GstDctInfo info;
  if (!read_dct_caps(caps, &info).ok()) return FALSE;
  *size = info.size;
  return TRUE;
}

static bool keeps(GstBaseTransform* trans, GType api) {
  if (api == GST_COEF_REFERENCE_META_API_TYPE)
    return GST_CUDA_COEF_FILTER_GET_CLASS(trans)->keeps_reference;
  return api == GST_DCT_JPEG_META_API_TYPE;
}

// The file's other contents stay with its coefficients. The base class never queries
// transform_meta() about these metas, which describe the memory of other buffers.
static gboolean gst_cuda_coef_filter_copy_metadata(GstBaseTransform* trans, GstBuffer* in,
                                                   GstBuffer* out) {
  if (!GST_BASE_TRANSFORM_CLASS(parent_class)->copy_metadata(trans, in, out)) return FALSE;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(in, &state)) {
    GstMetaTransformCopy whole = {FALSE, 0, gst_buffer_get_size(in)};
    if (keeps(trans, meta->info->api))
      meta->info->transform_func(out, meta, in, _gst_meta_transform_copy, &whole);
  }
  return TRUE;
}

static void gst_cuda_coef_filter_init(GstCudaCoefFilter*) {}

// The query continues downstream with the output coefficients.
static gboolean pass_raw_query(GstBaseTransform* trans, GstQuery* query, const GstCaps* coefs) {
  const CapsPtr in(gst_caps_copy(coefs));
  const CapsPtr out(gst_cuda_coef_filter_transform_caps(trans, GST_PAD_SINK, in.get(), nullptr));
  const QueryPtr next(make_raw_query(out.get()));
  if (!gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(trans), next.get())) return FALSE;
  answer_raw_query(query, read_raw_query(next.get()));
  return TRUE;
}

static gboolean gst_cuda_coef_filter_query(GstBaseTransform* trans, GstPadDirection direction,
                                           GstQuery* query) {
  if (const GstCaps* coefs = raw_query_caps(query)) return pass_raw_query(trans, query, coefs);
  if (!GST_CUDA_COEF_FILTER_GET_CLASS(trans)->keeps_file && is_file_query(query)) return FALSE;
  return GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query);
}

static void gst_cuda_coef_filter_class_init(GstCudaCoefFilterClass* klass) {
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  klass->keeps_reference = true;
  klass->keeps_file = true;
  trans_class->query = GST_DEBUG_FUNCPTR(gst_cuda_coef_filter_query);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_coef_filter_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_coef_filter_fixate_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR(gst_cuda_coef_filter_get_unit_size);
  trans_class->copy_metadata = GST_DEBUG_FUNCPTR(gst_cuda_coef_filter_copy_metadata);
}
