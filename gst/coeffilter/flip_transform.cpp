// cudadctflip's transform: flips, rotates and crops pictures of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/coeffilter/flip_transform.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <gst/coef/dct.h>
#include "cuda/coeffilter/engine.h"
#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/coefficients.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/sampling.h"
#include "gst/stream/source_frames.h"
#if CT_HAVE_JPEG
#include "jpeg/exif.h"
#include "jpeg/flip_metadata.h"
#endif

namespace cudatransform {

CT_ENGINE_OPS(FlipOps, host_flip_ops, cuda_flip_ops)

FlipPicture flip_picture(const GstDctInfo& info) {
  const MaxFactors max = max_factors(info.sampling);
  const auto mcu = [](guint factor) { return static_cast<int32_t>(8 * factor); };
  return {info.width, info.height, mcu(max.h), mcu(max.v)};
}

Orientation orientation_of(GstVideoOrientationMethod method) {
  switch (method) {
    case GST_VIDEO_ORIENTATION_90R:
      return {true, true, false};
    case GST_VIDEO_ORIENTATION_180:
      return {false, true, true};
    case GST_VIDEO_ORIENTATION_90L:
      return {true, false, true};
    case GST_VIDEO_ORIENTATION_HORIZ:
      return {false, true, false};
    case GST_VIDEO_ORIENTATION_VERT:
      return {false, false, true};
    case GST_VIDEO_ORIENTATION_UL_LR:
      return {true, false, false};
    case GST_VIDEO_ORIENTATION_UR_LL:
      return {true, true, true};
    default:
      return {};
  }
}

const char* nick_of(GstVideoOrientationMethod method) {
  auto* values = static_cast<GEnumClass*>(g_type_class_peek(GST_TYPE_VIDEO_ORIENTATION_METHOD));
  const GEnumValue* value = g_enum_get_value(values, method);
  return value ? value->value_nick : "identity";
}

GstVideoOrientationMethod method_of(const Orientation& orientation) {
  for (const GstVideoOrientationMethod method :
       {GST_VIDEO_ORIENTATION_90R, GST_VIDEO_ORIENTATION_180, GST_VIDEO_ORIENTATION_90L,
        GST_VIDEO_ORIENTATION_HORIZ, GST_VIDEO_ORIENTATION_VERT, GST_VIDEO_ORIENTATION_UL_LR,
        GST_VIDEO_ORIENTATION_UR_LL})
    if (orientation_of(method) == orientation) return method;
  return GST_VIDEO_ORIENTATION_IDENTITY;
}

void FlipTransform::describe(GstStructure* stats) const {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  const std::lock_guard lock(mutex_);
  gst_structure_set(stats, "method", G_TYPE_STRING, direction, "dropped-metadata", G_TYPE_STRING,
                    text_or_null(losses_.metadata), "unmirrored-edges", G_TYPE_STRING,
                    text_or_null(losses_.edges), nullptr);
}

void FlipTransform::set_losses(Losses losses) {
  const std::lock_guard lock(mutex_);
  losses_ = std::move(losses);
}

void FlipTransform::start() {
  warned_of_metadata_ = warned_of_edges_ = false;
  set_losses({});
}

Status FlipTransform::take_settings(const char**) {
  set_losses({});
  return take_plan();
}

Status FlipTransform::take_plan() {
  CT_RETURN_IF_ERROR(plan_flip(flip_picture(in_info()), request, &plan_));
  if (plan_.width == out_info().width && plan_.height == out_info().height) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "Output size " + size_text(plan_.width, plan_.height) +
                           " does not match caps " +
                           size_text(out_info().width, out_info().height));
}

void FlipTransform::flip_metadata(GstBuffer* out) {
  const PictureFlip flip = {flip_picture(in_info()), request.orientation, plan_, is_upright};
  GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(out);
  const Losses losses = {meta ? flip_jpeg_meta(flip, meta) : "", unmirrored_edges(flip)};
  set_losses(losses);
  if (!losses.metadata.empty())
    mover_.warn_once("Dropped metadata that cannot be transformed losslessly: " + losses.metadata,
                     &warned_of_metadata_);
  if (!losses.edges.empty() && is_upright)
    mover_.warn_once("Partial MCUs left untransformed at the " + losses.edges + " of " +
                         size_text(flip.picture.width, flip.picture.height) +
                         "; trim=true drops them",
                     &warned_of_edges_);
}

// Caps are equal, and so are sizes: a crop that begins at 0 is all of the picture.
bool FlipTransform::keeps(const FrameTables&) const {
  return request.orientation == Orientation{} && plan_.left == 0 && plan_.top == 0;
}

