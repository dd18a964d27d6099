// JPEG pictures to buffers of coefficients: what a PictureDecoder asks of jpegcoefdec.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/codec.h"

#include <string>
#include <utility>

#include "gst/dct8x8/caps.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/jpegcoefdec_private.h"
#include "jpeg/metadata.h"
#include "transform/device/host_memory.h"

namespace cudatransform {

// A picture on its way.
struct JpegPictureJob final : PictureJob {
  ~JpegPictureJob() override {
    if (metadata) g_bytes_unref(metadata);
  }
  Status decode(PictureFindings* found) override;
  Status settle(bool wait, Left* left, PictureFindings* found) override;
  bool is_ready() override { return !is_on_device || lane->is_ready(); }
  Status submit_to_device();
  Status decode_on_cpu(PictureFindings* found);
  Status read_metadata();
  DctTables dct_tables() const { return {tables.tables, tables.count, tables.table_of}; }

  std::unique_ptr<JpegReader> reader;
  GstDctInfo info = {};              // of a picture that is to be decoded
  std::unique_ptr<CoefFrame> coefs;  // where it is decoded to
  // Or on the device.
  std::unique_ptr<JpegDecodeLane> lane;
  gsize measured = 0;
  DeviceCoefs device_coefs;
  bool is_asked = false;      // whether the device can
  bool is_on_device = false;  // and has not been looked at
  bool is_by_device = false;  // and has decoded it
  JpegTables tables;
  uint32_t irregular = 0;  // bits of jpeg/irregular.h; before it is decoded those of the header
  bool keep_metadata = false;
  GBytes* metadata = nullptr;  // of the file, for GstDctJpegMeta
};

Status JpegPictureJob::decode(PictureFindings* found) {
  if (device_coefs.block && !std::exchange(is_asked, true)) CT_RETURN_IF_ERROR(submit_to_device());
  if (!is_on_device) CT_RETURN_IF_ERROR(decode_on_cpu(found));
  return keep_metadata && !metadata ? read_metadata() : Status();
}

Status JpegPictureJob::submit_to_device() {
  JpegLevels levels[kJpegMaxComponents];
  for (guint c = 0; c < info.n_components; c++) {
    const Rect& rect = device_coefs.rects.rect[c];
    levels[c] = {reinterpret_cast<int16_t*>(rect.data), static_cast<ptrdiff_t>(rect.pitch),
                 info.components[c].blocks_w, info.components[c].blocks_h};
  }
  return lane->submit(measured, levels, &tables, &is_on_device);
}

// What the device has not decoded somebody else has to look at.
Status JpegPictureJob::settle(bool wait, Left* left, PictureFindings* found) {
  *left = Left::kNothing;
  if (!is_on_device) return {};
  if (!wait && !lane->is_ready()) {
    *left = Left::kWork;
    return {};
  }
  is_on_device = false;
  uint32_t found_there = 0;
  CT_RETURN_IF_ERROR(lane->finish(&is_by_device, &found_there));
  if (!is_by_device) {
    *left = Left::kRun;
    return {};
  }
  irregular |= found_there;
  found->irregular = irregularity_text(irregular);
  return {};
}

Status JpegPictureJob::decode_on_cpu(PictureFindings* found) {
  if (!coefs) {
    coefs = std::make_unique<CoefFrame>();
    coefs->layout = layout_of(info);
    CT_RETURN_IF_ERROR(allocate_host_memory(info.size, &coefs->pinned));
    coefs->data = static_cast<guint8*>(coefs->pinned->data());
  }
  JpegLevels levels[kJpegMaxComponents];
  for (guint c = 0; c < info.n_components; c++) {
    const GstDctComponent& component = info.components[c];
    levels[c].data = reinterpret_cast<int16_t*>(coefs->data + component.offset);
    levels[c].stride = static_cast<ptrdiff_t>(component.stride);
    levels[c].blocks_w = component.blocks_w;
    levels[c].blocks_h = component.blocks_h;
  }
  JpegFindings findings;
  const Status status =
      reader->read_coefficients(levels, &tables, &findings, {conceals(), interrupt()});
  irregular = findings.irregular;
  found->damage = std::move(findings.damage);
  found->irregular = irregularity_text(irregular);
  return status;
}

Status JpegPictureJob::read_metadata() {
  const size_t bytes = jpeg_metadata_size(data(), size());
  if (bytes == 0) return {};
  auto* segments = static_cast<uint8_t*>(g_try_malloc(bytes));
  if (!segments)
    return Status::error(StatusCode::kOutOfMemory, "no memory for the metadata of a picture");
  copy_jpeg_metadata(data(), size(), segments);
  metadata = g_bytes_new_take(segments, bytes);
  return {};
}

namespace {

constexpr size_t kMostReaders = 16;  // idle ones, each with CoefArrays::kMostKept or less

// In a smaller file the chain of codes that wait for each other is as long as the CPU takes.
constexpr gsize kLeastForDevice = 100'000;

// What is said of the file that was read.
void add_jpeg_meta(GstBuffer* buffer, const JpegPictureJob& job) {
  static_assert(GST_DCT_JPEG_LEFT_OVER_BYTES == int{kJpegLeftOverBytes} &&
                GST_DCT_JPEG_STRAY_BYTES == int{kJpegStrayBytes} &&
                GST_DCT_JPEG_SCAN_PARAMETERS == int{kJpegScanParameters} &&
                GST_DCT_JPEG_MISSING_END == int{kJpegMissingEnd} &&
                GST_DCT_JPEG_USELESS_MARKER == int{kJpegUselessMarker} &&
                GST_DCT_JPEG_UNKNOWN_HEADER == int{kJpegUnknownHeader});
  if (!job.metadata && job.irregular == 0) return;
  if (GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, job.metadata))
    meta->irregular = static_cast<GstDctJpegIrregularity>(job.irregular);
}

JpegPictureJob& own(PictureJob& job) { return static_cast<JpegPictureJob&>(job); }
const JpegPictureJob& own(const PictureJob& job) { return static_cast<const JpegPictureJob&>(job); }

// The geometry of the coefficients of a picture; false for a size that GstDctInfo cannot have.
bool info_of(const JpegHeader& header, GstDctInfo* info) {
  GstCoefSampling sampling = GST_COEF_SAMPLING_GRAYSCALE;
  if (header.color == JpegColor::kRgb)
    sampling = GST_COEF_SAMPLING_RGB;
  else if (header.color == JpegColor::kYcbcr && header.chroma_v == 1)
    sampling = header.chroma_h == 1   ? GST_COEF_SAMPLING_444
               : header.chroma_h == 2 ? GST_COEF_SAMPLING_422
                                      : GST_COEF_SAMPLING_411;
  else if (header.color == JpegColor::kYcbcr)
    sampling = header.chroma_h == 1 ? GST_COEF_SAMPLING_440 : GST_COEF_SAMPLING_420;
  return gst_dct_info_set(info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                          TRUE, 8, sampling, static_cast<gint>(header.width),
                          static_cast<gint>(header.height), nullptr);
}

bool same_geometry(const GstDctInfo& a, const GstDctInfo& b) {
  return a.sampling == b.sampling && a.width == b.width && a.height == b.height;
}

// Two fields a frame make the height that encloses them twice that of each picture, and leave the
// width: a picture that is less wide, too, is a smaller one. Where pictures say themselves that
// they are fields, the rows that fill up their last MCUs may count on either side.
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

std::unique_ptr<PictureJob> JpegCodec::new_job() { return std::make_unique<JpegPictureJob>(); }

Status JpegCodec::read_header(PictureJob& picture, const GstVideoCodecState* input) {
  JpegPictureJob& job = own(picture);
  job.keep_metadata = settings_.keep_metadata;
  if (readers_.empty()) readers_.push_back(std::make_unique<JpegReader>());
  job.reader = std::move(readers_.back());
  readers_.pop_back();

  JpegHeader header;
  CT_RETURN_IF_ERROR(job.reader->read_header(job.data(), job.size(), &header));
  const guint64 pixels = guint64(header.width) * header.height;
  if (settings_.max_pixels != 0 && pixels > settings_.max_pixels)
    return damaged("the picture has " + size_of(header) +
                   " pixels, more than max-pixels=" + std::to_string(settings_.max_pixels));
  if (!job.conceals() && job.size() < header.least_bytes)
    return damaged("the data ends early: a picture of " + size_of(header) + " has at least " +
                   std::to_string(header.least_bytes) + " bytes, not " +
                   std::to_string(job.size()));
  job.irregular = header.irregular;
  if (!info_of(header, &job.info))
    return damaged("a picture of " + size_of(header) + " is too large for a buffer");
  CT_RETURN_IF_ERROR(job.claim(job.info.size + header.extra_bytes, header.width, header.height));
  if (is_half_a_picture(header, input))
    return Status::error(StatusCode::kUnsupported,
                         "the stream has two fields in each frame; interlaced Motion-JPEG is not "
                         "supported");
  if (wants_device(job, job.info)) take_lane(&job);
  return {};
}

// For a file that the device can decode.
void JpegCodec::take_lane(JpegPictureJob* job) {
  if (const Status status = lanes_.take(engine_.device(), &job->lane); !status.ok()) {
    GST_DEBUG_OBJECT(decoder_, "decoded by CPU: %s", status.message.c_str());
    return;
  }
  job->measured = job->lane->measure(job->data(), job->size());
  if (job->measured == 0 || !job->claim_if_possible(job->lane->room_for(job->measured)))
    lanes_.give(std::move(job->lane));
}

bool JpegCodec::wants_device(const PictureJob& job, const GstDctInfo& info) const {
  if (!engine_.is_cuda() || settings_.entropy == JpegEntropy::kCpu) return false;
  if (settings_.entropy == JpegEntropy::kCuda) return true;
  if (job.size() < kLeastForDevice) return false;
  // Nothing is known before the first caps.
  return output_.pool() ? output_.in_cuda() : peer_takes_cuda(info);
}

bool JpegCodec::peer_takes_cuda(const GstDctInfo& info) const {
  bool takes = false;
  GstCaps* caps = in_wanted_memory(gst_dct_info_to_caps(&info), &takes);
  gst_caps_unref(caps);
  return takes;
}

Status JpegCodec::start(JpegEntropy entropy) {
  by_cuda_ = by_cpu_ = 0;
  lanes_.clear();  // what could not be done before may be possible now
  if (entropy != JpegEntropy::kCuda) return {};
  if (!engine_.is_cuda())
    return Status::error(StatusCode::kNotFound,
                         "entropy=cuda, but the element has no CUDA device to decode on");
  return lanes_.probe(engine_.device());
}

Status JpegCodec::begin(PictureJob& picture) {
  JpegPictureJob& job = own(picture);
  const CoefLayout layout = layout_of(job.info);
  if (!job.lane) return output_.begin(layout, &job.coefs);
  const Status status = output_.begin_on_device(layout, job.lane->queue(), &job.device_coefs);
  if (status.ok() || status.code == StatusCode::kDeviceLost) return status;
  // There may be memory for one frame more on the host.
  lanes_.give(std::move(job.lane));
  job.device_coefs = {};
  return output_.begin(layout, &job.coefs);
}

Status JpegCodec::finish(PictureJob& picture, GstBuffer** buffer) {
  JpegPictureJob& job = own(picture);
  BufferPtr made;
  CoefPlaces places;
  if (job.is_by_device)
    CT_RETURN_IF_ERROR(output_.finish_on_device(std::move(job.device_coefs), &made, &places));
  else
    CT_RETURN_IF_ERROR(output_.finish(std::move(job.coefs), &made, &places));
  (job.is_by_device ? by_cuda_ : by_cpu_)++;
  add_dct_meta(made.get(), job.info, job.dct_tables(), places);
  add_jpeg_meta(made.get(), job);
  *buffer = made.release();
  return {};
}

void JpegCodec::release(PictureJob& picture) {
  JpegPictureJob& job = own(picture);
  // Memory of the lane and of the picture is in use as long as that. What has failed is over.
  uint32_t irregular = 0;
  if (job.is_on_device) (void)job.lane->finish(&job.is_by_device, &irregular);
  if (job.reader && readers_.size() < kMostReaders) readers_.push_back(std::move(job.reader));
  if (job.coefs) output_.discard(std::move(job.coefs));
  if (job.lane) output_.discard(std::move(job.device_coefs), job.lane->queue());
  lanes_.give(std::move(job.lane));
}

guint64 JpegCodec::reusable(const PictureJob& job) const {
  if (own(job).lane) return 0;
  return output_.reusable(layout_of(own(job).info));
}

void JpegCodec::stop() {
  readers_.clear();
  lanes_.clear();
  output_.stop();
}

Status JpegCodec::allocate(GstQuery* query, GstBufferPool** pool) {
  CT_RETURN_IF_ERROR(output_.allocate(query));
  *pool = output_.pool();
  return {};
}

// ---- Caps ----

bool JpegCodec::needs_new_state(const PictureJob& picture) {
  const JpegPictureJob& job = own(picture);
  const bool told = !tables_in_caps_ || told_.same(job.dct_tables(), job.info.n_components);
  return !told || !same_geometry(info_, job.info);
}

void JpegCodec::set_output_state(const PictureJob& job, GstVideoCodecState* input) {
  set_state(own(job).info, own(job).dct_tables(), input);
}

bool JpegCodec::set_gap_state(GstVideoCodecState* input) {
  GstPad* src = GST_VIDEO_DECODER_SRC_PAD(decoder_);
  GstCaps* all = gst_pad_get_pad_template_caps(src);
  GstCaps* caps = gst_pad_peer_query_caps(src, all);
  gst_caps_unref(all);
  GstDctInfo info;
  if (!jpeg_levels_for_gap(caps, input ? gst_caps_get_structure(input->caps, 0) : nullptr, &info))
    return false;
  GST_INFO_OBJECT(decoder_, "%dx%d, %s for a gap before the first picture", info.width, info.height,
                  gst_coef_sampling_to_string(info.sampling));
  set_state(info, {}, input);
  return true;
}

// On the device if our engine is there and downstream takes them; `caps` is taken.
GstCaps* JpegCodec::in_wanted_memory(GstCaps* caps, bool* in_cuda) const {
  *in_cuda = false;
  if (!engine_.is_cuda()) return caps;
  GstCaps* cuda = gst_caps_copy(caps);
  gst_caps_set_features_simple(cuda, gst_caps_features_new(kCudaMemoryFeature, nullptr));
  GstCaps* allowed = gst_pad_get_allowed_caps(GST_VIDEO_DECODER_SRC_PAD(decoder_));
  *in_cuda = allowed && gst_caps_can_intersect(allowed, cuda);
  gst_clear_caps(&allowed);
  if (*in_cuda) std::swap(caps, cuda);
  gst_caps_unref(cuda);
  return caps;
}

void JpegCodec::set_state(const GstDctInfo& info, const DctTables& tables,
                          GstVideoCodecState* input) {
  GstVideoCodecState* state = gst_video_decoder_set_output_state(decoder_, GST_VIDEO_FORMAT_ENCODED,
                                                                 info.width, info.height, input);
  GstCaps* caps = gst_dct_info_to_caps(&info);
  gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, state->info.fps_n, state->info.fps_d,
                      "pixel-aspect-ratio", GST_TYPE_FRACTION, state->info.par_n, state->info.par_d,
                      nullptr);
  // JPEG is BT.601 at full range (JFIF).
  if (info.sampling != GST_COEF_SAMPLING_GRAYSCALE && info.sampling != GST_COEF_SAMPLING_RGB)
    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, kJpegColorimetry, nullptr);
  if (tables_in_caps_ && tables.count > 0) told_.tell(caps, tables, info.n_components);
  bool in_cuda = false;
  caps = in_wanted_memory(caps, &in_cuda);
  gst_caps_replace(&state->caps, caps);
  gst_caps_unref(caps);
  gst_video_codec_state_unref(state);
  info_ = info;
  output_.configure(layout_of(info), in_cuda);
}

}  // namespace cudatransform
