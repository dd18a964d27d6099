// The encoder of jpegcoefenc: from a buffer of coefficients to a JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/encoder.h"

#include <algorithm>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine_element.h"
#include "gst/engine/pools.h"
#include "gst/jpeg/caps.h"

GST_DEBUG_CATEGORY_EXTERN(jpegcoefenc_debug);
#define GST_CAT_DEFAULT jpegcoefenc_debug

namespace cudatransform {
namespace {

// The most download memory that is kept for later frames.
constexpr gsize kMaxStaging = gsize{1} << 28;
// By default the GPU has this many pictures at a time. It codes fewer in a second if it has more:
// their coefficients leave its caches before they are read.
constexpr size_t kMaxOnDevice = 4;

void post_frame_error(GstVideoEncoder* encoder, const Status& status,
                      const SourceLocation& location = SourceLocation::here()) {
  post_error(GST_ELEMENT(encoder), status, "Failed to encode JPEG", location);
}

constexpr int kMaxElements = 16;  // a loop of links is no pipeline, but may be built

// The only source pad of an element with at most one sink pad; null otherwise. Transfer full.
GstPad* only_source(GstElement* element) {
  GstPad* found = nullptr;
  GST_OBJECT_LOCK(element);
  if (element->numsrcpads == 1 && element->numsinkpads == 1)
    found = GST_PAD(gst_object_ref(element->srcpads->data));
  GST_OBJECT_UNLOCK(element);
  return found;
}

// The pad that data from `src` reach, if need be outside of the bins around it. Transfer full.
GstPad* peer_outside(GstPad* src) {
  GstPad* peer = gst_pad_get_peer(src);
  GstObject* ghost = peer ? gst_object_get_parent(GST_OBJECT(peer)) : nullptr;
  while (GST_IS_GHOST_PAD(ghost)) {
    gst_object_unref(peer);
    peer = gst_pad_get_peer(GST_PAD(ghost));
    gst_object_unref(ghost);
    ghost = peer ? gst_object_get_parent(GST_OBJECT(peer)) : nullptr;
  }
  gst_clear_object(&ghost);
  return peer;
}

bool sends_jpeg_by_rtp(GstPad* src) {
  const CapsPtr made(gst_pad_get_pad_template_caps(src));
  const CapsPtr rtp(
      gst_caps_new_simple("application/x-rtp", "encoding-name", G_TYPE_STRING, "JPEG", nullptr));
  return !gst_caps_is_any(made.get()) && gst_caps_can_intersect(made.get(), rtp.get());
}

// The name of the element after `src` that sends JPEG by RTP (RFC 2435); empty if none is found.
// The caps of its sink pad do not differ from those of any other JPEG consumer, so we query
// elements for their output: the element after the pad, and those after elements with one pad on
// each side.
std::string rtp_jpeg_payloader_downstream(GstPad* src) {
  std::string name;
  GstPad* pad = GST_PAD(gst_object_ref(src));
  for (int count = 0; pad && name.empty() && count < kMaxElements; ++count) {
    GstPad* peer = peer_outside(pad);
    gst_object_unref(pad);
    GstElement* element = peer ? gst_pad_get_parent_element(peer) : nullptr;
    gst_clear_object(&peer);
    pad = element ? only_source(element) : nullptr;
    if (pad && sends_jpeg_by_rtp(pad)) {
      gchar* found = gst_object_get_name(GST_OBJECT(element));
      name = found;
      g_free(found);
    }
    gst_clear_object(&element);
  }
  gst_clear_object(&pad);
  return name;
}

}  // namespace

// ---- The stream ----

JpegEncoder::JpegEncoder(GstVideoEncoder* encoder, Engine& engine,
                         const JpegEncodeSettings& properties,
                         const EngineSettings& engine_properties)
    : encoder_(encoder),
      engine_(engine),
      properties_(properties),
      engine_properties_(engine_properties),
      pictures_(encoder, *this) {}

Status JpegEncoder::start() {
  warned_of_colorimetry_ = warned_of_rtp_ = warned_of_lengths_ = false;
  counts_.frames = counts_.frames_by_device = counts_.xmp_length_mismatches = 0;
  pictures_.start();
  return open_coder();
}

void JpegEncoder::stop() {
  pictures_.stop();
  idle_.clear();
  coder_.close();
}

JpegEncodeSettings JpegEncoder::settings() const { return locked(encoder_, properties_); }

// An error: the settings require entropy coding on the device, and the device cannot.
Status JpegEncoder::open_coder() {
  const JpegEntropy entropy = settings().entropy;
  coder_.close();
  if (entropy == JpegEntropy::kCpu) return {};
  Status status = coder_.open(engine_);
  if (status.ok()) return {};
  if (entropy == JpegEntropy::kAuto) {
    GST_INFO_OBJECT(encoder_, "entropy coding on the CPU: %s", status.message.c_str());
    return {};
  }
  status.message = "entropy-backend=cuda: " + status.message;
  return status;
}

gboolean JpegEncoder::sink_event(GstEvent* event, GstVideoEncoderClass* parent_class) {
  return pictures_.take_event(event, [&] { return take_event(event, parent_class); });
}

gboolean JpegEncoder::take_event(GstEvent* event, GstVideoEncoderClass* parent_class) {
  CapsPtr caps;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* new_caps = nullptr;
    gst_event_parse_caps(event, &new_caps);
    caps.reset(gst_caps_ref(new_caps));
  }
  gboolean taken = parent_class->sink_event(encoder_, event);
  if (taken && caps) {
    GST_VIDEO_ENCODER_STREAM_LOCK(encoder_);
    taken = take_caps(caps.get());
    GST_VIDEO_ENCODER_STREAM_UNLOCK(encoder_);
  }
  return taken;
}

