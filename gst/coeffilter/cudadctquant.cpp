// Element cudadctquant: quantized 8x8 DCT coefficients with other quantization tables.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadctquant
 * @title: cudadctquant
 * @short_description: requantizes DCT coefficients
 * @see_also: cudadct8x8, jpegcoefenc
 *
 * Requantizes 8x8 DCT coefficients (video/x-dct) with other quantization tables or to a file size,
 * using CUDA or, with identical output, the CPU. No samples are reconstructed: quantized
 * coefficients are multiplied by their old quantizer steps and divided by the new ones.
 *
 * docs/elements/cudadctquant.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudadctquant quality=50 ! \
 *   jpegcoefenc ! filesink location=smaller.jpg
 * ]| Writes a smaller file of the same photograph.
 *
 * Since: 1.0
 */

#include <algorithm>
#include <memory>
#include <string>

#include "cuda/coeffilter/engine.h"
#include "gst/coeffilter/coeffilter.h"
#include "gst/dct8x8/quant_settings.h"
#include "gst/elements.h"
#include "gst/rate/rate_control.h"
#include "transform/coeffilter/quant.h"
#include "transform/dct8x8/quant_table.h"
#if CT_HAVE_JPEG
#include "gst/dct8x8/file_query.h"
#include "jpeg/size_control.h"
#endif

namespace cudatransform {

CT_ENGINE_OPS(RequantOps, host_requant_ops, cuda_requant_ops)

// The properties. Guarded by the object lock.
struct QuantFilterSettings {
  QuantSettings quant;
  bool coarser_only = true;  // an old entry stays if it is the coarser one
  guint target_size = 0;     // bytes of a file; 0: off
};

// Refuses settings that contradict each other, by the names of properties.
Status check_target_size(const QuantFilterSettings& settings);

class QuantTransform final : public CoefFilter {
 public:
  explicit QuantTransform(FrameMover& mover);
  ~QuantTransform() override;

  QuantFilterSettings settings;

  void start() override;
  Status check_settings() const override;
  Status take_settings(const char** changed_property) override;
  void describe(GstStructure* stats) const override;
  void stop() override;

 protected:
  bool keeps(const FrameTables& tables) const override;
  Status choose(GstBuffer* in, const CoefArray from[kMaxCoefArrays], const FrameTables& from_tables,
                bool* keeps) override;
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMaxCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMaxCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  struct Sizes;

  Status choose_tables(GstBuffer* in, const CoefArray from[kMaxCoefArrays],
                       const FrameTables& from_tables, bool* keeps);
  Status find_scale(Sizes& sizes, guint64 overhead, bool* keeps);
  void take(double quality, guint64 bytes, guint64 overhead);

  std::unique_ptr<Sizes> sizes_;
  RateResult result_;
  bool warned_of_size_ = false;
  // State of the next frame.
  FrameTables wanted_;
  QuantPreset preset_ = QuantPreset::kAnnexK;
  bool coarser_only_ = true;
  guint target_size_ = 0;
};

namespace {

const QuantTable& table_of(const FrameTables& tables, int c) {
  return tables.tables[tables.table_of[c]];
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

// Where no component's table changes, no coefficient does, and tables may have zeros, which do not
// divide: any others keep the coefficients, too.
void set_tables(const FrameTables& from, const FrameTables& to, RequantJob* job) {
  const auto keeps = [&](int c) {
    return from.tables[job->from[c].table] == to.tables[job->to[c].table];
  };
  bool keeps_all = true;
  for (int c = 0; c < job->components; c++) keeps_all = keeps_all && keeps(c);
  if (keeps_all) {
    const QuantTable flat = preset_table(QuantPreset::kFlat, QuantComponent::kLuma, 50);
    std::fill_n(job->before, kMaxCoefArrays, flat);
    std::fill_n(job->after, kMaxCoefArrays, flat);
  } else {
    std::copy_n(from.tables, kMaxCoefArrays, job->before);
    std::copy_n(to.tables, kMaxCoefArrays, job->after);
  }
}

Status refuse(const std::string& message) {
  return Status::error(StatusCode::kInvalidSetting, message);
}

}  // namespace

Status check_target_size(const QuantFilterSettings& settings) {
  if (!settings.target_size) return {};
#if !CT_HAVE_JPEG
  return refuse("target-size requires libjpeg");
#endif
  return check_scalable("target-size", settings.quant);
}

#if CT_HAVE_JPEG

namespace {

// A picture that has been quantized already.
struct Requantized final : ScalablePicture {
  static constexpr uint32_t kAsItIs = 0;  // a scale that no table has

