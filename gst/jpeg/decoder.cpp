// The decoder of jpegcoefdec: from a codec frame with a JPEG file to a buffer of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/file_query.h"
#include "gst/engine/engine_element.h"
#include "gst/jpeg/caps.h"
#include "gst/stream/decoder_common.h"
#include "gst/stream/sampling.h"
#include "jpeg/errors.h"

GST_DEBUG_CATEGORY_EXTERN(jpegcoefdec_debug);
#define GST_CAT_DEFAULT jpegcoefdec_debug

namespace cudatransform {
namespace {

constexpr size_t kMaxReaders = 16;  // idle ones, each with CoefArrays::kMaxKept or less

// One at a time, a core decodes smaller files sooner than a GPU.
constexpr gsize kMinForDevice = 8'000;

void add_trailing(GstDctJpegMeta* meta, const DecodeJob& picture) {
  static_assert(GST_DCT_JPEG_MAX_ATTACHMENTS == kMaxMpfPictures - 1);
  GstDctJpegPlace places[GST_DCT_JPEG_MAX_ATTACHMENTS];
  guint count = 0;
  if (picture.has_others())
    for (const FilePlace& place : picture.others().all())
      places[count++] = {place.begin - picture.file().size(), place.size};
  gst_dct_jpeg_meta_set_trailing(meta, picture.trailing.get(), places, count);
}

// Attaches the JPEG file's own data.
void add_jpeg_meta(GstBuffer* buffer, const DecodeJob& picture) {
  static_assert(GST_DCT_JPEG_TRAILING_BYTES == int{kJpegTrailingBytes} &&
                GST_DCT_JPEG_EXTRANEOUS_BYTES == int{kJpegExtraneousBytes} &&
                GST_DCT_JPEG_SCAN_PARAMETERS == int{kJpegScanParameters} &&
                GST_DCT_JPEG_MISSING_EOI == int{kJpegMissingEoi} &&
                GST_DCT_JPEG_UNEXPECTED_MARKER == int{kJpegUnexpectedMarker} &&
                GST_DCT_JPEG_UNKNOWN_HEADER == int{kJpegUnknownHeader});
  // Without segments the meta of CMYK indicates that there was no Adobe marker.
  const bool is_cmyk = is_of(picture.info.sampling, "CMYK");
  if (!picture.metadata && !picture.trailing && picture.irregular == 0 && !is_cmyk) return;
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, picture.metadata.get());
  if (!meta) return;
  meta->irregular = static_cast<GstDctJpegIrregularity>(picture.irregular);
  if (picture.trailing) add_trailing(meta, picture);
}

GstCoefSampling sampling_of(const JpegHeader& header) {
  return gst_coef_sampling_from_factors(colorspace_of(header.color), header.sampling.h,
                                        header.sampling.v, static_cast<guint>(header.components));
}

// The geometry of a picture's coefficients; false for a size that GstDctInfo cannot have.
bool info_of(const JpegHeader& header, GstDctInfo* info) {
  return gst_dct_info_set(info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                          TRUE, header.depth, sampling_of(header), static_cast<gint>(header.width),
                          static_cast<gint>(header.height), nullptr);
}

bool same_geometry(const GstDctInfo& a, const GstDctInfo& b) {
  return a.sampling == b.sampling && a.depth == b.depth && a.width == b.width &&
         a.height == b.height;
}

// With two fields a frame, the caps have the width of each picture and twice its height; a picture
// of less width is simply a smaller one. If the pictures' markers declare fields, the rows
// that fill up their last MCUs may count on either side.
bool is_half_a_picture(const JpegHeader& header, const GstVideoCodecState* input) {
  if (input == nullptr) return false;
  const int width = GST_VIDEO_INFO_WIDTH(&input->info),
            height = GST_VIDEO_INFO_HEIGHT(&input->info);
  if (static_cast<int64_t>(header.width) != width || height <= 1) return false;
  const auto one = static_cast<int64_t>(header.height), twice = 2 * one;
  return twice == height || twice == height + 1 || (header.has_polarity && 2 * height > 3 * one);
}

Status damaged(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, what);
}

