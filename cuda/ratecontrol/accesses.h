// The memory that the kernels of rate control read and write.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/dct8x8/accesses.h"
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/params.h"

namespace cudatransform::cuda {

inline void rate_transform_accesses(const RateTransformParams& params, Method method,
                                    Quantizer quantizer, uint32_t ctas, AccessList* list) {
  for (const PlaneParams& plane : params.frame.planes)
    if (plane.first_cta != UINT32_MAX) add_samples(plane.samples, false, list);
  const bool two_words = method == Method::kFloat && quantizer == Quantizer::kRound;
  const RateLists& lists = params.lists;
  const size_t blocks = size_t{ctas} * kFusedBlocks, units = blocks / kUnitBlocks;
  list->add_numbers(lists.dc, blocks * sizeof *lists.dc, false);
  list->add_numbers(lists.before, blocks * sizeof *lists.before, false);
  list->add_numbers(lists.sizes, units * sizeof *lists.sizes, false);
  list->add_numbers(lists.items, units * kUnitItems * (two_words ? 8 : 4), false);
}

inline void rate_count_accesses(const RateCountParams& params, AccessList* list) {
  const size_t bytes = params.candidates * sizeof(JpegSymbolCounts);
  list->add_numbers(params.counts, bytes, false);
  list->add_numbers(params.finished, sizeof *params.finished, false);
  list->add_numbers(params.host_counts, bytes, true);
}

#define CT_TRANSFORM(name, method, quantizer)                                        \
  CT_ACCESSES(name, RateTransformParams, rate_transform_accesses, Method::k##method, \
              Quantizer::k##quantizer, ctas)
#define CT_COUNT(name, ...) CT_ACCESSES(name, RateCountParams, rate_count_accesses)

inline constexpr KernelAccesses kRateAccesses[] = {CT_RATE_TRANSFORM_KERNELS(CT_TRANSFORM)  //
                                                   CT_RATE_COUNT_KERNELS(CT_COUNT)};

#undef CT_TRANSFORM
#undef CT_COUNT

}  // namespace cudatransform::cuda
