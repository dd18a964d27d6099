// JPEG files of pixels and of quantized coefficients by the CPU, and what encoding an image
// requires.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/jpeg_encode.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "core/picture.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "jpeg/size_control.h"
#include "jpeg/xmp.h"
#include "transform/device/host_device.h"

namespace cudatransform::core {
namespace {

constexpr int kUsualQuality = 85;

Status invalid(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, what);
}

RgbSubsampling chroma_of(CtSampling sampling) {
  switch (sampling) {
    case CT_SAMPLING_420:
      return {2, 2};
    case CT_SAMPLING_422:
      return {2, 1};
    case CT_SAMPLING_440:
      return {1, 2};
    case CT_SAMPLING_411:
      return {4, 1};
    case CT_SAMPLING_441:
      return {1, 4};
    case CT_SAMPLING_444:
    case CT_SAMPLING_RGB:
      break;
  }
  return {1, 1};
}

QuantPreset preset_of(CtPreset preset) {
  return preset == CT_PRESET_PERCEPTUAL ? QuantPreset::kPerceptual : QuantPreset::kAnnexK;
}

Quantizer quantizer_of(CtQuantizer quantizer) {
  return quantizer == CT_QUANTIZER_RD          ? Quantizer::kRd
         : quantizer == CT_QUANTIZER_DEAD_ZONE ? Quantizer::kDeadZone
                                               : Quantizer::kRound;
}

// `pixels`: samples of luma for one of chroma.
QuantComponent chroma_kind(int pixels) {
  return pixels == 1   ? QuantComponent::kFullChroma
         : pixels == 2 ? QuantComponent::kHalfChroma
                       : QuantComponent::kChroma;
}

// Those of sampling factors without a name are as of 4:2:0, as in the elements.
QuantComponent chroma_kind(const EncodePlan& plan) {
  const JpegSampling& sampling = plan.sampling;
  return sampling.is_of_luma(plan.color)
             ? chroma_kind(static_cast<int>(sampling.h[0] * sampling.v[0]))
             : QuantComponent::kChroma;
}

// Quantized coefficients of R, G and B have luma's table; of the caller's two, the latter has G and
// B.
void choose_tables(const CtEncodeOptions& options, EncodePlan* plan) {
  const bool has_two = plan->color == JpegColor::kYcbcr || options.n_tables == 2;
  plan->n_tables = plan->components > 1 && has_two ? 2 : 1;
  const int quality = options.quality != 0 ? options.quality : kUsualQuality;
  for (int t = 0; t < plan->n_tables; ++t) {
    QuantTable& table = plan->tables[static_cast<size_t>(t)];
    if (options.n_tables > 0)
      table = quant_table_of(options.tables[std::min(t, options.n_tables - 1)]);
    else
      table = preset_table(preset_of(options.preset),
                           t == 0 ? QuantComponent::kLuma : chroma_kind(*plan), quality);
  }
  if (options.n_tables == 1) plan->n_tables = 1;
}

void place(EncodePlan* plan) {
  for (size_t c = 0; c < static_cast<size_t>(plan->components); ++c) {
    const int component = static_cast<int>(c);
    const auto width =
        static_cast<int32_t>(plan->sampling.width(static_cast<uint32_t>(plan->width), component));
    const auto height =
        static_cast<int32_t>(plan->sampling.height(static_cast<uint32_t>(plan->height), component));
    plan->blocks_w[c] = static_cast<uint32_t>(width + 7) / 8;
    plan->blocks_h[c] = static_cast<uint32_t>(height + 7) / 8;
    plan->qcoefs_at[c] = plan->qcoef_bytes;
    plan->qcoef_bytes += size_t{plan->blocks_w[c]} * plan->blocks_h[c] * 64 * sizeof(int16_t);
    // Beyond its last column the DCT repeats it. cjpeg repeats the picture's last column, and takes
    // the mean of that and its like.
    SamplePlane& plane = plan->planes[c];
    const bool fills = plan->has_rgb() && plan->by[c].x * plan->by[c].y > 1;
    plane.width = fills ? static_cast<int32_t>(plan->blocks_w[c] * 8) : width;
    plane.height = fills ? static_cast<int32_t>(plan->blocks_h[c] * 8) : height;
    if (!plan->has_planes()) continue;
    plane.pitch = static_cast<ptrdiff_t>(aligned(static_cast<size_t>(plane.width)));
    plan->planes_at[c] = plan->plane_bytes;
    plan->plane_bytes += static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
  }
}

// Memory of a thread, reused from image to image.
struct Scratch {
  std::unique_ptr<Memory> memory;
  JpegWriter writer;
  JpegBytes bytes;
};
Scratch& scratch() {
  static thread_local Scratch own;
  return own;
}

// A file in separate memory, with its picture's trailing data.
Status take_file(const JpegBytes& bytes, std::span<const uint8_t> trailing, CtFile* file) {
  CT_RETURN_IF_ERROR(make_host_block(bytes.size() + trailing.size(), &file->block));
  std::memcpy(file->block->data(), bytes.data(), bytes.size());
  if (!trailing.empty())
    std::memcpy(file->block->data() + bytes.size(), trailing.data(), trailing.size());
  file->data = file->block->data();
  file->size = bytes.size() + trailing.size();
  return {};
}

// Chooses tables whose file is as small as wanted. The memory of quantized coefficients may be
// overwritten.
Status fit_tables(CtEngine& engine, const CtEncodeOptions& options, const Dct8x8Job& job,
                  uint8_t* qcoefs, EncodePlan* plan, std::string* warning) {
  ScalableDct picture;
  picture.device = engine.host.get();
  picture.ops = &host_dct8x8_ops();
  picture.job = job;
  picture.scaled.preset = preset_of(options.preset);
  picture.scaled.chroma = chroma_kind(*plan);
  picture.quantizer = plan->quantizer;
  picture.scaled.tables.count = plan->n_tables;
  for (int c = 1; c < plan->components; ++c) picture.scaled.tables.table_of[c] = plan->n_tables - 1;
  const int quality = options.quality != 0 ? options.quality : kUsualQuality;
  picture.scaled.finest = scale_of_quality(options.target_size > 0 ? 100 : quality).value;
  picture.scaled.coarsest = scale_of_quality(1).value;
  picture.scale_to(picture.scaled.finest);

  SizeControl control;
  CT_RETURN_IF_ERROR(control.begin(*engine.host, host_jpeg_encode_ops(),
                                   plan->picture(options, qcoefs), 0, file_options(options),
                                   picture.scaled.tables));
  SizeControl::Limits limits;
  limits.finest = picture.scaled.finest;
  limits.coarsest = picture.scaled.coarsest;
  limits.target =
      static_cast<uint64_t>(options.target_size > 0 ? options.target_size : options.max_size);
  limits.begins_with_finest = options.target_size == 0;
  SizeControl::Found found;
  CT_RETURN_IF_ERROR(control.search(picture, limits, &found));
  std::copy_n(control.tables().tables, plan->n_tables, plan->tables.begin());
  const auto text = [&](const char* name, int64_t limit) {
    return std::string(name) + "=" + std::to_string(limit) +
           " exceeded: " + std::to_string(found.bytes) + " bytes at quality 1";
  };
  if (options.max_size > 0 && found.bytes > static_cast<uint64_t>(options.max_size))
    return invalid(text("max_size", options.max_size));
  if (found.bytes > limits.target) *warning = text("target_size", options.target_size);
  return {};
}

// The file of gray pixels or of planes, in memory of the host's.
Status encode_samples(CtEngine& engine, const CtEncodeOptions& options, const uint8_t* pixels,
                      int64_t pitch, uint8_t* planes, uint8_t* qcoefs, EncodePlan* plan,
                      CtFile* file) {
  std::string warning;
  if (has_size(options))
    CT_RETURN_IF_ERROR(fit_tables(engine, options, plan->dct_job(pixels, pitch, planes, qcoefs),
                                  qcoefs, plan, &warning));
  CT_RETURN_IF_ERROR(host_dct8x8_ops().submit(*engine.host, engine.host->queue(QueueKind::kCompute),
                                              plan->dct_job(pixels, pitch, planes, qcoefs),
                                              nullptr));
  Scratch& own = scratch();
  CT_RETURN_IF_ERROR(
      own.writer.write(plan->picture(options, qcoefs), file_options(options), &own.bytes));
  CT_RETURN_IF_ERROR(take_file(own.bytes, {}, file));
  set_text(&file->error, CT_OK, warning);
  return {};
}

Status encode_image(CtEngine& engine, const CtEncodeOptions& options, const CtImage& image,
                    CtFile* file) {
  EncodePlan plan;
  CT_RETURN_IF_ERROR(plan_encoding(image, options, &plan));
  Scratch& own = scratch();
  const size_t row = static_cast<size_t>(image.width) * static_cast<size_t>(image.channels);
  const size_t copied = image.on_device != 0 ? row * static_cast<size_t>(image.height) : 0;
  uint8_t* const planes =
      make_host_room(aligned(plan.plane_bytes) + aligned(plan.qcoef_bytes) + copied, &own.memory);
  if (planes == nullptr) return no_memory();
  uint8_t* const qcoefs = planes + aligned(plan.plane_bytes);
  const auto* pixels = static_cast<const uint8_t*>(image.data);
  int64_t pitch = image.pitch;
  if (copied > 0) {
    uint8_t* const to = qcoefs + aligned(plan.qcoef_bytes);
    pitch = static_cast<int64_t>(row);
    CT_RETURN_IF_ERROR(copy_to_host(engine, to, pitch, pixels, image.pitch, row,
                                    static_cast<size_t>(image.height)));
    pixels = to;
  }
  if (plan.has_rgb())
    CT_RETURN_IF_ERROR(host_rgb_ops().submit(*engine.host, engine.host->queue(QueueKind::kCompute),
                                             plan.rgb_job(image, pixels, pitch, planes), nullptr));
  return encode_samples(engine, options, pixels, pitch, planes, qcoefs, &plan, file);
}

Status check_memory(const CtPicture& from) {
  for (int c = 0; c < from.components; ++c) {
    const CtComponent& component = from.component[c];
    if (component.data == nullptr || component.pitch < qcoef_row_bytes(component.blocks_w))
      return invalid("component " + std::to_string(c) +
                     " has no coefficients, or its rows overlap");
  }
  return {};
}

// The bytes of the quantized coefficients that fetch_qcoefs() brings to the host.
size_t fetched_bytes(const CtEngine& engine, const CtPicture& from) {
  size_t bytes = 0;
  for (int c = 0; engine.is_cuda() && c < from.components; ++c)
    bytes += static_cast<size_t>(qcoef_row_bytes(from.component[c].blocks_w)) *
             static_cast<size_t>(from.component[c].blocks_h);
  return bytes;
}

// Brings the quantized coefficients of a device's picture to memory of the host's at `at`, and
// points `to` there.
Status fetch_qcoefs(CtEngine& engine, const CtPicture& from, uint8_t* at, CtPicture* to) {
  for (int c = 0; c < from.components; ++c) {
    CtComponent& component = to->component[c];
    const int64_t row = qcoef_row_bytes(component.blocks_w);
    CT_RETURN_IF_ERROR(copy_to_host(engine, at, row, component.data, component.pitch,
                                    static_cast<size_t>(row),
                                    static_cast<size_t>(component.blocks_h)));
    component.data = at;
    component.pitch = row;
    at += row * component.blocks_h;
  }
  return {};
}

Status find_places_of(const CtPicture& from, std::vector<FilePlace>* places) {
  for (int i = 0; i < from.n_attachments; ++i) {
    const FilePlace place = {from.attachments[i].offset, from.attachments[i].size};
    const auto wrong = [&](const char* what) {
      return invalid("attachment " + std::to_string(i) + " " + place.text() + what);
    };
    if (place.size == 0 || place.begin > from.trailing_size ||
        place.size > from.trailing_size - place.begin)
      return wrong(" exceeds the trailing data");
    for (const FilePlace& other : *places)
      if (place.overlaps(other)) return wrong(" overlaps another");
    places->push_back(place);
  }
  return {};
}

Status write_picture(CtEngine& engine, const CtEncodeOptions& options, const CtPicture& given,
                     CtFile* file) {
  CT_RETURN_IF_ERROR(check_qcoefs(given));
  CT_RETURN_IF_ERROR(check_memory(given));
  Scratch& own = scratch();
  CtPicture from = given;
  if (engine.is_cuda()) {
    uint8_t* const memory = make_host_room(fetched_bytes(engine, given), &own.memory);
    if (memory == nullptr) return no_memory();
    CT_RETURN_IF_ERROR(fetch_qcoefs(engine, given, memory, &from));
  }
  JpegOptions how = file_options(options);
  how.keep_metadata = options.leave_metadata == 0;
  std::vector<FilePlace> places;
  if (how.keep_metadata) {
    if (from.n_attachments < 0 || from.n_attachments >= static_cast<int32_t>(kMaxMpfPictures))
      return invalid(std::to_string(from.n_attachments) + " attachments, expected at most 255");
    CT_RETURN_IF_ERROR(find_places_of(from, &places));
  }
  JpegPicture picture;
  picture.width = static_cast<uint32_t>(from.width);
  picture.height = static_cast<uint32_t>(from.height);
  picture.depth = static_cast<uint32_t>(from.depth);
  picture.color = color_of(from.color);
  picture.sampling = sampling_of(from);
  for (int c = 0; c < from.components; ++c) {
    const CtComponent& component = from.component[c];
    picture.qcoefs[c] = {static_cast<int16_t*>(component.data), component.pitch,
                         static_cast<uint32_t>(component.blocks_w),
                         static_cast<uint32_t>(component.blocks_h)};
    picture.tables[c] = from.tables[component.table];
  }
  picture.metadata = {from.markers, from.markers_size};
  // Of CMYK, Adobe's marker counts, and so does its absence.
  if (!picture.metadata.empty() || picture.color == JpegColor::kCmyk)
    picture.is_adobe = have_adobe(picture.metadata);
  picture.others = static_cast<uint32_t>(places.size());
  CT_RETURN_IF_ERROR(own.writer.write(picture, how, &own.bytes));
  if (!how.keep_metadata) return take_file(own.bytes, {}, file);
  const std::span<const uint8_t> trailing = {from.trailing, from.trailing_size};
  // A picture may come without the trailing data of its file, or with other data.
  const Status lengths = check_container(picture.metadata, own.bytes.size(), trailing, places);
  CT_RETURN_IF_ERROR(take_file(own.bytes, trailing, file));
  set_text(&file->error, CT_OK, lengths.message);
  if (places.empty()) return {};
  return rewrite_mpf({file->block->data(), own.bytes.size()}, places);
}

// The samples of a picture's components, as they are.
Status plan_reencoding(const CtPicture& from, const CtEncodeOptions& options, EncodePlan* plan) {
  const auto refuse = [](const std::string& what, const char* expected) {
    return Status::error(StatusCode::kUnsupported, "re-encoding samples of " + what +
                                                       " is not supported, expected " + expected);
  };
  if (from.depth != 8) return refuse(std::to_string(from.depth) + " bits", "8");
  if (from.components != 1 && from.components != kMaxComponents)
    return refuse(std::to_string(from.components) + " components", "1 or 3");
  *plan = {};
  plan->width = from.width;
  plan->height = from.height;
  plan->components = from.components;
  plan->color = color_of(from.color);
  plan->quantizer = quantizer_of(options.quantizer);
  plan->method = static_cast<Method>(options.method);
  plan->sampling = sampling_of(from);
  choose_tables(options, plan);
  place(plan);
  return {};
}

Dct8x8Job inverse_job(const EncodePlan& plan, const CtPicture& from, uint8_t* planes) {
  Dct8x8Job job;
  job.direction = Direction::kInverse;
  job.components = plan.components;
  for (size_t c = 0; c < static_cast<size_t>(plan.components); ++c) {
    const CtComponent& component = from.component[c];
    job.samples[c] = plan.planes[c];
    job.samples[c].data = planes + plan.planes_at[c];
    job.coefs[c] = {.data = component.data,
                    .pitch = static_cast<ptrdiff_t>(component.pitch),
                    .blocks_w = component.blocks_w,
                    .blocks_h = component.blocks_h,
                    .table = component.table};
  }
  for (int t = 0; t < from.n_tables; ++t) job.tables[t] = quant_table_of(from.tables[t]);
  return job;
}

Status reencode_picture(CtEngine& engine, const CtEncodeOptions& options, const CtPicture& given,
                        CtFile* file) {
  CT_RETURN_IF_ERROR(check_qcoefs(given));
  CT_RETURN_IF_ERROR(check_memory(given));
  EncodePlan plan;
  CT_RETURN_IF_ERROR(plan_reencoding(given, options, &plan));
  uint8_t* const planes = make_host_room(
      aligned(plan.plane_bytes) + aligned(plan.qcoef_bytes) + fetched_bytes(engine, given),
      &scratch().memory);
  if (planes == nullptr) return no_memory();
  uint8_t* const qcoefs = planes + aligned(plan.plane_bytes);
  CtPicture from = given;
  if (engine.is_cuda())
    CT_RETURN_IF_ERROR(fetch_qcoefs(engine, given, qcoefs + aligned(plan.qcoef_bytes), &from));
  CT_RETURN_IF_ERROR(host_dct8x8_ops().submit(*engine.host, engine.host->queue(QueueKind::kCompute),
                                              inverse_job(plan, from, planes), nullptr));
  return encode_samples(engine, options, nullptr, 0, planes, qcoefs, &plan, file);
}

// make() makes a file and returns a Status. An error is the file's.
template <typename Make>
void make_file(CtFile* file, const Make& make) {
  try {
    if (const Status status = make(); !status.ok()) fail(status, file);
  } catch (const std::bad_alloc&) {
    fail(no_memory(), file);
  }
}

}  // namespace