// ---- Caps ----

bool JpegEncoder::set_caps(GstCaps* caps, GstVideoCodecState* reference) {
  if (!pictures_.may_change_caps(pictures_.drain())) return false;
  if (const Status status = read_dct_caps(caps, &info_); !status.ok()) {
    post_error(GST_ELEMENT(encoder_), status);
    return false;
  }
  warn_of_colorimetry(info_, caps);
  warn_of_rtp();
  if (!start_workers()) return false;
  pictures_.set_rate(info_.fps_n, info_.fps_d);
  gst_video_codec_state_unref(
      gst_video_encoder_set_output_state(encoder_, jpeg_caps_for(info_), reference));
  return true;
}

bool JpegEncoder::take_caps(GstCaps* caps) {
  GstDctInfo info;
  if (const Status status = read_dct_caps(caps, &info); !status.ok()) {
    post_error(GST_ELEMENT(encoder_), status);
    return false;
  }
  caps_tables_.read(caps, info);
  // Warns also of a colorimetry that GStreamer cannot read, and so does not take for a change.
  warn_of_colorimetry(info, caps);
  if (info.sampling == info_.sampling && info.depth == info_.depth) return true;
  const CodecStatePtr output(gst_video_encoder_get_output_state(encoder_));
  return !output || set_caps(caps, output.get());
}

bool JpegEncoder::start_workers() {
  const int threads = pictures_.threads_for(locked(encoder_, engine_properties_.n_threads));
  if (pictures_.start_workers(threads, threads)) return true;
  GST_ELEMENT_ERROR(encoder_, RESOURCE, FAILED, ("Failed to start %d encoder threads", threads),
                    (nullptr));
  return false;
}

// ---- Frames ----

GstFlowReturn JpegEncoder::encode(GstVideoCodecFrame* frame) {
  if (pictures_.has_failed()) {
    // The base class keeps the frame until it is flushed, but not the buffer.
    gst_clear_buffer(&frame->input_buffer);
    gst_video_codec_frame_unref(frame);
    return pictures_.failure();
  }
  size_t max = max_kept(frame->input_buffer);
  std::unique_ptr<EncodeJob> job = take_idle();
  const Status status =
      job->prepare(engine_, info_, caps_tables_, settings().options, coder_, frame);
  if (!status.ok()) {
    keep_idle(std::move(job));
    const GstFlowReturn flow = pictures_.push_done(0);  // the frames before it are good
    if (flow != GST_FLOW_OK) return flow;
    post_frame_error(encoder_, status);
    return pictures_.end_stream(GST_FLOW_ERROR);
  }
  if (job->runs_when_taken() && locked(encoder_, engine_properties_.n_threads) == 0)
    max = std::min(max, kMaxOnDevice);
  pictures_.add(std::move(job));
  return pictures_.push_done(max);
}

