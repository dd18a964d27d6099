// The encoder of cudaapvenc: from frames to access units.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/apv/encoder.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apv/frame_encoder.h"
#include "gst/apv/frame_hash.h"
#include "gst/apv/metas.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"
#include "gst/engine/pools.h"
#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/apv/engine.h"
#endif

namespace cudatransform {
namespace {

// au_size, which only raw streams have.
constexpr gsize kSizeBytes = 4;
// Frames in flight where the device encodes them, as far as the memory for their coefficients goes.
constexpr int kMaxOnDevice = 8;
constexpr uint64_t kMaxCoefBytes = uint64_t{1} << 28;
// As the decoder's: no unit of this many samples reaches 4 GiB.
constexpr uint64_t kMaxSamples = uint64_t{1} << 29;

Status unsupported(const std::string& message) {
  return Status::error(StatusCode::kUnsupported, message);
}

// Of an access unit with empty chains.
Status size_without_chains(const ApvFrameFormat& format, const ApvBytes& metadata, size_t* bytes) {
  try {
    const std::vector<uint32_t> none(format.chain_count());
    ApvUnitWriter unit;
    unit.begin(format, metadata);
    return unit.measure(none, bytes);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for an access unit");
  }
}

}  // namespace

Status probe_apv_encode_kernels([[maybe_unused]] Device& device) {
#if CT_HAVE_CUDA
  return probe_cuda_apv_encode_kernels(device);
#else
  return Status::error(StatusCode::kNotFound, "built without CUDA");
#endif
}

Status read_apv_matrix(const std::string& text, uint8_t weights[64]) {
  constexpr uint8_t kFlat = 16;
  constexpr char kSeparators[] = " ,;\t\n";
  int count = 0;
  for (size_t at = text.find_first_not_of(kSeparators); at != std::string::npos; ++count) {
    const size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::string word = text.substr(at, end - at);
    char* rest = nullptr;
    const long weight = std::strtol(word.c_str(), &rest, 10);
    if (*rest != '\0' || weight < 1 || weight > 255) {
      return Status::error(StatusCode::kInvalidSetting,
                           "weight \"" + word + "\" of a quantization matrix, expected 1 to 255");
    }
    if (count < 64) weights[count] = static_cast<uint8_t>(weight);
    at = text.find_first_not_of(kSeparators, end);
  }
  if (count == 0) std::fill_n(weights, 64, kFlat);
  if (count == 0 || count == 64) return {};
  return Status::error(
      StatusCode::kInvalidSetting,
      std::to_string(count) + " weights of a quantization matrix, expected 64 or none");
}

struct ApvEncoder::Job final : FrameJob {
  ~Job() override { clear(); }

  int parts() const override { return device.is_begun() ? 1 : encoder.tiles(); }
  void run_part(int part) override {
    if (!device.is_begun()) encoder.encode_tile(part);
  }
  bool runs_when_taken() const override { return device.is_begun(); }
  bool is_ready() override { return device.is_ready(); }

  void clear() {
    device.clear();
    mapped.unmap();
    input.reset();
    if (frame != nullptr) gst_video_codec_frame_unref(std::exchange(frame, nullptr));
  }

