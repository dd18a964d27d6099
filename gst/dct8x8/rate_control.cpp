// The rate control of cudadct8x8: the scale of a frame's tables, by the size of its JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/rate_control.h"

#include <algorithm>
#include <string>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/debug.h"
#include "transform/dct8x8/table_scale.h"
#include "transform/ratecontrol/size_search.h"
#if CT_HAVE_JPEG
#include "gst/dct8x8/file_query.h"
#include "jpeg/file_size.h"
#if CT_HAVE_CUDA
#include "cuda/jpeg/encode_engine.h"
#include "cuda/ratecontrol/engine.h"
#endif
#endif

namespace cudatransform {
namespace {

// Of a file over its symbols' bits, by stuffed bytes: what photographs have.
constexpr double kFirstGrowth = 1.0035;
// vbv-buf-capacity=0.
constexpr double kUsualSeconds = 0.6;
constexpr double kLeastFrames = 2, kUsualFrames = 4;

// What rd decides takes several times as long as counting it. Its files are smaller than those of
// a dead zone by a part that hardly changes from scale to scale.
constexpr int kCountedDeadZone = 600;
[[maybe_unused]] Quantizer counted_quantizer(Quantizer quantizer) {
  return quantizer == Quantizer::kRd ? Quantizer::kDeadZone : quantizer;
}

const char* first_property(const RateSettings& rate) {
  return rate.bitrate ? "bitrate" : rate.target_size ? "target-size" : "max-size";
}

Status refuse(const std::string& message) {
  return Status::error(StatusCode::kInvalidSetting, message);
}

std::string text(const char* property, guint value) {
  return std::string(property) + "=" + std::to_string(value);
}

}  // namespace

Status check_rate(const RateSettings& rate, const QuantSettings& quant, bool tables_in_caps) {
  if (rate.min_quality > rate.max_quality)
    return refuse(text("min-quality", rate.min_quality) + " is above " +
                  text("max-quality", rate.max_quality));
  if (!rate.is_on()) return {};
  const std::string name = first_property(rate);
#if !CT_HAVE_JPEG
  return refuse(name + " needs a build with libjpeg");
#endif
  if (rate.target_size && rate.bitrate)
    return refuse("bitrate and target-size both say how large pictures are to be; set one to 0");
  if (rate.max_size && rate.target_size > rate.max_size)
    return refuse(text("target-size", rate.target_size) + " is above " +
                  text("max-size", rate.max_size));
  if (tables_in_caps)
    return refuse(name + " makes new tables for each frame, which are no caps: " +
                  "tables-in-caps has to be false");
  const char* fixed = !quant.file.empty()          ? "qtable-file"
                      : quant.luma                 ? "luma-qtable"
                      : quant.chroma               ? "chroma-qtable"
                      : !is_scalable(quant.preset) ? "this quant-preset"
                                                   : nullptr;
  if (fixed)
    return refuse(name + " scales the tables of quant-preset=annex-k or perceptual, not those of " +
                  fixed);
  return {};
}

#if CT_HAVE_JPEG

struct RateControl::Sizes {
  const Dct8x8Ops* ops = nullptr;
  Dct8x8Job job;
  FrameTables* tables = nullptr;
  Quantizer quantizer = Quantizer::kRound;
  JpegFileSize file;
  JpegPicture picture;
  JpegOptions options;
  bool is_begun = false;
  uint32_t finest = 0, coarsest = 0;  // scales
#if CT_HAVE_CUDA
  RateCountJob candidates;
#endif
  std::unique_ptr<Memory> levels;

