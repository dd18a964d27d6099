// Every kernel of JPEG's entropy coding, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   jpeg_encode_code_tiles, jpeg_encode_write_tiles
//     twin   encode_jpeg_scan() in jpeg/encode_scan.cpp; a code: jpeg/encode_bits.h
//     test   tests/jpeg/encode_test.cpp
//     bench  tests/bench/jpeg/bench_jpeg_engine.cpp
//     page   docs/kernels.md, 18
//   jpeg_encode_count_symbols
//     twin   count_jpeg_symbols() in jpeg/encode_scan.cpp
//     test   tests/jpeg/encode_test.cpp
//     bench  tests/bench/jpeg/bench_jpeg_engine.cpp
//     page   docs/kernels.md, 18
//   jpeg_decode_sync
//     twin   ScanDecoder::synchronize(), fix(), count() in jpeg/parallel_decode.cpp; a code:
//            jpeg/huffman_steps.h
//     test   tests/jpeg/scans_test.cpp
//     bench  tests/bench/jpeg/bench_jpeg_scans.cpp
//     page   docs/kernels.md, 17
//   jpeg_decode_parts, jpeg_decode_write_parts
//     twin   the same as the other two's; their results are the same
//     test   tests/jpeg/scans_test.cpp
//     bench  bench_batches --batch=1, of one small file
//     page   docs/kernels.md, 17
//   jpeg_decode_write
//     twin   ScanDecoder::write() in jpeg/parallel_decode.cpp; a code: jpeg/huffman_write.h
//     test   tests/jpeg/scans_test.cpp
//     bench  tests/bench/jpeg/bench_jpeg_scans.cpp
//     page   docs/kernels.md, 17
#pragma once

// X(name, function).
#define CT_JPEG_ENCODE_KERNELS(X)         \
  X(jpeg_encode_code_tiles, code_tiles)   \
  X(jpeg_encode_write_tiles, write_tiles) \
  X(jpeg_encode_count_symbols, count_symbols)

// The same for many pictures (cuda/common/batch.h).
#define CT_JPEG_ENCODE_BATCH_KERNELS(X)       \
  X(jpeg_encode_code_tiles_batch, code_tiles) \
  X(jpeg_encode_write_tiles_batch, write_tiles)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_JPEG_ENCODE_IMAGES(IMAGE)         \
  IMAGE(jpeg_encode, CT_JPEG_ENCODE_KERNELS) \
  IMAGE(jpeg_encode, CT_JPEG_ENCODE_BATCH_KERNELS)

// X(name, sets of tables that a scan may use).
#define CT_JPEG_SYNC_KERNELS(X) \
  X(jpeg_decode_sync_1, 1)      \
  X(jpeg_decode_sync_2, 2)      \
  X(jpeg_decode_sync_3, 3)

// Likewise. For two there is room to assemble blocks.
#define CT_JPEG_WRITE_KERNELS(X) \
  X(jpeg_decode_write_2, 2)      \
  X(jpeg_decode_write_3, 3)

// Of a small picture, or one that is alone, instead of those.
#define CT_JPEG_PARTS_KERNELS(X) \
  X(jpeg_decode_parts)           \
  X(jpeg_decode_write_parts)

// The same for many pictures (cuda/common/batch.h).
#define CT_JPEG_SYNC_BATCH_KERNELS(X) \
  X(jpeg_decode_sync_1_batch, 1)      \
  X(jpeg_decode_sync_2_batch, 2)      \
  X(jpeg_decode_sync_3_batch, 3)
#define CT_JPEG_WRITE_BATCH_KERNELS(X) \
  X(jpeg_decode_write_2_batch, 2)      \
  X(jpeg_decode_write_3_batch, 3)

#define CT_JPEG_DECODE_IMAGES(IMAGE)              \
  IMAGE(jpeg_decode, CT_JPEG_SYNC_KERNELS)        \
  IMAGE(jpeg_decode, CT_JPEG_WRITE_KERNELS)       \
  IMAGE(jpeg_decode, CT_JPEG_SYNC_BATCH_KERNELS)  \
  IMAGE(jpeg_decode, CT_JPEG_WRITE_BATCH_KERNELS) \
  IMAGE(jpeg_decode, CT_JPEG_PARTS_KERNELS)