  GstVideoCodecFrame* frame = nullptr;
  std::optional<int> qp;  // by the bit rate, which has counted the frame
  BufferPtr input;
  MappedFrame mapped;  // the map of `input`
  ApvFrameEncoder encoder;
  ApvDeviceFrame device;
  ApvBytes metadata;
  bool has_size = true;
};

// ---- The stream ----

ApvEncoder::ApvEncoder(GstVideoEncoder* encoder, Engine& engine,
                       const ApvEncodeSettings& properties, const EngineSettings& engine_properties)
    : encoder_(encoder),
      engine_(engine),
      properties_(properties),
      engine_properties_(engine_properties),
      pictures_(encoder, *this),
      mover_(engine) {
  gst_video_info_init(&info_);
}

ApvEncoder::~ApvEncoder() { stop(); }

void ApvEncoder::start() {
  counts_.frames = counts_.frames_by_device = counts_.bytes = 0;
  pictures_.start();
  rate_.start();
  has_warned_ = false;
  mover_.start(kMaxOnDevice);
  (void)coder_.open(engine_);  // the CPU encodes where there is no device
}

void ApvEncoder::stop() {
  pictures_.stop();
  idle_.clear();
  coder_.close();
  mover_.release_inputs();
  uploads_.clear();
  coefs_on_host_.reset();
  host_.reset();
}

// ---- Caps ----

Status ApvEncoder::read_format(const GstVideoCodecState& input) {
  info_ = input.info;
  if (!find_apv_input(GST_VIDEO_INFO_FORMAT(&info_), &input_))
    return unsupported(std::string("video format ") + GST_VIDEO_INFO_NAME(&info_));
  const ApvEncodeSettings settings = locked(encoder_, properties_);
  ApvFrameFormat format;
  ApvFrameHeader& header = format.header;
  ApvFrameInfo& info = header.info;
  info.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&info_));
  info.height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&info_));
  info.chroma = input_.chroma;
  info.depth = input_.depth;
  info.band = static_cast<uint8_t>(settings.band);
  CT_RETURN_IF_ERROR(choose_apv_profile(info.chroma, info.depth, &info.profile));
  const std::string size = std::to_string(info.width) + "x" + std::to_string(info.height);
  if (info.chroma == ApvChroma::k422 && info.width % 2 != 0)
    return unsupported("size " + size + ", expected an even width, which 4:2:2 has in APV");
  if (info.width >= 1u << 24 || info.height >= 1u << 24)
    return unsupported("size " + size + ", expected less than 16777216 on a side");
  if (info.samples() > kMaxSamples) {
    return unsupported("size " + size + ", expected up to " + std::to_string(kMaxSamples) +
                       " samples in all components");
  }
  const bool has_rate = info_.fps_n > 0 && info_.fps_d > 0;
  const double rate = has_rate ? double(info_.fps_n) / info_.fps_d : kAssumedRate;
  luma_rate_ = 256. * info.mbs_across() * info.mbs_down() * rate;
  CT_RETURN_IF_ERROR(header.set_tiles(apv_tile_mbs(settings.tile_width, info.mbs_across()),
                                      apv_tile_mbs(settings.tile_height, info.mbs_down())));
  header.color = apv_color_of(input.caps, info_, input_);
  for (int c = 0; c < kMaxApvComponents; c++)
    CT_RETURN_IF_ERROR(read_apv_matrix(settings.matrix[c], header.matrix[c]));
  format_ = format;
  // Places for the hashes, which are written into each unit.
  hash_bytes_ =
      settings.frame_hash ? kApvHashBytes * static_cast<size_t>(info.components()) : size_t{0};
  light_ = apv_light_of(input.caps);
  try {
    metadata_ = make_apv_metadata(light_, ApvBytes(hash_bytes_));
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for metadata");
  }
  return {};
}

// Whether downstream, in the caps that it accepts, prefers units with au_size.
bool ApvEncoder::has_size_prefix(GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  return g_strcmp0(gst_structure_get_string(structure, "stream-format"), "au") != 0;
}

// Null: downstream accepts none.
GstCaps* ApvEncoder::output_caps() {
  CapsPtr allowed(gst_pad_get_allowed_caps(GST_VIDEO_ENCODER_SRC_PAD(encoder_)));
  if (!allowed) allowed.reset(gst_pad_get_pad_template_caps(GST_VIDEO_ENCODER_SRC_PAD(encoder_)));
  if (gst_caps_is_empty(allowed.get())) return nullptr;
  GstCaps* caps = gst_caps_fixate(gst_caps_copy_nth(allowed.get(), 0));
  gst_caps_set_simple(caps, "profile", G_TYPE_STRING, apv_profile_name(format_.header.info.profile),
                      nullptr);
  return caps;
}

bool ApvEncoder::set_format(GstVideoCodecState* input) {
  if (!pictures_.may_change_caps(pictures_.drain())) return false;
  if (const Status status = read_format(*input); !status.ok()) {
    post_error(GST_ELEMENT(encoder_), status);
    return false;
  }
  GstCaps* caps = output_caps();
  if (caps == nullptr) return false;
  has_size_ = has_size_prefix(caps);
  const int threads = pictures_.threads_for(locked(encoder_, engine_properties_.n_threads));
  mover_.reconfigure();
  const int max = max_in_flight(threads);
  if (!pictures_.start_workers(std::min(threads, max), max)) {
    GST_ELEMENT_ERROR(encoder_, RESOURCE, FAILED, ("Failed to start %d encoder threads", threads),
                      (nullptr));
    gst_caps_unref(caps);
    return false;
  }
  pictures_.set_rate(info_.fps_n, info_.fps_d);
  gst_video_codec_state_unref(gst_video_encoder_set_output_state(encoder_, caps, input));
  return true;
}

