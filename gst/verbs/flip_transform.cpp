// cudadctflip's transform: pictures of coefficients turned, mirrored and cropped.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/flip_transform.h"

#include <algorithm>
#include <utility>

#include "gst/stream/source_frames.h"
#include "gst/verbs/flip_metadata.h"

#if CT_HAVE_CUDA
#include "cuda/verbs/flip_quant_engine.h"
#endif

namespace cudatransform {
namespace {

const FlipOps& ops_of([[maybe_unused]] const Engine& engine) {
#if CT_HAVE_CUDA
  if (engine.is_cuda()) return cuda_flip_ops();
#endif
  return host_flip_ops();
}

QuantTable transposed(const QuantTable& table) {
  QuantTable made;
  for (int i = 0; i < 64; i++) made.q[i] = table.q[i % 8 * 8 + i / 8];
  return made;
}

std::string unmirrored_edges(const PictureFlip& flip) {
  const bool x = has_unmirrored_edge(flip, false), y = has_unmirrored_edge(flip, true);
  if (x && y) return "right and bottom edges";
  return x ? "right edge" : y ? "bottom edge" : "";
}

}  // namespace

FlipPicture flip_picture(const GstDctInfo& info) {
  // The first component has the largest factors.
  const auto mcu = [](guint factor) { return static_cast<int32_t>(8 * factor); };
  return {info.width, info.height, mcu(info.components[0].h_samp), mcu(info.components[0].v_samp)};
}

Turn turn_of(GstVideoOrientationMethod method) {
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

GstVideoOrientationMethod method_of(const Turn& turn) {
  for (const GstVideoOrientationMethod method :
       {GST_VIDEO_ORIENTATION_90R, GST_VIDEO_ORIENTATION_180, GST_VIDEO_ORIENTATION_90L,
        GST_VIDEO_ORIENTATION_HORIZ, GST_VIDEO_ORIENTATION_VERT, GST_VIDEO_ORIENTATION_UL_LR,
        GST_VIDEO_ORIENTATION_UR_LL})
    if (turn_of(method) == turn) return method;
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

Status FlipTransform::prepare(FrameRequest*) {
  set_losses({});
  return take_plan();
}

Status FlipTransform::take_plan() {
  CT_RETURN_IF_ERROR(plan_flip(flip_picture(in_info()), request, &plan_));
  if (plan_.width == out_info().width && plan_.height == out_info().height) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "A picture of " + size_text(plan_.width, plan_.height) +
                           " does not belong to caps of " +
                           size_text(out_info().width, out_info().height));
}

void FlipTransform::flip_metadata(GstBuffer* out) {
  const PictureFlip flip = {flip_picture(in_info()), request.turn, plan_, is_upright};
  GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(out);
  const Losses losses = {meta ? flip_jpeg_meta(flip, meta) : "", unmirrored_edges(flip)};
  set_losses(losses);
  if (!losses.metadata.empty())
    transport_.warn_once("Dropped what cannot follow the picture without loss: " + losses.metadata,
                         &warned_of_metadata_);
  if (!losses.edges.empty() && is_upright)
    transport_.warn_once(
        "Partial MCUs that cannot be mirrored without loss stay as they are at the " +
            losses.edges + " of a picture of " +
            size_text(flip.picture.width, flip.picture.height) + "; trim=true drops them",
        &warned_of_edges_);
}

// Caps are equal, and so are sizes: a crop that begins at 0 is all of the picture.
bool FlipTransform::keeps(const FrameTables&) const {
  return request.turn == Turn{} && plan_.left == 0 && plan_.top == 0;
}

Status FlipTransform::make_tables(const FrameTables& from, FrameTables* to) {
  *to = from;
  if (request.turn.transposes)
    std::transform(from.tables, from.tables + from.count, to->tables, transposed);
  return {};
}

Status FlipTransform::enqueue(const CoefArray from[kMostCoefArrays], const FrameTables&,
                              const CoefArray to[kMostCoefArrays], const FrameTables&,
                              MeasuredFrame* frame, FencePtr* done) {
  FlipJob job;
  job.number = number_of(in_info());
  job.arrangement = arrangement_of(in_info());
  job.turn = request.turn;
  job.components = static_cast<int>(in_info().n_components);
  std::copy_n(from, job.components, job.from);
  std::copy_n(to, job.components, job.to);
  for (int c = 0; c < job.components; c++) {
    // An MCU has so many blocks of the component.
    const auto across = static_cast<int32_t>(out_info().components[c].h_samp);
    const auto down = static_cast<int32_t>(out_info().components[c].v_samp);
    job.places[c] = {plan_.left * across, plan_.top * down, plan_.mirrored_w * across,
                     plan_.mirrored_h * down};
  }
  if (frame) {
    // Nothing is lost, so there is nothing to compare.
    frame->kinds &= kMeasureTime;
    frame->components = 0;
    frame->bytes = 2 * out_info().size;
    if (frame->kinds) job.timer = frame->kernel.get();
  }
  return ops_of(engine_).submit(engine_.device(), engine_.queue(QueueKind::kCompute), job, done);
}

}  // namespace cudatransform
