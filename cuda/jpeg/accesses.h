// The memory that the kernels that code JPEG scans read and write, other than their intermediates.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/common/accesses.h"
#include "cuda/jpeg/encode_params.h"
#include "cuda/jpeg/kernels.h"

namespace cudatransform::cuda {

inline void code_tiles_accesses(const EncodeParams& params, AccessList* list) {
  const JpegScanLayout& scan = params.layout;
  for (uint32_t c = 0; c < scan.components; ++c)
    list->add(params.qcoefs[c].data, params.qcoefs[c].stride,
              int64_t{scan.blocks_w[c]} * 64 * static_cast<int64_t>(sizeof(int16_t)),
              scan.blocks_h[c], false);
}

inline void write_tiles_accesses(const EncodeParams& params, AccessList* list) {
  code_tiles_accesses(params, list);
  list->add_bytes(params.codes, sizeof(JpegCodes), false);
  list->add_bytes(params.output, static_cast<int64_t>(params.capacity), true);
  list->add(
      {params.result, sizeof(JpegEncodeResult), sizeof(JpegEncodeResult), 1, true, 1, 1, true});
}

inline void count_symbols_accesses(const EncodeParams& params, AccessList* list) {
  code_tiles_accesses(params, list);
  list->add_bytes(params.counts, sizeof(JpegSymbolCounts), true);
}

#define CT_ENCODE(name, function) CT_ACCESSES(name, EncodeParams, function##_accesses)
inline constexpr KernelAccesses kJpegEncodeAccesses[] = {CT_JPEG_ENCODE_KERNELS(CT_ENCODE)};
#undef CT_ENCODE

}  // namespace cudatransform::cuda