// ---- Frames ----

int ApvEncoder::max_in_flight(int threads) const {
  if (!coder_.is_open() || threads == 1) return threads;
  const uint64_t bytes = 128 * format_.header.info.blocks();
  const auto fitting = static_cast<int>(std::min<uint64_t>(kMaxCoefBytes / bytes, kMaxOnDevice));
  return std::max(fitting, 2);
}

// The quantization parameters of a frame, of which `qp` is that of component 0.
void ApvEncoder::set_qp(const ApvEncodeSettings& settings, int qp, ApvFrameFormat* format) const {
  for (int c = 0; c < kMaxApvComponents; c++) {
    const int of_component = qp + (c > 0 ? settings.qp_offset[c] : 0);
    format->qp[c] = static_cast<uint8_t>(std::clamp(of_component, 0, kMaxApvEncodeQp));
  }
}

// By the property or, for a bit rate, by the sizes of units. A frame that the device could not
// encode keeps its own.
Status ApvEncoder::choose_qp(Job& job, const ApvEncodeSettings& settings, int at_a_time,
                             const MeasureQps& measure, ApvFrameFormat* format) {
  format->header.info.level =
      choose_apv_level(luma_rate_, 1000. * settings.bitrate, static_cast<int>(settings.band));
  auto qp = job.qp.value_or(static_cast<int>(settings.qp));
  if (settings.bitrate == 0) {
    rate_.note_constant(qp);
  } else if (!job.qp) {
    size_t others = 0;
    CT_RETURN_IF_ERROR(size_without_chains(*format, job.metadata, &others));
    if (!job.has_size) others -= kSizeBytes;
    const auto measure_units = [&](std::span<const int> qps, uint64_t* bytes) -> Status {
      ApvQps all[kMaxApvMeasuredQps];
      for (size_t i = 0; i < qps.size(); i++) {
        ApvFrameFormat with;
        set_qp(settings, qps[i], &with);
        std::copy(std::begin(with.qp), std::end(with.qp), all[i].qp);
      }
      CT_RETURN_IF_ERROR(measure({all, qps.size()}, bytes));
      for (size_t i = 0; i < qps.size(); i++) bytes[i] += others;
      return {};
    };
    CT_RETURN_IF_ERROR(rate_.choose(at_a_time, measure_units, &qp));
    job.qp = qp;
  }
  set_qp(settings, qp, format);
  return {};
}

ApvSource ApvEncoder::source_of(const Rects& rects) const {
  ApvSource source;
  source.type = input_.type;
  source.shift = input_.shift;
  const int sample_bytes = source.type == SampleType::kU8 ? 1 : 2;
  const int components = format_.header.info.components();
  for (int c = 0; c < components; c++) {
    // Planes are in APV's order, also those of GBR; interleaved components are Y, Cb and Cr.
    const bool is_planar = rects.count == components;
    const Rect& plane = rects.rect[is_planar ? c : GST_VIDEO_INFO_COMP_PLANE(&info_, c)];
    source.data[c] = plane.data + input_.offset[c];
    source.pitch[c] = static_cast<ptrdiff_t>(plane.pitch);
    if (!is_planar) source.step[c] = GST_VIDEO_INFO_COMP_PSTRIDE(&info_, c) / sample_bytes;
  }
  return source;
}

Status ApvEncoder::open_host() {
  if (host_ != nullptr) return {};
  host_ = make_host_device(static_cast<int>(locked(encoder_, engine_properties_.n_threads)));
  if (host_ != nullptr) return {};
  return Status::error(StatusCode::kOutOfMemory, "no threads for the CPU");
}

Status ApvEncoder::transform_on_host(const ApvFrameFormat& format, const ApvSource& source) {
  CT_RETURN_IF_ERROR(open_host());
  const size_t bytes = 64 * sizeof(int16_t) * format.header.info.blocks();
  if (coefs_on_host_ == nullptr || coefs_on_host_->size() < bytes) {
    coefs_on_host_.reset();
    CT_RETURN_IF_ERROR(host_->allocate(MemoryKind::kDevice, bytes, &coefs_on_host_));
  }
  const ApvForwardJob job = apv_unquantized_job(format, source, coefs_on_host_->data());
  return host_apv_encode_ops().forward->submit(*host_, host_->queue(QueueKind::kCompute), job,
                                               nullptr);
}