JpegOptions file_options(const CtEncodeOptions& options) {
  JpegOptions to;
  to.progressive = options.progressive != 0;
  to.arithmetic = options.arithmetic != 0;
  to.optimize = options.optimize != 0;
  to.restart_interval = static_cast<uint32_t>(options.restart);
  return to;
}

QuantTable luma_table(CtPreset preset, int quality) {
  return preset_table(preset_of(preset), QuantComponent::kLuma, quality);
}

QuantTable chroma_table(CtPreset preset, int quality, int pixels) {
  return preset_table(preset_of(preset), chroma_kind(pixels), quality);
}

Status plan_encoding(const CtImage& image, const CtEncodeOptions& options, EncodePlan* plan) {
  const auto text = [&] {
    return std::to_string(image.width) + "x" + std::to_string(image.height);
  };
  if (image.data == nullptr) return invalid("an image has no pixels");
  if (image.channels != 1 && image.channels != 3)
    return invalid("pixels have 1 or 3 channels, not " + std::to_string(image.channels));
  if (image.width < 1 || image.height < 1 ||
      std::max(image.width, image.height) > static_cast<int32_t>(kJpegMaxSize))
    return invalid("a JPEG file has 1 to " + std::to_string(kJpegMaxSize) +
                   " samples on a side, not " + text());
  if (image.pitch < int64_t{image.width} * image.channels)
    return invalid("rows of pixels overlap: the pitch is " + std::to_string(image.pitch));
  *plan = {};
  plan->width = image.width;
  plan->height = image.height;
  plan->channels = image.channels;
  plan->components = image.channels;
  plan->quantizer = quantizer_of(options.quantizer);
  plan->method = static_cast<Method>(options.method);
  if (image.channels == 3) {
    plan->color = options.sampling == CT_SAMPLING_RGB ? JpegColor::kRgb : JpegColor::kYcbcr;
    plan->by[1] = plan->by[2] = chroma_of(options.sampling);
    plan->sampling = JpegSampling::of_luma(plan->color, static_cast<uint32_t>(plan->by[1].x),
                                           static_cast<uint32_t>(plan->by[1].y));
  }
  choose_tables(options, plan);
  place(plan);
  return {};
}

