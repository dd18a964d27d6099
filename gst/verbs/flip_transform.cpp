// cudadctflip's transform: pictures of coefficients turned, mirrored and cropped.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/flip_transform.h"

#include <algorithm>

#include "gst/stream/source_frames.h"

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

}  // namespace

Status plan_flip(const GstDctInfo& info, const FlipRequest& request, FlipPlan* plan) {
  // The first component has the largest factors.
  const auto mcu = [](guint factor) { return static_cast<int32_t>(8 * factor); };
  return plan_flip(FlipPicture{info.width, info.height, mcu(info.components[0].h_samp),
                               mcu(info.components[0].v_samp)},
                   request, plan);
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

GstVideoOrientationMethod method_of_exif(int orientation) {
  // By JEITA CP-3451: where the first row and the first column are.
  static constexpr GstVideoOrientationMethod kMethods[] = {
      GST_VIDEO_ORIENTATION_CUSTOM, GST_VIDEO_ORIENTATION_IDENTITY, GST_VIDEO_ORIENTATION_HORIZ,
      GST_VIDEO_ORIENTATION_180,    GST_VIDEO_ORIENTATION_VERT,     GST_VIDEO_ORIENTATION_UL_LR,
      GST_VIDEO_ORIENTATION_90R,    GST_VIDEO_ORIENTATION_UR_LL,    GST_VIDEO_ORIENTATION_90L};
  return kMethods[orientation];
}

void FlipTransform::describe(GstStructure* stats) const {
  gst_structure_set(stats, "method", G_TYPE_STRING, direction, nullptr);
}

Status FlipTransform::take_plan() {
  CT_RETURN_IF_ERROR(plan_flip(in_info(), request, &plan_));
  if (plan_.width == out_info().width && plan_.height == out_info().height) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "A picture of " + size_text(plan_.width, plan_.height) +
                           " does not belong to caps of " +
                           size_text(out_info().width, out_info().height));
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
