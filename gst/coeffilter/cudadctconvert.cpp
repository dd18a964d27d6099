// Element cudadctconvert: 8x8 DCT coefficients in another layout, order, format or memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadctconvert
 * @title: cudadctconvert
 * @short_description: converts layout, order, format and memory of DCT coefficients
 * @see_also: cudadct8x8, cudaidct8x8
 *
 * Converts 8x8 DCT coefficients (video/x-dct) to another layout, order, format or memory, using
 * CUDA or, with identical output, the CPU. Downstream caps select what to convert to.
 *
 * docs/elements/cudadctconvert.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudadctconvert ! \
 *   video/x-dct,layout=band,format=F16LE ! filesink location=bands.f16
 * ]| Writes the dequantized coefficients of a JPEG file as half floats, one plane per frequency.
 *
 * Since: 1.0
 */

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "cuda/coeffilter/engine.h"
#include "gst/coeffilter/coeffilter.h"
#include "gst/elements.h"
#include "gst/stream/caps_fields.h"
#include "transform/coeffilter/convert.h"

namespace cudatransform {

CT_ENGINE_OPS(ConvertOps, host_convert_ops, cuda_convert_ops)

class ConvertTransform final : public CoefFilter {
 public:
  using CoefFilter::CoefFilter;
  ~ConvertTransform() override { release_count(); }

  QuantSettings settings;  // of values that are quantized; guarded by the object lock

  void start() override;
  Status take_settings(const char** changed_property) override;
  void describe(GstStructure* stats) const override;
  void stop() override;

 protected:
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMaxCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMaxCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  bool quantizes() const { return out_info().quantized && !in_info().quantized; }
  void release_count();

  FrameTables new_tables_;  // of the next frame, if it is quantized
  // How many numbers were saturated: those of the engine, and those before it gave up its memory.
  mutable std::mutex lock_;
  std::unique_ptr<Memory> saturated_;
  guint64 saturated_before_ = 0;
  FencePtr last_;  // the last work that counts
};

namespace {

CoefKinds kinds_of(const GstDctInfo& info) {
  return {number_of(info), arrangement_of(info), info.quantized != FALSE};
}

// The device may be adding to it.
guint64 count_in(const Memory* memory) {
  return memory ? __atomic_load_n(static_cast<guint64*>(memory->data()), __ATOMIC_RELAXED) : 0;
}

// Time alone is measured.
void measure(const GstDctInfo& in, const GstDctInfo& out, MeasuredFrame* frame, ConvertJob* job) {
  frame->kinds &= kMeasureTime;
  frame->components = 0;
  frame->bytes = in.size + out.size;
  if (frame->kinds) job->timer = frame->kernel.get();
}

}  // namespace

void ConvertTransform::start() {
  const std::lock_guard guard(lock_);
  saturated_before_ = 0;
}

Status ConvertTransform::take_settings(const char**) {
  return quantizes() ? fill_tables(settings, out_info(), &new_tables_) : Status();
}

Status ConvertTransform::make_tables(const FrameTables& from, FrameTables* to) {
  if (out_info().quantized) *to = in_info().quantized ? from : new_tables_;
  return {};
}

Status ConvertTransform::enqueue(const CoefArray from[kMaxCoefArrays],
                                 const FrameTables& from_tables, const CoefArray to[kMaxCoefArrays],
                                 const FrameTables& to_tables, MeasuredFrame* frame,
                                 FencePtr* done) {
  ConvertJob job;
  job.from_kinds = kinds_of(in_info());
  job.to_kinds = kinds_of(out_info());
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  const FrameTables& tables = quantizes() ? to_tables : from_tables;
  std::copy(std::begin(tables.tables), std::end(tables.tables), std::begin(job.tables));
  if (frame) measure(in_info(), out_info(), frame, &job);
  if (!saturated_) {
    std::unique_ptr<Memory> memory;
    CT_RETURN_IF_ERROR(
        engine_.device().allocate(MemoryKind::kPinned, sizeof *job.saturated, &memory));
    *static_cast<guint64*>(memory->data()) = 0;
    const std::lock_guard guard(lock_);
    saturated_ = std::move(memory);
  }
  job.saturated = static_cast<uint64_t*>(saturated_->data());
  CT_RETURN_IF_ERROR(engine_.ops<ConvertOps>().submit(
      engine_.device(), engine_.queue(QueueKind::kCompute), job, done));
  last_ = *done;
  return {};
}

void ConvertTransform::describe(GstStructure* stats) const {
  const std::lock_guard guard(lock_);
  gst_structure_set(stats, "saturated", G_TYPE_UINT64,
                    saturated_before_ + count_in(saturated_.get()), nullptr);
}

void ConvertTransform::release_count() {
  if (last_) (void)last_->wait();
  last_.reset();
  const std::lock_guard guard(lock_);
  saturated_before_ += count_in(saturated_.get());
  saturated_.reset();
}

void ConvertTransform::stop() {
  release_count();
  CoefFilter::stop();
}

}  // namespace cudatransform

