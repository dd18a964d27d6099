// The checks that keep RGB and its planes inside their buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/rgb/rgb.h"

#include <string>

#include "transform/picture_check.h"
#include "transform/rgb/arithmetic.h"

namespace cudatransform {

namespace {

constexpr int32_t kBlock = 8;

int32_t in_blocks(int32_t side) { return (side + kBlock - 1) / kBlock * kBlock; }

// Rows of bytes in memory.
struct Rows {
  std::string what;
  uintptr_t data;
  uintptr_t pitch, row_bytes, rows;

  uintptr_t end() const { return data + pitch * (rows - 1) + row_bytes; }
};

// Rows of one pitch may be interleaved.
bool overlap(const Rows& a, const Rows& b) {
  if (a.end() <= b.data || b.end() <= a.data) return false;
  if (a.pitch != b.pitch) return true;
  const Rows& first = a.data <= b.data ? a : b;
  const Rows& second = a.data <= b.data ? b : a;
  const uintptr_t column = (second.data - first.data) % a.pitch;
  return column < first.row_bytes || column + second.row_bytes > a.pitch;
}

Status check_subsampling(const RgbSubsampling& by, int component) {
  if (by.x >= 1 && by.x <= kMaxRgbSubsampling && by.y >= 1 && by.y <= kMaxRgbSubsampling) return {};
  return job_error("subsampling " + text(by.x) + " x " + text(by.y) + " of component " +
                   text(component) + ", expected 1 to " + text(kMaxRgbSubsampling));
}

Status check_image(const RgbImage& rgb) {
  if (!within(rgb.packing, RgbPacking::kPlanar))
    return job_error("unknown packing " + text(int(rgb.packing)));
  if (rgb.width < 1 || rgb.height < 1 || rgb.width > kMaxRgbSide || rgb.height > kMaxRgbSide) {
    return job_error("RGB of " + text(rgb.width) + " x " + text(rgb.height) +
                     " pixels, expected 1 to " + text(kMaxRgbSide) + " on a side");
  }
  for (int p = 0; p < rgb.planes(); ++p) {
    CT_RETURN_IF_ERROR(check_pitch({"RGB", p}, rgb.data[p], rgb.pitch[p],
                                   int64_t{rgb.width} * rgb_layout(rgb.packing).pixel_bytes,
                                   rgb.height, 1));
  }
  return {};
}

Status check_side(const Where& where, const char* side, int32_t has, int32_t least, int32_t most) {
  if (has >= least && has <= most) return {};
  return where.error(std::string(side) + " " + text(has) + ", expected " + text(least) +
                     (most > least ? " to " + text(most) : ""));
}

Status check_plane(const RgbJob& job, int component) {
  const Where where{"plane", component};
  const SamplePlane& plane = job.planes[component];
  if (plane.type != SampleType::kU8 || plane.stride != 1 || plane.shift != 0 ||
      plane.row_repeat != 1) {
    return where.error("expected adjacent bytes, without shift and row repeat");
  }
  const RgbSubsampling& by = job.subsampling[component];
  const int32_t width = rgb_plane_side(job.rgb.width, by.x);
  const int32_t height = rgb_plane_side(job.rgb.height, by.y);
  const bool forward = job.direction == Direction::kForward;
  CT_RETURN_IF_ERROR(
      check_side(where, "width", plane.width, width, forward ? in_blocks(width) : width));
  CT_RETURN_IF_ERROR(
      check_side(where, "height", plane.height, height, forward ? in_blocks(height) : height));
  return check_pitch(where, plane.data, plane.pitch, plane.width, plane.height, 1);
}

Status check_apart(const Rows& a, const Rows& b) {
  if (!overlap(a, b)) return {};
  return job_error(a.what + " overlaps " + b.what);
}

Rows rows_of(const SamplePlane& plane, int component) {
  return {"the plane of component " + text(component), uintptr_t(plane.data),
          uintptr_t(plane.pitch), uintptr_t(plane.width), uintptr_t(plane.height)};
}

Rows rows_of(const RgbImage& rgb, int plane) {
  return {rgb.planes() == 1 ? "RGB" : "plane " + text(plane) + " of RGB",
          uintptr_t(rgb.data[plane]), uintptr_t(rgb.pitch[plane]),
          uintptr_t(rgb.width) * uintptr_t(rgb_layout(rgb.packing).pixel_bytes),
          uintptr_t(rgb.height)};
}

Status check_all_apart(const RgbJob& job) {
  const bool forward = job.direction == Direction::kForward;
  for (int p = 0; p < job.rgb.planes(); ++p) {
    for (int c = 0; c < job.components(); ++c)
      CT_RETURN_IF_ERROR(check_apart(rows_of(job.rgb, p), rows_of(job.planes[c], c)));
    for (int other = 0; other < p && !forward; ++other)
      CT_RETURN_IF_ERROR(check_apart(rows_of(job.rgb, other), rows_of(job.rgb, p)));
  }
  for (int c = 0; c < job.components(); ++c) {
    for (int other = 0; other < c && forward; ++other)
      CT_RETURN_IF_ERROR(check_apart(rows_of(job.planes[other], other), rows_of(job.planes[c], c)));
  }
  return {};
}

}  // namespace

Status validate(const RgbJob& job) {
  if (!within(job.direction, Direction::kInverse))
    return job_error("unknown direction " + text(int(job.direction)));
  if (!within(job.color, RgbColor::kRgb)) return job_error("unknown color " + text(int(job.color)));
  if (!within(job.upsampling, ChromaUpsampling::kNearest))
    return job_error("unknown upsampling " + text(int(job.upsampling)));
  CT_RETURN_IF_ERROR(check_image(job.rgb));
  for (int c = 0; c < job.components(); ++c) {
    CT_RETURN_IF_ERROR(check_subsampling(job.subsampling[c], c));
    CT_RETURN_IF_ERROR(check_plane(job, c));
  }
  return check_all_apart(job);
}

}  // namespace cudatransform