  explicit Requantized(Engine& engine) : engine(engine) {
    wanted.finest = scale_of_quality(100).value;
    wanted.coarsest = scale_of_quality(1).value;
  }
  Engine& engine;
  RequantJob job;
  FrameTables from;
  ScaledPreset wanted;
  bool coarser_only = true;

  Status make(uint32_t scale, bool is_counted, const ScaledQcoefs to[],
              FrameTables* tables) override;
};

Status Requantized::make(uint32_t scale, bool, const ScaledQcoefs to[], FrameTables* tables) {
  *tables = from;
  if (scale != kAsItIs) {
    wanted.scale_to(scale);
    *tables = requantized(from, wanted.tables, coarser_only, job.components);
  }
  for (int c = 0; c < job.components; c++) {
    job.to[c] = job.from[c];
    job.to[c].data = to[c].data;
    job.to[c].pitch = to[c].pitch;
    job.to[c].table = tables->table_of[c];
  }
  set_tables(from, *tables, &job);
  return engine.ops<RequantOps>().submit(engine.device(), engine.queue(QueueKind::kCompute), job,
                                         nullptr);
}

}  // namespace

struct QuantTransform::Sizes {
  explicit Sizes(Engine& engine) : picture(engine) {}
  SizeControl control;
  Requantized picture;
};

// Chooses the tables of the next frame.
Status QuantTransform::choose_tables(GstBuffer* in, const CoefArray from[kMaxCoefArrays],
                                     const FrameTables& from_tables, bool* keeps) {
  const GstDctInfo& info = in_info();
  if (info.depth != 8)
    return refuse("target-size requires 8-bit coefficients, not " + std::to_string(info.depth));
  if (number_of(info) != CoefNumber::kS16 || arrangement_of(info) != CoefArrangement::kBlock)
    return refuse("target-size requires format=S16LE, layout=block and order=raster");
  JpegOptions options;
  CT_RETURN_IF_ERROR(require_baseline("target-size", query_downstream, &options));
  JpegPicture file;
  describe_jpeg_file(info, in, &file);
  const GstDctJpegMeta* jpeg = gst_buffer_get_dct_jpeg_meta(in);
  const bool has_trailer = options.keep_metadata && jpeg && jpeg->trailing;
  const guint64 trailing = has_trailer ? g_bytes_get_size(jpeg->trailing) : 0;
  if (!options.keep_metadata) {
    file.metadata = {};
    file.others = 0;
  }

  Requantized& picture = sizes_->picture;
  picture.job.number = CoefNumber::kS16;
  picture.job.arrangement = CoefArrangement::kBlock;
  picture.job.components = static_cast<int>(info.n_components);
  std::copy_n(from, picture.job.components, picture.job.from);
  picture.from = from_tables;
  picture.wanted.tables = wanted_;
  picture.wanted.preset = preset_;
  picture.wanted.chroma = chroma_kind(info.sampling);
  picture.coarser_only = coarser_only_;
  CT_RETURN_IF_ERROR(sizes_->control.begin(engine_.device(), engine_.ops<JpegEncodeOps>(), file,
                                           trailing, options, from_tables));
  const guint64 overhead = options.keep_metadata ? file.metadata.size() + trailing : 0;
  const Status status = find_scale(*sizes_, overhead, keeps);
  wanted_ = sizes_->control.tables();
  return status;
}

// A file that fits as it is stays. `overhead`: bytes of it that no scale changes.
Status QuantTransform::find_scale(Sizes& sizes, guint64 overhead, bool* keeps) {
  // A still's file does not depend on stills before it.
  if (in_info().fps_n == 0) sizes.control.forget();
  uint64_t bytes = 0;
  CT_RETURN_IF_ERROR(sizes.control.measure(sizes.picture, Requantized::kAsItIs, &bytes));
  *keeps = bytes <= target_size_;
  if (*keeps) {
    take(-1, bytes, overhead);
    return {};
  }
  SizeControl::Limits limits;
  limits.finest = sizes.picture.wanted.finest;
  limits.coarsest = sizes.picture.wanted.coarsest;
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
  return refuse("target-size requires libjpeg");
}

#endif

QuantTransform::QuantTransform(FrameMover& mover)
    : CoefFilter(mover), sizes_(std::make_unique<Sizes>(engine_)) {}

QuantTransform::~QuantTransform() = default;

void QuantTransform::start() {
#if CT_HAVE_JPEG
  sizes_->control.forget();
#endif
  warned_of_size_ = false;
  result_.quality = -1;
  result_.file_size = result_.oversized_files = 0;
}

void QuantTransform::stop() {
  sizes_ = std::make_unique<Sizes>(engine_);
  CoefFilter::stop();
}

Status QuantTransform::check_settings() const {
  CT_RETURN_IF_ERROR(check_quant_settings(settings.quant));
  return check_target_size(settings);
}

Status QuantTransform::take_settings(const char**) {
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
                    G_TYPE_UINT64, result_.file_size.load(), "oversized-files", G_TYPE_UINT64,
                    result_.oversized_files.load(), nullptr);
}

bool QuantTransform::keeps(const FrameTables& tables) const {
  if (target_size_) return false;  // choose() knows
  const int components = static_cast<int>(out_info().n_components);
  const FrameTables to = requantized(tables, wanted_, coarser_only_, components);
  for (int c = 0; c < components; c++)
    if (!(table_of(to, c) == table_of(tables, c))) return false;
  return true;
}

Status QuantTransform::choose(GstBuffer* in, const CoefArray from[kMaxCoefArrays],
                              const FrameTables& from_tables, bool* keeps) {
  if (!target_size_) {
    result_.quality = -1;
    result_.file_size = 0;
    return {};
  }
  const Status status = choose_tables(in, from, from_tables, keeps);
  // The caller releases memory that a part of the work may still use.
  FencePtr part;
  if (!status.ok() && engine_.queue(QueueKind::kCompute).record(&part).ok()) (void)part->wait();
  return status;
}

void QuantTransform::take(double quality, guint64 bytes, guint64 overhead) {
  result_.quality = quality;
  result_.file_size = bytes;
  if (bytes <= target_size_) return;
  result_.oversized_files++;
  const bool is_much = overhead > bytes / 8;
  const std::string rest = is_much ? ", " + std::to_string(overhead) +
                                         " of them metadata and trailing data, which "
                                         "keep-metadata=false of jpegcoefenc omits"
                                   : "";
  mover_.warn_once("target-size=" + std::to_string(target_size_) + " exceeded: " +
                       std::to_string(bytes) + " bytes at quality 1" + rest + "; raise target-size",
                   &warned_of_size_);
}

Status QuantTransform::make_tables(const FrameTables& from, FrameTables* to) {
  // Those of a measured frame are complete.
  *to = target_size_
            ? wanted_
            : requantized(from, wanted_, coarser_only_, static_cast<int>(out_info().n_components));
  return {};
}

Status QuantTransform::enqueue(const CoefArray from[kMaxCoefArrays], const FrameTables& from_tables,
                               const CoefArray to[kMaxCoefArrays], const FrameTables& to_tables,
                               MeasuredFrame* frame, FencePtr* done) {
  RequantJob job;
  job.number = number_of(in_info());
  job.arrangement = arrangement_of(in_info());
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  set_tables(from_tables, to_tables, &job);
  if (frame) measure(out_info(), frame, &job);
  return engine_.ops<RequantOps>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job,
                                          done);
}

}  // namespace cudatransform

