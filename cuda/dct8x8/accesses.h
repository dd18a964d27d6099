// The memory that the 8x8 DCT's kernels read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/dct8x8/kernels.h"
#include "cuda/dct8x8/params.h"

namespace cudatransform::cuda {

constexpr int64_t bytes_of(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

// ---- The fast kernels ----

struct FastFormat {
  Direction direction;
  SampleType samples;
  CoefType coefs;
  Arrangement arrangement;
};

inline void add_samples(const FastPlane& plane, const FastFormat& format, bool is_written,
                        AccessList* list) {
  const int64_t bytes =
      (format.samples == SampleType::kU8 ? 1 : 2) * (plane.interleaved != 0 ? 2 : 1);
  list->add(plane.samples, plane.pitch, plane.width * bytes, plane.rows, is_written);
}

// `reference`: planes to compare with, or null.
inline void add_fast(const FastFrame& frame, const FastPlane* reference, const FastFormat& format,
                     AccessList* list) {
  const bool inverse = format.direction == Direction::kInverse;
  const bool planes =
      format.arrangement == Arrangement::kPlane || format.arrangement == Arrangement::kSplitPlane;
  const int64_t size = bytes_of(format.coefs);
  for (int i = 0; i < kMaxComponents; i++) {
    if (frame.first_cta[i] == UINT32_MAX) continue;
    const FastPlane& plane = frame.planes[i];
    add_samples(plane, format, inverse, list);
    if (reference != nullptr) add_samples(reference[i], format, false, list);
    const uint32_t components = plane.interleaved != 0 ? 2 : 1;
    const uint32_t blocks = plane.blocks / components;
    for (uint32_t c = 0; c < components; c++) {
      if (planes)
        list->add(plane.coefs[c], plane.coef_pitch, plane.blocks_w * 8 * size,
                  8 * (blocks / plane.blocks_w), !inverse);
      else
        list->add_bytes(plane.coefs[c], blocks * 64 * size, !inverse);
    }
  }
  if (frame.measure != 0) list->add_numbers(frame.sums, sizeof(PictureSums), true);
  if (frame.timed != 0) list->add_numbers(frame.times, sizeof(PictureTimes), true);
}

// The frame is the first part of all parameters.
inline void fast_forward_accesses(const FastFrame& frame, SampleType samples, CoefType coefs,
                                  Arrangement arrangement, AccessList* list) {
  add_fast(frame, nullptr, {Direction::kForward, samples, coefs, arrangement}, list);
}
inline void fast_inverse_accesses(const FastFrame& frame, SampleType samples, CoefType coefs,
                                  Arrangement arrangement, AccessList* list) {
  const bool compares = (frame.measure & kMeasureSse) != 0;
  const auto* all = reinterpret_cast<const FastCompareParams*>(&frame);
  add_fast(frame, compares ? all->reference : nullptr,
           {Direction::kInverse, samples, coefs, arrangement}, list);
}

// ---- The others ----

inline void add_samples(const SampleParams& samples, bool is_written, AccessList* list) {
  const int64_t bytes = samples.type == SampleType::kU8 ? 1 : 2;
  const int64_t width = int64_t{samples.width - 1} * samples.stride + bytes;
  list->add(
      {samples.data, samples.pitch, width, samples.height, is_written, bytes, samples.stride});
}

inline void add_coefs(const CoefParams& coefs, uint32_t blocks_w, uint32_t blocks, int64_t bytes,
                      bool is_written, AccessList* list) {
  if (blocks_w == 0) return;
  const int64_t rows = blocks / blocks_w, group = 8 * bytes;
  if (coefs.block_step == 8 * group)
    list->add(coefs.data, coefs.row_step, blocks_w * 8 * group, rows, is_written);
  else
    list->add(coefs.data, coefs.group_step, blocks_w * group, 8 * rows, is_written);
}

// The first part of both kinds of parameters.
inline void general_accesses(const FrameParams& frame, Direction direction, AccessList* list) {
  const bool inverse = direction == Direction::kInverse;
  for (const PlaneParams& plane : frame.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    add_samples(plane.samples, inverse, list);
    if ((frame.measure & kMeasureSse) != 0 && inverse) add_samples(plane.reference, false, list);
    add_coefs(plane.coefs, plane.blocks_w, plane.blocks, bytes_of(frame.type), !inverse, list);
  }
  if (frame.measure != 0) list->add_numbers(frame.sums, sizeof(PictureSums), false);
}

// The kernel that counts zeros writes no samples.
inline void scaled_accesses(const ScaledParams& params, CoefType type, bool counts, uint32_t ctas,
                            AccessList* list) {
  for (int c = 0; c < kMaxComponents; c++) {
    const ScaledPlaneParams& plane = params.planes[c];
    if (plane.first_cta == UINT32_MAX || plane.ctas_per_row == 0) continue;
    const bool last = c == kMaxComponents - 1 || params.planes[c + 1].first_cta == UINT32_MAX;
    const uint32_t own = (last ? ctas : params.planes[c + 1].first_cta) - plane.first_cta;
    const CoefParams lie = {const_cast<uint8_t*>(plane.coefs), plane.block_step, plane.row_step,
                            plane.group_step};
    const auto blocks_w = static_cast<uint32_t>(plane.blocks_w);
    add_coefs(lie, blocks_w, own / plane.ctas_per_row * blocks_w, bytes_of(type), false, list);
    if (counts) continue;
    SampleParams target = {};
    target.data = plane.samples;
    target.pitch = plane.pitch;
    target.width = plane.width;
    target.height = plane.height;
    target.stride = plane.stride;
    target.type = params.sample_type;
    add_samples(target, true, list);
  }
  if (counts) list->add_numbers(params.sums, sizeof(PictureSums), false);
}

// ---- By kernel ----

#define CT_FORWARD(name, method, samples, coefs, arrangement, ...)                                \
  CT_ACCESSES(name, FastFrame, fast_forward_accesses, SampleType::k##samples, CoefType::k##coefs, \
              Arrangement::k##arrangement)
#define CT_INVERSE(name, method, samples, coefs, arrangement, ...)                                \
  CT_ACCESSES(name, FastFrame, fast_inverse_accesses, SampleType::k##samples, CoefType::k##coefs, \
              Arrangement::k##arrangement)
#define CT_GENERAL_FORWARD(name, ...) \
  CT_ACCESSES(name, FrameParams, general_accesses, Direction::kForward)
#define CT_GENERAL_INVERSE(name, ...) \
  CT_ACCESSES(name, FrameParams, general_accesses, Direction::kInverse)
#define CT_SCALED_FAST(name, ...) \
  CT_ACCESSES(name, ScaledParams, scaled_accesses, CoefType::kS16, false, ctas)
#define CT_SCALED_GENERAL(name, method, scale, coefs) \
  CT_ACCESSES(name, ScaledParams, scaled_accesses, CoefType::k##coefs, false, ctas)
#define CT_SCALED_ZEROS(name, coefs) \
  CT_ACCESSES(name, ScaledParams, scaled_accesses, CoefType::k##coefs, true, ctas)

inline constexpr KernelAccesses kDct8x8Accesses[] = {
    CT_FAST_DECIDED_FORWARD_KERNELS(CT_FORWARD)      //
    CT_FAST_FORWARD_KERNELS(CT_FORWARD)              //
    CT_FAST_WIDE_FORWARD_KERNELS(CT_FORWARD)         //
    CT_FAST_INVERSE_KERNELS(CT_INVERSE)              //
    CT_FAST_WIDE_INVERSE_KERNELS(CT_INVERSE)         //
    CT_FAST_SPLIT_INVERSE_KERNELS(CT_INVERSE)        //
    CT_FAST_SPLIT_PLANE_KERNELS(CT_INVERSE)          //
    CT_FAST_SPLIT_FORWARD_KERNELS(CT_FORWARD)        //
    CT_FAST_FULL_FORWARD_KERNELS(CT_FORWARD)         //
    CT_FAST_FULL_INVERSE_KERNELS(CT_INVERSE)         //
    CT_FAST_DEEP_FORWARD_KERNELS(CT_FORWARD)         //
    CT_FAST_DEEP_INVERSE_KERNELS(CT_INVERSE)         //
    CT_GENERAL_FORWARD_KERNELS(CT_GENERAL_FORWARD)   //
    CT_GENERAL_INVERSE_KERNELS(CT_GENERAL_INVERSE)   //
    CT_DEEP_FORWARD_KERNELS(CT_GENERAL_FORWARD)      //
    CT_DEEP_INVERSE_KERNELS(CT_GENERAL_INVERSE)      //
    CT_DECIDED_FORWARD_KERNELS(CT_GENERAL_FORWARD)   //
    CT_TEACHING_FORWARD_KERNELS(CT_GENERAL_FORWARD)  //
    CT_TEACHING_INVERSE_KERNELS(CT_GENERAL_INVERSE)  //
    CT_SCALED_FAST_KERNELS(CT_SCALED_FAST)           //
    CT_SCALED_GENERAL_KERNELS(CT_SCALED_GENERAL)     //
    CT_SCALED_DEEP_KERNELS(CT_SCALED_GENERAL)        //
    CT_SCALED_ZEROS_KERNELS(CT_SCALED_ZEROS)};

#undef CT_FORWARD
#undef CT_INVERSE
#undef CT_GENERAL_FORWARD
#undef CT_GENERAL_INVERSE
#undef CT_SCALED_FAST
#undef CT_SCALED_GENERAL
#undef CT_SCALED_ZEROS

}  // namespace cudatransform::cuda
