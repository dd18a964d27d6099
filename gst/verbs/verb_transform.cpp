// The frame loop's view of verbs: transforms from 8x8 DCT coefficients to such coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/verb_transform.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/engine/engine.h"
#include "gst/engine/pools.h"

namespace cudatransform {
namespace {

FrameTables tables_of(const GstDctInfo& info, const GstDctMeta* meta) {
  FrameTables tables;
  if (!meta || !info.quantized) return tables;
  tables.count = static_cast<int>(meta->n_tables);
  for (guint t = 0; t < meta->n_tables; t++)
    std::copy_n(meta->tables[t].values, 64, tables.tables[t].q);
  for (guint c = 0; c < info.n_components; c++)
    tables.table_of[c] = static_cast<int>(meta->components[c].table);
  return tables;
}

void fill_arrays(const GstDctInfo& info, const Rects& rects, const FrameTables& tables,
                 CoefArray arrays[kMostCoefArrays]) {
  for (guint c = 0; c < info.n_components; c++) {
    arrays[c].data = rects.rect[c].data;
    arrays[c].pitch = static_cast<ptrdiff_t>(rects.rect[c].pitch);
    arrays[c].blocks_w = static_cast<int32_t>(info.components[c].blocks_w);
    arrays[c].blocks_h = static_cast<int32_t>(info.components[c].blocks_h);
    arrays[c].table = tables.table_of[c];
  }
}

// Tables in caps do not belong to the picture: each buffer says its own.
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

Status VerbTransform::agree() {
  if (in_info_.width == out_info_.width && in_info_.height == out_info_.height &&
      in_info_.sampling == out_info_.sampling && in_info_.depth == out_info_.depth)
    return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "The caps of the two pads describe different pictures");
}

Status VerbTransform::make_tables(const FrameTables& from, FrameTables* to) {
  *to = from;
  return {};
}

// Refused caps change nothing: the stream may go on with those that it had.
Status VerbTransform::configure(const GstCaps* in, const GstCaps* out, FrameHost&) {
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
  give_up_memory();
  same_caps_ = same_without_tables(in, out);
  same_tables_ = gst_caps_is_equal(in, out);
  caps_tables_.read(in, in_info_);
  out_.configure(layout_of(out_info_), has_cuda_memory(out));
  return {};
}

Status VerbTransform::allocate(GstQuery* query, GstCaps*) { return out_.allocate(query); }

void VerbTransform::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  gst_query_add_allocation_meta(query, GST_DCT_META_API_TYPE, nullptr);
  promise_to_honour_fence(query);
  GstDctInfo info;
  if (read_dct_caps(caps, &info).ok())
    propose_coefficient_pool(engine_, query, caps, info.size, buffers);
}

Status VerbTransform::submit(FrameTask& task) {
  {
    const std::lock_guard lock(task.host);
    CT_RETURN_IF_ERROR(take_settings());
  }
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
  CT_RETURN_IF_ERROR(input.bring_in(transport_, in, places, input_blocks_, frame));
  CoefArray from[kMostCoefArrays], to[kMostCoefArrays];
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
  input.mark_read(transport_, done);
  CT_RETURN_IF_ERROR(
      out_.finish_on_engine(transport_, std::move(coefs), done, frame, &task.out, &places));
  add_dct_meta(task.out.buffer.get(), out_info_, to_tables.view(), places);
  return {};
}

// The frame leaves as it came. Nothing is measured where nothing is done.
Status VerbTransform::pass(FrameTask& task, const CoefPlaces& places) {
  // A peer that does not know the fence may read at any time.
  if (!out_.fence_is_honoured()) CT_RETURN_IF_ERROR(wait_written(engine_, places.fence, nullptr));
  task.out.buffer.reset(gst_buffer_ref(task.in));
  if (!task.measured) return {};
  task.measured->kinds = 0;
  task.measured->components = 0;
  return engine_.queue(QueueKind::kCompute).record(&task.measured->fence);
}

void VerbTransform::give_up_memory() {
  input_blocks_.clear();
  out_.stop();
}

}  // namespace cudatransform