using namespace cudatransform;

GST_DEBUG_CATEGORY_STATIC(cudadctconvert_debug);

struct GstCudaDctConvert {
  GstCudaCoefFilter parent;
};

struct GstCudaDctConvertClass {
  GstCudaCoefFilterClass parent_class;
};

G_DEFINE_TYPE_WITH_CODE(GstCudaDctConvert, gst_cuda_dct_convert, GST_TYPE_CUDA_COEF_FILTER,
                        GST_DEBUG_CATEGORY_INIT(cudadctconvert_debug, "cudadctconvert", 0,
                                                "CUDA DCT coefficient converter"));
GST_ELEMENT_REGISTER_DEFINE(cudadctconvert, "cudadctconvert", GST_RANK_NONE,
                            gst_cuda_dct_convert_get_type());

// The formats of some depths.
struct Formats {
  bool quantized;
  std::vector<int> depths;
  std::vector<std::string> formats;
};

// Appends `base`, which has none of these fields, in each layout.
static void append_layouts(const GstStructure* base, const Formats& formats,
                           std::vector<StructurePtr>* others) {
  std::vector<int> depths;
  for (const int depth : formats.depths)
    if (int_field_allows(base, "depth", depth)) depths.push_back(depth);
  if (depths.empty()) return;
  for (const bool raster : {true, false}) {
    StructurePtr other(gst_structure_copy(base));
    gst_structure_set(other.get(), "quantized", G_TYPE_BOOLEAN, formats.quantized, nullptr);
    // The coefficients are others then.
    if (!formats.quantized)
      gst_structure_remove_fields(other.get(), "quantization-tables", "component-tables", nullptr);
    set_ints(other.get(), "depth", depths);
    set_strings(other.get(), "format", formats.formats);
    set_strings(other.get(), "layout", {"block", raster ? "plane" : "band"});
    set_strings(other.get(), "order", {raster ? "raster" : "zigzag"});
    others->push_back(std::move(other));
  }
}

// As it is, or in any other way.
static void append_others(GstBaseTransform*, GstPadDirection, const GstStructure* s,
                          std::vector<StructurePtr>* others) {
  static const Formats kFormats[] = {{true, {8, 10, 12}, {"S16LE"}},
                                     {true, {16}, {"S32LE"}},
                                     {false, {8, 10, 12, 16}, {"F32LE", "F16LE", "S32LE"}}};
  others->emplace_back(gst_structure_copy(s));
  const StructurePtr base(gst_structure_copy(s));
  gst_structure_remove_fields(base.get(), "format", "layout", "order", "quantized", nullptr);
  for (const Formats& formats : kFormats) append_layouts(base.get(), formats, others);
}

static void gst_cuda_dct_convert_init(GstCudaDctConvert*) {}

/**
 * GstCudaDctConvert:quality:
 *
 * JPEG quality for quantizing unquantized input.
 *
 * Since: 1.0
 */

static void gst_cuda_dct_convert_class_init(GstCudaDctConvertClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  const auto quant = settings_of<&ConvertTransform::settings>();
  install_properties(G_OBJECT_CLASS(klass),
                     {quality_property(quant, "JPEG quality for quantizing unquantized input")});
  base_class->element_name = "cudadctconvert";
  base_class->only_measures = kMeasureTime;
  base_class->category = cudadctconvert_debug;
  base_class->probe_kernels = CT_CUDA_PROBE(probe_cuda_convert_kernels);
  base_class->make_transform = make_transform<ConvertTransform>;
  GST_CUDA_COEF_FILTER_CLASS(klass)->append_others = append_others;
  gst_cuda_coef_filter_add_templates(element_class, {"S16LE", "S32LE", "F32LE", "F16LE"},
                                     {"block", "plane", "band"});
  gst_element_class_set_static_metadata(
      element_class, "CUDA DCT Coefficient Converter", "Filter/Converter/Video/Hardware",
      "Converts layout, order, format and memory of DCT coefficients using CUDA or the CPU",
      "The cudatransform authors");
}