Status FlipTransform::make_tables(const FrameTables& from, FrameTables* to) {
  *to = from;
  if (request.orientation.transposes)
    for (int t = 0; t < from.count; t++) to->tables[t] = transposed(from.tables[t]);
  return {};
}

Status FlipTransform::enqueue(const CoefArray from[kMaxCoefArrays], const FrameTables&,
                              const CoefArray to[kMaxCoefArrays], const FrameTables&,
                              MeasuredFrame* frame, FencePtr* done) {
  FlipJob job;
  job.number = number_of(in_info());
  job.arrangement = arrangement_of(in_info());
  job.orientation = request.orientation;
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  for (int c = 0; c < job.components; c++) {
    // An MCU has this many blocks of the component.
    const auto across = static_cast<int32_t>(out_info().components[c].h_samp);
    const auto down = static_cast<int32_t>(out_info().components[c].v_samp);
    job.places[c] = flip_place(plan_, across, down);
  }
  if (frame) {
    // Nothing is lost, so there is nothing to compare.
    frame->kinds &= kMeasureTime;
    frame->components = 0;
    frame->bytes = 2 * out_info().size;
    if (frame->kinds) job.timer = frame->kernel.get();
  }
  return engine_.ops<FlipOps>().submit(engine_.device(), engine_.queue(QueueKind::kCompute), job,
                                       done);
}

#if CT_HAVE_JPEG

namespace {

std::vector<uint8_t> copy_of(GBytes* bytes) {
  gsize size = 0;
  const auto* data = bytes ? static_cast<const uint8_t*>(g_bytes_get_data(bytes, &size)) : nullptr;
  return {data, data + size};
}

// Without a copy, for which GLib would end the process when memory runs out.
BytesPtr bytes_of(std::vector<uint8_t> data) {
  auto* held = new std::vector<uint8_t>(std::move(data));
  const auto free = [](gpointer memory) { delete static_cast<std::vector<uint8_t>*>(memory); };
  return BytesPtr(g_bytes_new_with_free_func(held->data(), held->size(), free, held));
}

// Throws std::bad_alloc.
std::string flip_all(const PictureFlip& flip, GstDctJpegMeta* meta) {
  FileMetadata metadata = {copy_of(meta->segments), copy_of(meta->trailing), {}};
  const guint count = std::min<guint>(meta->n_attachments, GST_DCT_JPEG_MAX_ATTACHMENTS);
  for (guint i = 0; i < count; i++)
    metadata.attachments.push_back({meta->attachments[i].offset, meta->attachments[i].size});
  std::string lost = flip_metadata(flip, &metadata);
  std::vector<GstDctJpegPlace> places;
  for (const FilePlace& place : metadata.attachments) places.push_back({place.begin, place.size});
  const bool has_trailing = !metadata.trailing.empty();
  BytesPtr segments(bytes_of(std::move(metadata.segments)));
  const BytesPtr trailing(bytes_of(std::move(metadata.trailing)));
  // Without segments the meta of CMYK indicates that there was no Adobe marker.
  const BytesPtr old(meta->segments);
  meta->segments = old ? segments.release() : nullptr;
  gst_dct_jpeg_meta_set_trailing(meta, has_trailing ? trailing.get() : nullptr, places.data(),
                                 static_cast<guint>(places.size()));
  return lost;
}

}  // namespace