Status ApvEncoder::measure_on_host(const ApvFrameFormat& format, std::span<const ApvQps> qps,
                                   uint64_t* bytes) {
  ApvEncodeJob job;
  job.format = &format;
  job.coefs = static_cast<const int16_t*>(coefs_on_host_->data());
  return host_apv_encode_ops().measure(*host_, host_->queue(QueueKind::kCompute), job, qps, bytes,
                                       nullptr);
}

Status ApvEncoder::prepare_on_host(Job& job, const ApvEncodeSettings& settings) {
  CT_RETURN_IF_ERROR(job.mapped.map(job.input.get(), info_, GST_MAP_READ, false));
  const ApvSource source = source_of(job.mapped.rects());
  ApvFrameFormat format = format_;
  if (settings.bitrate > 0) CT_RETURN_IF_ERROR(transform_on_host(format, source));
  const auto measure = [&](std::span<const ApvQps> qps, uint64_t* bytes) {
    return measure_on_host(format_, qps, bytes);
  };
  CT_RETURN_IF_ERROR(choose_qp(job, settings, 1, measure, &format));
  return job.encoder.begin(format, source);
}

// kUnsupported or kOutOfMemory: no work is in flight, and the CPU can encode the frame.
Status ApvEncoder::prepare_on_device(Job& job, const ApvEncodeSettings& settings) {
  FrameInput input;
  CT_RETURN_IF_ERROR(
      input.bring_in(mover_, job.input.get(), info_, InPlace::kAlways, uploads_, nullptr));
  ApvFrameFormat format = format_;
  FencePtr read;
  CT_RETURN_IF_ERROR(job.device.begin(coder_, format, source_of(input.placed().rects), &read));
  mover_.mark_read(job.input.get(), input.placed(), read);
  const auto measure = [&](std::span<const ApvQps> qps, uint64_t* bytes) {
    return job.device.measure(qps, bytes);
  };
  CT_RETURN_IF_ERROR(
      choose_qp(job, settings, static_cast<int>(kMaxApvMeasuredQps), measure, &format));
  return job.device.encode(format, job.metadata);
}

Status ApvEncoder::prepare_metadata(Job& job) {
  try {
    ApvMetadata metadata = light_;
    ApvMetaPayloads payloads;
    payloads.read(job.input.get(), &metadata);
    if (metadata.dropped_count > 0 && !std::exchange(has_warned_, true)) {
      GST_WARNING_OBJECT(encoder_,
                         "dropping %d metadata payloads of a frame, expected up to %d of together "
                         "%zu bytes",
                         metadata.dropped_count, ApvMetadata::kMaxPayloads,
                         ApvMetadata::kMaxPayloadBytes);
    }
    job.metadata = metadata.payloads().empty() ? metadata_
                                               : make_apv_metadata(metadata, ApvBytes(hash_bytes_));
    return {};
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for metadata");
  }
}

Status ApvEncoder::prepare(Job& job, GstVideoCodecFrame* frame) {
  job.frame = frame;
  job.input.reset(gst_buffer_ref(frame->input_buffer));
  CT_RETURN_IF_ERROR(prepare_metadata(job));
  job.has_size = has_size_;
  job.qp.reset();
  const ApvEncodeSettings settings = locked(encoder_, properties_);
  if (settings.bitrate > 0) {
    CT_RETURN_IF_ERROR(rate_.begin(job.frame->input_buffer, info_.fps_n, info_.fps_d,
                                   settings.bitrate, settings.vbv_buf_capacity));
  }
  if (coder_.is_open()) {
    const Status status = prepare_on_device(job, settings);
    if (status.ok()) job.input.reset();  // which the mover holds as long as it is read
    if (status.code != StatusCode::kUnsupported && status.code != StatusCode::kOutOfMemory)
      return status;
    job.device.clear();
  }
  return prepare_on_host(job, settings);
}

