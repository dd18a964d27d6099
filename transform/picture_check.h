// The checks of planes of samples and of measurements that validate() of every transform makes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "transform/device/device.h"
#include "transform/device/status.h"
#include "transform/picture.h"

namespace cudatransform {

inline constexpr int32_t kMaxSide = 1 << 30;

inline std::string text(int64_t value) { return std::to_string(value); }

// The beginning of a message: "component 1: ".
struct Where {
  const char* what;
  int component;
  Status error(const std::string& message) const {
    return Status::error(StatusCode::kInvalidArgument,
                         std::string(what) + " of component " + text(component) + ": " + message);
  }
};

inline Status job_error(const std::string& message) {
  return Status::error(StatusCode::kInvalidArgument, message);
}

template <typename Enum>
bool within(Enum value, Enum last) {
  return int(value) >= 0 && int(value) <= int(last);
}

// Bits of a sample that transforms of frames take.
inline constexpr int kDepths[] = {8, 10, 12, 16};
Status check_depth(int depth);

// `rows` rows of `row_bytes`, at an address and pitch that are multiples of `alignment`.
Status check_pitch(const Where& where, const void* data, ptrdiff_t pitch, int64_t row_bytes,
                   int64_t rows, int alignment);

// `output`: the plane is written, so that it may be signed and repeat its rows.
Status check_samples(const Where& where, const SamplePlane& plane, int depth, int32_t max_side,
                     bool output);

// The plane that the samples of an inverse job are measured against.
Status check_reference(const Where& where, const SamplePlane& reference, const SamplePlane& samples,
                       int depth);

Status check_measuring(uint32_t measure, const PictureSums* sums, const Timer* timer,
                       const PictureTimes* times);

// As SamplePlane::rows(), for planes that are not checked yet.
inline int64_t component_rows(const SamplePlane& plane) {
  return (int64_t{plane.height} + plane.row_repeat - 1) / plane.row_repeat;
}

}  // namespace cudatransform
