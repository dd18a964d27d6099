// Pictures of jpegcoefdec: caps, pools and latency, negotiated with downstream.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <string>

#include "gst/engine/element_errors.h"
#include "gst/jpeg/pictures.h"
#include "gst/stream/decoder_memory.h"

namespace cudatransform {

// Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
bool JpegPictures::decide_allocation(GstQuery* query) {
  const Status status = codec_.allocate(query);
  return answer_allocation(decoder_, query, status, codec_.pool());
}

void JpegPictures::tell_latency() {
  gst_video_decoder_set_latency(decoder_, latency_.value(), latency_.value());
}

// Call it with the output state that the codec has set.
bool JpegPictures::negotiate() {
  const CodecStatePtr state(gst_video_decoder_get_output_state(decoder_));
  // A picture leaves at the latest when all the others that may be in flight have followed it.
  latency_.start(
      latency_of(static_cast<guint>(workers_.most() - 1), state->info.fps_n, state->info.fps_d));
  tell_latency();
  // A flush invalidates an answer that downstream gave while it was flushing.
  return gst_video_decoder_negotiate(decoder_) &&
         !GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_));
}

// Whether a decoded picture needs other caps than those before it had, which downstream accepted.
bool JpegPictures::is_of_other_kind(const JpegPictureJob& job) const {
  return damage_.seen_good() && (is_refused_ || !codec_.fits_output_state(job));
}

// Whether downstream accepts a decoded picture's caps. If not, they are never set: the stream goes
// on with those that it has. The first kind is tried; a stream that begins with a wrong one fails.
// Asking takes longer than decoding a small picture: where downstream has accepted two sizes of a
// kind, it is not asked about others.
Status JpegPictures::ask_downstream(const JpegPictureJob& job) {
  if (!is_of_other_kind(job)) return {};
  if (is_refused_) accepted_.clear();
  int& sizes = accepted_[{job.info.sampling, job.info.depth}];
  if (sizes >= 2) return {};
  CT_RETURN_IF_ERROR(codec_.ask_downstream(job, input_.get()));
  sizes++;
  return {};
}

// An error of ours names the caps that were refused. The source would say that something is not
// negotiated.
GstFlowReturn JpegPictures::explain(GstFlowReturn flow) {
  const Status status = codec_.ask_downstream();
  if (status.ok()) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return GST_FLOW_ERROR;
}

// Downstream has refused the picture that was pushed, of another kind than those before it, though
// its answers to queries accepted the caps. It has dropped it, and the next one brings new caps.
GstFlowReturn JpegPictures::drop_refused() {
  negotiated_ = false;
  const Status status = codec_.ask_downstream();
  const std::string why = status.ok() ? "downstream refuses its caps" : status.message;
  GST_OBJECT_LOCK(decoder_);
  counts_.frames--;  // it has been counted as pushed
  counts_.damaged++;
  GST_OBJECT_UNLOCK(decoder_);
  if (damage_.judge(settings().on_error, false, why) == DamagePolicy::Verdict::kFail)
    return GST_FLOW_ERROR;
  count(&JpegPictureCounts::dropped);
  return GST_FLOW_OK;
}

// Sets caps for a gap before the first picture; a picture that differs changes them. False:
// downstream takes none.
bool JpegPictures::negotiate_gap() {
  GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
  (void)drain();  // a failure shows again with the next picture
  bool possible = true;
  if (!CodecStatePtr(gst_video_decoder_get_output_state(decoder_))) {
    codec_.set(settings());
    if (!started_) start_workers();  // the latency depends on their number
    possible = codec_.set_gap_state(input_.get());
    if (possible) negotiated_ = negotiate();
  }
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
  return possible;
}

}  // namespace cudatransform
