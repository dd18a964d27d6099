// The frames of jpegcoefenc: formats, threads, and the way from coefficients to files, in order.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <string>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/pools.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/jpegcoefenc_private.h"
#include "gst/jpeg/rtp_peer.h"
#include "gst/stream/coef_caps.h"
#include "gst/stream/transport.h"

using cudatransform::CapsPtr;
using cudatransform::CodecStatePtr;
using cudatransform::EncodeJob;
using cudatransform::FrameJob;
using cudatransform::JpegEntropy;
using cudatransform::JpegOptions;
using cudatransform::Status;
using State = cudatransform::JpegCoefEncState;

static void post_frame_error(GstVideoEncoder* encoder, const Status& status) {
  cudatransform::post_error(GST_ELEMENT(encoder), status, "A frame cannot be written as JPEG: ");
}

// The most download memory that is kept for later frames.
static constexpr gsize kMostStaging = gsize{1} << 28;

static void keep_idle(State* state, std::unique_ptr<EncodeJob> job) {
  job->clear();
  gsize kept = job->staging_bytes();
  for (const auto& idle : state->idle) kept += idle->staging_bytes();
  if (kept > kMostStaging) job->free_staging();
  state->idle.push_back(std::move(job));
}

// Drops the frames on their way.
static void drop_all(State* state) {
  while (std::unique_ptr<FrameJob> done = state->workers.drop())
    keep_idle(state, std::unique_ptr<EncodeJob>(static_cast<EncodeJob*>(done.release())));
}

// Pushing later frames would hide the gap.
static GstFlowReturn fail(State* state, GstFlowReturn flow) {
  state->failed = flow;
  drop_all(state);
  return flow;
}

static void tell_latency(GstVideoEncoder* encoder) {
  const GstClockTime latency = State::of(encoder).latency.value();
  gst_video_encoder_set_latency(encoder, latency, latency);
}

// Warns once in a stream: the element changes no XMP data.
static void tell_of_lengths(GstVideoEncoder* encoder, const std::string& untrue) {
  State* state = &State::of(encoder);
  if (untrue.empty()) return;
  state->untrue_lengths++;
  if (std::exchange(state->warned_of_lengths, true)) return;
  GST_ELEMENT_WARNING(encoder, STREAM, FORMAT, ("%s", untrue.c_str()),
                      ("some bytes behind the picture in its file did not come with it; "
                       "keep-metadata=false leaves such data out"));
}

// Pushes the oldest frame if it is done. `wait`: waits for it; `*found`: whether it was done.
static GstFlowReturn finish_oldest(GstVideoEncoder* encoder, bool wait, bool* found) {
  State* state = &State::of(encoder);
  std::unique_ptr<FrameJob> done = state->workers.take(wait);
  *found = done != nullptr;
  if (!done) return GST_FLOW_OK;
  std::unique_ptr<EncodeJob> job(static_cast<EncodeJob*>(done.release()));
  GstVideoCodecFrame* frame = nullptr;
  const bool by_device = job->is_by_device();
  const GstClockTime took = job->took();
  const std::string untrue_lengths = job->untrue_lengths();
  const Status status = job->finish(&frame);
  keep_idle(state, std::move(job));
  if (!status.ok()) {
    post_frame_error(encoder, status);
    return fail(state, GST_FLOW_ERROR);
  }
  state->frames++;
  if (by_device) state->frames_by_device++;
  tell_of_lengths(encoder, untrue_lengths);
  if (state->workers.threads() > 1 && state->latency.add(took)) tell_latency(encoder);
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  const GstFlowReturn flow = gst_video_encoder_finish_frame(encoder, frame);
  return cudatransform::is_fatal(flow) ? fail(state, flow) : flow;
}

// Pushes all frames on their way.
static GstFlowReturn finish_all(GstVideoEncoder* encoder) {
  State* state = &State::of(encoder);
  GstFlowReturn flow = state->failed;
  for (bool found = true; found && flow == GST_FLOW_OK;)
    flow = finish_oldest(encoder, true, &found);
  return state->pusher.told(flow);
}

