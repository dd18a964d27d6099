// The frames of jpegcoefdec: what is decoded where, in which order it is pushed, what is damaged.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/jpegcoefdec_frames.h"

#include <algorithm>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/engine/debug.h"
#include "gst/engine/element_errors.h"
#include "gst/engine/one_piece.h"
#include "gst/jpeg/caps.h"
#include "gst/stream/latency.h"
#include "jpeg/metadata.h"

namespace cudatransform {
namespace {

// The geometry of the coefficients of a picture; false for a size that GstDctInfo cannot have.
bool info_of(const JpegHeader& header, GstDctInfo* info) {
  GstDctSampling sampling = GST_DCT_SAMPLING_GRAYSCALE;
  if (header.color == JpegColor::kRgb)
    sampling = GST_DCT_SAMPLING_RGB;
  else if (header.color == JpegColor::kYcbcr && header.chroma_v == 1)
    sampling = header.chroma_h == 1   ? GST_DCT_SAMPLING_444
               : header.chroma_h == 2 ? GST_DCT_SAMPLING_422
                                      : GST_DCT_SAMPLING_411;
  else if (header.color == JpegColor::kYcbcr)
    sampling = header.chroma_h == 1 ? GST_DCT_SAMPLING_440 : GST_DCT_SAMPLING_420;
  return gst_dct_info_set(info, GST_DCT_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                          TRUE, 8, sampling, static_cast<gint>(header.width),
                          static_cast<gint>(header.height));
}

bool same_geometry(const GstDctInfo& a, const GstDctInfo& b) {
  return a.sampling == b.sampling && a.width == b.width && a.height == b.height;
}

// Two fields a frame make a container's height twice that of each picture.
bool is_half_a_picture(const JpegHeader& header, int caps_height) {
  if (caps_height <= 0) return header.is_field;
  const auto twice = static_cast<int64_t>(header.height) * 2;
  return caps_height > 1 && (twice == caps_height || twice == caps_height + 1);
}

constexpr size_t kMostReaders = 16;  // idle ones, each with CoefArrays::kMostKept or less

}  // namespace

// One picture. run() is all that other threads do.
struct JpegFrames::Job final : FrameJob {
  ~Job() override {
    if (GstVideoCodecFrame* left = take_frame()) gst_video_codec_frame_unref(left);
    if (metadata) g_bytes_unref(metadata);
  }
  // The frame, unmapped and the caller's; null once it has been taken.
  GstVideoCodecFrame* take_frame() {
    if (mapped) gst_buffer_unmap(file.get(), &map);
    mapped = false;
    file.reset();
    return std::exchange(frame, nullptr);
  }
  void run() override {
    if (!status.ok() || late) return;
    if (*reading.interrupt != 0) {
      status = Status::error(StatusCode::kCancelled, "interrupted");
      return;
    }
    JpegLevels levels[kJpegMaxComponents];
    for (guint c = 0; c < info.n_components; c++) {
      const GstDctComponent& component = info.components[c];
      levels[c].data = reinterpret_cast<int16_t*>(coefs->data + component.offset);
      levels[c].stride = static_cast<ptrdiff_t>(component.stride);
      levels[c].blocks_w = component.blocks_w;
      levels[c].blocks_h = component.blocks_h;
    }
    status = reader->read_coefficients(levels, &tables, &damage, reading);
    decoded = true;
    if (status.ok() && keep_metadata) status = read_metadata();
  }
  Status read_metadata() {
    const size_t size = jpeg_metadata_size(map.data, map.size);
    if (size == 0) return {};
    auto* bytes = static_cast<uint8_t*>(g_try_malloc(size));
    if (!bytes)
      return Status::error(StatusCode::kOutOfMemory, "no memory for the metadata of a picture");
    copy_jpeg_metadata(map.data, map.size, bytes);
    metadata = g_bytes_new_take(bytes, size);
    return {};
  }