std::string size_of(const JpegHeader& header) {
  return std::to_string(header.width) + "x" + std::to_string(header.height);
}

}  // namespace

// ---- The stream ----

JpegDecoder::JpegDecoder(GstVideoDecoder* decoder, Engine& engine,
                         const JpegDecodeSettings& properties,
                         const EngineSettings& engine_properties)
    : decoder_(decoder),
      engine_(engine),
      properties_(properties),
      engine_properties_(engine_properties),
      damage_(decoder, "JPEG"),
      pictures_(decoder, *this),
      output_(engine, CoefMaker::kCpu) {}

Status JpegDecoder::start() {
  settings_ = settings();
  tables_in_caps_ = settings_.tables_in_caps;
  lanes_.clear();  // a device that failed before may work now
  if (settings_.entropy == JpegEntropy::kCuda) {
    if (!engine_.is_cuda())
      return Status::error(StatusCode::kNotFound, "entropy-backend=cuda requires a CUDA device");
    CT_RETURN_IF_ERROR(lanes_.probe(engine_.device()));
  }
  pictures_.start();
  negotiated_ = has_reported_irregular_ = is_refused_ = false;
  accepted_.clear();
  damage_.start();
  last_pts_ = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK(decoder_);
  counts_ = {};
  GST_OBJECT_UNLOCK(decoder_);
  return {};
}

void JpegDecoder::stop() {
  flush();
  pictures_.stop();
  readers_.clear();
  lanes_.clear();
  output_.stop();
  input_.reset();
}

bool JpegDecoder::set_input(GstVideoCodecState* state) {
  // The held frame waits for pictures that may have other caps.
  if (!pictures_.may_change_caps(pictures_.drain())) return false;
  if (orphaned_.is_holding() && !held_input_) held_input_ = std::move(input_);
  input_.reset(gst_video_codec_state_ref(state));
  // The output caps depend on the input caps.
  negotiated_ = false;
  return true;
}

GstFlowReturn JpegDecoder::drain() {
  const GstFlowReturn flow = decode_held();
  return flow == GST_FLOW_OK ? pictures_.drain() : flow;
}

GstFlowReturn JpegDecoder::finish() {
  const GstFlowReturn flow = pictures_.finish([this] { return drain(); });
  const JpegDecodeCounts counted = counts();
  if (flow != GST_FLOW_OK || counted.frames > 0 || counted.damaged == 0) return flow;
  GST_ELEMENT_ERROR(decoder_, STREAM, DECODE,
                    ("No valid frames decoded before end of stream (%" G_GUINT64_FORMAT " damaged)",
                     counted.damaged),
                    ("set on-error=conceal to output the decodable part of damaged pictures"));
  return GST_FLOW_ERROR;
}

void JpegDecoder::flush() {
  pictures_.flush();
  last_pts_ = GST_CLOCK_TIME_NONE;
  if (GstVideoCodecFrame* held = orphaned_.release())
    gst_video_decoder_release_frame(decoder_, held);
  held_input_.reset();
  orphaned_.forget();
}

gboolean JpegDecoder::sink_event(GstEvent* event, GstVideoDecoderClass* parent_class) {
  return pictures_.take_event(event, [&] { return take_event(event, parent_class); });
}

gboolean JpegDecoder::take_event(GstEvent* event, GstVideoDecoderClass* parent_class) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    // We query here, because the base class turns every other segment into a TIME segment.
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
    framed_ = segment->format == GST_FORMAT_TIME;
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
  }
  // The base class forwards a gap immediately, and would make caps of raw video for it.
  if (GST_EVENT_TYPE(event) == GST_EVENT_GAP && !negotiate_gap()) {
    GST_ELEMENT_ERROR(decoder_, STREAM, FORMAT, ("Cannot forward GAP event: no caps negotiated"),
                      ("downstream accepts none of the coefficient caps"));
    return gst_pad_push_event(GST_VIDEO_DECODER_SRC_PAD(decoder_), event);
  }
  return parent_class->sink_event(decoder_, event);
}