  // The picture of `info` and its job, with levels in memory of our own.
  void describe(const GstDctInfo& info);
};

void RateControl::Sizes::describe(const GstDctInfo& info) {
  picture.width = info.width;
  picture.height = info.height;
  picture.color = jpeg_color_of(info.sampling);
  picture.h_samp = info.components[0].h_samp;
  picture.v_samp = info.components[0].v_samp;
  auto* data = static_cast<int16_t*>(levels->data());
  for (int c = 0; c < job.components; c++) {
    const guint blocks_w = info.components[c].blocks_w, blocks_h = info.components[c].blocks_h;
    const auto stride = static_cast<ptrdiff_t>(blocks_w * 64 * sizeof(int16_t));
    picture.levels[c] = {data, stride, blocks_w, blocks_h};
    picture.tables[c] = job.tables[tables->table_of[c]].q;
    CoefPlane& plane = job.coefs[c];
    plane.data = data;
    plane.pitch = stride;
    plane.table = tables->table_of[c];
    data += gsize{blocks_w} * blocks_h * 64;
  }
}

Status RateControl::open_sizes() {
  if (sizes_) return {};
  auto sizes = std::make_unique<Sizes>();
  const JpegEncodeOps* ops = &host_jpeg_encode_ops();
#if CT_HAVE_CUDA
  if (engine_.is_cuda()) ops = &cuda_jpeg_encode_ops();
#endif
  CT_RETURN_IF_ERROR(sizes->file.open(engine_.device(), *ops));
  sizes_ = std::move(sizes);
  return {};
}

void RateControl::scale_to(uint32_t scale) {
  // The ends are the tables of whole qualities.
  const bool is_end = scale == sizes_->finest || scale == sizes_->coarsest;
  scale_tables(preset_, {scale, !is_end}, info_, sizes_->tables);
  std::copy_n(sizes_->tables->tables, sizes_->tables->count, sizes_->job.tables);
}

// Makes the levels at a scale.
Status RateControl::enqueue(uint32_t scale, Quantizer quantizer) {
  scale_to(scale);
  sizes_->job.quantizer = quantizer;
  return sizes_->ops->submit(engine_.device(), engine_.queue(QueueKind::kCompute), sizes_->job,
                             nullptr);
}

// The exact size of the file at a scale.
Status RateControl::measure(uint32_t scale, guint64* bytes) {
  uint64_t size = 0;
  CT_RETURN_IF_ERROR(enqueue(scale, sizes_->quantizer));
  CT_RETURN_IF_ERROR(sizes_->file.exact_size(sizes_->picture, &size));
  *bytes = size;
  return {};
}

Status RateControl::choose(const Dct8x8Ops& ops, const Dct8x8Job& job, FrameTables* tables) {
  guint64 target = 0;
  CT_RETURN_IF_ERROR(find_budget(&target));
  CT_RETURN_IF_ERROR(open_sizes());
  Sizes& sizes = *sizes_;
  sizes.ops = &ops;
  sizes.tables = tables;
  sizes.job = job;
#if CT_HAVE_CUDA
  sizes.candidates.same_frame = false;
#endif
  sizes.quantizer = job.quantizer;
  if (job.quantizer == Quantizer::kRd) sizes.job.dead_zone = kCountedDeadZone;
  sizes.job.layout = Layout::kBlock;
  sizes.job.order = Order::kRaster;
  sizes.job.measure = 0;
  sizes.job.sums = nullptr;
  sizes.job.timer = nullptr;
  sizes.job.times = nullptr;
  gsize bytes = 0;
  for (guint c = 0; c < info_.n_components; c++)
    bytes += gsize{info_.components[c].blocks_w} * info_.components[c].blocks_h * 64 * 2;
  if (!sizes.levels || sizes.levels->size() < bytes) {
    sizes.levels.reset();
    CT_RETURN_IF_ERROR(engine_.device().allocate(MemoryKind::kDevice, bytes, &sizes.levels));
    sizes.is_begun = false;
  }
  sizes.describe(info_);

  JpegOptions options;
  const QueryPtr query(make_file_query());
  if (ask_downstream && ask_downstream(query.get())) options = read_file_query(query.get());
  if (options.progressive || options.arithmetic)
    return refuse(std::string(first_property(rate_)) +
                  " needs baseline files: " + (options.progressive ? "progressive" : "arithmetic") +
                  " of the element that writes them has to be false");
  if (!sizes.is_begun || options != sizes.options) {
    CT_RETURN_IF_ERROR(sizes.file.begin(sizes.picture, options));
    sizes.options = options;
    sizes.is_begun = true;
  }
  return search(target);
}

// Counts the symbols of all candidates, and waits for the device.
Status RateControl::count_at_once(const SizeCandidates& candidates) {
  Sizes& sizes = *sizes_;
  FencePtr counted;
#if CT_HAVE_CUDA
  const Quantizer quantizer = counted_quantizer(sizes.quantizer);
  // Without pinned memory for the counts, or device memory for lists, each candidate has launches
  // of its own.
  if (has_rate_kernel(sizes.job.method, quantizer) && sizes.file.counts() != nullptr) {
    RateCountJob& all = sizes.candidates;
    all.dct = sizes.job;
    all.dct.quantizer = quantizer;
    all.layout = sizes.file.layout();
    all.candidates = candidates.count;
    all.counts = sizes.file.counts();
    for (int i = 0; i < candidates.count; i++) {
      scale_to(candidates.scales[i]);
      std::copy_n(sizes.job.tables, 4, all.tables[i]);
    }
    const Status status =
        count_rate_candidates(engine_.device(), engine_.queue(QueueKind::kCompute), all, &counted);
    all.same_frame = status.ok();
    if (status.ok()) return counted->wait();
    if (status.code != StatusCode::kOutOfMemory) return status;
  }
#endif
  for (int i = 0; i < candidates.count; i++) {
    CT_RETURN_IF_ERROR(enqueue(candidates.scales[i], counted_quantizer(sizes.quantizer)));
    CT_RETURN_IF_ERROR(sizes.file.count(sizes.picture, i, &counted));
  }
  return counted->wait();
}

// One round. The CPU counts only what the result depends on.
Status RateControl::narrow(const SizeCandidates& candidates, SizeSearch* search) {
  const bool at_once = !engine_.device().is_host();
  if (at_once) CT_RETURN_IF_ERROR(count_at_once(candidates));
  return search->narrow(candidates, [&](int i, uint64_t* bytes) -> Status {
    if (!at_once) {
      CT_RETURN_IF_ERROR(enqueue(candidates.scales[i], counted_quantizer(sizes_->quantizer)));
      CT_RETURN_IF_ERROR(sizes_->file.count(sizes_->picture, i, nullptr));
    }
    return sizes_->file.counted_size(i, bytes);
  });
}

Status RateControl::search(guint64 target) {
  const bool keeps_quality = !rate_.target_size && !rate_.bitrate;
  // A still's file does not depend on stills before it.
  if (info_.fps_n == 0 && !rate_.bitrate) last_scale_ = 0, growth_ = kFirstGrowth;
  const int least = static_cast<int>(rate_.min_quality);
  const int most = static_cast<int>(rate_.max_quality);
  SizeSearch::Limits limits;
  const int finest = keeps_quality ? std::min(quality_, most) : most;
  limits.finest = scale_of_quality(finest).value;
  limits.coarsest = scale_of_quality(std::min(least, finest)).value;
  sizes_->finest = limits.finest;
  sizes_->coarsest = limits.coarsest;
  limits.guess = last_scale_;
  limits.target = target;
  // A stream has no time for a second round that adds half a hundredth.
  if (rate_.bitrate || info_.fps_n != 0) limits.tolerance = 0.01;
  if (keeps_quality) {
    guint64 bytes = 0;
    CT_RETURN_IF_ERROR(measure(limits.finest, &bytes));
    if (bytes <= target) return take(limits.finest, bytes, target);
  }
  SizeSearch search(limits, growth_);
  for (;;) {
    for (SizeCandidates round = search.next_round(); round.count > 0; round = search.next_round())
      CT_RETURN_IF_ERROR(narrow(round, &search));
    guint64 bytes = 0;
    CT_RETURN_IF_ERROR(measure(search.best(), &bytes));
    GST_LOG("%" G_GUINT64_FORMAT " bytes, %" G_GUINT64_FORMAT " wanted, after %d rounds", bytes,
            target, search.rounds());
    // Of levels that have no codes: any coarser scale will do.
    if (bytes == G_MAXUINT64) bytes = target + 1;
    if (search.accepts(bytes)) {
      if (bytes <= target) growth_ = search.growth_of(bytes), last_scale_ = search.best();
      return take(search.best(), bytes, target);
    }
    search.correct(bytes);
  }
}

#else

struct RateControl::Sizes {};

Status RateControl::choose(const Dct8x8Ops&, const Dct8x8Job&, FrameTables*) {
  return refuse("this build has no libjpeg");
}

#endif

RateControl::RateControl(Engine& engine, Transport& transport)
    : engine_(engine), transport_(transport), growth_(kFirstGrowth) {}

RateControl::~RateControl() = default;

void RateControl::start() {
  bucket_ = {};
  time_ = last_time_ = GST_CLOCK_TIME_NONE;
  has_frames_ = false;
  last_scale_ = 0;
  growth_ = kFirstGrowth;
  warned_of_size_ = false;
  result_.quality = result_.fill = -1;
  result_.file_size = result_.larger_files = 0;
}

void RateControl::stop() { sizes_.reset(); }

Status RateControl::prepare(const RateSettings& rate, const QuantSettings& quant,
                            const GstDctInfo& info) {
  rate_ = rate;
  preset_ = quant.preset;
  quality_ = quant.quality;
  const bool is_new =
      info.width != info_.width || info.height != info_.height || info.sampling != info_.sampling;
#if CT_HAVE_JPEG
  if (is_new && sizes_) sizes_->is_begun = false;
#endif
  if (is_new) last_scale_ = 0;
  info_ = info;
  if (!rate.bitrate) {
    bucket_ = {};
    has_frames_ = false;
    result_.fill = -1;
  }
  if (!rate.is_on()) {
    const bool is_of_quality = info.quantized && quant.file.empty() && !quant.luma &&
                               !quant.chroma && is_scalable(quant.preset);
    result_.quality = is_of_quality ? quant.quality : -1;
    result_.file_size = 0;
    return {};
  }
  const std::string name = first_property(rate);
  if (info.depth != 8)
    return refuse(name + " needs pictures of 8 bits, not " + std::to_string(info.depth));
  if (!info.quantized) return refuse(name + " needs quantised coefficients");
  return {};
}

void RateControl::take_time(GstBuffer* frame) {
  last_time_ = time_;
  time_ = GST_BUFFER_PTS(frame);
  const bool goes_on = GST_CLOCK_TIME_IS_VALID(time_) && GST_CLOCK_TIME_IS_VALID(last_time_);
  // Times go back by a jitter, or by a seek, after which the buffer is as full as before.
  waited_ =
      goes_on && has_frames_ ? std::max(0.0, GST_CLOCK_DIFF(last_time_, time_) * 1e-9) : interval_;
  const GstClockTime duration = GST_BUFFER_DURATION(frame);
  if (GST_CLOCK_TIME_IS_VALID(duration) && duration > 0)
    interval_ = double(duration) / GST_SECOND;
  else
    interval_ = info_.fps_n > 0 ? double(info_.fps_d) / info_.fps_n : 0;
}

// The most bytes for the next frame.
Status RateControl::find_budget(guint64* bytes) {
  *bytes = rate_.max_size ? rate_.max_size : G_MAXUINT64;
  if (rate_.target_size) *bytes = rate_.target_size;
  if (!rate_.bitrate) return {};
  if (interval_ <= 0)
    return refuse(
        "bitrate needs a frame rate in caps, or durations of buffers; "
        "target-size needs neither");
  const double capacity = rate_.vbv_buf_capacity
                              ? rate_.vbv_buf_capacity / 1000.0
                              : std::max(kUsualSeconds, kUsualFrames * interval_);
  // Later, a frame that lasts longer gets what there is room for.
  if (!has_frames_ && capacity < kLeastFrames * interval_)
    return refuse(text("vbv-buf-capacity", rate_.vbv_buf_capacity) +
                  " is less than two frames, which last " +
                  std::to_string(static_cast<int>(2000 * interval_)) + " ms");
  bucket_.set(rate_.bitrate * 125.0, capacity);
  if (has_frames_) bucket_.wait(waited_);
  has_frames_ = true;
  const double budget = bucket_.budget(interval_);
  *bytes = std::min(*bytes, static_cast<guint64>(budget));
  return {};
}

// The frame gets the tables that were measured last.
Status RateControl::take(uint32_t scale, guint64 bytes, guint64 target) {
  result_.quality = quality_of_scale({scale});
  result_.file_size = bytes;
  if (bytes > target) result_.larger_files++;
  if (rate_.bitrate) {
    (void)bucket_.add(static_cast<double>(bytes));
    result_.fill = bucket_.fill();
  }
  if (rate_.max_size && bytes > rate_.max_size)
    transport_.warn_once(text("max-size", rate_.max_size) + " is not reached: the smallest file, " +
                             "at " + text("min-quality", rate_.min_quality) + ", has " +
                             std::to_string(bytes) + " bytes",
                         &warned_of_size_);
  return {};
}

}  // namespace cudatransform