  GstVideoCodecFrame* frame = nullptr;
  BufferPtr file;  // the frame's input buffer, or its bytes in one piece
  bool mapped = false;
  GstMapInfo map = {};
  std::unique_ptr<JpegReader> reader;
  std::unique_ptr<CoefFrame> coefs;
  GstDctInfo info = {};  // of a picture that is to be decoded
  JpegReading reading;   // likewise
  guint64 bytes = 0;     // of max-memory
  Status status;         // of the decoder, or of what came before it
  std::string damage;    // of a picture that has been decoded
  bool decoded = false;
  bool late = false;  // dropped without having been decoded
  bool keep_metadata = false;
  GBytes* metadata = nullptr;  // of the file, for GstDctJpegMeta
  JpegTables tables;
};

void JpegFrames::start() {
  interrupts_ = 0;
  failed_ = GST_FLOW_OK;
  negotiated_ = seen_good_ = false;
  bad_in_row_ = 0;
  last_pts_ = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK(decoder_);
  counts_ = JpegCounts();
  GST_OBJECT_UNLOCK(decoder_);
}

void JpegFrames::stop() {
  flush();
  workers_.stop();
  started_ = false;
  readers_.clear();
  source_.stop();
  set_input(nullptr);
}

void JpegFrames::set_input(GstVideoCodecState* state) {
  if (input_) gst_video_codec_state_unref(input_);
  input_ = state ? gst_video_codec_state_ref(state) : nullptr;
  // The caps that come out depend on those that come in.
  negotiated_ = false;
}

Status JpegFrames::allocate(GstQuery* query, GstBufferPool** pool) {
  CT_RETURN_IF_ERROR(source_.allocate(query));
  *pool = source_.pool();
  return {};
}

JpegCounts JpegFrames::counts() const {
  GST_OBJECT_LOCK(decoder_);
  const JpegCounts counts = counts_;
  GST_OBJECT_UNLOCK(decoder_);
  return counts;
}

void JpegFrames::start_workers(guint n_threads) {
  const int threads = picture_threads(GST_VIDEO_DECODER_SINK_PAD(decoder_), n_threads);
  if (!workers_.start(threads)) workers_.start(1);
  started_ = true;
  GST_INFO_OBJECT(decoder_, "%d pictures at a time", workers_.threads());
}

// Everything that has to be known before the picture can be decoded.
Status JpegFrames::prepare(GstVideoCodecFrame* frame, const JpegSettings& settings, Job* job) {
  const auto damaged = [](const std::string& what) {
    return Status::error(StatusCode::kInvalidArgument, what);
  };
  job->keep_metadata = settings.keep_metadata;
  CT_RETURN_IF_ERROR(in_one_piece(frame->input_buffer, &job->file));
  job->mapped = gst_buffer_map(job->file.get(), &job->map, GST_MAP_READ);
  if (!job->mapped)
    return Status::error(StatusCode::kFailed, "a buffer of JPEG data could not be mapped");
  if (readers_.empty()) readers_.push_back(std::make_unique<JpegReader>());
  job->reader = std::move(readers_.back());
  readers_.pop_back();

  JpegHeader header;
  CT_RETURN_IF_ERROR(job->reader->read_header(job->map.data, job->map.size, &header));
  const guint64 pixels = guint64(header.width) * header.height;
  if (settings.max_pixels != 0 && pixels > settings.max_pixels)
    return damaged("the picture has " + std::to_string(header.width) + "x" +
                   std::to_string(header.height) +
                   " pixels, more than max-pixels=" + std::to_string(settings.max_pixels));
  if (settings.on_error != OnError::kConceal && job->map.size < header.least_bytes)
    return damaged("the data ends early: a picture of " + std::to_string(header.width) + "x" +
                   std::to_string(header.height) + " has at least " +
                   std::to_string(header.least_bytes) + " bytes, not " +
                   std::to_string(job->map.size));
  if (!info_of(header, &job->info)) return damaged("the picture has an impossible size");
  const guint64 needed = job->bytes + job->info.size + header.extra_bytes;
  if (settings.max_memory != 0 && needed > settings.max_memory)
    return damaged("the picture has " + std::to_string(header.width) + "x" +
                   std::to_string(header.height) + " pixels and needs " + std::to_string(needed) +
                   " bytes, more than max-memory=" + std::to_string(settings.max_memory));
  if (is_half_a_picture(header, input_ ? GST_VIDEO_INFO_HEIGHT(&input_->info) : 0))
    return Status::error(StatusCode::kUnsupported,
                         "the stream has two fields in each frame; interlaced Motion-JPEG is not "
                         "supported");
  job->bytes = needed;
  job->reading = {settings.on_error == OnError::kConceal, &interrupts_};
  return {};
}

// Pushes pictures until there is room for what `job` needs. Memory that is kept for pictures to
// come is what goes first, all but what this one will use.
GstFlowReturn JpegFrames::make_room(const Job& job, const JpegSettings& settings) {
  most_bytes_ = settings.max_memory;
  if (most_bytes_ == 0) {
    source_.limit_kept(G_MAXSIZE);
    return GST_FLOW_OK;
  }
  const guint64 most = std::max(most_bytes_, job.bytes);  // refused pictures are not too large here
  for (bool found = true;;) {
    const guint64 used = used_bytes_ + job.bytes;
    source_.limit_kept((most > used ? most - used : 0) + source_.reusable(layout_of(job.info)));
    if (used <= most || !found) return GST_FLOW_OK;
    if (const GstFlowReturn flow = push_oldest(true, settings, &found); flow != GST_FLOW_OK)
      return flow;
  }
}

void JpegFrames::submit(std::unique_ptr<Job> job) {
  used_bytes_ += job->bytes;
  if (most_bytes_ != 0)
    source_.limit_kept(most_bytes_ > used_bytes_ ? most_bytes_ - used_bytes_ : 0);
  workers_.submit(std::move(job));
}

std::unique_ptr<JpegFrames::Job> JpegFrames::take(bool wait) {
  std::unique_ptr<FrameJob> done = workers_.take(wait);
  if (!done) return nullptr;
  std::unique_ptr<Job> job(static_cast<Job*>(done.release()));
  used_bytes_ -= job->bytes;
  // What it leaves behind may be kept for the next.
  if (most_bytes_ > used_bytes_) source_.limit_kept(most_bytes_ - used_bytes_);
  return job;
}

GstFlowReturn JpegFrames::decode(GstVideoCodecFrame* frame, const JpegSettings& settings,
                                 bool late) {
  if (failed()) {
    gst_video_decoder_release_frame(decoder_, frame);
    return failed_;
  }
  if (!started_) start_workers(settings.n_threads);
  // Of two pictures in a buffer that has a time the second has none, and the base class would give
  // it that of a later one which is on its way already. Damage can split a picture like that.
  if (GST_CLOCK_TIME_IS_VALID(frame->pts))
    last_pts_ = frame->pts;
  else if (framed_)
    frame->pts = last_pts_;
  auto job = std::make_unique<Job>();
  job->late = late;
  job->frame = frame;
  job->bytes = gst_buffer_get_size(frame->input_buffer);
  if (!late) job->status = prepare(frame, settings, job.get());
  if (const GstFlowReturn flow = make_room(*job, settings); flow != GST_FLOW_OK) {
    gst_video_decoder_release_frame(decoder_, job->take_frame());
    release(std::move(job));
    return flow;
  }
  if (!late && job->status.ok()) job->status = source_.begin(layout_of(job->info), &job->coefs);
  submit(std::move(job));
  return push_done(false, settings);
}

GstFlowReturn JpegFrames::drain(const JpegSettings& settings) { return push_done(true, settings); }

// `*found`: whether there was one that is done.
GstFlowReturn JpegFrames::push_oldest(bool wait, const JpegSettings& settings, bool* found) {
  std::unique_ptr<Job> job = take(wait);
  *found = job != nullptr;
  if (!job) return GST_FLOW_OK;
  const GstFlowReturn flow = finish(std::move(job), settings);
  return is_fatal(flow) ? fail(flow) : flow;
}

GstFlowReturn JpegFrames::push_done(bool all, const JpegSettings& settings) {
  GstFlowReturn flow = failed_;
  for (bool found = true; found && flow == GST_FLOW_OK;)
    flow = push_oldest(all || workers_.full(), settings, &found);
  return flow;
}

// Were those behind the error pushed, there would be a hole in the stream that nobody can see.
GstFlowReturn JpegFrames::fail(GstFlowReturn flow) {
  failed_ = flow;
  interrupts_ |= kFailed;
  while (std::unique_ptr<Job> job = take(true)) {
    gst_video_decoder_release_frame(decoder_, job->take_frame());
    release(std::move(job));
  }
  return flow;
}

void JpegFrames::flush() {
  while (std::unique_ptr<Job> job = take(true)) release(std::move(job));
  interrupts_ &= ~kFailed;
  failed_ = GST_FLOW_OK;
  last_pts_ = GST_CLOCK_TIME_NONE;
}

// Keeps what the next picture can use.
void JpegFrames::release(std::unique_ptr<Job> job) {
  if (job->reader && readers_.size() < kMostReaders) readers_.push_back(std::move(job->reader));
  if (job->coefs) source_.discard(std::move(job->coefs));
}

GstFlowReturn JpegFrames::finish(std::unique_ptr<Job> job, const JpegSettings& settings) {
  if (job->late) return gst_video_decoder_drop_frame(decoder_, job->take_frame());
  const bool good = job->status.ok() && job->damage.empty();
  // Of others there are no coefficients behind the damage, even if they were to be shown by now.
  const bool damaged = job->decoded && job->reading.past_damage &&
                       (job->status.ok() || job->status.code == StatusCode::kInvalidArgument);
  const bool shown = good || (damaged && settings.on_error == OnError::kConceal);
  if (!good && job->status.code != StatusCode::kCancelled) {
    GST_OBJECT_LOCK(decoder_);
    counts_.damaged++;
    GST_OBJECT_UNLOCK(decoder_);
  }
  if (!shown) return reject(std::move(job), settings);
  if (good) {
    bad_in_row_ = 0;
    seen_good_ = true;
  } else {
    GST_INFO_OBJECT(decoder_, "concealing a damaged picture: %s", job->damage.c_str());
  }
  return push(std::move(job));
}

// A picture that is not shown: an error or, by default, a warning.
GstFlowReturn JpegFrames::reject(std::unique_ptr<Job> job, const JpegSettings& settings) {
  const StatusCode code = job->status.ok() ? StatusCode::kInvalidArgument : job->status.code;
  const std::string what = job->status.ok() ? job->damage : job->status.message;
  GstVideoCodecFrame* frame = job->take_frame();
  release(std::move(job));

  // Only damage is a matter of opinion. A kind of JPEG that we cannot hold may be damage, too: one
  // wrong bit of a header is enough, but hardly of the first picture's.
  if (code == StatusCode::kCancelled) {
    gst_video_decoder_release_frame(decoder_, frame);
    return GST_FLOW_FLUSHING;
  }
  const bool kind = code == StatusCode::kUnsupported && !seen_good_;
  if (kind || (code != StatusCode::kInvalidArgument && code != StatusCode::kUnsupported)) {
    gst_video_decoder_release_frame(decoder_, frame);
    post_error(GST_ELEMENT(decoder_), Status::error(code, what));
    return GST_FLOW_ERROR;
  }
  const gint most = gst_video_decoder_get_max_errors(decoder_);
  bad_in_row_++;
  if (settings.on_error == OnError::kFail || (most >= 0 && bad_in_row_ > guint(most))) {
    gst_video_decoder_release_frame(decoder_, frame);
    GST_ELEMENT_ERROR(decoder_, STREAM, DECODE, ("A JPEG picture is damaged: %s", what.c_str()),
                      ("%u in a row", bad_in_row_));
    return GST_FLOW_ERROR;
  }
  GST_OBJECT_LOCK(decoder_);
  counts_.dropped++;
  GST_OBJECT_UNLOCK(decoder_);
  // One message for a run of bad pictures: a bus may have no reader.
  if (bad_in_row_ == 1)
    GST_ELEMENT_WARNING(decoder_, STREAM, DECODE,
                        ("Dropped a damaged JPEG picture: %s", what.c_str()), (nullptr));
  else
    GST_WARNING_OBJECT(decoder_, "dropped a damaged picture: %s", what.c_str());
  return gst_video_decoder_drop_frame(decoder_, frame);
}

GstFlowReturn JpegFrames::push(std::unique_ptr<Job> job) {
  const DctTables tables = {job->tables.tables, job->tables.count, job->tables.table_of};
  const GstDctInfo& info = job->info;
  const bool other_tables = tables_in_caps_ && !told_.same(tables, info.n_components);
  if (!negotiated_ || other_tables || !same_geometry(info_, info) ||
      gst_pad_check_reconfigure(GST_VIDEO_DECODER_SRC_PAD(decoder_))) {
    negotiated_ = negotiate(info, tables);
    if (!negotiated_) {
      gst_video_decoder_release_frame(decoder_, job->take_frame());
      release(std::move(job));
      return GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder_)) ? GST_FLOW_FLUSHING
                                                                      : GST_FLOW_NOT_NEGOTIATED;
    }
  }
  BufferPtr buffer;
  CoefPlaces places;
  const Status status = source_.finish(std::move(job->coefs), &buffer, &places);
  if (status.ok()) add_dct_meta(buffer.get(), info, tables, places);
  if (status.ok() && job->metadata) gst_buffer_add_dct_jpeg_meta(buffer.get(), job->metadata);
  GstVideoCodecFrame* frame = job->take_frame();
  const bool damaged = !job->status.ok() || !job->damage.empty();
  release(std::move(job));
  if (!status.ok()) {
    gst_video_decoder_release_frame(decoder_, frame);
    if (status.code == StatusCode::kCancelled) return GST_FLOW_FLUSHING;
    post_error(GST_ELEMENT(decoder_), status);
    return GST_FLOW_ERROR;
  }
  if (damaged) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_CORRUPTED);
  frame->output_buffer = buffer.release();
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  GST_OBJECT_LOCK(decoder_);
  counts_.frames++;
  GST_OBJECT_UNLOCK(decoder_);
  return gst_video_decoder_finish_frame(decoder_, frame);
}