GstFlowReturn JpegEncoder::finish(std::unique_ptr<FrameJob> picture) {
  std::unique_ptr<EncodeJob> job(static_cast<EncodeJob*>(picture.release()));
  GstVideoCodecFrame* frame = nullptr;
  const bool by_device = job->is_by_device();
  const GstClockTime took = job->took();
  const std::string invalid_lengths = job->invalid_lengths();
  const Status status = job->finish(&frame);
  keep_idle(std::move(job));
  if (!status.ok()) {
    post_frame_error(encoder_, status);
    return GST_FLOW_ERROR;
  }
  counts_.frames++;
  if (by_device) counts_.frames_by_device++;
  warn_of_lengths(invalid_lengths);
  pictures_.note_time(took);
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  return gst_video_encoder_finish_frame(encoder_, frame);
}

void JpegEncoder::discard(std::unique_ptr<FrameJob> picture) {
  keep_idle(std::unique_ptr<EncodeJob>(static_cast<EncodeJob*>(picture.release())));
}

std::unique_ptr<EncodeJob> JpegEncoder::take_idle() {
  if (idle_.empty()) return std::make_unique<EncodeJob>();
  std::unique_ptr<EncodeJob> job = std::move(idle_.back());
  idle_.pop_back();
  return job;
}

void JpegEncoder::keep_idle(std::unique_ptr<EncodeJob> job) {
  job->clear();
  gsize kept = job->staging_bytes();
  for (const auto& idle : idle_) kept += idle->staging_bytes();
  if (kept > kMaxStaging) job->free_staging();
  idle_.push_back(std::move(job));
}

// ---- Warnings, each once in a stream ----

void JpegEncoder::warn_of_colorimetry(const GstDctInfo& info, GstCaps* caps) {
  if (warned_of_colorimetry_) return;
  const std::string warning = colorimetry_warning(info, caps);
  if (warning.empty()) return;
  warned_of_colorimetry_ = true;
  GST_ELEMENT_WARNING(encoder_, STREAM, FORMAT, ("%s", warning.c_str()), (nullptr));
}

// Settings that make an RTP payloader's output unreadable.
void JpegEncoder::warn_of_rtp() {
  const JpegOptions options = settings().options;
  const char* setting = options.progressive  ? "progressive=true"
                        : options.arithmetic ? "arithmetic=true"
                        : options.optimize   ? "optimize=true"
                        : info_.depth != 8   ? "depth=12"
                                             : nullptr;
  if (!setting || warned_of_rtp_) return;
  const std::string payloader = rtp_jpeg_payloader_downstream(GST_VIDEO_ENCODER_SRC_PAD(encoder_));
  if (payloader.empty()) return;
  warned_of_rtp_ = true;
  GST_ELEMENT_WARNING(
      encoder_, STREAM, FORMAT,
      ("%s is incompatible with %s: RFC 2435 requires 8-bit baseline, default Huffman tables",
       setting, payloader.c_str()),
      ("set progressive, arithmetic and optimize to false, and transform to depth=8"));
}

// The element changes no XMP data.
void JpegEncoder::warn_of_lengths(const std::string& mismatch) {
  if (mismatch.empty()) return;
  counts_.xmp_length_mismatches++;
  if (std::exchange(warned_of_lengths_, true)) return;
  GST_ELEMENT_WARNING(encoder_, STREAM, FORMAT, ("%s", mismatch.c_str()),
                      ("trailing data incomplete; keep-metadata=false omits it"));
}

}  // namespace cudatransform
