// The decoder of cudaapvdec: from access units of a stream to frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/apv/pictures.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "cuda/apv/engine.h"
#include "gst/apv/metas.h"
#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"
#include "gst/stream/formats.h"

namespace cudatransform {

CT_ENGINE_OPS(ApvInverseOps, host_apv_inverse_ops, cuda_apv_inverse_ops)

static ApvRenderOps apv_render_ops(const Engine& engine) {
  ApvRenderOps ops = {&engine.ops<ApvInverseOps>(), nullptr};
#if CT_HAVE_CUDA
  if (engine.is_cuda()) ops.entropy = &cuda_apv_entropy_ops();
#endif
  return ops;
}

Status probe_apv_kernels([[maybe_unused]] Device& device) {
#if CT_HAVE_CUDA
  return probe_cuda_apv_kernels(device);
#else
  return Status::error(StatusCode::kNotFound, "built without CUDA");
#endif
}

namespace {

// Frames in flight where the device decodes them: as many chains as keep an H200 busy, of frames
// that are not too many to be worth their memory.
constexpr int kMinOnDevice = 24, kMaxOnDevice = 240;
int in_flight_on_device(const ApvFrame& frame) {
  constexpr size_t kChains = 32000;
  const size_t frames = kChains / std::max<size_t>(frame.chain_count(), 1);
  return static_cast<int>(std::clamp<size_t>(frames, kMinOnDevice, kMaxOnDevice));
}

// The bytes of an access unit, for as long as they are needed.
struct Input {
  BufferPtr buffer;
  MappedBuffer mapped;  // the map of `buffer`

  Status map(GstBuffer* from) {
    CT_RETURN_IF_ERROR(in_one_piece(from, &buffer));
    if (mapped.map(buffer.get(), GST_MAP_READ)) return {};
    return Status::error(StatusCode::kFailed, "failed to map an input buffer");
  }
  std::span<const uint8_t> bytes() const {
    return {mapped.data(), gst_buffer_get_size(buffer.get())};
  }
};

// Whether the failure affects more than this access unit.
bool ends_all(const Status& status) {
  return !status.ok() && status.code != StatusCode::kInvalidArgument &&
         status.code != StatusCode::kUnsupported;
}

}  // namespace

struct ApvPictures::Job final : FrameJob {
  // Copies for the device, which come first, and chains. A frame that is awaited alone waits for
  // those copies.
  int parts() const override { return std::max(copies() + static_cast<int>(chains()), 1); }
  int copies() const {
    constexpr uint64_t kMaxCopies = 8, kCopy = 1 << 17;  // bytes that are worth waking a thread
    if (!is_device_frame()) return 0;
    const auto most = static_cast<int>(std::min(kMaxCopies, picture.bytes_on_device() / kCopy));
    return std::max(most / in_flight, 1);
  }
  void run_part(int part) override {
    if (const int count = copies(); part < count) {
      copy(part, count);
    } else if (chains() > 0) {
      const auto begin = std::chrono::steady_clock::now();
      picture.decode_chain(static_cast<size_t>(part - count));
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
      entropy_time += static_cast<guint64>(took.count());
    }
  }
  // The thread that has made the last copy makes the device begin.
  void copy(int part, int count) {
    // Only the first part can fail.
    if (const Status staged = renderer->stage(picture, part, count); !staged.ok()) status = staged;
    if (++copied == count && status.ok()) status = renderer->decode(&picture, in_flight);
  }
  bool is_small() const override {
    constexpr guint64 kBytes = 2048;
    return !is_decoded || picture.frame.payload().size() < kBytes;
  }
  // Or to be begun: the oldest picture waits for no others.
  bool is_ready() override { return !picture.is_begun() || picture.is_decoded(); }
  Remaining poll(bool wait) override {
    if (!is_decoded || !status.ok() || picture.is_decoded()) return Remaining::kNothing;
    picture.begin();
    if (!wait) return Remaining::kWork;
    status = picture.wait();
    return Remaining::kNothing;
  }
  bool is_device_frame() const { return is_decoded && picture.is_on_device(); }
  // That are decoded here.
  size_t chains() const { return is_decoded ? picture.host_chains() : 0; }

