// The 8x8 DCT as the frame loop sees it: a raw frame in, its coefficients out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_forward.h"

#include "gst/dct8x8/dct_base.h"
#include "gst/engine/pools.h"

namespace cudatransform {

void DctForward::configure_ends(bool /*raw_in_cuda*/, bool dct_in_cuda) {
  raw_blocks_.clear();
  coefs_.configure(layout_of(dct_), dct_in_cuda);
}

void DctForward::stop() {
  raw_blocks_.clear();
  coefs_.stop();
}

Status DctForward::allocate(GstQuery* query, GstCaps*) { return coefs_.allocate(query); }

void DctForward::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  // Frames that a decoder may hold between cudadct8x8 and the end of cudaidct8x8.
  GST_OBJECT_LOCK(element_);
  const guint extra = keep_reference ? SourceKeeper::kBuffers : 0;
  GST_OBJECT_UNLOCK(element_);
  propose_raw_pool(engine_, query, caps, buffers + extra);
}

void DctForward::tell_tables(GstCaps* caps) {
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, caps, nullptr) || !info.quantized) return;
  FrameSettings filled;
  GST_OBJECT_LOCK(element_);
  const bool wanted = tables_in_caps;
  const Status status = fill_tables(quant, info, &filled);
  GST_OBJECT_UNLOCK(element_);
  // What is wrong with the settings is said with the frame.
  if (wanted && status.ok())
    told_.tell(caps, {filled.tables, filled.table_count, filled.table_of}, info.n_components);
}

// Caps of the next frame, whose tables are others than those before it.
void DctForward::push_new_tables(const DctTables& tables) {
  GstPad* pad = GST_BASE_TRANSFORM_SRC_PAD(element_);
  GstCaps* caps = gst_pad_get_current_caps(pad);
  if (!caps) return;
  // Frames in flight go with the caps that they were made with. A flow that is not OK shows again
  // when the next buffer is pushed, as caps that nobody takes do.
  (void)gst_cuda_transform_base_drain(element_);
  caps = gst_caps_make_writable(caps);
  told_.tell(caps, tables, dct_.n_components);
  (void)gst_pad_push_event(pad, gst_event_new_caps(caps));
  gst_caps_unref(caps);
}

Status DctForward::complete(FrameSettings* filled) {
  Status status;
  GST_OBJECT_LOCK(element_);
  filled->keep_reference = keep_reference;
  const bool in_caps = tables_in_caps && dct_.quantized;
  if (dct_.quantized) status = fill_tables(quant, dct_, filled);
  GST_OBJECT_UNLOCK(element_);
  if (!status.ok() || !in_caps) return status;
  const DctTables tables = {filled->tables, filled->table_count, filled->table_of};
  if (!told_.same(tables, dct_.n_components)) push_new_tables(tables);
  return {};
}

Status DctForward::submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  const FrameSettings& used = frame_settings_;
  const bool copy_source = used.keep_reference && keeper_.must_copy(transport_, in);
  FrameInput input;
  CT_RETURN_IF_ERROR(input.bring_in(
      transport_, in, raw_, copy_source ? InPlace::kNever : InPlace::kAlways, raw_blocks_, frame));
  EngineCoefs coefs;
  CT_RETURN_IF_ERROR(coefs_.begin_on_engine(out, &coefs));

  FencePtr done;
  CT_RETURN_IF_ERROR(run(make_job(used, input.view(), coefs.rects, frame), &done));
  input.mark_read(transport_, done);
  CoefPlaces places;
  CT_RETURN_IF_ERROR(
      coefs_.finish_on_engine(transport_, std::move(coefs), done, frame, out, &places));
  const DctTables tables = {used.tables, used.table_count, used.table_of};
  add_dct_meta(out->buffer.get(), dct_, tables, places);
  if (!used.keep_reference) return {};
  return keeper_.keep(in, raw_, copy_source, input.placed(), out->buffer.get());
}

}  // namespace cudatransform