cudatransform::JpegCoefEncState::JpegCoefEncState(GstVideoEncoder* encoder)
    : JpegElementState(GST_ELEMENT(encoder)),
      pusher(GST_VIDEO_ENCODER_SRC_PAD(encoder), &encoder->stream_lock, workers, [encoder] {
        bool found = false;
        return finish_oldest(encoder, State::of(encoder).workers.is_overdue(), &found);
      }) {}

// The end of the stream. No push is left to return a refusal, which upstream would turn into an
// error, and the base class passes EOS on in any case.
static GstFlowReturn gst_jpeg_coef_enc_finish(GstVideoEncoder* encoder) {
  const State& state = State::of(encoder);
  const bool is_told = state.failed != GST_FLOW_OK && !state.pusher.has_untold();
  if (is_told) return state.failed;
  const GstFlowReturn flow = finish_all(encoder);
  cudatransform::post_refusal(GST_ELEMENT(encoder), flow);
  return flow;
}

static gboolean gst_jpeg_coef_enc_flush(GstVideoEncoder* encoder) {
  State* state = &State::of(encoder);
  drop_all(state);
  state->failed = GST_FLOW_OK;
  state->pusher.forget();
  return TRUE;
}

static std::unique_ptr<EncodeJob> take_idle(State* state) {
  if (state->idle.empty()) return std::make_unique<EncodeJob>();
  std::unique_ptr<EncodeJob> job = std::move(state->idle.back());
  state->idle.pop_back();
  return job;
}

// How many buffers we may keep and still leave the source of `buffer` one for the next frame.
static size_t most_kept(GstBuffer* buffer) {
  const guint maximum = cudatransform::pool_maximum(buffer);
  if (maximum == 0) return G_MAXUINT;
  return maximum > cudatransform::kWorkingBuffers ? maximum - cudatransform::kWorkingBuffers : 1;
}

static GstFlowReturn gst_jpeg_coef_enc_handle_frame(GstVideoEncoder* encoder,
                                                    GstVideoCodecFrame* frame) {
  State* state = &State::of(encoder);
  if (state->failed != GST_FLOW_OK) {
    // The base class keeps the frame until it is flushed, but not the buffer.
    gst_clear_buffer(&frame->input_buffer);
    gst_video_codec_frame_unref(frame);
    state->pusher.forget();
    return state->failed;
  }
  GST_OBJECT_LOCK(encoder);
  const JpegOptions options = state->options;
  GST_OBJECT_UNLOCK(encoder);

  const size_t most = most_kept(frame->input_buffer);
  std::unique_ptr<EncodeJob> job = take_idle(state);
  const Status status =
      job->prepare(state->engine, state->info, state->caps_tables, options, state->coder, frame);
  if (!status.ok()) {
    keep_idle(state, std::move(job));
    const GstFlowReturn flow = finish_all(encoder);  // the frames before it are good
    if (flow != GST_FLOW_OK) return flow;
    post_frame_error(encoder, status);
    return fail(state, GST_FLOW_ERROR);
  }
  state->workers.submit(std::move(job));
  if (state->workers.most() > 1) state->pusher.start();

  GstFlowReturn flow = GST_FLOW_OK;
  for (bool found = true; found && flow == GST_FLOW_OK;) {
    const bool wait = state->workers.full() || state->workers.pending() >= most;
    flow = finish_oldest(encoder, wait, &found);
  }
  return state->pusher.told(flow);
}

static int threads_for(GstVideoEncoder* encoder) {
  GST_OBJECT_LOCK(encoder);
  const guint wanted = State::of(encoder).engine_settings.n_threads;
  GST_OBJECT_UNLOCK(encoder);
  return cudatransform::picture_threads(GST_VIDEO_ENCODER_SINK_PAD(encoder), wanted);
}