  ApvRenderer* renderer = nullptr;
  int in_flight = 1;

  ApvPicture picture;
  ApvAccessUnit unit;
  GstVideoCodecFrame* frame = nullptr;
  Status status;            // of the headers
  bool is_decoded = false;  // the headers are sound, and the frame is not late
  bool is_late = false;
  gsize bytes = 0;
  std::atomic<int> copied = 0;
  std::atomic<guint64> entropy_time = 0;  // ns, over all threads
};

// ---- The stream ----

ApvPictures::ApvPictures(GstVideoDecoder* decoder, Engine& engine, const ApvSettings& properties)
    : decoder_(decoder),
      engine_(engine),
      properties_(properties),
      loop_(decoder, *this),
      frames_(
          decoder, engine, loop_,
          [this](const GstVideoInfo& info, CapsPtr* caps) { return choose_memory(info, caps); }),
      damage_(decoder, "APV") {}

void ApvPictures::start() {
  GST_OBJECT_LOCK(decoder_);
  stats_ = {};
  GST_OBJECT_UNLOCK(decoder_);
  longest_ = 0;
  loop_.start();
  damage_.start();
}

void ApvPictures::start_decoder(guint n_threads) {
  if (renderer_ != nullptr) return;
  const int threads = loop_.threads_for(n_threads);
  // A chain takes the device as long as ever: many frames at a time keep it busy.
  const int max = engine_.is_cuda() && threads > 1 ? std::max(threads, kMaxOnDevice) : threads;
  loop_.start_workers(threads, max);
  renderer_ = std::make_unique<ApvRenderer>(engine_.device(), apv_render_ops(engine_), budget_);
}

void ApvPictures::stop() {
  loop_.stop();
  frames_.stop();
  renderer_.reset();
  output_.reset();
  input_.reset();
}

void ApvPictures::flush() { loop_.flush(); }

ApvStats ApvPictures::stats() const { return locked(decoder_, stats_); }

void ApvPictures::note_skipped(gsize bytes) {
  GST_DEBUG_OBJECT(decoder_, "skipping %" G_GSIZE_FORMAT " bytes between access units", bytes);
  const ObjectLock lock(decoder_);
  stats_.skipped_bytes += bytes;
}

GstFlowReturn ApvPictures::end_with(const Status& status) {
  post_error(GST_ELEMENT(decoder_), status);
  return GST_FLOW_ERROR;
}

GstFlowReturn ApvPictures::flow_after(const Status& status) {
  if (status.ok()) return GST_FLOW_OK;
  if (status.code == StatusCode::kCancelled) return last_;  // what should have made room
  return loop_.end_stream(end_with(status));
}

// ---- On the way in ----

GstFlowReturn ApvPictures::decode(GstVideoCodecFrame* frame) {
  auto job = std::make_unique<Job>();
  job->frame = frame;
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  last_ = loop_.make_room([this] { return !loop_.is_full(); });
  Status status;
  if (last_ != GST_FLOW_OK) status = Status::error(StatusCode::kCancelled, "output is flushing");
  if (status.ok()) status = begin(*job);
  if (status.ok() && job->is_decoded) status = reserve(*job);
  if (!status.ok()) {
    gst_video_decoder_release_frame(decoder_, frame);
    return flow_after(status);
  }
  const guint64 bytes = job->bytes;
  loop_.add(std::move(job), bytes);
  // No more than two: threads without work wait for what the caller does next.
  return loop_.push_done(SIZE_MAX, 2);
}

// Reads the headers. Errors of this access unit alone are reported in order.
Status ApvPictures::begin(Job& job) {
  auto input = std::make_shared<Input>();
  CT_RETURN_IF_ERROR(input->map(job.frame->input_buffer));
  const std::span<const uint8_t> bytes = input->bytes();
  job.bytes = bytes.size();
  job.status = read_apv_access_unit(bytes, &job.unit);
  if (!job.status.ok() || job.unit.frame.empty()) return {};
  ApvLimits limits;
  limits.max_samples = locked(decoder_, properties_.max_samples);
  job.status = job.picture.frame.begin(job.unit.frame, std::move(input), limits);
  if (ends_all(job.status)) return job.status;
  job.is_late = gst_video_decoder_get_max_decode_time(decoder_, job.frame) < 0;
  job.is_decoded = job.status.ok() && !job.is_late;
  return {};
}

// By itself the device decodes where frames have to wait for each other, as it has room for many;
// and those chains of one that is awaited alone which it has done before our threads have the rest.
uint32_t ApvPictures::chains_on_device(const Job& job) {
  constexpr size_t kFew = 4;
  const ApvEntropy entropy = locked(decoder_, properties_.entropy);
  if (!renderer_->can_decode_on_device() || entropy == ApvEntropy::kCpu) return kNoApvChains;
  // Until the loop runs dry: one frame of the CPU's would hold up all that the device has decoded.
  if (loop_.is_empty()) is_busy_ = false;
  if (loop_.in_flight() >= kFew) is_busy_ = true;
  if (entropy == ApvEntropy::kCuda || is_busy_) return kAllApvChains;
  return split_apv_chains(job.picture.frame, loop_.threads());
}

// Takes the frame's memory; older frames make room for it.
Status ApvPictures::reserve(Job& job) {
  const uint32_t on_device = chains_on_device(job);
  const ApvFrame& of = job.picture.frame;
  loop_.limit_in_flight(on_device != kNoApvChains ? in_flight_on_device(of)
                                                  : std::max(loop_.threads(), kMinOnDevice));
  job.renderer = renderer_.get();
  job.in_flight = is_busy_ ? loop_.max_in_flight() : static_cast<int>(loop_.in_flight()) + 1;
  const auto trim = [&] { return renderer_->trim_others(of, on_device); };
  if (const size_t coefs = of.coef_count(); std::exchange(coef_count_, coefs) != coefs) trim();
  CT_RETURN_IF_ERROR(have_room([&] { return renderer_->need(of, on_device); }, trim));
  for (;;) {
    const Status status = renderer_->prepare(&job.picture, on_device);
    if (status.code != StatusCode::kOutOfMemory) return status;
    bool made = false;
    CT_RETURN_IF_ERROR(make_room(trim, &made));
    if (!made) return status;
  }
}

Status ApvPictures::have_room(const std::function<guint64()>& need_of,
                              const std::function<bool()>& trim) {
  budget_->set_max(locked(decoder_, properties_.max_memory));
  for (bool made = true;;) {
    const guint64 all = loop_.used_bytes() + need_of();
    if (budget_->has(all)) return {};
    if (!made) return budget_->no_room(all);
    CT_RETURN_IF_ERROR(make_room(trim, &made));
  }
}

// Frees what trim() does, and otherwise finishes a frame, whose memory the next one takes over, or
// frees all that is kept: a device stops for that. `*made`: whether there was any.
Status ApvPictures::make_room(const std::function<bool()>& trim, bool* made) {
  *made = renderer_ != nullptr && trim();
  if (*made) return {};
  if (!loop_.is_empty()) {
    last_ = loop_.push_oldest(true, made);
    if (last_ != GST_FLOW_OK) return Status::error(StatusCode::kCancelled, "output is flushing");
  }
  if (!*made) *made = renderer_ != nullptr && renderer_->trim();
  return {};
}

GstFlowReturn ApvPictures::hold(gsize bytes) {
  constexpr gsize kLittle = gsize{1} << 20;
  return bytes < kLittle ? GST_FLOW_OK
                         : flow_after(have_room([bytes] { return guint64{bytes}; },
                                                [this] { return renderer_->trim(); }));
}

// ---- On the way out ----

GstFlowReturn ApvPictures::finish(std::unique_ptr<FrameJob> picture) {
  std::unique_ptr<Job> job(static_cast<Job*>(picture.release()));
  const gint64 begin = g_get_monotonic_time();
  if (job->is_decoded && job->status.ok()) job->status = job->picture.wait();
  if (ends_all(job->status)) {
    gst_video_decoder_release_frame(decoder_, job->frame);
    return end_with(job->status);
  }
  count(*job);
  const GstFlowReturn flow = show(*job);
  const auto rendering = static_cast<GstClockTime>(g_get_monotonic_time() - begin) * GST_USECOND;
  longest_ = std::max(longest_, job->took() + rendering);
  if (output_ != nullptr) loop_.note_time(longest_);
  return flow;
}

void ApvPictures::discard(std::unique_ptr<FrameJob> picture) {
  gst_video_decoder_release_frame(decoder_, static_cast<Job&>(*picture).frame);
}

void ApvPictures::count(const Job& job) {
  const ObjectLock lock(decoder_);
  stats_.bytes += job.bytes;
  stats_.entropy_time += job.entropy_time;
  stats_.skipped_frames += static_cast<guint64>(job.unit.skipped_frames);
  stats_.unknown_units += static_cast<guint64>(job.unit.unknown_units);
  stats_.t35 += static_cast<guint64>(job.unit.metadata.t35);
  stats_.user += static_cast<guint64>(job.unit.metadata.user);
  stats_.unknown_metadata += static_cast<guint64>(job.unit.metadata.unknown);
  stats_.late += job.is_late;
  const int chains = job.picture.frame.damaged_chains();
  stats_.damaged_chains += static_cast<guint64>(chains);
  stats_.damaged += chains > 0 || !job.status.ok();
}

// The frame cannot be shown. After the first frame that is damage, whatever the reason.
GstFlowReturn ApvPictures::drop_damaged(Job& job, const std::string& why) {
  if (const GstFlowReturn flow = frames_.push_all(); flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, job.frame);
    return flow;
  }
  const OnError on_error = locked(decoder_, properties_.on_error);
  if (damage_.judge(on_error, false, why) == DamagePolicy::Verdict::kFail) {
    gst_video_decoder_release_frame(decoder_, job.frame);
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK(decoder_);
  ++stats_.dropped;
  // Of a kind that cannot be shown, which count() does not know.
  stats_.damaged += job.status.ok() && job.picture.frame.damage() == nullptr;
  GST_OBJECT_UNLOCK(decoder_);
  return gst_video_decoder_drop_frame(decoder_, job.frame);
}

GstFlowReturn ApvPictures::show(Job& job) {
  const ApvFrameInfo& info = job.picture.frame.info();
  if (job.status.ok() && job.unit.frame.empty()) {
    GST_DEBUG_OBJECT(decoder_, "access unit without a primary frame");
    gst_video_decoder_release_frame(decoder_, job.frame);
    return GST_FLOW_OK;
  }
  if (job.is_late) {
    const GstFlowReturn flow = frames_.push_all();
    if (flow == GST_FLOW_OK) return gst_video_decoder_drop_frame(decoder_, job.frame);
    gst_video_decoder_release_frame(decoder_, job.frame);
    return flow;
  }
  ApvOutput output = {info.width,
                      info.height,
                      info.chroma,
                      info.depth,
                      job.picture.frame.header().color,
                      job.unit.metadata.mastering,
                      job.unit.metadata.light};
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  int shift = 0;
  Status status = job.status;
  if (status.ok()) status = find_format(output, &format, &shift);
  if (!status.ok()) {
    // A stream that begins with a kind that we do not support will not get better.
    if (status.code != StatusCode::kUnsupported || damage_.seen_good())
      return drop_damaged(job, status.message);
    gst_video_decoder_release_frame(decoder_, job.frame);
    return end_with(status);
  }
  const char* damage = job.picture.frame.damage();
  if (damage != nullptr) {
    if (locked(decoder_, properties_.on_error) != OnError::kConceal)
      return drop_damaged(job, damage);
    (void)damage_.judge(OnError::kConceal, true, damage);
    GST_VIDEO_CODEC_FRAME_FLAG_SET(job.frame, GST_VIDEO_CODEC_FRAME_FLAG_CORRUPTED);
  } else {
    damage_.note_good();
  }
  // A new peer may require another memory. The frames under way have the old caps.
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  if (gst_pad_needs_reconfigure(src) || output_ == nullptr || *output_ != output) {
    GstFlowReturn flow = frames_.push_all();
    if (flow == GST_FLOW_OK) flow = set_output(output, format);
    if (flow != GST_FLOW_OK) {
      gst_video_decoder_release_frame(decoder_, job.frame);
      return flow;
    }
  }
  GST_OBJECT_LOCK(decoder_);
  ++stats_.frames;
  stats_.on_cuda += engine_.is_cuda();
  stats_.entropy_on_cuda += job.picture.is_on_device();
  GST_OBJECT_UNLOCK(decoder_);
  const auto render = [&](const Rects& rects) {
    ApvSamples to;
    to.shift = shift;
    for (int c = 0; c < std::min(info.components(), rects.count); ++c) {
      to.data[c] = rects.rect[c].data;
      to.pitch[c] = static_cast<ptrdiff_t>(rects.rect[c].pitch);
    }
    return renderer_->render(&job.picture, to);
  };
  return frames_.write(job.frame, render,
                       [&](GstBuffer* buffer) { add_apv_metas(job.unit.metadata, buffer); });
}

bool ApvPictures::choose_memory(const GstVideoInfo& info, CapsPtr* caps) const {
  const RawFormat* known = find_raw_format(GST_VIDEO_INFO_FORMAT(&info));
  if (known == nullptr || !known->in_cuda_memory) return false;
  return cudatransform::choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, caps);
}