JpegDecodeSettings JpegDecoder::settings() const { return locked(decoder_, properties_); }

JpegDecodeCounts JpegDecoder::counts() const { return locked(decoder_, counts_); }

void JpegDecoder::count(guint64 JpegDecodeCounts::*counter, guint64 more) {
  const ObjectLock lock(decoder_);
  counts_.*counter += more;
}

GstStructure* JpegDecoder::stats() const {
  const JpegDecodeCounts counted = counts();
  return gst_structure_new(
      "application/x-jpegcoefdec-stats", "frames", G_TYPE_UINT64, counted.frames, "damaged",
      G_TYPE_UINT64, counted.damaged, "irregular", G_TYPE_UINT64, counted.irregular, "dropped",
      G_TYPE_UINT64, counted.dropped, "attachments", G_TYPE_UINT64, counted.attachments, "orphaned",
      G_TYPE_UINT64, counted.orphaned, "cuda-frames", G_TYPE_UINT64, counted.by_cuda, "cpu-frames",
      G_TYPE_UINT64, counted.by_cpu, nullptr);
}

// ---- Input ----

GstFlowReturn JpegDecoder::decode(GstVideoCodecFrame* frame) {
  if (pictures_.has_failed()) {
    gst_video_decoder_release_frame(decoder_, frame);
    return pictures_.failure();
  }
  settings_ = settings();
  if (orphaned_.take(frame->input_buffer)) {
    if (!orphaned_.is_holding()) count(&JpegDecodeCounts::orphaned);
    gst_video_decoder_release_frame(decoder_, frame);
    return orphaned_.is_complete() ? decode_held() : pictures_.push_done();
  }
  if (const GstFlowReturn flow = decode_held(); flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, frame);
    return flow;
  }
  const bool may_hold = settings_.pictures == JpegFilePictures::kPrimary &&
                        settings_.keep_metadata && gst_video_decoder_get_packetized(decoder_);
  return may_hold && orphaned_.hold(frame) ? pictures_.push_done() : decode_now(frame);
}

GstFlowReturn JpegDecoder::refuse(GstVideoCodecFrame* frame, const Status& status) {
  const GstFlowReturn flow = drain();
  gst_video_decoder_release_frame(decoder_, frame);
  if (flow != GST_FLOW_OK) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return pictures_.end_stream(GST_FLOW_ERROR);
}

GstFlowReturn JpegDecoder::decode_held() {
  GstVideoCodecFrame* frame = orphaned_.release();
  if (!frame) return GST_FLOW_OK;
  CodecStatePtr newer = std::move(held_input_);
  if (pictures_.has_failed()) {
    gst_video_decoder_release_frame(decoder_, frame);
    return pictures_.failure();
  }
  if (!newer) return decode_now(frame);
  // It is pushed before the newer caps hold.
  newer.swap(input_);
  negotiated_ = false;
  GstFlowReturn flow = decode_now(frame);
  if (flow == GST_FLOW_OK) flow = pictures_.drain();
  newer.swap(input_);
  negotiated_ = false;
  return flow;
}

GstFlowReturn JpegDecoder::decode_now(GstVideoCodecFrame* frame) {
  if (!pictures_.is_started()) start_workers();
  Picture picture = std::make_unique<DecodeJob>(frame);
  picture->is_late = is_late(frame);
  // If a buffer with a time has two pictures, the second has no time, and the base class would give
  // it that of a later picture already in flight. Damage can split a picture like that.
  if (GST_CLOCK_TIME_IS_VALID(frame->pts))
    last_pts_ = frame->pts;
  else if (framed_)
    frame->pts = last_pts_;
  picture->status = prepare(*picture);
  if (!picture->has_others()) orphaned_.expect(picture->others());
  const GstFlowReturn flow = pictures_.make_room([&] { return has_room(*picture); });
  if (flow != GST_FLOW_OK) {
    discard(std::move(picture));
    return flow;
  }
  if (!picture->is_late && picture->status.ok()) picture->status = take_memory(*picture);
  const guint64 bytes = picture->bytes;
  pictures_.add(std::move(picture), bytes);
  limit_kept_memory();
  return pictures_.push_done();
}