using cudatransform::QuantFilterSettings;
using cudatransform::QuantSettings;
using cudatransform::QuantTransform;
using cudatransform::settings_of;

GST_DEBUG_CATEGORY_STATIC(cudadctquant_debug);

struct GstCudaDctQuant {
  GstCudaCoefFilter parent;
};

struct GstCudaDctQuantClass {
  GstCudaCoefFilterClass parent_class;
};

G_DEFINE_TYPE_WITH_CODE(GstCudaDctQuant, gst_cuda_dct_quant, GST_TYPE_CUDA_COEF_FILTER,
                        GST_DEBUG_CATEGORY_INIT(cudadctquant_debug, "cudadctquant", 0,
                                                "CUDA DCT requantizer"));
GST_ELEMENT_REGISTER_DEFINE(cudadctquant, "cudadctquant", GST_RANK_NONE,
                            gst_cuda_dct_quant_get_type());

// Tables of caps are the old ones. Each buffer has the new ones in its meta.
static void append_others(GstBaseTransform*, GstPadDirection, const GstStructure* s,
                          std::vector<cudatransform::StructurePtr>* others) {
  others->emplace_back(gst_structure_copy(s));
  gst_structure_remove_fields(others->back().get(), "quantization-tables", "component-tables",
                              nullptr);
}

