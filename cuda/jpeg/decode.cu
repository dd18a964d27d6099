// Parallel decoding of JPEG scans: synchronizing and counting, tile by tile; writing, row by row.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// jpeg/parallel_decode.cpp does the same steps sequentially; jpeg/huffman_steps.h and
// huffman_write.h have both sides' steps at a code. A thread of a tile decodes a subsequence from a
// guess, and again as long as the thread before it ends elsewhere. Of one picture that takes as
// long as its longest chain of threads that wait for each other, so everything but the chain is
// kept out of these rounds.
#include "cuda/common/batch.h"
#include "cuda/jpeg/decode_parts.cuh"
#include "cuda/jpeg/decode_sync.cuh"
#include "cuda/jpeg/decode_write.cuh"
#include "cuda/jpeg/kernels.h"

namespace cudatransform::cuda {

#define CT_SYNC(name, slots)                                     \
  extern "C" __global__ void __launch_bounds__(kJpegSyncThreads) \
      name(const __grid_constant__ JpegDecodeParams params) {    \
    synchronize<slots>(params, params.fixes != 0);               \
  }
CT_JPEG_SYNC_KERNELS(CT_SYNC)

extern "C" __global__ void __launch_bounds__(kJpegPartThreads)
    jpeg_decode_parts(const __grid_constant__ JpegDecodeParams params) {
  synchronize_parts(params);
}
extern "C" __global__ void __launch_bounds__(kJpegPartWriteThreads)
    jpeg_decode_write_parts(const __grid_constant__ JpegDecodeParams params) {
  write_parts(params);
}

#define CT_SYNC_BATCH(name, slots)                                                                 \
  extern "C" __global__ void __launch_bounds__(kJpegSyncThreads)                                   \
      name(const __grid_constant__ BatchParams<JpegDecodeParams> batch) {                          \
    run_job(batch,                                                                                 \
            [&](const JpegDecodeParams& params) { synchronize<slots>(params, batch.step != 0); }); \
  }
CT_JPEG_SYNC_BATCH_KERNELS(CT_SYNC_BATCH)

#define CT_WRITE(name, slots)                                     \
  extern "C" __global__ void __launch_bounds__(kJpegWriteThreads) \
      name(const __grid_constant__ JpegDecodeParams params) {     \
    write<slots>(params);                                         \
  }
CT_JPEG_WRITE_KERNELS(CT_WRITE)

#define CT_WRITE_BATCH(name, slots)                                                               \
  extern "C" __global__ void __launch_bounds__(kJpegWriteThreads)                                 \
      name(const __grid_constant__ BatchParams<JpegDecodeParams> batch) {                         \
    run_job<kJpegWriteCtas>(batch, [](const JpegDecodeParams& params) { write<slots>(params); }); \
  }
CT_JPEG_WRITE_BATCH_KERNELS(CT_WRITE_BATCH)

}  // namespace cudatransform::cuda
