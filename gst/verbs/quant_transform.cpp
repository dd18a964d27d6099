// cudadctquant's transform: levels with other quantisation tables.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/quant_transform.h"

#include <algorithm>
#include <string>

#include "gst/dct8x8/quant_settings.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/verbs/quant.h"
#if CT_HAVE_JPEG
#include "gst/dct8x8/file_query.h"
#include "gst/rate/size_control.h"
#endif
#if CT_HAVE_CUDA
#include "cuda/verbs/engine.h"
#endif

namespace cudatransform {
namespace {

const RequantOps& ops_of([[maybe_unused]] const Engine& engine) {
#if CT_HAVE_CUDA
  if (engine.is_cuda()) return cuda_requant_ops();
#endif
  return host_requant_ops();
}

const QuantTable& table_of(const FrameTables& tables, int c) {
  return tables.tables[tables.table_of[c]];
}

QuantTable coarser(QuantTable table, const QuantTable& old) {
  std::transform(std::begin(table.q), std::end(table.q), old.q, table.q,
                 [](uint16_t a, uint16_t b) { return std::max(a, b); });
  return table;
}

// The tables of a frame that had `from`. Components with equal tables share one, as in files.
FrameTables requantized(const FrameTables& from, const FrameTables& wanted, bool coarser_only,
                        int components) {
  FrameTables to;
  for (int c = 0; c < components; c++) {
    const QuantTable table =
        coarser_only ? coarser(table_of(wanted, c), table_of(from, c)) : table_of(wanted, c);
    const QuantTable* end = to.tables + to.count;
    const QuantTable* same = std::find(static_cast<const QuantTable*>(to.tables), end, table);
    to.table_of[c] = static_cast<int>(same - to.tables);
    if (same == end) to.tables[to.count++] = table;
  }
  return to;
}

void measure(const GstDctInfo& info, MeasuredFrame* frame, RequantJob* job) {
  // Sums have three components.
  if (job->components > kMaxComponents) frame->kinds &= kMeasureTime;
  if (frame->kinds & kMeasurePsnr) job->measure |= kMeasureSse;
  if (frame->kinds & kMeasureZeroShare) job->measure |= kMeasureZeros;
  job->sums = &frame->results()->sums;
  if (frame->kinds & kMeasureTime) job->timer = frame->kernel.get();
  frame->has_sse = job->measure & kMeasureSse;
  frame->components = std::min(job->components, kMaxComponents);
  frame->depth = static_cast<int>(info.depth);
  frame->bytes = 2 * info.size;
  // The transform is orthonormal: the coefficients' error is that of all samples of the blocks.
  for (int c = 0; c < frame->components; c++)
    frame->samples[c] = frame->coefficients[c] =
        64 * guint64{info.components[c].blocks_w} * info.components[c].blocks_h;
}

Status refuse(const std::string& message) {
  return Status::error(StatusCode::kInvalidSetting, message);
}

}  // namespace

Status check_target_size(const VerbQuantSettings& settings) {
  if (!settings.target_size) return {};
#if !CT_HAVE_JPEG
  return refuse("target-size needs a build with libjpeg");
#endif
  return check_scalable("target-size", settings.quant);
}

#if CT_HAVE_JPEG

namespace {

// A picture that has been quantized already.
struct Requantized final : ScalablePicture {
  static constexpr uint32_t kAsItIs = 0;  // a scale that no table has
  const uint32_t finest = scale_of_quality(100).value, coarsest = scale_of_quality(1).value;

  explicit Requantized(Engine& engine) : engine(engine) {}
  Engine& engine;
  RequantJob job;
  FrameTables from;
  FrameTables wanted;  // the preset's, at any scale
  QuantPreset preset = QuantPreset::kAnnexK;
  GstDctInfo info = {};
  bool coarser_only = true;

