// The decoding of pictures in jpegcoefdec: readers, the device's lanes, memory, and caps.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/codec.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/jpegcoefdec_private.h"
#include "gst/jpeg/refusal.h"
#include "gst/stream/decoder_memory.h"
#include "jpeg/irregular.h"

namespace cudatransform {

namespace {

constexpr size_t kMostReaders = 16;  // idle ones, each with CoefArrays::kMostKept or less

// In a smaller file, the chain of dependent codes takes as long as the whole file on the CPU.
constexpr gsize kLeastForDevice = 100'000;

void add_behind(GstDctJpegMeta* meta, const JpegPictureJob& job) {
  static_assert(GST_DCT_JPEG_MAX_ATTACHMENTS == kMostMpfPictures - 1);
  GstDctJpegPlace places[GST_DCT_JPEG_MAX_ATTACHMENTS];
  guint count = 0;
  if (job.has_others())
    for (const FilePlace& place : job.others().all())
      places[count++] = {place.begin - job.file().size(), place.size};
  gst_dct_jpeg_meta_set_behind(meta, job.behind.get(), places, count);
}

// Attaches the JPEG file's own data.
void add_jpeg_meta(GstBuffer* buffer, const JpegPictureJob& job) {
  static_assert(GST_DCT_JPEG_LEFT_OVER_BYTES == int{kJpegLeftOverBytes} &&
                GST_DCT_JPEG_STRAY_BYTES == int{kJpegStrayBytes} &&
                GST_DCT_JPEG_SCAN_PARAMETERS == int{kJpegScanParameters} &&
                GST_DCT_JPEG_MISSING_END == int{kJpegMissingEnd} &&
                GST_DCT_JPEG_USELESS_MARKER == int{kJpegUselessMarker} &&
                GST_DCT_JPEG_UNKNOWN_HEADER == int{kJpegUnknownHeader});
  // Without segments the meta of CMYK says that there was no Adobe marker.
  const bool is_cmyk = job.info.sampling == GST_COEF_SAMPLING_CMYK;
  if (!job.metadata && !job.behind && job.irregular == 0 && !is_cmyk) return;
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, job.metadata.get());
  if (!meta) return;
  meta->irregular = static_cast<GstDctJpegIrregularity>(job.irregular);
  if (job.behind) add_behind(meta, job);
}

GstCoefSampling sampling_of(const JpegHeader& header) {
  const bool has_k = header.color == JpegColor::kYcck;
  switch (header.color) {
    case JpegColor::kGray:
      return GST_COEF_SAMPLING_GRAYSCALE;
    case JpegColor::kRgb:
      return GST_COEF_SAMPLING_RGB;
    case JpegColor::kCmyk:
      return GST_COEF_SAMPLING_CMYK;
    case JpegColor::kYcbcr:
    case JpegColor::kYcck:
      break;
  }
  if (header.chroma_v == 2 && header.chroma_h == 2)
    return has_k ? GST_COEF_SAMPLING_YCCK_420 : GST_COEF_SAMPLING_420;
  if (header.chroma_v == 2) return has_k ? GST_COEF_SAMPLING_YCCK_440 : GST_COEF_SAMPLING_440;
  if (header.chroma_h == 2) return has_k ? GST_COEF_SAMPLING_YCCK_422 : GST_COEF_SAMPLING_422;
  if (header.chroma_v == 4) return has_k ? GST_COEF_SAMPLING_YCCK_441 : GST_COEF_SAMPLING_441;
  if (header.chroma_h == 4) return has_k ? GST_COEF_SAMPLING_YCCK_411 : GST_COEF_SAMPLING_411;
  return has_k ? GST_COEF_SAMPLING_YCCK_444 : GST_COEF_SAMPLING_444;
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
// of less width is simply a smaller one. If pictures say themselves that they are fields, the rows
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

Status JpegCodec::start(const JpegDecodeSettings& settings) {
  settings_ = settings;
  tables_in_caps_ = settings.tables_in_caps;
  by_cuda_ = by_cpu_ = 0;
  lanes_.clear();  // a device that failed before may work now
  if (settings.entropy != JpegEntropy::kCuda) return {};
  if (!engine_.is_cuda())
    return Status::error(StatusCode::kNotFound,
                         "entropy=cuda, but the element has no CUDA device to decode on");
  return lanes_.probe(engine_.device());
}

void JpegCodec::stop() {
  readers_.clear();
  lanes_.clear();
  output_.stop();
}

// A thread has finished with a picture when the device has it.
int JpegCodec::pictures_a_thread() const {
  return settings_.entropy != JpegEntropy::kCpu && engine_.is_cuda() ? 2 : 1;
}

// ---- On the way in ----

Status JpegCodec::read_header(JpegPictureJob& job, const GstVideoCodecState* input) {
  job.keep_metadata = settings_.keep_metadata;
  if (readers_.empty()) readers_.push_back(std::make_unique<JpegReader>());
  job.reader = std::move(readers_.back());
  readers_.pop_back();

  JpegHeader header;
  CT_RETURN_IF_ERROR(job.reader->read_header(job.file(), &header));
  const guint64 pixels = guint64(header.width) * header.height;
  if (settings_.max_pixels != 0 && pixels > settings_.max_pixels)
    return damaged("the picture has " + size_of(header) +
                   " pixels, more than max-pixels=" + std::to_string(settings_.max_pixels));
  if (!job.conceals && job.file().size() < header.least_bytes)
    return damaged("the data ends early: a picture of " + size_of(header) + " has at least " +
                   std::to_string(header.least_bytes) + " bytes, not " +
                   std::to_string(job.file().size()));
  job.irregular = header.irregular;
  if (!info_of(header, &job.info))
    return damaged("a picture of " + size_of(header) + " is too large for a buffer");
  CT_RETURN_IF_ERROR(job.claim(job.info.size + header.extra_bytes + job.behind_size(), header.width,
                               header.height));
  if (is_half_a_picture(header, input))
    return Status::error(StatusCode::kUnsupported,
                         "the stream has two fields in each frame; interlaced Motion-JPEG is not "
                         "supported");
  if (wants_device(job)) take_lane(job);
  return {};
}

bool JpegCodec::wants_device(const JpegPictureJob& job) const {
  if (!engine_.is_cuda() || settings_.entropy == JpegEntropy::kCpu) return false;
  if (settings_.entropy == JpegEntropy::kCuda) return true;
  if (job.file().size() < kLeastForDevice) return false;
  // Before the first caps the pool tells nothing.
  return output_.pool() ? output_.in_cuda() : peer_takes_cuda(job.info);
}

// Call it for a file that the device can decode.
void JpegCodec::take_lane(JpegPictureJob& job) {
  if (const Status status = lanes_.take(engine_.device(), &job.lane); !status.ok()) {
    GST_DEBUG_OBJECT(decoder_, "decoded by CPU: %s", status.message.c_str());
    return;
  }
  job.measured = job.lane->measure(job.file());
  if (job.measured == 0 || !job.claim_if_possible(job.lane->room_for(job.measured)))
    lanes_.give(std::move(job.lane));
}

bool JpegCodec::has_room(const JpegPictureJob& job) {
  if (settings_.max_memory == 0) {
    output_.limit_kept(G_MAXSIZE);
    return true;
  }
  // Pictures over the limit are refused elsewhere, so they pass here.
  const guint64 most = std::max(settings_.max_memory, job.bytes);
  const guint64 used = used_bytes_ + job.bytes;
  const guint64 reusable = job.lane ? 0 : output_.reusable(layout_of(job.info));
  output_.limit_kept((most > used ? most - used : 0) + reusable);
  return used <= most;
}

void JpegCodec::begin(JpegPictureJob& job) {
  if (!job.is_late && job.status.ok()) job.status = take_memory(job);
  job.held = job.bytes;
  used_bytes_ += job.held;
  const guint64 most = settings_.max_memory;
  if (most != 0) output_.limit_kept(most > used_bytes_ ? most - used_bytes_ : 0);
}

Status JpegCodec::take_memory(JpegPictureJob& job) {
  const CoefLayout layout = layout_of(job.info);
  if (!job.lane) return output_.begin(layout, &job.coefs);
  const Status status = output_.begin_on_device(layout, job.lane->queue(), &job.device_coefs);
  if (status.ok() || status.code == StatusCode::kDeviceLost) return status;
  // The host may have memory for one more frame.
  lanes_.give(std::move(job.lane));
  job.device_coefs = {};
  return output_.begin(layout, &job.coefs);
}

// ---- On the way out ----

Status JpegCodec::finish(JpegPictureJob& job, BufferPtr* buffer) {
  let_go(job);
  CoefPlaces places;
  if (job.is_by_device)
    CT_RETURN_IF_ERROR(output_.finish_on_device(std::move(job.device_coefs), buffer, &places));
  else
    CT_RETURN_IF_ERROR(output_.finish(std::move(job.coefs), buffer, &places));
  (job.is_by_device ? by_cuda_ : by_cpu_)++;
  add_dct_meta(buffer->get(), job.info, job.dct_tables(), places);
  add_jpeg_meta(buffer->get(), job);
  return {};
}

// Frees the picture's share of the limit, so that memory may be kept for the next picture.
void JpegCodec::let_go(JpegPictureJob& job) {
  used_bytes_ -= std::exchange(job.held, 0);
  if (settings_.max_memory > used_bytes_) output_.limit_kept(settings_.max_memory - used_bytes_);
}

void JpegCodec::release(JpegPictureJob& job) {
  let_go(job);
  // Memory of the lane and of the picture is in use until the work ends. Failed work is over.
  uint32_t irregular = 0;
  if (job.is_on_device) (void)job.lane->finish(&job.is_by_device, &irregular);
  if (job.reader && readers_.size() < kMostReaders) readers_.push_back(std::move(job.reader));
  if (job.coefs) output_.discard(std::move(job.coefs));
  if (job.lane) output_.discard(std::move(job.device_coefs), job.lane->queue());
  lanes_.give(std::move(job.lane));
}

// ---- Caps ----

bool JpegCodec::peer_takes_cuda(const GstDctInfo& info) const {
  CapsPtr caps(gst_dct_info_to_caps(&info));
  return choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, &caps);
}

bool JpegCodec::fits_output_state(const JpegPictureJob& job) const {
  const bool told = !tables_in_caps_ || told_.same(job.dct_tables(), job.info.n_components);
  return told && same_geometry(info_, job.info);
}

void JpegCodec::set_output_state(const JpegPictureJob& job, GstVideoCodecState* input) {
  set_state(job.info, job.dct_tables(), input);
}

bool JpegCodec::set_gap_state(GstVideoCodecState* input) {
  const CapsPtr ours(gst_pad_get_pad_template_caps(GST_VIDEO_DECODER_SRC_PAD(decoder_)));
  CapsPtr caps(gst_pad_peer_query_caps(GST_VIDEO_DECODER_SRC_PAD(decoder_), ours.get()));
  GstDctInfo info;
  const GstStructure* file = input ? gst_caps_get_structure(input->caps, 0) : nullptr;
  if (!jpeg_coefs_for_gap(std::move(caps), file, &info)) return false;
  GST_INFO_OBJECT(decoder_, "%dx%d, %s for a gap before the first picture", info.width, info.height,
                  gst_coef_sampling_to_string(info.sampling));
  set_state(info, {}, input);
  return true;
}

// In system memory. `input`: of the decoder's input; null: it is unknown.
CapsPtr JpegCodec::make_caps(const GstDctInfo& info, const GstVideoInfo* input) const {
  CapsPtr caps(gst_dct_info_to_caps(&info));
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, input ? input->fps_n : 0,
                      input ? input->fps_d : 1, "pixel-aspect-ratio", GST_TYPE_FRACTION,
                      input ? input->par_n : 1, input ? input->par_d : 1, nullptr);
  // JPEG is BT.601 at full range (JFIF).
  if (is_ycbcr(info.sampling))
    gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, kJpegColorimetry, nullptr);
  return caps;
}