// A thread has finished with a picture when the device has it, so that two may be in flight.
void JpegDecoder::start_workers() {
  const guint wanted = locked(decoder_, engine_properties_.n_threads);
  const int threads = pictures_.threads_for(wanted);
  const bool on_device = settings_.entropy != JpegEntropy::kCpu && engine_.is_cuda();
  const bool doubles = on_device && wanted == 0 && threads > 1;
  pictures_.start_workers(threads, doubles ? 2 * threads : threads);
}

bool JpegDecoder::is_late(GstVideoCodecFrame* frame) const {
  gboolean qos = FALSE;
  g_object_get(decoder_, "qos", &qos, nullptr);
  const bool late = qos && gst_video_decoder_get_max_decode_time(decoder_, frame) < 0;
  if (late) GST_DEBUG_OBJECT(decoder_, "skipping late frame %u", frame->system_frame_number);
  return late;
}

// Finds all that must be known before the picture can be decoded. kInvalidArgument: it is damaged.
// kUnsupported: we cannot decode its kind, which damage can cause, too.
Status JpegDecoder::prepare(DecodeJob& picture) {
  picture.conceals = settings_.on_error == OnError::kConceal;
  picture.keep_metadata = settings_.keep_metadata;
  picture.interrupts = &pictures_.interrupts();
  CT_RETURN_IF_ERROR(picture.map());
  if (settings_.pictures == JpegFilePictures::kPrimary && !picture.defer_trailing_data())
    CT_RETURN_IF_ERROR(picture.find_trailing_data());
  if (picture.is_late) return {};
  const guint64 bytes_of_input = picture.bytes;
  Status status = read_header(picture);
  if (!status.ok()) picture.bytes = bytes_of_input;  // no more will be taken
  return status;
}

Status JpegDecoder::read_header(DecodeJob& picture) {
  if (readers_.empty()) readers_.push_back(std::make_unique<JpegReader>());
  picture.reader = std::move(readers_.back());
  readers_.pop_back();

  JpegHeader header;
  CT_RETURN_IF_ERROR(picture.reader->read_header(picture.file(), &header));
  const guint64 pixels = guint64(header.width) * header.height;
  if (settings_.max_pixels != 0 && pixels > settings_.max_pixels)
    return damaged(size_of(header) +
                   " picture exceeds max-pixels=" + std::to_string(settings_.max_pixels));
  if (!picture.conceals && picture.file().size() < header.min_bytes)
    return damaged("truncated: " + std::to_string(picture.file().size()) +
                   " bytes, expected at least " + std::to_string(header.min_bytes) + " for " +
                   size_of(header));
  picture.irregular = header.irregular;
  if (!info_of(header, &picture.info))
    return damaged(size_of(header) + " picture exceeds the maximum buffer size");
  CT_RETURN_IF_ERROR(
      claim(picture, picture.info.size + header.extra_bytes + picture.trailing_size()));
  if (is_half_a_picture(header, input_.get()))
    return Status::error(StatusCode::kUnsupported, "interlaced Motion JPEG is not supported");
  if (wants_device(picture)) take_lane(picture);
  return {};
}

// Decoding takes `bytes` of memory besides those of the file. kInvalidArgument if that exceeds
// max-memory.
Status JpegDecoder::claim(DecodeJob& picture, guint64 bytes) const {
  picture.bytes += bytes;
  if (settings_.max_memory == 0 || picture.bytes <= settings_.max_memory) return {};
  return damaged(std::to_string(picture.info.width) + "x" + std::to_string(picture.info.height) +
                 " picture needs " + std::to_string(picture.bytes) +
                 " bytes, exceeds max-memory=" + std::to_string(settings_.max_memory));
}

