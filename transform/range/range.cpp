// The checks that keep range conversions inside their buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/range/range.h"

#include "transform/picture_check.h"
#include "transform/range/arithmetic.h"

namespace cudatransform {

namespace {

constexpr int32_t kMaxPlaneSide = kMaxSide / 2;  // rows of words have twice the bytes

// All values of bytes have the same results by the smaller factors.
constexpr bool bytes_agree(const RangeScale& bytes, bool is_chroma) {
  for (int32_t sample = 0; sample < 256; ++sample)
    if (to_full_range(sample, bytes) != to_full_range(sample, range_scale(8, is_chroma)))
      return false;
  return true;
}
static_assert(bytes_agree(kByteLuma, false) && bytes_agree(kByteChroma, true));

struct Extent {
  uintptr_t begin, end;
};
Extent extent_of(const void* data, ptrdiff_t pitch, const RangePlane& plane, int sample_bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + static_cast<uintptr_t>(pitch) * static_cast<uintptr_t>(plane.rows - 1) +
                     static_cast<uintptr_t>(plane.samples) * static_cast<uintptr_t>(sample_bytes)};
}
bool overlap(const Extent& a, const Extent& b) { return a.begin < b.end && b.begin < a.end; }

Status check_plane(const RangePlane& plane, int index, int sample_bytes) {
  if (plane.samples < 1 || plane.rows < 1 || plane.samples > kMaxPlaneSide ||
      plane.rows > kMaxPlaneSide) {
    return job_error("plane " + text(index) + " of " + text(plane.samples) + " x " +
                     text(plane.rows) + " samples, expected 1 to " + text(kMaxPlaneSide) +
                     " on a side");
  }
  const int64_t row_bytes = int64_t{plane.samples} * sample_bytes;
  CT_RETURN_IF_ERROR(check_pitch({"limited range", index}, plane.from, plane.from_pitch, row_bytes,
                                 plane.rows, sample_bytes));
  return check_pitch({"full range", index}, plane.to, plane.to_pitch, row_bytes, plane.rows,
                     sample_bytes);
}

Status check_apart(const RangeJob& job, int index, int sample_bytes) {
  const RangePlane& written = job.plane[index];
  const Extent to = extent_of(written.to, written.to_pitch, written, sample_bytes);
  for (int p = 0; p < job.planes; ++p) {
    const RangePlane& plane = job.plane[p];
    if (overlap(to, extent_of(plane.from, plane.from_pitch, plane, sample_bytes)) ||
        (p < index && overlap(to, extent_of(plane.to, plane.to_pitch, plane, sample_bytes)))) {
      return job_error("the output of plane " + text(index) + " overlaps plane " + text(p));
    }
  }
  return {};
}

}  // namespace

Status validate(const RangeJob& job) {
  if (job.depth < kMinRangeDepth || job.depth > kMaxRangeDepth) {
    return job_error("depth " + text(job.depth) + ", expected " + text(kMinRangeDepth) + " to " +
                     text(kMaxRangeDepth));
  }
  if (job.planes < 1 || job.planes > kMaxComponents)
    return job_error(text(job.planes) + " planes, expected 1 to " + text(kMaxComponents));
  const int most = job.depth == 8 ? 0 : 16 - job.depth;
  if (job.shift < 0 || job.shift > most)
    return job_error("shift " + text(job.shift) + ", expected 0 to " + text(most));
  const int sample_bytes = job.depth == 8 ? 1 : 2;
  for (int p = 0; p < job.planes; ++p)
    CT_RETURN_IF_ERROR(check_plane(job.plane[p], p, sample_bytes));
  for (int p = 0; p < job.planes; ++p) CT_RETURN_IF_ERROR(check_apart(job, p, sample_bytes));
  return {};
}

}  // namespace cudatransform