GstFlowReturn ApvEncoder::encode(GstVideoCodecFrame* frame) {
  if (pictures_.has_failed()) {
    // The base class keeps the frame until it is flushed, but not the buffer.
    gst_clear_buffer(&frame->input_buffer);
    gst_video_codec_frame_unref(frame);
    return pictures_.failure();
  }
  const size_t max = max_kept(frame->input_buffer);
  std::unique_ptr<Job> job = take_idle();
  if (const Status status = prepare(*job, frame); !status.ok()) {
    if (coder_.is_open()) mover_.settle();
    keep_idle(std::move(job));
    const GstFlowReturn flow = pictures_.push_done(0);  // the frames before it are good
    if (flow != GST_FLOW_OK) return flow;
    post_error(GST_ELEMENT(encoder_), status, "Failed to encode APV");
    return pictures_.end_stream(GST_FLOW_ERROR);
  }
  for (const std::string& warning : mover_.take_warnings())
    GST_ELEMENT_WARNING(encoder_, RESOURCE, SETTINGS, ("%s", warning.c_str()), (nullptr));
  pictures_.add(std::move(job));
  return pictures_.push_done(max);
}

// Metadata are the end of a unit, and hashes that of metadata.
Status ApvEncoder::write_hash(uint8_t* unit, size_t size) {
  CT_RETURN_IF_ERROR(open_host());
  ApvBytes hashes;
  CT_RETURN_IF_ERROR(hash_apv_frame(*host_, {unit, size}, &hashes));
  if (hashes.size() != hash_bytes_)
    return Status::error(StatusCode::kFailed, "hashes do not match the frame's components");
  std::copy(hashes.begin(), hashes.end(), unit + size - hashes.size());
  return {};
}

Status ApvEncoder::write_unit(Job& job) {
  BufferPtr buffer;
  if (job.device.is_begun()) {
    GstBuffer* unit = nullptr;
    CT_RETURN_IF_ERROR(job.device.finish(&unit));
    buffer.reset(unit);
  } else {
    size_t size = 0;
    CT_RETURN_IF_ERROR(job.encoder.finish(job.metadata, &size));
    buffer.reset(new_system_buffer(size));
    if (!buffer) return no_system_memory("an access unit", size);
  }
  MappedBuffer mapped;
  if (!job.device.is_begun() || hash_bytes_ > 0) {
    if (!mapped.map(buffer.get(), GST_MAP_READWRITE))
      return Status::error(StatusCode::kFailed, "failed to map an output buffer");
    if (!job.device.is_begun()) job.encoder.write(mapped.data());
    if (hash_bytes_ > 0)
      CT_RETURN_IF_ERROR(write_hash(mapped.data(), gst_buffer_get_size(buffer.get())));
    mapped.unmap();
  }
  if (!job.has_size) gst_buffer_resize(buffer.get(), kSizeBytes, -1);
  job.frame->output_buffer = buffer.release();
  return {};
}

GstFlowReturn ApvEncoder::finish(std::unique_ptr<FrameJob> picture) {
  std::unique_ptr<Job> job(static_cast<Job*>(picture.release()));
  const GstClockTime took = job->took();
  const bool by_device = job->device.is_begun();
  const Status status = write_unit(*job);
  if (!status.ok()) {
    keep_idle(std::move(job));
    post_error(GST_ELEMENT(encoder_), status, "Failed to encode APV");
    return GST_FLOW_ERROR;
  }
  GstVideoCodecFrame* frame = std::exchange(job->frame, nullptr);
  keep_idle(std::move(job));
  counts_.frames++;
  if (by_device) counts_.frames_by_device++;
  counts_.bytes += gst_buffer_get_size(frame->output_buffer);
  pictures_.note_time(took);
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  return gst_video_encoder_finish_frame(encoder_, frame);
}

void ApvEncoder::discard(std::unique_ptr<FrameJob> picture) {
  keep_idle(std::unique_ptr<Job>(static_cast<Job*>(picture.release())));
}

std::unique_ptr<ApvEncoder::Job> ApvEncoder::take_idle() {
  if (idle_.empty()) return std::make_unique<Job>();
  std::unique_ptr<Job> job = std::move(idle_.back());
  idle_.pop_back();
  return job;
}

void ApvEncoder::keep_idle(std::unique_ptr<Job> job) {
  job->clear();
  idle_.push_back(std::move(job));
}

}  // namespace cudatransform