static bool start_workers(GstVideoEncoder* encoder, int threads) {
  State* state = &State::of(encoder);
  if (state->workers.threads() == threads) return true;
  GST_INFO_OBJECT(encoder, "%d pictures at once", threads);
  if (state->workers.start(threads)) return true;
  GST_ELEMENT_ERROR(encoder, RESOURCE, FAILED, ("%d threads could not be started", threads),
                    (nullptr));
  return false;
}

// Warns once in a stream.
static void warn_of_colorimetry(GstVideoEncoder* encoder, const GstDctInfo& info, GstCaps* caps) {
  State* state = &State::of(encoder);
  if (state->warned_of_colorimetry) return;
  const std::string warning = cudatransform::colorimetry_warning(info, caps);
  if (warning.empty()) return;
  state->warned_of_colorimetry = true;
  GST_ELEMENT_WARNING(encoder, STREAM, FORMAT, ("%s", warning.c_str()), (nullptr));
}

// Likewise, about settings that make an RTP payloader's output unreadable.
static void warn_of_rtp(GstVideoEncoder* encoder) {
  State* state = &State::of(encoder);
  GST_OBJECT_LOCK(encoder);
  const JpegOptions options = state->options;
  GST_OBJECT_UNLOCK(encoder);
  const char* setting = options.progressive      ? "progressive=true"
                        : options.arithmetic     ? "arithmetic=true"
                        : options.optimize       ? "optimize=true"
                        : state->info.depth != 8 ? "depth=12"
                                                 : nullptr;
  if (!setting || state->warned_of_rtp) return;
  const std::string payloader =
      cudatransform::rtp_jpeg_payloader_behind(GST_VIDEO_ENCODER_SRC_PAD(encoder));
  if (payloader.empty()) return;
  state->warned_of_rtp = true;
  GST_ELEMENT_WARNING(encoder, STREAM, FORMAT,
                      ("%s is not for %s: RTP carries baseline scans without their Huffman "
                       "tables (RFC 2435), so no receiver can read these files; leave progressive, "
                       "arithmetic and optimize false, and the coefficients' depth 8",
                       setting, payloader.c_str()),
                      (nullptr));
}

// Applies everything that caps decide; `reference` has the fields that files take over.
static bool apply_caps(GstVideoEncoder* encoder, GstCaps* caps, GstVideoCodecState* reference) {
  State* state = &State::of(encoder);
  const GstFlowReturn flow = finish_all(encoder);
  if (flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED) return false;
  drop_all(state);  // the frames that downstream has refused
  if (const Status status = cudatransform::read_dct_caps(caps, &state->info); !status.ok()) {
    cudatransform::post_error(GST_ELEMENT(encoder), status);
    return false;
  }
  warn_of_colorimetry(encoder, state->info, caps);
  warn_of_rtp(encoder);
  const int threads = threads_for(encoder);
  if (!start_workers(encoder, threads)) return false;
  // With n threads, a frame is pushed at the latest when the next n - 1 have come.
  state->latency.start(cudatransform::latency_of(static_cast<guint>(threads - 1), state->info.fps_n,
                                                 state->info.fps_d));
  tell_latency(encoder);
  gst_video_codec_state_unref(gst_video_encoder_set_output_state(
      encoder, cudatransform::jpeg_caps_for(state->info), reference));
  return true;
}

static gboolean gst_jpeg_coef_enc_set_format(GstVideoEncoder* encoder, GstVideoCodecState* input) {
  return apply_caps(encoder, input->caps, input);
}

bool gst_jpeg_coef_enc_take_caps(GstVideoEncoder* encoder, GstCaps* caps) {
  State* state = &State::of(encoder);
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, caps, nullptr)) return true;
  state->caps_tables.read(caps, info);
  // Warns also of a colorimetry that GStreamer cannot read, and so does not take for a change.
  warn_of_colorimetry(encoder, info, caps);
  if (info.sampling == state->info.sampling && info.depth == state->info.depth) return true;
  const CodecStatePtr output(gst_video_encoder_get_output_state(encoder));
  return !output || apply_caps(encoder, caps, output.get());
}

