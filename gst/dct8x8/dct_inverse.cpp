// The inverse 8x8 DCT as the frame loop sees it: coefficients in, a raw frame out.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/dct_inverse.h"

#include <algorithm>

#include "gst/engine/pools.h"
#include "gst/stream/coef_input.h"

namespace cudatransform {

void DctInverse::configure_ends(bool raw_in_cuda, bool /*dct_in_cuda*/) {
  stop();
  frames_.configure(raw_, raw_in_cuda);
}

void DctInverse::stop() {
  dct_blocks_.clear();
  finder_.stop();
  frames_.stop();
}

Status DctInverse::allocate(GstQuery* query, GstCaps* caps) {
  return frames_.allocate(query, caps);
}

void DctInverse::propose(GstQuery* query, GstCaps* caps, guint buffers) {
  gst_query_add_allocation_meta(query, GST_DCT_META_API_TYPE, nullptr);
  promise_to_honour_fence(query);
  GstDctInfo info;
  if (gst_dct_info_from_caps(&info, caps, nullptr))
    propose_coefficient_pool(engine_, query, caps, info.size, buffers);
}

// Brings in the frame that the coefficients were made from, if they still carry it, for `job` to
// compare with.
Status DctInverse::compare(GstBuffer* in, FrameInput* reference, Dct8x8Job* job) {
  bool found = false;
  CT_RETURN_IF_ERROR(finder_.find(
      transport_, in, {dct_.sampling, dct_.depth, dct_.width, dct_.height}, reference, &found));
  if (!found) return {};
  component_planes(reference->view(), job->reference);
  job->measure |= kMeasureSse;
  return {};
}

// The tables that came with the coefficients replace those of the settings.
static void take_tables(const GstDctMeta* meta, const GstDctInfo& info, FrameSettings* settings) {
  if (!meta || !info.quantized) return;
  settings->table_count = meta->n_tables;
  for (guint t = 0; t < meta->n_tables; t++)
    std::copy_n(meta->tables[t].values, 64, settings->tables[t].q);
  for (guint c = 0; c < info.n_components; c++) settings->table_of[c] = meta->components[c].table;
}

Status DctInverse::submit(GstBuffer* in, SubmittedFrame* out, MeasuredFrame* frame) {
  FrameSettings used = frame_settings_;
  const GstDctMeta* meta = nullptr;
  CoefPlaces places;
  CT_RETURN_IF_ERROR(find_coefficients(engine_, in, dct_, caps_tables_, &meta, &places));
  CoefInput input;
  CT_RETURN_IF_ERROR(input.bring_in(transport_, in, places, dct_blocks_, frame));
  take_tables(meta, dct_, &used);
  Rects raw;
  CT_RETURN_IF_ERROR(frames_.begin(out, &raw));

  Dct8x8Job job = make_job(used, view_of(raw, raw_), input.rects(), frame);
  FrameInput reference;
  if (frame && frame->kinds & kMeasurePsnr && job.scale != 1) {
    transport_.warn_once("PSNR is not measured at scale=1/" + std::to_string(job.scale) +
                             ": the source frame has another size",
                         &warned_of_scale_);
  } else if (frame && frame->kinds & kMeasurePsnr) {
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