// Caps for coefficients of `info`: on the device if our engine is there and the peer takes them.
bool JpegFrames::negotiate(const GstDctInfo& info, const DctTables& tables) {
  const int threads = workers_.threads();
  GstVideoCodecState* state = gst_video_decoder_set_output_state(decoder_, GST_VIDEO_FORMAT_ENCODED,
                                                                 info.width, info.height, input_);
  GstCaps* caps = gst_dct_info_to_caps(&info);
  gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, state->info.fps_n, state->info.fps_d,
                      "pixel-aspect-ratio", GST_TYPE_FRACTION, state->info.par_n, state->info.par_d,
                      nullptr);
  // JPEG is BT.601 at full range (JFIF).
  if (info.sampling != GST_DCT_SAMPLING_GRAYSCALE && info.sampling != GST_DCT_SAMPLING_RGB)
    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, kJpegColorimetry, nullptr);
  if (tables_in_caps_ && tables.count > 0) told_.tell(caps, tables, info.n_components);
  bool in_cuda = false;
  if (engine_.is_cuda()) {
    GstCaps* cuda = gst_caps_copy(caps);
    gst_caps_set_features_simple(cuda, gst_caps_features_new(kCudaMemoryFeature, nullptr));
    GstCaps* allowed = gst_pad_get_allowed_caps(GST_VIDEO_DECODER_SRC_PAD(decoder_));
    in_cuda = allowed && gst_caps_can_intersect(allowed, cuda);
    gst_clear_caps(&allowed);
    if (in_cuda) std::swap(caps, cuda);
    gst_caps_unref(cuda);
  }
  gst_caps_replace(&state->caps, caps);
  gst_caps_unref(caps);
  // A picture leaves at the latest when as many have come behind it as there are other threads.
  const GstClockTime latency =
      latency_of(static_cast<guint>(threads - 1), state->info.fps_n, state->info.fps_d);
  gst_video_decoder_set_latency(decoder_, latency, latency);
  gst_video_codec_state_unref(state);
  info_ = info;
  source_.configure(layout_of(info), in_cuda);
  return gst_video_decoder_negotiate(decoder_);
}

}  // namespace cudatransform