bool JpegDecoder::wants_device(const DecodeJob& picture) const {
  if (!engine_.is_cuda() || settings_.entropy == JpegEntropy::kCpu) return false;
  if (settings_.entropy == JpegEntropy::kCuda) return true;
  if (picture.file().size() < kMinForDevice) return false;
  // Before the first caps the pool is no indication.
  return output_.pool() ? output_.in_cuda() : peer_takes_cuda(picture.info);
}

// Without memory for the device's work, the CPU decodes.
void JpegDecoder::take_lane(DecodeJob& picture) {
  if (const Status status = lanes_.take(engine_.device(), &picture.lane); !status.ok()) {
    GST_DEBUG_OBJECT(decoder_, "decoding on the CPU: %s", status.message.c_str());
    return;
  }
  picture.measured = picture.lane->measure(picture.file());
  const guint64 lane_bytes = picture.measured > 0 ? picture.lane->room_for(picture.measured) : 0;
  const guint64 bytes = picture.bytes + lane_bytes;
  if (picture.measured == 0 || (settings_.max_memory != 0 && bytes > settings_.max_memory)) {
    lanes_.give(std::move(picture.lane));
    return;
  }
  picture.lane_bytes = lane_bytes;
  picture.bytes = bytes;
}

// Whether max-memory has room for the picture besides those in flight. To make room, releases
// memory that is kept for later pictures, but none that this picture will use.
bool JpegDecoder::has_room(const DecodeJob& picture) {
  if (settings_.max_memory == 0) {
    output_.limit_kept(G_MAXSIZE);
    return true;
  }
  // Pictures over the limit are refused elsewhere, so they pass here.
  const guint64 max = std::max(settings_.max_memory, picture.bytes);
  const guint64 used = pictures_.used_bytes() + picture.bytes;
  const guint64 reusable = picture.lane ? 0 : output_.reusable(layout_of(picture.info));
  output_.limit_kept((max > used ? max - used : 0) + reusable);
  return used <= max;
}

// Pictures in flight have their share of max-memory; what is kept for later ones has the rest.
void JpegDecoder::limit_kept_memory() {
  const guint64 max = settings_.max_memory, used = pictures_.used_bytes();
  if (max != 0) output_.limit_kept(max > used ? max - used : 0);
}

Status JpegDecoder::take_memory(DecodeJob& picture) {
  const CoefLayout layout = layout_of(picture.info);
  if (!picture.lane) return output_.begin(layout, &picture.coefs);
  const Status status =
      output_.begin_on_device(layout, picture.lane->queue(), &picture.device_coefs);
  if (status.ok() || status.code == StatusCode::kDeviceLost) return status;
  // The host may have memory for one more frame.
  lanes_.give(std::move(picture.lane));
  picture.device_coefs = {};
  return output_.begin(layout, &picture.coefs);
}

// ---- Output ----

GstFlowReturn JpegDecoder::finish(std::unique_ptr<FrameJob> finished) {
  Picture picture(static_cast<DecodeJob*>(finished.release()));
  if (picture->is_late) return drop(std::move(picture));
  if (picture->status.ok() && picture->lacks_trailing()) picture->status = take_trailing(*picture);
  Status why =
      !picture->status.ok() || picture->is_good() ? picture->status : damaged(picture->damage);
  // A picture that was not to be concealed has no coefficients after the damage, even if on-error
  // has changed since.
  const bool is_whole = why.ok();
  const bool has_output = is_whole || (picture->is_decoded && picture->conceals &&
                                       why.code == StatusCode::kInvalidArgument);
  const Status refused = has_output ? query_downstream(*picture) : Status();
  if (is_whole) why = refused;
  if (is_whole) note_irregular(*picture);
  if (why.ok()) return push(std::move(picture));
  if (why.code != StatusCode::kCancelled) count(&JpegDecodeCounts::damaged);
  // A policy applies to damage only. Damage may also look like an unsupported kind of file: one
  // wrong bit of a header is enough, but it rarely hits the first picture.
  const bool is_damage = why.code == StatusCode::kInvalidArgument ||
                         (why.code == StatusCode::kUnsupported && damage_.seen_good());
  if (!is_damage) return reject(std::move(picture), why);
  switch (damage_.judge(settings().on_error, has_output && refused.ok(), why.message)) {
    case DamagePolicy::Verdict::kShow:
      return push(std::move(picture));
    case DamagePolicy::Verdict::kFail:
      discard(std::move(picture));
      return GST_FLOW_ERROR;
    case DamagePolicy::Verdict::kDrop:
      break;
  }
  count(&JpegDecodeCounts::dropped);
  return drop(std::move(picture));
}

