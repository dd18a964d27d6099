// The rate control of cudadct8x8: the scale of a frame's tables, by the size of its JPEG file.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/rate/rate_control.h"

#include <algorithm>
#include <string>

#include "gst/engine/buffer_ptr.h"
#include "transform/dct8x8/quant_table.h"
#if CT_HAVE_JPEG
#include "gst/dct8x8/file_query.h"
#include "gst/engine/debug.h"
#include "jpeg/size_control.h"
#if CT_HAVE_CUDA
#include "cuda/ratecontrol/engine.h"
#endif
#endif

namespace cudatransform {
namespace {

const char* first_property(const RateSettings& rate) {
  return rate.bitrate ? "bitrate" : rate.target_size ? "target-size" : "max-size";
}

Status refuse(const std::string& message) {
  return Status::error(StatusCode::kInvalidSetting, message);
}

std::string text(const char* property, gint64 value) {
  return std::string(property) + "=" + std::to_string(value);
}

}  // namespace

Status check_rate(const RateSettings& rate, const QuantSettings& quant, bool tables_in_caps) {
  if (rate.min_quality > rate.max_quality)
    return refuse(text("min-quality", rate.min_quality) + " exceeds " +
                  text("max-quality", rate.max_quality));
  if (!rate.is_on()) return {};
  const std::string name = first_property(rate);
#if !CT_HAVE_JPEG
  return refuse(name + " requires libjpeg");
#endif
  if (rate.target_size && rate.bitrate)
    return refuse("bitrate and target-size are mutually exclusive");
  if (rate.max_size && rate.target_size > rate.max_size)
    return refuse(text("target-size", rate.target_size) + " exceeds " +
                  text("max-size", rate.max_size));
  if (tables_in_caps) return refuse(name + " requires tables-in-caps=false");
  return check_scalable(name, quant);
}

#if CT_HAVE_JPEG

namespace {

// A frame whose symbols one launch counts at several scales.
struct Frame final : ScalableDct {
#if CT_HAVE_CUDA
  RateCountJob candidates;
#endif

