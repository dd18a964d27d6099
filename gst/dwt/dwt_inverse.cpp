// The inverse wavelet transform as the frame loop sees it: coefficients in, a raw frame out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dwt/dwt_inverse.h"

#include "gst/dwt/dwt_base.h"
#include "gst/engine/pools.h"
#include "gst/stream/coef_input.h"

namespace cudatransform {

void DwtInverse::configure_ends(bool raw_in_cuda, bool /*dwt_in_cuda*/) {
  stop();
  frames_.configure(raw_, raw_in_cuda);
}

void DwtInverse::stop() {
  dwt_blocks_.clear();
  finder_.stop();
  frames_.stop();
}

Status DwtInverse::allocate(GstQuery* query, GstCaps* caps) {
  return frames_.allocate(query, caps);
}

void DwtInverse::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  gst_query_add_allocation_meta(query, GST_DWT_META_API_TYPE, nullptr);
  promise_to_honour_fence(query);
  GstDwtInfo info;
  if (gst_dwt_info_from_caps(&info, caps, nullptr))
    propose_coefficient_pool(engine_, query, caps, info.size, buffers);
}

// Brings in the frame that the coefficients were made from, if they still carry it, for `job` to
// compare with.
Status DwtInverse::compare(GstBuffer* in, FrameInput* reference, DwtJob* job) {
  bool found = false;
  CT_RETURN_IF_ERROR(finder_.find(
      transport_, in, {dwt_.sampling, dwt_.depth, dwt_.width, dwt_.height}, reference, &found));
  if (!found) return {};
  component_planes(reference->view(), job->reference);
  job->measure |= kMeasureSse;
  return {};
}

Status DwtInverse::submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  CoefPlaces places;
  QuantIndices indices;
  CT_RETURN_IF_ERROR(find_coefficients(engine_, in, dwt_, &places, &indices));
  CoefInput input;
  CT_RETURN_IF_ERROR(input.bring_in(transport_, in, places, dwt_blocks_, frame));
  Rects raw;
  CT_RETURN_IF_ERROR(frames_.begin(out, &raw));

  DwtJob job = make_job(view_of(raw, raw_), input.rects(), indices, frame);
  FrameInput reference;
  if (frame && frame->kinds & kMeasurePsnr) {
    CT_RETURN_IF_ERROR(compare(in, &reference, &job));
    frame->has_sse = job.measure & kMeasureSse;
  }
  FencePtr done;
  CT_RETURN_IF_ERROR(run(job, &done));
  input.mark_read(transport_, done);
  reference.mark_read(transport_, done);
  return frames_.finish(transport_, raw, done, frame, out);
}

}  // namespace cudatransform