RgbJob EncodePlan::rgb_job(const CtImage& image, const uint8_t* pixels, int64_t pitch,
                           uint8_t* memory) const {
  RgbJob job;
  job.direction = Direction::kForward;
  job.color = color == JpegColor::kRgb ? RgbColor::kRgb : RgbColor::kYcbcr;
  for (size_t c = 0; c < static_cast<size_t>(components); ++c) {
    job.subsampling[c] = by[c];
    job.planes[c] = planes[c];
    job.planes[c].data = memory + planes_at[c];
  }
  job.rgb.width = image.width;
  job.rgb.height = image.height;
  job.rgb.data[0] = const_cast<uint8_t*>(pixels);  // which are only read
  job.rgb.pitch[0] = pitch;
  return job;
}

Dct8x8Job EncodePlan::dct_job(const uint8_t* pixels, int64_t pitch, uint8_t* memory,
                              uint8_t* qcoefs) const {
  Dct8x8Job job;
  job.direction = Direction::kForward;
  job.components = components;
  job.quantizer = quantizer;
  job.method = method;
  std::copy_n(tables.begin(), n_tables, job.tables);
  for (size_t c = 0; c < static_cast<size_t>(components); ++c) {
    job.samples[c] = planes[c];
    if (has_planes()) {
      job.samples[c].data = memory + planes_at[c];
    } else {
      job.samples[c].data = const_cast<uint8_t*>(pixels);
      job.samples[c].pitch = pitch;
    }
    const JpegQcoefs to = qcoefs_of(c, qcoefs);
    job.coefs[c] = {.data = to.data,
                    .pitch = to.stride,
                    .blocks_w = static_cast<int32_t>(to.blocks_w),
                    .blocks_h = static_cast<int32_t>(to.blocks_h),
                    .table = c > 0 ? n_tables - 1 : 0,
                    .chroma = c > 0 && color == JpegColor::kYcbcr};
  }
  return job;
}