  Status make(uint32_t scale, bool is_counted, const ScaledLevels to[],
              FrameTables* tables) override;
};

Status Requantized::make(uint32_t scale, bool, const ScaledLevels to[], FrameTables* tables) {
  *tables = from;
  if (scale != kAsItIs) {
    // The ends are the tables of whole qualities.
    const bool is_end = scale == finest || scale == coarsest;
    scale_tables(preset, {scale, !is_end}, info, &wanted);
    *tables = requantized(from, wanted, coarser_only, job.components);
  }
  for (int c = 0; c < job.components; c++) {
    job.to[c] = job.from[c];
    job.to[c].data = to[c].data;
    job.to[c].pitch = to[c].pitch;
    job.to[c].table = tables->table_of[c];
  }
  std::copy_n(tables->tables, kMostCoefArrays, job.after);
  return ops_of(engine).submit(engine.device(), engine.queue(QueueKind::kCompute), job, nullptr);
}

}  // namespace

struct QuantTransform::Sizes {
  explicit Sizes(Engine& engine) : control(engine), picture(engine) {}
  SizeControl control;
  Requantized picture;
};

// Chooses the tables of the next frame.
Status QuantTransform::choose_tables(GstBuffer* in, const CoefArray from[kMostCoefArrays],
                                     const FrameTables& from_tables, bool* keeps) {
  const GstDctInfo& info = in_info();
  if (info.depth != 8)
    return refuse("target-size needs pictures of 8 bits, not " + std::to_string(info.depth));
  if (number_of(info) != CoefNumber::kS16 || arrangement_of(info) != CoefArrangement::kBlock)
    return refuse(
        "target-size needs format=S16LE, layout=block and order=raster, as JPEG has them");
  JpegOptions options;
  CT_RETURN_IF_ERROR(ask_for_baseline("target-size", ask_downstream, &options));
  JpegPicture file;
  describe_jpeg_file(info, in, &file);
  const GstDctJpegMeta* jpeg = gst_buffer_get_dct_jpeg_meta(in);
  const bool has_trailer = options.keep_metadata && jpeg && jpeg->behind;
  const guint64 trailing = has_trailer ? g_bytes_get_size(jpeg->behind) : 0;
  if (!options.keep_metadata) {
    file.metadata = {};
    file.others = 0;
  }

  Requantized& picture = sizes_->picture;
  picture.job.number = CoefNumber::kS16;
  picture.job.arrangement = CoefArrangement::kBlock;
  picture.job.components = static_cast<int>(info.n_components);
  std::copy_n(from, picture.job.components, picture.job.from);
  std::copy_n(from_tables.tables, kMostCoefArrays, picture.job.before);
  picture.from = from_tables;
  picture.wanted = wanted_;
  picture.preset = preset_;
  picture.info = info;
  picture.coarser_only = coarser_only_;
  CT_RETURN_IF_ERROR(sizes_->control.begin(info, file, trailing, options, from_tables));
  const guint64 overhead = options.keep_metadata ? file.metadata.size() + trailing : 0;
  const Status status = find_scale(*sizes_, overhead, keeps);
  wanted_ = sizes_->control.tables();
  return status;
}

// A file that fits as it is stays. `overhead`: bytes of it that no scale changes.
Status QuantTransform::find_scale(Sizes& sizes, guint64 overhead, bool* keeps) {
  // A still's file does not depend on stills before it.
  if (in_info().fps_n == 0) sizes.control.forget();
  guint64 bytes = 0;
  CT_RETURN_IF_ERROR(sizes.control.measure(sizes.picture, Requantized::kAsItIs, &bytes));
  *keeps = bytes <= target_size_;
  if (*keeps) {
    take(-1, bytes, overhead);
    return {};
  }
  SizeControl::Limits limits;
  limits.finest = sizes.picture.finest;
  limits.coarsest = sizes.picture.coarsest;
  limits.target = target_size_;
  if (in_info().fps_n != 0) limits.tolerance = 0.01;
  SizeControl::Found found;
  CT_RETURN_IF_ERROR(sizes.control.search(sizes.picture, limits, &found));
  take(quality_of_scale({found.scale}), found.bytes, overhead);
  return {};
}

#else

struct QuantTransform::Sizes {
  explicit Sizes(Engine&) {}
};

Status QuantTransform::choose_tables(GstBuffer*, const CoefArray*, const FrameTables&, bool*) {
  return refuse("this build has no libjpeg");
}

#endif

QuantTransform::QuantTransform(Transport& transport)
    : VerbTransform(transport), sizes_(std::make_unique<Sizes>(engine_)) {}

QuantTransform::~QuantTransform() = default;

void QuantTransform::start() {
#if CT_HAVE_JPEG
  sizes_->control.forget();
#endif
  warned_of_size_ = false;
  result_.quality = -1;
  result_.file_size = result_.larger_files = 0;
}

void QuantTransform::stop() {
  sizes_ = std::make_unique<Sizes>(engine_);
  VerbTransform::stop();
}

Status QuantTransform::take_settings() {
  coarser_only_ = settings.coarser_only;
  target_size_ = settings.target_size;
  preset_ = settings.quant.preset;
  CT_RETURN_IF_ERROR(check_target_size(settings));
  return fill_tables(settings.quant, out_info(), &wanted_);
}

void QuantTransform::describe(GstStructure* stats) const {
  const QuantSettings& quant = settings.quant;
  gst_structure_set(stats, "method", G_TYPE_STRING,
                    !quant.file.empty() ? "qtable-file"
                    : quant.luma        ? "qtable"
                                        : preset_name(quant.preset),
                    "active-quality", G_TYPE_DOUBLE, result_.quality.load(), "file-size",
                    G_TYPE_UINT64, result_.file_size.load(), "larger-files", G_TYPE_UINT64,
                    result_.larger_files.load(), nullptr);
}

bool QuantTransform::keeps(const FrameTables& tables) const {
  if (target_size_) return false;  // choose() knows
  const int components = static_cast<int>(out_info().n_components);
  const FrameTables to = requantized(tables, wanted_, coarser_only_, components);
  for (int c = 0; c < components; c++)
    if (!(table_of(to, c) == table_of(tables, c))) return false;
  return true;
}

Status QuantTransform::choose(GstBuffer* in, const CoefArray from[kMostCoefArrays],
                              const FrameTables& from_tables, bool* keeps) {
  if (!target_size_) {
    result_.quality = -1;
    result_.file_size = 0;
    return {};
  }
  const Status status = choose_tables(in, from, from_tables, keeps);
  // The caller gives memory back that a part of the work may still use.
  FencePtr part;
  if (!status.ok() && engine_.queue(QueueKind::kCompute).record(&part).ok()) (void)part->wait();
  return status;
}

void QuantTransform::take(double quality, guint64 bytes, guint64 overhead) {
  result_.quality = quality;
  result_.file_size = bytes;
  if (bytes <= target_size_) return;
  result_.larger_files++;
  const bool is_much = overhead > bytes / 8;
  const std::string rest = is_much ? ", " + std::to_string(overhead) +
                                         " of them metadata and trailing data, which "
                                         "keep-metadata=false of jpegcoefenc omits"
                                   : "";
  transport_.warn_once("target-size=" + std::to_string(target_size_) +
                           " exceeded: " + std::to_string(bytes) + " bytes at quality 1" + rest +
                           "; raise target-size",
                       &warned_of_size_);
}

Status QuantTransform::make_tables(const FrameTables& from, FrameTables* to) {
  // Those of a measured frame are complete.
  *to = target_size_
            ? wanted_
            : requantized(from, wanted_, coarser_only_, static_cast<int>(out_info().n_components));
  return {};
}

Status QuantTransform::enqueue(const CoefArray from[kMostCoefArrays],
                               const FrameTables& from_tables, const CoefArray to[kMostCoefArrays],
                               const FrameTables& to_tables, MeasuredFrame* frame, FencePtr* done) {
  RequantJob job;
  job.number = number_of(in_info());
  job.arrangement = arrangement_of(in_info());
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  std::copy_n(from_tables.tables, kMostCoefArrays, job.before);
  std::copy_n(to_tables.tables, kMostCoefArrays, job.after);
  if (frame) measure(out_info(), frame, &job);
  return ops_of(engine_).submit(engine_.device(), engine_.queue(QueueKind::kCompute), job, done);
}

}  // namespace cudatransform