static void gst_cuda_dct_quant_init(GstCudaDctQuant*) {}

/**
 * GstCudaDctQuant:chroma-qtable:
 *
 * Chroma quantization table, 64 entries in natural order (empty = quant-preset).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctQuant:luma-qtable:
 *
 * Luma and RGB quantization table, 64 entries in natural order (empty = quant-preset).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctQuant:quality:
 *
 * JPEG quality, scaled as in libjpeg (quant-preset=annex-k or perceptual only).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctQuant:quant-preset:
 *
 * Quantization tables to use.
 *
 * Since: 1.0
 */

/**
 * GstCudaDctQuant:target-size:
 *
 * Maximum size of each JPEG file in bytes, at the highest quality that allows it (0 = disabled).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctQuant:qtable-file:
 *
 * Quantization table file in cjpeg -qtables syntax (overrides all other tables).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctQuant:coarser-only:
 *
 * Keep existing quantizer steps that are coarser than the new ones.
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const auto filter = settings_of<&QuantTransform::settings>();
  const auto quant = settings_of<&QuantTransform::settings, &QuantFilterSettings::quant>();
  cudatransform::install_properties(klass, quant_properties(quant));
  cudatransform::install_properties(
      klass, {filter.row("coarser-only", "Coarser Only",
                         "Keep existing quantizer steps that are coarser than the new ones",
                         &QuantFilterSettings::coarser_only),
              filter.row("target-size", "Target Size",
                         "Maximum size of each JPEG file in bytes, at the highest quality that "
                         "allows it (0 = disabled)",
                         &QuantFilterSettings::target_size, {.max = G_MAXUINT})});
}

static void gst_cuda_dct_quant_class_init(GstCudaDctQuantClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));
  GST_CUDA_COEF_FILTER_CLASS(klass)->keeps_file = false;
  base_class->element_name = "cudadctquant";
  base_class->probe_kernels = CT_CUDA_PROBE(cudatransform::probe_cuda_requant_kernels);
  base_class->category = cudadctquant_debug;
  base_class->make_transform = cudatransform::make_transform<QuantTransform>;
  GST_CUDA_COEF_FILTER_CLASS(klass)->append_others = append_others;
  gst_cuda_coef_filter_add_templates(element_class, {"S16LE", "S32LE"}, {"block", "plane"}, true);
  gst_element_class_set_static_metadata(
      element_class, "CUDA DCT Requantizer", "Filter/Converter/Video/Hardware",
      "Requantizes DCT coefficients using CUDA or the CPU", "The cudatransform authors");
}