JpegQcoefs EncodePlan::qcoefs_of(size_t component, uint8_t* qcoefs) const {
  return {reinterpret_cast<int16_t*>(qcoefs + qcoefs_at[component]),
          static_cast<ptrdiff_t>(blocks_w[component] * 64 * sizeof(int16_t)), blocks_w[component],
          blocks_h[component]};
}

JpegPicture EncodePlan::picture(const CtEncodeOptions& options, uint8_t* qcoefs) const {
  JpegPicture picture;
  picture.width = static_cast<uint32_t>(width);
  picture.height = static_cast<uint32_t>(height);
  picture.color = color;
  picture.sampling = sampling;
  for (size_t c = 0; c < static_cast<size_t>(components); ++c) {
    picture.qcoefs[c] = qcoefs_of(c, qcoefs);
    picture.tables[c] = tables[c > 0 ? static_cast<size_t>(n_tables) - 1 : 0].q;
  }
  picture.metadata = {options.markers, options.markers_size};
  return picture;
}

void fail(const Status& why, CtFile* file) {
  ct_file_clear(file);
  set_text(&file->error, code_of(why.code), why.message);
}

void encode_on_host(CtEngine& engine, const CtEncodeOptions& options, const CtImage& image,
                    CtFile* file) {
  make_file(file, [&] { return encode_image(engine, options, image, file); });
}

void write_qcoefs(const EncodePlan& plan, const CtEncodeOptions& options, uint8_t* qcoefs,
                  CtFile* file) {
  make_file(file, [&]() -> Status {
    Scratch& own = scratch();
    CT_RETURN_IF_ERROR(
        own.writer.write(plan.picture(options, qcoefs), file_options(options), &own.bytes));
    return take_file(own.bytes, {}, file);
  });
}

void write_on_host(CtEngine& engine, const CtEncodeOptions& options, const CtPicture& picture,
                   CtFile* file) {
  make_file(file, [&] { return write_picture(engine, options, picture, file); });
}

void reencode_on_host(CtEngine& engine, const CtEncodeOptions& options, const CtPicture& picture,
                      CtFile* file) {
  make_file(file, [&] { return reencode_picture(engine, options, picture, file); });
}

}  // namespace cudatransform::core
