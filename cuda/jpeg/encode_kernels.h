// Every kernel of JPEG's entropy coding, by the name that a profiler prints and a launch asks for.
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
#pragma once

// X(name, function).
#define CT_JPEG_ENCODE_KERNELS(X)         \
  X(jpeg_encode_code_tiles, code_tiles)   \
  X(jpeg_encode_write_tiles, write_tiles) \
  X(jpeg_encode_count_symbols, count_symbols)
