// Every kernel that decodes JPEG scans, by the name that a profiler prints and a launch asks for.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   jpeg_decode_sync
//     twin   ScanDecoder::synchronise(), fix(), count() in jpeg/parallel_decode.cpp; a code:
//            jpeg/huffman_steps.h
//     test   tests/jpeg/scans_test.cpp
//     bench  tests/bench/jpeg/bench_jpeg_scans.cpp
//     page   docs/kernels.md, 17
//   jpeg_decode_write
//     twin   ScanDecoder::write() in jpeg/parallel_decode.cpp; a code: jpeg/huffman_write.h
//     test   tests/jpeg/scans_test.cpp
//     bench  tests/bench/jpeg/bench_jpeg_scans.cpp
//     page   docs/kernels.md, 17
#pragma once

// X(name, sets of tables that a scan may use).
#define CT_JPEG_SYNC_KERNELS(X) \
  X(jpeg_decode_sync_1, 1)      \
  X(jpeg_decode_sync_2, 2)      \
  X(jpeg_decode_sync_3, 3)

// Likewise. For two there is room to put blocks together.
#define CT_JPEG_WRITE_KERNELS(X) \
  X(jpeg_decode_write_2, 2)      \
  X(jpeg_decode_write_3, 3)
