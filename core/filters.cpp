// From pictures of quantized coefficients to others: rotated, mirrored, cropped, requantized, by
// frequency.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cudatransform.h"
#include "core/engine.h"
#include "core/jpeg_encode.h"
#include "core/jpeg_pixels.h"
#include "core/picture.h"
#include "jpeg/exif.h"
#include "jpeg/flip_metadata.h"
#include "transform/coeffilter/convert.h"
#include "transform/coeffilter/flip.h"
#include "transform/coeffilter/quant.h"
#include "transform/dct8x8/quant_table.h"
#if CT_HAVE_CUDA
#include "cuda/coeffilter/engine.h"
#endif

namespace cudatransform::core {
namespace {

Status wrong(const std::string& what) { return Status::error(StatusCode::kInvalidArgument, what); }

Status check_quality(int32_t quality) {
  if (quality >= 1 && quality <= 100) return {};
  return wrong("a quality is 1 to 100, not " + std::to_string(quality));
}

// Calls make(error), which fills `*to`, initially `*from` without the rest of its file.
template <typename Make>
CtCode make_picture(CtEngine* engine, const CtPicture* from, CtPicture* to, CtError* error,
                    const Make& make) {
  if (to == nullptr) return report(CT_INVALID_ARGUMENT, "the result is NULL", error);
  CtError own = {};
  *to = {};
  const CtCode code = guarded(&own, [&] {
    if (const CtCode unusable = check(engine, &own); unusable != CT_OK) return unusable;
    if (from == nullptr) return report(CT_INVALID_ARGUMENT, "the picture is NULL", &own);
    if (const Status status = check_qcoefs(*from); !status.ok()) return report(status, &own);
    to->width = from->width;
    to->height = from->height;
    to->depth = from->depth;
    to->color = from->color;
    to->irregular = from->irregular;
    to->by_device = from->by_device;
    to->components = from->components;
    std::copy_n(from->component, from->components, to->component);
    to->n_tables = from->n_tables;
    std::copy_n(&from->tables[0][0], 64 * from->n_tables, &to->tables[0][0]);
    return make(&own);
  });
  if (code != CT_OK) {
    ct_picture_clear(to);
    to->error = own;
  }
  if (error != nullptr) *error = own;
  return code;
}

std::vector<uint8_t> copy_of(const uint8_t* data, size_t size) {
  if (data == nullptr) return {};
  return {data, data + size};
}

FileMetadata metadata_of(const CtPicture& picture) {
  FileMetadata metadata = {copy_of(picture.markers, picture.markers_size),
                           copy_of(picture.trailing, picture.trailing_size),
                           {}};
  if (picture.attachments != nullptr)
    for (const CtPlace& place :
         std::span(picture.attachments, static_cast<size_t>(std::max(picture.n_attachments, 0))))
      metadata.attachments.push_back({place.offset, place.size});
  return metadata;
}

Status set_metadata(const FileMetadata& metadata, CtPicture* picture) {
  RestMemory rest;
  CT_RETURN_IF_ERROR(make_rest(metadata.attachments.size(), metadata.segments.size(),
                               metadata.trailing.size(), picture, &rest));
  for (const FilePlace& place : metadata.attachments) *rest.places++ = {place.begin, place.size};
  std::copy(metadata.segments.begin(), metadata.segments.end(), rest.markers);
  std::copy(metadata.trailing.begin(), metadata.trailing.end(), rest.trailing);
  return {};
}

// ---- Rotated, mirrored, cropped ----

Orientation orientation_of(CtDirection direction, std::span<const uint8_t> markers) {
  switch (direction) {
    case CT_FLIP_NONE:
      return {};
    case CT_FLIP_90R:
      return {true, true, false};
    case CT_FLIP_180:
      return {false, true, true};
    case CT_FLIP_90L:
      return {true, false, true};
    case CT_FLIP_HORIZ:
      return {false, true, false};
    case CT_FLIP_VERT:
      return {false, false, true};
    case CT_FLIP_UL_LR:
      return {true, false, false};
    case CT_FLIP_UR_LL:
      return {true, true, true};
    case CT_FLIP_AUTO:
      break;
  }
  return upright_orientation(exif_orientation(markers));
}

PictureFlip flip_of(const CtPicture& picture, const CtFlipOptions& options) {
  const JpegSampling sampling = sampling_of(picture);
  const size_t markers = picture.markers != nullptr ? picture.markers_size : 0;
  PictureFlip flip;
  flip.picture = {picture.width, picture.height, static_cast<int32_t>(8 * sampling.max_h()),
                  static_cast<int32_t>(8 * sampling.max_v())};
  flip.orientation = orientation_of(options.direction, {picture.markers, markers});
  flip.is_upright = options.direction == CT_FLIP_AUTO;
  return flip;
}

void add_line(const std::string& line, std::string* text) {
  *text += (text->empty() ? "" : "\n") + line;
}

// Makes what else there is of the file true of the result.
Status flip_rest(const PictureFlip& flip, const CtPicture& from, CtPicture* to) {
  const bool stays =
      flip.orientation == Orientation{} && to->width == from.width && to->height == from.height;
  FileMetadata metadata = metadata_of(from);
  std::string text;
  if (!stays) {
    if (const std::string lost = flip_metadata(flip, &metadata); !lost.empty())
      add_line("dropped metadata that cannot be transformed losslessly: " + lost, &text);
    if (const std::string edges = unmirrored_edges(flip); flip.is_upright && !edges.empty())
      add_line("partial MCUs left untransformed at the " + edges + "; trim drops them", &text);
  }
  set_text(&to->error, CT_OK, text);
  return set_metadata(metadata, to);
}

Status flip_picture(CtEngine& engine, const CtFlipOptions& options, const CtPicture& from,
                    CtPicture* to) {
  if (number_in(options.direction) < CT_FLIP_NONE || number_in(options.direction) > CT_FLIP_AUTO)
    return wrong("direction is one of CtDirection, not " +
                 std::to_string(number_in(options.direction)));
  PictureFlip flip = flip_of(from, options);
  const FlipRequest request = {.orientation = flip.orientation,
                               .left = options.left,
                               .top = options.top,
                               .width = options.width,
                               .height = options.height,
                               .trim = options.trim != 0,
                               .perfect = options.perfect != 0};
  CT_RETURN_IF_ERROR(plan_flip(flip.picture, request, &flip.plan));
  to->width = flip.plan.width;
  to->height = flip.plan.height;
  FlipJob job;
  job.orientation = flip.orientation;
  job.components = to->components;
  for (int c = 0; c < to->components; ++c) {
    CtComponent& component = to->component[c];
    if (flip.orientation.transposes) std::swap(component.h_samp, component.v_samp);
    job.places[c] = flip_place(flip.plan, component.h_samp, component.v_samp);
  }
  set_sizes(to);
  CT_RETURN_IF_ERROR(make_qcoefs(engine, to));
  for (int c = 0; c < to->components; ++c) {
    job.from[c] = coefs_of(from.component[c]);
    job.to[c] = coefs_of(to->component[c]);
  }
  for (int t = 0; t < to->n_tables && flip.orientation.transposes; ++t)
    std::copy_n(transposed(quant_table_of(from.tables[t])).q, 64, to->tables[t]);
  CT_RETURN_IF_ERROR(run_and_wait(engine, [&](Device& device, Queue& queue) {
    return CT_OPS(device, flip).submit(device, queue, job, nullptr);
  }));
  return flip_rest(flip, from, to);
}

// ---- Requantized ----

JpegTables tables_of(const CtPicture& picture) {
  JpegTables tables;
  tables.count = picture.n_tables;
  for (int t = 0; t < picture.n_tables; ++t) tables.tables[t] = quant_table_of(picture.tables[t]);
  for (int c = 0; c < picture.components; ++c) tables.table_of[c] = picture.component[c].table;
  return tables;
}

JpegTables tables_of_quality(const CtPicture& picture, int32_t quality) {
  JpegTables tables;
  tables.count = 2;
  tables.tables[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, quality);
  tables.tables[1] = preset_table(QuantPreset::kAnnexK, QuantComponent::kChroma, quality);
  for (int c = 0; c < picture.components; ++c)
    tables.table_of[c] = is_chroma(color_of(picture.color), c) ? 1 : 0;
  return tables;
}

Status requantize(CtEngine& engine, int32_t quality, const CtPicture& from, CtPicture* to) {
  CT_RETURN_IF_ERROR(check_quality(quality));
  const JpegTables before = tables_of(from);
  const JpegTables after =
      requantized(before, tables_of_quality(from, quality), true, from.components);
  to->n_tables = after.count;
  for (int t = 0; t < after.count; ++t) std::copy_n(after.tables[t].q, 64, to->tables[t]);
  CT_RETURN_IF_ERROR(make_qcoefs(engine, to));
  RequantJob job;
  job.components = to->components;
  std::copy_n(before.tables, before.count, job.before);
  std::copy_n(after.tables, after.count, job.after);
  for (int c = 0; c < to->components; ++c) {
    to->component[c].table = after.table_of[c];
    job.from[c] = coefs_of(from.component[c]);
    job.to[c] = coefs_of(to->component[c]);
  }
  CT_RETURN_IF_ERROR(run_and_wait(engine, [&](Device& device, Queue& queue) {
    return CT_OPS(device, requant).submit(device, queue, job, nullptr);
  }));
  return set_metadata(metadata_of(from), to);
}

// ---- Pixels ----

Status make_pixels(CtEngine& engine, const CtDecodeOptions& options, const CtPicture& from,
                   CtPicture* to) {
  if (options.output == CT_OUTPUT_COEFFICIENTS) return wrong("the output is pixels");
  JpegHeader header;
  header.width = static_cast<uint32_t>(from.width);
  header.height = static_cast<uint32_t>(from.height);
  header.depth = static_cast<uint32_t>(from.depth);
  header.components = from.components;
  header.color = color_of(from.color);
  header.sampling = sampling_of(from);
  for (int c = 0; c < from.components; ++c) {
    header.blocks_w[c] = static_cast<uint32_t>(from.component[c].blocks_w);
    header.blocks_h[c] = static_cast<uint32_t>(from.component[c].blocks_h);
  }
  PixelPlan plan;
  const size_t markers = from.markers != nullptr ? from.markers_size : 0;
  const int orientation = options.upright != 0 ? exif_orientation({from.markers, markers}) : 0;
  CT_RETURN_IF_ERROR(plan_pixels(header, options, orientation, {}, !engine.is_cuda(), &plan));
  CT_RETURN_IF_ERROR(engine.blocks->take(plan.pixel_bytes, &to->block));
  CtBlock* planes = nullptr;
  if (plan.plane_bytes > 0) CT_RETURN_IF_ERROR(engine.blocks->take(plan.plane_bytes, &planes));
  auto* const qcoefs = static_cast<uint8_t*>(from.component[0].data);
  PixelJobs jobs = jobs_of(plan, tables_of(from), qcoefs,
                           planes != nullptr ? planes->data() : nullptr, to->block->data());
  for (int c = 0; c < plan.components; ++c) {
    CoefPlane& coefs =
        jobs.dct_count == 1 ? jobs.dct[0].coefs[c] : jobs.dct[static_cast<size_t>(c)].coefs[0];
    coefs.data = from.component[c].data;
    coefs.pitch = static_cast<ptrdiff_t>(from.component[c].pitch);
  }
  const Status status = run_and_wait(
      engine, [&](Device& device, Queue& queue) { return submit(device, queue, jobs); });
  unref(planes);
  to->width = plan.output_width();
  to->height = plan.output_height();
  to->channels = plan.channels;
  to->data = to->block->data();
  to->pitch = static_cast<int64_t>(plan.output_pitch);
  to->components = to->n_tables = 0;
  return status;
}

// ---- By frequency ----

bool number_of(CtType type, CoefNumber* number) {
  switch (type) {
    case CT_INT16:
      *number = CoefNumber::kS16;
      return true;
    case CT_INT32:
      *number = CoefNumber::kS32;
      return true;
    case CT_FLOAT16:
      *number = CoefNumber::kF16;
      return true;
    case CT_FLOAT32:
      *number = CoefNumber::kF32;
      return true;
    case CT_UINT8:
    case CT_UINT16:
    case CT_BFLOAT16:
      break;
  }
  return false;
}

// Rows of bands begin at multiples of this on a device, components at those of the other.
constexpr int64_t kDevicePitch = 16, kComponents = 128;

int64_t rounded(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

Status make_planes(CtEngine& engine, CoefNumber number, const CtPicture& from, CtPlanes* planes) {
  ConvertJob job;
  job.to_kinds = {number, CoefArrangement::kBand, number == CoefNumber::kS16};
  job.components = planes->components = from.components;
  int64_t at[CT_MAX_COMPONENTS], bytes = 0;
  for (int c = 0; c < from.components; ++c) {
    const CtComponent& component = from.component[c];
    const int64_t row = int64_t{component.blocks_w} * bytes_of(number);
    planes->bands[c] = {nullptr, rounded(row, engine.is_cuda() ? kDevicePitch : 1),
                        component.blocks_w, component.blocks_h};
    at[c] = bytes;
    bytes += rounded(planes->bands[c].pitch * 64 * component.blocks_h, kComponents);
  }
  CT_RETURN_IF_ERROR(engine.blocks->take(static_cast<size_t>(bytes), &planes->block));
  for (int c = 0; c < from.components; ++c) {
    CtBands& bands = planes->bands[c];
    bands.data = planes->block->data() + at[c];
    job.from[c] = coefs_of(from.component[c]);
    job.to[c] = {.data = bands.data,
                 .pitch = static_cast<ptrdiff_t>(bands.pitch),
                 .blocks_w = bands.blocks_w,
                 .blocks_h = bands.blocks_h,
                 .table = job.from[c].table};
  }
  for (int t = 0; t < from.n_tables; ++t) job.tables[t] = quant_table_of(from.tables[t]);
  return run_and_wait(engine, [&](Device& device, Queue& queue) {
    return CT_OPS(device, convert).submit(device, queue, job, nullptr);
  });
}

}  // namespace
}  // namespace cudatransform::core

using namespace cudatransform::core;  // for the public functions below

CtCode ct_quality_tables(CtPreset preset, int32_t quality, int32_t chroma_h, int32_t chroma_v,
                         uint16_t luma[64], uint16_t chroma[64], CtError* error) {
  using namespace cudatransform;
  return guarded(error, [&] {
    if (luma == nullptr || chroma == nullptr)
      return report(CT_INVALID_ARGUMENT, "luma or chroma is NULL", error);
    if (number_in(preset) < CT_PRESET_ANNEX_K || number_in(preset) > CT_PRESET_PERCEPTUAL)
      return report(CT_INVALID_ARGUMENT,
                    "preset is one of CtPreset, not " + std::to_string(number_in(preset)), error);
    if (const Status status = check_quality(quality); !status.ok()) return report(status, error);
    const auto is_factor = [](int32_t one) { return one == 1 || one == 2 || one == 4; };
    if (!is_factor(chroma_h) || !is_factor(chroma_v) || chroma_h * chroma_v > 4)
      return report(CT_INVALID_ARGUMENT,
                    "samples of luma for one of chroma are 1, 2 or 4, not " +
                        std::to_string(chroma_h) + "x" + std::to_string(chroma_v),
                    error);
    std::copy_n(luma_table(preset, quality).q, 64, luma);
    std::copy_n(chroma_table(preset, quality, chroma_h * chroma_v).q, 64, chroma);
    return CT_OK;
  });
}

CtCode ct_flip(CtEngine* engine, const CtFlipOptions* options, const CtPicture* from, CtPicture* to,
               CtError* error) {
  return make_picture(engine, from, to, error, [&](CtError* why) {
    CtFlipOptions own;
    if (const CtCode code = copy_options(options, &own, why); code != CT_OK) return code;
    return report(flip_picture(*engine, own, *from, to), why);
  });
}

CtCode ct_requantize(CtEngine* engine, int32_t quality, const CtPicture* from, CtPicture* to,
                     CtError* error) {
  return make_picture(engine, from, to, error, [&](CtError* why) {
    return report(requantize(*engine, quality, *from, to), why);
  });
}

CtCode ct_pixels(CtEngine* engine, const CtDecodeOptions* options, const CtPicture* from,
                 CtPicture* to, CtError* error) {
  return make_picture(engine, from, to, error, [&](CtError* why) {
    CtDecodeOptions own;
    CtCode code = copy_options(options, &own, why);
    if (code == CT_OK) code = check(own, why);
    return code == CT_OK ? report(make_pixels(*engine, own, *from, to), why) : code;
  });
}

CtCode ct_planes(CtEngine* engine, CtType type, const CtPicture* from, CtPlanes* planes,
                 CtError* error) {
  return guarded(error, [&] {
    if (const CtCode code = check(engine, error); code != CT_OK) return code;
    if (from == nullptr || planes == nullptr)
      return report(CT_INVALID_ARGUMENT, "the picture or the planes are NULL", error);
    *planes = {};
    cudatransform::CoefNumber number;
    if (!number_of(type, &number))
      return report(
          CT_INVALID_ARGUMENT,
          "planes are CT_INT16, CT_INT32, CT_FLOAT16 or CT_FLOAT32, not " + std::to_string(type),
          error);
    cudatransform::Status status = check_qcoefs(*from);
    if (status.ok()) status = make_planes(*engine, number, *from, planes);
    if (!status.ok()) ct_planes_clear(planes);
    return report(status, error);
  });
}

void ct_planes_clear(CtPlanes* planes) {
  unref(planes->block);
  *planes = {};
}
