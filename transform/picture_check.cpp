// The checks of planes of samples and of measurements that validate() of every transform makes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/picture_check.h"

#include <algorithm>
#include <iterator>

namespace cudatransform {

namespace {

constexpr int32_t kMaxRowRepeat = 8;

int sample_bytes(SampleType type) { return type == SampleType::kU8 ? 1 : 2; }

Status check_sample_format(const Where& where, const SamplePlane& plane, int depth, bool output) {
  switch (plane.type) {
    case SampleType::kU8:
      if (depth != 8 || plane.shift != 0) {
        return where.error("depth " + text(depth) + " and shift " + text(plane.shift) +
                           " with 8-bit samples, expected 8 and 0");
      }
      return {};
    case SampleType::kU16:
      if (plane.shift < 0 || plane.shift > 16 - depth) {
        return where.error("shift " + text(plane.shift) + ", expected 0 to " + text(16 - depth) +
                           " for depth " + text(depth));
      }
      return {};
    case SampleType::kS16:
      if (!output) return where.error("signed input samples, expected unsigned ones");
      if (plane.shift != 0)
        return where.error("shift " + text(plane.shift) + " with signed samples, expected 0");
      return {};
  }
  return where.error("unknown sample type " + text(int(plane.type)));
}

}  // namespace

Status check_depth(int depth) {
  if (std::find(std::begin(kDepths), std::end(kDepths), depth) != std::end(kDepths)) return {};
  std::string known;
  for (const int each : kDepths) {
    if (!known.empty()) known += each == *std::rbegin(kDepths) ? " or " : ", ";
    known += text(each);
  }
  return job_error("depth " + text(depth) + ", expected " + known);
}

Status check_pitch(const Where& where, const void* data, ptrdiff_t pitch, int64_t row_bytes,
                   int64_t rows, int alignment) {
  if (data == nullptr) return where.error("null address");
  if (pitch < row_bytes) {
    return where.error("pitch " + text(pitch) + ", expected at least " + text(row_bytes));
  }
  ptrdiff_t extent;
  if (__builtin_mul_overflow(pitch, ptrdiff_t(rows), &extent) ||
      uintptr_t(data) > UINTPTR_MAX - uintptr_t(extent)) {
    return where.error(text(rows) + " rows of pitch " + text(pitch) + " exceed the address space");
  }
  if (uintptr_t(data) % uintptr_t(alignment) != 0 || pitch % alignment != 0) {
    return where.error("unaligned address or pitch, expected multiples of " + text(alignment));
  }
  return {};
}

Status check_samples(const Where& where, const SamplePlane& plane, int depth, int32_t max_side,
                     bool output) {
  CT_RETURN_IF_ERROR(check_sample_format(where, plane, depth, output));
  if (plane.width < 1 || plane.height < 1) {
    return where.error("size " + text(plane.width) + " x " + text(plane.height) +
                       ", expected at least 1 x 1");
  }
  if (plane.width > max_side || plane.height > max_side) {
    return where.error("size " + text(plane.width) + " x " + text(plane.height) +
                       ", expected at most " + text(max_side));
  }
  const int32_t max_repeat = output ? kMaxRowRepeat : 1;
  if (plane.row_repeat < 1 || plane.row_repeat > max_repeat) {
    return where.error("row repeat " + text(plane.row_repeat) + ", expected 1 to " +
                       text(max_repeat));
  }
  const int bytes = sample_bytes(plane.type);
  if (plane.stride < bytes || plane.stride % bytes != 0) {
    return where.error("sample stride " + text(plane.stride) +
                       ", expected a positive multiple of " + text(bytes));
  }
  const int64_t row_bytes = (int64_t{plane.width} - 1) * plane.stride + bytes;
  return check_pitch(where, plane.data, plane.pitch, row_bytes, plane.height, bytes);
}

Status check_reference(const Where& where, const SamplePlane& reference, const SamplePlane& samples,
                       int depth) {
  if (samples.type == SampleType::kS16) {
    return where.error("a reference with signed samples, expected none");
  }
  CT_RETURN_IF_ERROR(check_samples(where, reference, depth, kMaxSide, false));
  if (reference.width != samples.width || reference.height != component_rows(samples)) {
    return where.error("size " + text(reference.width) + " x " + text(reference.height) +
                       ", expected the samples' " + text(samples.width) + " x " +
                       text(component_rows(samples)));
  }
  return {};
}

Status check_measuring(uint32_t measure, const PictureSums* sums, const Timer* timer,
                       const PictureTimes* times) {
  if ((measure & ~uint32_t{kMeasureSse | kMeasureZeros}) != 0) {
    return job_error("unknown flags in measure");
  }
  if (measure != 0 && sums == nullptr) return job_error("null sums with a measurement");
  if ((timer == nullptr) != (times == nullptr))
    return job_error("a timer without times or times without a timer, expected both or neither");
  return {};
}

}  // namespace cudatransform
