// What becomes of a flipped picture, and the checks that keep kernels inside their buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/verbs/flip.h"

#include <utility>

#include "transform/verbs/coefs_check.h"

namespace cudatransform {

namespace {

// One axis of the turned picture.
struct Axis {
  const char* name;  // of its size
  const char* first_name;
  int32_t size, mcu;
  bool mirrors;
  int32_t first, wanted;  // FlipRequest's

  int32_t whole() const { return size / mcu; }
};

struct AxisPlan {
  int32_t size, first, mirrored;
};

Status plan_axis(const Axis& axis, bool trim, AxisPlan* plan) {
  const auto& [name, first_name, size, mcu, mirrors, first, wanted] = axis;
  if (first < 0 || first >= size)
    return job_error(std::string("crop-") + first_name + " " + text(first) + " is outside of a " +
                     name + " of " + text(size));
  if (wanted < 0 || wanted > size - first)
    return job_error(std::string("crop-") + name + " " + text(wanted) + " from " + text(first) +
                     " on leaves a " + name + " of " + text(size));
  const int32_t end = wanted == 0 ? size : first + wanted;
  *plan = {end - first / mcu * mcu, first / mcu, mirrors ? axis.whole() : 0};
  // A result that ends before the partial MCU has none.
  const int32_t whole = plan->size / mcu;
  if (trim && mirrors && whole > 0 && plan->first + whole == axis.whole()) plan->size = whole * mcu;
  return {};
}

Status check_places(const FlipJob& job, int c) {
  const CoefArray &from = job.from[c], &to = job.to[c];
  const FlipPlace& place = job.places[c];
  const auto check_side = [&](const char* what, int32_t from_blocks, int32_t to_blocks,
                              int32_t first, int32_t mirrored) -> Status {
    if (first >= 0 && first < from_blocks && to_blocks <= from_blocks - first && mirrored >= 0 &&
        mirrored <= from_blocks)
      return {};
    return Where{what, c}.error(text(to_blocks) + " blocks from " + text(first) + " on, " +
                                text(mirrored) + " mirrored, of " + text(from_blocks));
  };
  const bool turned = job.turn.transposes;
  CT_RETURN_IF_ERROR(check_side("columns", turned ? from.blocks_h : from.blocks_w, to.blocks_w,
                                place.left, place.mirrored_w));
  return check_side("rows", turned ? from.blocks_w : from.blocks_h, to.blocks_h, place.top,
                    place.mirrored_h);
}

}  // namespace

Status plan_flip(const FlipPicture& picture, const FlipRequest& request, FlipPlan* plan) {
  FlipPicture turned = picture;
  if (request.turn.transposes) {
    std::swap(turned.width, turned.height);
    std::swap(turned.mcu_width, turned.mcu_height);
  }
  const Axis x = {
      "width",      "left",       turned.width, turned.mcu_width, request.turn.mirrors_x,
      request.left, request.width};
  const Axis y = {
      "height",    "top",         turned.height, turned.mcu_height, request.turn.mirrors_y,
      request.top, request.height};
  for (const Axis* axis : {&x, &y})
    if (request.perfect && axis->mirrors && axis->size % axis->mcu != 0)
      return Status::error(StatusCode::kInvalidSetting,
                           std::string("perfect: the turned picture's ") + axis->name + " of " +
                               text(axis->size) + " is no multiple of " + text(axis->mcu) +
                               ", the MCU's, so that its edge cannot be mirrored");
  AxisPlan columns, rows;
  CT_RETURN_IF_ERROR(plan_axis(x, request.trim, &columns));
  CT_RETURN_IF_ERROR(plan_axis(y, request.trim, &rows));
  *plan = {columns.size, rows.size, columns.first, rows.first, columns.mirrored, rows.mirrored};
  return {};
}

Status validate(const FlipJob& job) {
  if (!within(job.number, CoefNumber::kF16) || !within(job.arrangement, CoefArrangement::kPlane))
    return job_error("blocks are flipped in the block and in the plane layout only");
  CT_RETURN_IF_ERROR(check_components(job.components));
  for (int c = 0; c < job.components; ++c) {
    CT_RETURN_IF_ERROR(check_coefs({"input", c}, job.from[c], job.number, job.arrangement));
    CT_RETURN_IF_ERROR(check_coefs({"output", c}, job.to[c], job.number, job.arrangement));
    CT_RETURN_IF_ERROR(check_places(job, c));
  }
  return {};
}

}  // namespace cudatransform