// kUnsupported: GStreamer has no such frames or, after other frames, downstream does not accept
// them; the caps stay as they are.
Status ApvPictures::find_format(const ApvOutput& output, GstVideoFormat* format, int* shift) const {
  CT_RETURN_IF_ERROR(apv_video_format(output, format, shift));
  if (output_ == nullptr || *output_ == output) return {};
  GstVideoInfo info;
  if (!gst_video_info_set_format(&info, *format, output.width, output.height)) {
    return Status::error(
        StatusCode::kUnsupported,
        "invalid frame size " + std::to_string(output.width) + "x" + std::to_string(output.height));
  }
  set_apv_colorimetry(output.color, &info);
  return frames_.query_downstream(info);
}

GstFlowReturn ApvPictures::set_output(const ApvOutput& output, GstVideoFormat format) {
  // Raw streams have no times: 25 frames a second, as other demuxers of such streams assume.
  constexpr gint kAssumedRate = 25;
  output_.reset();
  const CodecStatePtr out(gst_video_decoder_set_output_state(decoder_, format, output.width,
                                                             output.height, input_.get()));
  if (!out) {
    return end_with(Status::error(StatusCode::kUnsupported, "invalid frame size " +
                                                                std::to_string(output.width) + "x" +
                                                                std::to_string(output.height)));
  }
  const bool has_rate =
      input_ && input_->caps &&
      gst_structure_has_field(gst_caps_get_structure(input_->caps, 0), "framerate");
  if (!has_rate) {
    out->info.fps_n = kAssumedRate;
    out->info.fps_d = 1;
  }
  set_apv_colorimetry(output.color, &out->info);
  out->info.chroma_site = output.chroma == ApvChroma::k422 ? GST_VIDEO_CHROMA_SITE_H_COSITED
                                                           : GST_VIDEO_CHROMA_SITE_UNKNOWN;
  const GstFlowReturn flow =
      frames_.negotiate(out.get(), [&](GstCaps* caps) { add_apv_light(output, caps); });
  if (flow == GST_FLOW_OK) output_ = std::make_unique<ApvOutput>(output);
  return flow;
}

}  // namespace cudatransform