  Status count(const SizeCandidates& scales, JpegFileSize* file, FencePtr* counted) override;
};

// Without pinned memory for the counts, or device memory for lists, each scale has separate
// launches.
Status Frame::count([[maybe_unused]] const SizeCandidates& scales,
                    [[maybe_unused]] JpegFileSize* file, [[maybe_unused]] FencePtr* counted) {
#if CT_HAVE_CUDA
  if (!has_rate_kernel(job.method, counted_quantizer(quantizer)) || file->counts() == nullptr)
    return {};
  RateCountJob& all = candidates;
  all.dct = job;
  all.dct.quantizer = counted_quantizer(quantizer);
  all.layout = file->layout();
  all.candidates = scales.count;
  all.counts = file->counts();
  for (int i = 0; i < scales.count; i++) {
    scale_to(scales.scales[i]);
    std::copy_n(job.tables, 4, all.tables[i]);
  }
  const Status status =
      count_rate_candidates(*device, device->queue(QueueKind::kCompute), all, counted);
  all.same_frame = status.ok();
  if (!status.ok()) counted->reset();
  return status.code == StatusCode::kOutOfMemory ? Status() : status;
#else
  return {};
#endif
}

}  // namespace

struct RateControl::Sizes {
  SizeControl control;
  Frame frame;
};

Status RateControl::choose(const Dct8x8Ops& ops, const Dct8x8Job& job, FrameTables* tables) {
  guint64 target = 0;
  CT_RETURN_IF_ERROR(find_budget(&target));
  Frame& frame = sizes_->frame;
  frame.ops = &ops;
  frame.device = &engine_.device();
  frame.scaled.preset = preset_;
  frame.scaled.chroma = chroma_kind(info_.sampling);
  frame.scaled.tables = *tables;
  frame.job = job;
#if CT_HAVE_CUDA
  frame.candidates.same_frame = false;
#endif
  frame.quantizer = job.quantizer;
  if (job.quantizer == Quantizer::kRd) frame.job.dead_zone = kCountedDeadZone;
  frame.job.layout = Layout::kBlock;
  frame.job.order = Order::kRaster;
  frame.job.measure = 0;
  frame.job.sums = nullptr;
  frame.job.timer = nullptr;
  frame.job.times = nullptr;

  JpegOptions options;
  CT_RETURN_IF_ERROR(require_baseline(first_property(rate_), query_downstream_, &options));
  JpegPicture file;
  describe_jpeg_file(info_, nullptr, &file);
  CT_RETURN_IF_ERROR(sizes_->control.begin(engine_.device(), engine_.ops<JpegEncodeOps>(), file, 0,
                                           options, *tables));
  const Status status = search(target);
  *tables = sizes_->control.tables();
  return status;
}

Status RateControl::search(guint64 target) {
  const bool keeps_quality = !rate_.target_size && !rate_.bitrate;
  // A still's file does not depend on stills before it.
  if (info_.fps_n == 0 && !rate_.bitrate) sizes_->control.forget();
  const int finest = keeps_quality ? std::min(quality_, rate_.max_quality) : rate_.max_quality;
  SizeControl::Limits limits;
  limits.finest = scale_of_quality(finest).value;
  limits.coarsest = scale_of_quality(std::min(rate_.min_quality, finest)).value;
  limits.target = target;
  // A stream has no time for a second round that adds half a hundredth.
  if (rate_.bitrate || info_.fps_n != 0) limits.tolerance = 0.01;
  Frame& frame = sizes_->frame;
  frame.scaled.finest = limits.finest;
  frame.scaled.coarsest = limits.coarsest;
  limits.begins_with_finest = keeps_quality;
  SizeControl::Found found;
  CT_RETURN_IF_ERROR(sizes_->control.search(frame, limits, &found));
  GST_LOG("%" G_GUINT64_FORMAT " bytes after %d rounds, limit %" G_GUINT64_FORMAT, found.bytes,
          found.rounds, target);
  return take(found.scale, found.bytes, target);
}

#else

struct RateControl::Sizes {};

Status RateControl::choose(const Dct8x8Ops&, const Dct8x8Job&, FrameTables*) {
  return refuse("rate control requires libjpeg");
}

#endif

RateControl::RateControl(Engine& engine, FrameMover& mover,
                         const std::function<bool(GstQuery* query)>& query_downstream)
    : engine_(engine),
      mover_(mover),
      query_downstream_(query_downstream),
      sizes_(std::make_unique<Sizes>()) {}

RateControl::~RateControl() = default;

void RateControl::start() {
  budget_.start();
  forget();
  warned_of_size_ = false;
  result_.quality = result_.fill = -1;
  result_.file_size = result_.oversized_files = 0;
}

// The next frame does not resemble those before it.
void RateControl::forget() {
#if CT_HAVE_JPEG
  sizes_->control.forget();
#endif
}

void RateControl::stop() { sizes_ = std::make_unique<Sizes>(); }

Status RateControl::prepare(const RateSettings& rate, const QuantSettings& quant,
                            const GstDctInfo& info) {
  rate_ = rate;
  preset_ = quant.preset;
  quality_ = quant.quality;
  const bool is_new =
      info.width != info_.width || info.height != info_.height || info.sampling != info_.sampling;
  if (is_new) forget();
  info_ = info;
  if (!rate.bitrate) {
    budget_.forget();
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
    return refuse(name + " requires 8-bit coefficients, not " + std::to_string(info.depth));
  if (!info.quantized) return refuse(name + " requires quantized coefficients");
  return {};
}

void RateControl::take_time(GstBuffer* frame) {
  budget_.take_time(frame, info_.fps_n, info_.fps_d);
}

// The most bytes for the next frame.
Status RateControl::find_budget(guint64* bytes) {
  *bytes = rate_.max_size ? rate_.max_size : G_MAXUINT64;
  if (rate_.target_size) *bytes = rate_.target_size;
  if (!rate_.bitrate) return {};
  double budget = 0;
  CT_RETURN_IF_ERROR(budget_.find(rate_.bitrate, rate_.vbv_buf_capacity, &budget));
  *bytes = std::min(*bytes, static_cast<guint64>(budget));
  return {};
}

// Once in a stream: of the limit that the smallest file of the frame exceeds.
void RateControl::warn_of_size(guint64 bytes, guint64 target) {
  const bool is_max = rate_.max_size && bytes > rate_.max_size;
  std::string limit = is_max              ? text("max-size", rate_.max_size)
                      : rate_.target_size ? text("target-size", rate_.target_size)
                                          : text("bitrate", rate_.bitrate);
  if (!is_max && rate_.bitrate) limit += " (" + std::to_string(target) + " bytes for this frame)";
  const std::string cure = rate_.min_quality > 1 ? "lower min-quality, or raise the limit"
                                                 : "raise the limit, or scale the video down";
  mover_.warn_once(limit + " exceeded: " + std::to_string(bytes) + " bytes at " +
                       text("min-quality", rate_.min_quality) + "; " + cure,
                   &warned_of_size_);
}

// The frame gets the tables that were measured last.
Status RateControl::take(uint32_t scale, guint64 bytes, guint64 target) {
  result_.quality = quality_of_scale({scale});
  result_.file_size = bytes;
  if (bytes > target) result_.oversized_files++;
  if (rate_.bitrate) {
    budget_.add(static_cast<double>(bytes));
    result_.fill = budget_.fill();
  }
  if (bytes > target) warn_of_size(bytes, target);
  return {};
}

}  // namespace cudatransform