bool read_upright_orientation(const GstDctJpegMeta& meta, Orientation* orientation) {
  gsize size = 0;
  const auto* data =
      meta.segments ? static_cast<const uint8_t*>(g_bytes_get_data(meta.segments, &size)) : nullptr;
  try {
    const int exif = exif_orientation({data, size});
    *orientation = upright_orientation(exif);
    return exif != 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::string flip_jpeg_meta(const PictureFlip& flip, GstDctJpegMeta* meta) {
  try {
    return flip_all(flip, meta);
  } catch (const std::bad_alloc&) {
    const BytesPtr segments(g_steal_pointer(&meta->segments));
    gst_dct_jpeg_meta_set_trailing(meta, nullptr, nullptr, 0);
    return "all metadata";  // short enough to need none
  }
}

#else

bool read_upright_orientation(const GstDctJpegMeta&, Orientation*) { return false; }

std::string flip_jpeg_meta(const PictureFlip&, GstDctJpegMeta* meta) {
  const BytesPtr segments(g_steal_pointer(&meta->segments));
  const bool had_any = segments || meta->trailing;
  gst_dct_jpeg_meta_set_trailing(meta, nullptr, nullptr, 0);
  return had_any ? "all metadata (built without libjpeg)" : "";
}

#endif

namespace {

// The sampling of the same components with rows and columns exchanged.
GstCoefSampling transposed(GstCoefSampling sampling) {
  guint h[GST_DCT_MAX_COMPONENTS], v[GST_DCT_MAX_COMPONENTS];
  guint n = 0;
  while (n < GST_DCT_MAX_COMPONENTS && gst_coef_sampling_get_factors(sampling, n, &h[n], &v[n]))
    n++;
  return gst_coef_sampling_from_factors(gst_coef_sampling_get_colorspace(sampling), v, h, n);
}

void transpose_sampling(GstStructure* s) {
  std::vector<std::string> names;
  for (const std::string& name : strings_of(s, "sampling")) {
    const GstCoefSampling sampling = gst_coef_sampling_from_string(name.c_str());
    if (sampling != GST_COEF_SAMPLING_UNKNOWN)
      names.emplace_back(gst_coef_sampling_to_string(transposed(sampling)));
  }
  if (!names.empty()) set_strings(s, "sampling", names);
}

void exchange_sizes(GstStructure* s) {
  GValue sizes[2] = {G_VALUE_INIT, G_VALUE_INIT};
  constexpr const char* kFields[] = {"width", "height"};
  for (const int i : {0, 1})
    if (const GValue* value = gst_structure_get_value(s, kFields[i])) {
      g_value_init(&sizes[i], G_VALUE_TYPE(value));
      g_value_copy(value, &sizes[i]);
      gst_structure_remove_field(s, kFields[i]);
    }
  for (const int i : {0, 1})
    if (G_IS_VALUE(&sizes[i])) gst_structure_take_value(s, kFields[1 - i], &sizes[i]);
}

void turn_pixels(GstStructure* s) {
  gint n = 0, d = 0;
  if (gst_structure_get_fraction(s, "pixel-aspect-ratio", &n, &d) && n > 0)
    gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION, d, n, nullptr);
  else
    gst_structure_remove_field(s, "pixel-aspect-ratio");
}

void leave_sizes_open(GstStructure* s) {
  for (const char* field : {"width", "height"})
    gst_structure_set(s, field, GST_TYPE_INT_RANGE, 1, G_MAXINT, nullptr);
}

// Whether sizes follow from the other side's alone.
bool keeps_all(const FlipRequest& request) {
  return request.left == 0 && request.top == 0 && request.width == 0 && request.height == 0 &&
         !(request.trim && (request.orientation.mirrors_x || request.orientation.mirrors_y));
}

void transpose_tables(GstStructure* s) {
  if (!gst_structure_has_field(s, "quantization-tables")) return;
  const CapsPtr caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), gst_structure_copy(s));
  guint16* values = nullptr;
  guint* of_component = nullptr;
  gsize n_values = 0;
  guint n_components = 0;
  const bool usable = gst_dct_caps_get_tables(caps.get(), &values, &n_values, &of_component,
                                              &n_components, nullptr);
  const GlibPtr<guint16> values_owner(values);
  const GlibPtr<guint> of_component_owner(of_component);
  remove_tables(caps.get());
  if (usable) {
    std::vector<guint16> turned(n_values);
    for (gsize i = 0; i < n_values; i++) turned[i] = values[i / 64 * 64 + i % 8 * 8 + i % 64 / 8];
    (void)gst_dct_caps_set_tables(caps.get(), turned.data(), n_values, of_component, n_components,
                                  nullptr);
  }
  for (const char* field : {"quantization-tables", "component-tables"}) {
    const GValue* made = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), field);
    if (made)
      gst_structure_set_value(s, field, made);
    else
      gst_structure_remove_field(s, field);
  }
}

void transpose(GstStructure* s) {
  transpose_sampling(s);
  exchange_sizes(s);
  turn_pixels(s);
  transpose_tables(s);
}

}  // namespace

void flip_caps(GstStructure* s, const FlipRequest& request) {
  const CapsPtr caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), gst_structure_copy(s));
  if (request.orientation.transposes) transpose(s);
  if (keeps_all(request)) return;
  GstDctInfo info;
  FlipPlan plan;
  if (gst_caps_is_fixed(caps.get()) && read_dct_caps(caps.get(), &info).ok() &&
      plan_flip(flip_picture(info), request, &plan).ok())
    gst_structure_set(s, "width", G_TYPE_INT, plan.width, "height", G_TYPE_INT, plan.height,
                      nullptr);
  else
    leave_sizes_open(s);
}

void unflip_caps(GstStructure* s, const FlipRequest& request) {
  if (request.orientation.transposes) transpose(s);
  if (!keeps_all(request)) leave_sizes_open(s);
}

}  // namespace cudatransform