Status JpegCodec::ask_downstream(const JpegPictureJob& job, const GstVideoCodecState* input) const {
  CapsPtr caps = make_caps(job.info, input ? &input->info : nullptr);
  const DctTables tables = job.dct_tables();
  if (tables_in_caps_ && tables.count > 0)
    ToldTables().tell(caps.get(), tables, job.info.n_components);
  (void)choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, &caps);
  return cudatransform::ask_downstream(GST_VIDEO_DECODER_SRC_PAD(decoder_), caps.get());
}

Status JpegCodec::ask_downstream() const {
  const CodecStatePtr state(gst_video_decoder_get_output_state(decoder_));
  if (!state || !state->caps) return {};
  return cudatransform::ask_downstream(GST_VIDEO_DECODER_SRC_PAD(decoder_), state->caps);
}

void JpegCodec::set_state(const GstDctInfo& info, const DctTables& tables,
                          GstVideoCodecState* input) {
  const CodecStatePtr state(gst_video_decoder_set_output_state(decoder_, GST_VIDEO_FORMAT_ENCODED,
                                                               info.width, info.height, input));
  CapsPtr caps = make_caps(info, &state->info);
  if (tables_in_caps_ && tables.count > 0) told_.tell(caps.get(), tables, info.n_components);
  const bool in_cuda = choose_memory(decoder_, engine_, MemoryChoice::kCudaWherePossible, &caps);
  gst_caps_replace(&state->caps, caps.get());
  info_ = info;
  output_.configure(layout_of(info), in_cuda);
}

}  // namespace cudatransform