// Of a file that looked like one picture, and so has not been refused before. The lane's work is
// over. Later pictures may have the rest of max-memory by now: until this one has been pushed, all
// together may exceed it by its trailing bytes.
Status JpegDecoder::take_trailing(DecodeJob& picture) const {
  picture.bytes -= std::exchange(picture.lane_bytes, 0);
  Status status = claim(picture, picture.trailing_size());
  if (status.ok()) status = picture.read_trailing();
  picture.is_decoded = status.ok();
  return status;
}

GstFlowReturn JpegDecoder::push(Picture picture) {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  const bool is_good = picture->is_good(), is_other = is_of_other_kind(*picture);
  const bool is_changed = gst_pad_check_reconfigure(src);
  if (is_changed) accepted_.clear();
  if (!negotiated_ || is_changed || !fits_output_state(*picture)) {
    set_output_state(picture->info, picture->dct_tables());
    negotiated_ = negotiate();
    if (!negotiated_) {
      discard(std::move(picture));
      return GST_PAD_IS_FLUSHING(src) ? GST_FLOW_FLUSHING
                                      : explain_refusal(GST_FLOW_NOT_NEGOTIATED);
    }
  }
  BufferPtr buffer;
  const Status status = make_buffer(*picture, &buffer);
  if (!status.ok()) return reject(std::move(picture), status);
  if (!is_good) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_CORRUPTED);
  pictures_.note_time(picture->took());
  const guint64 attachments =
      picture->trailing && picture->has_others() ? picture->others().count : 0;
  GstVideoCodecFrame* frame = picture->take_frame();
  release(*picture);
  picture.reset();
  frame->output_buffer = buffer.release();
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  count(&JpegDecodeCounts::frames);
  count(&JpegDecodeCounts::attachments, attachments);
  const GstFlowReturn flow = gst_video_decoder_finish_frame(decoder_, frame);
  is_refused_ = flow == GST_FLOW_NOT_NEGOTIATED;
  if (is_refused_) return is_other ? drop_refused() : explain_refusal(flow);
  if (is_good) damage_.note_good();
  return flow;
}

// Without timestamps. kCancelled: flushing.
Status JpegDecoder::make_buffer(DecodeJob& picture, BufferPtr* buffer) {
  limit_kept_memory();
  CoefPlaces places;
  if (picture.is_by_device)
    CT_RETURN_IF_ERROR(output_.finish_on_device(std::move(picture.device_coefs), buffer, &places));
  else
    CT_RETURN_IF_ERROR(output_.finish(std::move(picture.coefs), buffer, &places));
  count(picture.is_by_device ? &JpegDecodeCounts::by_cuda : &JpegDecodeCounts::by_cpu);
  add_dct_meta(buffer->get(), picture.info, picture.dct_tables(), places);
  add_jpeg_meta(buffer->get(), picture);
  return {};
}

GstFlowReturn JpegDecoder::drop(Picture picture) {
  GstVideoCodecFrame* frame = picture->take_frame();
  release(*picture);
  return gst_video_decoder_drop_frame(decoder_, frame);
}