// False if the settings require entropy coding on the device, and the device cannot.
static bool open_coder(GstVideoEncoder* encoder) {
  State* state = &State::of(encoder);
  GST_OBJECT_LOCK(encoder);
  const JpegEntropy entropy = state->entropy;
  GST_OBJECT_UNLOCK(encoder);
  state->coder.close();
  if (entropy == JpegEntropy::kCpu) return true;
  Status status = state->coder.open(state->engine);
  if (status.ok()) return true;
  if (entropy == JpegEntropy::kAuto) {
    GST_INFO_OBJECT(encoder, "entropy coding on the CPU: %s", status.message.c_str());
    return true;
  }
  status.message = "JPEG cannot be coded on the GPU: " + status.message;
  cudatransform::post_error(GST_ELEMENT(encoder), status);
  return false;
}

static gboolean gst_jpeg_coef_enc_start(GstVideoEncoder* encoder) {
  State* state = &State::of(encoder);
  state->warned_of_colorimetry = state->warned_of_rtp = state->warned_of_lengths = false;
  state->failed = GST_FLOW_OK;
  state->pusher.forget();
  state->latency = {};
  state->frames = state->frames_by_device = state->untrue_lengths = 0;
  if (!open_coder(encoder)) return FALSE;
  state->gate.open();
  return TRUE;
}

static gboolean gst_jpeg_coef_enc_stop(GstVideoEncoder* encoder) {
  State* state = &State::of(encoder);
  state->gate.close();
  state->workers.start(1);  // ends the threads, and drops frames that are no longer wanted
  state->idle.clear();
  state->coder.close();
  return TRUE;
}

static GstCaps* gst_jpeg_coef_enc_getcaps(GstVideoEncoder* encoder, GstCaps* filter) {
  const auto& engine = State::of(encoder).engine;
  CapsPtr coefs(gst_pad_get_pad_template_caps(GST_VIDEO_ENCODER_SINK_PAD(encoder)));
  if (engine.is_open() && !engine.is_cuda())
    coefs.reset(cudatransform::without_cuda_memory(coefs.release()));
  // Does not take the allowed caps of our own pad, which has to stay with the negotiated ones.
  GstPad* src = GST_VIDEO_ENCODER_SRC_PAD(encoder);
  const CapsPtr all_files(gst_pad_get_pad_template_caps(src));
  const CapsPtr files(gst_pad_peer_query_caps(src, all_files.get()));
  CapsPtr caps(cudatransform::jpeg_coefs_for(files.get(), coefs.get()));
  if (filter) caps.reset(gst_caps_intersect_full(caps.get(), filter, GST_CAPS_INTERSECT_FIRST));
  // Pads that are being linked see all that is possible.
  const bool negotiates = filter && GST_PAD_IS_ACTIVE(GST_VIDEO_ENCODER_SINK_PAD(encoder));
  return negotiates ? cudatransform::with_common_depth(caps.release()) : caps.release();
}

// Deliberately not chaining up: the base class would propose a pool for our caps, which none knows.
static gboolean gst_jpeg_coef_enc_propose_allocation(GstVideoEncoder*, GstQuery* query) {
  gst_query_add_allocation_meta(query, GST_DCT_META_API_TYPE, nullptr);
  cudatransform::promise_to_honour_fence(query);
  return TRUE;
}

void gst_jpeg_coef_enc_install_frames(GstVideoEncoderClass* klass) {
  klass->start = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_start);
  klass->stop = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_stop);
  klass->set_format = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_set_format);
  klass->getcaps = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_getcaps);
  klass->propose_allocation = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_propose_allocation);
  klass->handle_frame = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_handle_frame);
  klass->finish = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_finish);
  klass->flush = GST_DEBUG_FUNCPTR(gst_jpeg_coef_enc_flush);
}
