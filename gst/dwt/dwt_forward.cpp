// The wavelet transform as the frame loop sees it: a raw frame in, its coefficients out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_forward.h"

#include <utility>

#include "gst/dwt/dwt_base.h"
#include "gst/engine/pools.h"

namespace cudatransform {

// What there is to know of a small picture that is transformed so.
static Status grey_info(const DwtForwardSettings& settings, GstDwtInfo* info) {
  const DwtShape shape = settings.shape();
  gchar* reason = nullptr;
  if (gst_dwt_info_set(info, shape.wavelet, shape.wavelet_ho, shape.levels, shape.levels_ho, TRUE,
                       8, GST_COEF_SAMPLING_GRAYSCALE, 1, 1, &reason))
    return {};
  Status status = Status::error(StatusCode::kInvalidSetting, reason ? reason : "no transform");
  g_free(reason);
  return status;
}

Status check_transform(const DwtForwardSettings& settings) {
  GstDwtInfo grey;
  return grey_info(settings, &grey);
}

Status check_settings(const DwtForwardSettings& settings) {
  GstDwtInfo grey;
  CT_RETURN_IF_ERROR(grey_info(settings, &grey));
  QuantIndices indices;
  return fill_indices(settings.quant, grey, &indices);
}

void DwtForward::configure_ends(bool /*raw_in_cuda*/, bool dwt_in_cuda) {
  raw_blocks_.clear();
  indices_ = {};
  coefs_.configure(layout_of(dwt_), dwt_in_cuda);
}

void DwtForward::stop() {
  raw_blocks_.clear();
  coefs_.stop();
}

Status DwtForward::allocate(GstQuery* query, GstCaps*) { return coefs_.allocate(query); }

void DwtForward::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  GST_OBJECT_LOCK(element_);
  const guint extra = settings.keep_reference ? SourceKeeper::kBuffers : 0;
  GST_OBJECT_UNLOCK(element_);
  propose_raw_pool(engine_, query, caps, buffers + extra);
}

bool DwtForward::is_negotiated(const DwtShape& shape) const {
  return shape.wavelet == dwt_.wavelet && shape.wavelet_ho == dwt_.wavelet_ho &&
         shape.levels == dwt_.levels && shape.levels_ho == dwt_.levels_ho;
}

Status DwtForward::prepare() {
  CT_RETURN_IF_ERROR(DwtTransform::prepare());
  GST_OBJECT_LOCK(element_);
  keep_reference_ = settings.keep_reference;
  Status status = check_transform(settings);
  // Settings that have just been changed and are not negotiated yet hold from the next frame on.
  if (status.ok() && is_negotiated(settings.shape()))
    status = fill_indices(settings.quant, dwt_, &indices_);
  GST_OBJECT_UNLOCK(element_);
  return status;
}

Status DwtForward::submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  const bool copy_source = keep_reference_ && keeper_.must_copy(transport_, in);
  FrameInput input;
  CT_RETURN_IF_ERROR(input.bring_in(
      transport_, in, raw_, copy_source ? InPlace::kNever : InPlace::kAlways, raw_blocks_, frame));
  EngineCoefs coefs;
  CT_RETURN_IF_ERROR(coefs_.begin_on_engine(out, &coefs));

  FencePtr done;
  CT_RETURN_IF_ERROR(run(make_job(input.view(), coefs.rects, indices_, frame), &done));
  input.mark_read(transport_, done);
  CoefPlaces places;
  CT_RETURN_IF_ERROR(
      coefs_.finish_on_engine(transport_, std::move(coefs), done, frame, out, &places));
  add_dwt_meta(out->buffer.get(), dwt_, indices_, places);
  if (!keep_reference_) return {};
  return keeper_.keep(in, raw_, copy_source, input.placed(), out->buffer.get());
}

}  // namespace cudatransform