// A picture that cannot be decoded, for a reason other than damage.
GstFlowReturn JpegDecoder::reject(Picture picture, const Status& why) {
  discard(std::move(picture));
  if (why.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
  post_error(GST_ELEMENT(decoder_), why);
  return GST_FLOW_ERROR;
}

// Downstream has refused the picture that was pushed, of another kind than those before it, though
// its answers to queries accepted the caps. It has dropped it, and the next one brings new caps.
GstFlowReturn JpegDecoder::drop_refused() {
  negotiated_ = false;
  const Status status = query_downstream();
  const std::string why = status.ok() ? "downstream rejected the caps" : status.message;
  GST_OBJECT_LOCK(decoder_);
  counts_.frames--;  // it has been counted as pushed
  counts_.damaged++;
  GST_OBJECT_UNLOCK(decoder_);
  if (damage_.judge(settings().on_error, false, why) == DamagePolicy::Verdict::kFail)
    return GST_FLOW_ERROR;
  count(&JpegDecodeCounts::dropped);
  return GST_FLOW_OK;
}

void JpegDecoder::discard(std::unique_ptr<FrameJob> given_up) {
  auto& picture = static_cast<DecodeJob&>(*given_up);
  gst_video_decoder_release_frame(decoder_, picture.take_frame());
  release(picture);
}

// Takes back what later pictures can use.
void JpegDecoder::release(DecodeJob& picture) {
  limit_kept_memory();
  // Memory of the lane and of the picture is in use until the work ends. Failed work is over.
  uint32_t irregular = 0;
  if (picture.is_on_device) (void)picture.lane->finish(&picture.is_by_device, &irregular);
  if (picture.reader && readers_.size() < kMaxReaders)
    readers_.push_back(std::move(picture.reader));
  if (picture.coefs) output_.discard(std::move(picture.coefs));
  if (picture.lane) output_.discard(std::move(picture.device_coefs), picture.lane->queue());
  lanes_.give(std::move(picture.lane));
}

// Irregular pictures are reported once: a camera writes all of its pictures alike.
void JpegDecoder::note_irregular(const DecodeJob& picture) {
  if (picture.irregular == 0) return;
  count(&JpegDecodeCounts::irregular);
  if (!std::exchange(has_reported_irregular_, true))
    GST_INFO_OBJECT(decoder_, "irregular picture: %s",
                    irregularity_text(picture.irregular).c_str());
}

// ---- Caps ----

bool JpegDecoder::decide_allocation(GstQuery* query) {
  // Deliberately not chaining up: the default would put our caps, which no pool knows, into a pool.
  const Status status = output_.allocate(query);
  return answer_allocation(decoder_, query, status, output_.pool());
}

// Call it with the output state set.
bool JpegDecoder::negotiate() {
  const CodecStatePtr state(gst_video_decoder_get_output_state(decoder_));
  pictures_.set_rate(state->info.fps_n, state->info.fps_d);
  // A flush invalidates an answer that downstream gave while it was flushing.
  return gst_video_decoder_negotiate(decoder_) &&
         !GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_));
}

// Sets caps for a gap before the first picture; a picture that differs changes them. False:
// downstream accepts none.
bool JpegDecoder::negotiate_gap() {
  GST_VIDEO_DECODER_STREAM_LOCK(decoder_);
  (void)drain();  // a failure shows again with the next picture
  bool possible = true;
  if (!CodecStatePtr(gst_video_decoder_get_output_state(decoder_))) {
    settings_ = settings();
    if (!pictures_.is_started()) start_workers();  // the latency depends on their number
    possible = set_gap_state();
    if (possible) negotiated_ = negotiate();
  }
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_);
  return possible;
}

bool JpegDecoder::set_gap_state() {
  const CapsPtr ours(gst_pad_get_pad_template_caps(GST_VIDEO_DECODER_SRC_PAD(decoder_)));
  CapsPtr caps(gst_pad_peer_query_caps(GST_VIDEO_DECODER_SRC_PAD(decoder_), ours.get()));
  GstDctInfo info;
  const GstStructure* file = input_ ? gst_caps_get_structure(input_->caps, 0) : nullptr;
  if (!jpeg_coefs_for_gap(std::move(caps), file, &info)) return false;
  GST_INFO_OBJECT(decoder_, "assuming %dx%d, %s for a gap before the first picture", info.width,
                  info.height, gst_coef_sampling_to_string(info.sampling));
  set_output_state(info, {});
  return true;
}

void JpegDecoder::set_output_state(const GstDctInfo& info, const DctTables& tables) {
  const CodecStatePtr state(gst_video_decoder_set_output_state(
      decoder_, GST_VIDEO_FORMAT_ENCODED, info.width, info.height, input_.get()));
  CapsPtr caps = make_caps(info, &state->info);
  if (tables_in_caps_ && tables.count > 0)
    written_tables_.write(caps.get(), tables, info.n_components);
  const bool in_cuda = choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, &caps);
  gst_caps_replace(&state->caps, caps.get());
  info_ = info;
  output_.configure(layout_of(info), in_cuda);
}

bool JpegDecoder::fits_output_state(const DecodeJob& picture) const {
  const bool tables_match =
      !tables_in_caps_ || written_tables_.same(picture.dct_tables(), picture.info.n_components);
  return tables_match && same_geometry(info_, picture.info);
}

// Whether a decoded picture needs other caps than those before it had, which downstream accepted.
bool JpegDecoder::is_of_other_kind(const DecodeJob& picture) const {
  return damage_.seen_good() && (is_refused_ || !fits_output_state(picture));
}

// In system memory. `input`: of the decoder's input; null: it is unknown.
CapsPtr JpegDecoder::make_caps(const GstDctInfo& info, const GstVideoInfo* input) const {
  CapsPtr caps(gst_dct_info_to_caps(&info));
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, input ? input->fps_n : 0,
                      input ? input->fps_d : 1, "pixel-aspect-ratio", GST_TYPE_FRACTION,
                      input ? input->par_n : 1, input ? input->par_d : 1, nullptr);
  // JPEG is BT.601 at full range (JFIF).
  if (is_ycbcr(info.sampling))
    gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, kJpegColorimetry, nullptr);
  return caps;
}

bool JpegDecoder::peer_takes_cuda(const GstDctInfo& info) const {
  CapsPtr caps(gst_dct_info_to_caps(&info));
  return choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, &caps);
}

// Whether downstream accepts a decoded picture's caps. If not, they are never set: the stream goes
// on with those that it has. The first kind is tried; a stream that begins with a wrong one fails.
// A query takes longer than decoding a small picture: where downstream has accepted two sizes of a
// kind, it is not queried for others.
Status JpegDecoder::query_downstream(const DecodeJob& picture) {
  if (!is_of_other_kind(picture)) return {};
  if (is_refused_) accepted_.clear();
  int& sizes = accepted_[{picture.info.sampling, picture.info.depth}];
  if (sizes >= 2) return {};
  CapsPtr caps = make_caps(picture.info, input_ ? &input_->info : nullptr);
  const DctTables tables = picture.dct_tables();
  if (tables_in_caps_ && tables.count > 0)
    WrittenTables().write(caps.get(), tables, picture.info.n_components);
  (void)choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, &caps);
  CT_RETURN_IF_ERROR(
      cudatransform::query_downstream(GST_VIDEO_DECODER_SRC_PAD(decoder_), caps.get()));
  sizes++;
  return {};
}

// Likewise the caps of the output state.
Status JpegDecoder::query_downstream() const {
  const CodecStatePtr state(gst_video_decoder_get_output_state(decoder_));
  if (!state || !state->caps) return {};
  return cudatransform::query_downstream(GST_VIDEO_DECODER_SRC_PAD(decoder_), state->caps);
}

// An error of ours names the caps that were refused. The source would report a negotiation error.
GstFlowReturn JpegDecoder::explain_refusal(GstFlowReturn flow) {
  const Status status = query_downstream();
  if (status.ok()) return flow;
  post_error(GST_ELEMENT(decoder_), status);
  return GST_FLOW_ERROR;
}

}  // namespace cudatransform
