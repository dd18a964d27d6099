// Every kernel of motion compensation, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   bytes    four samples of a byte in a word, for the common job (compensate_bytes.cu,
//            upsample_bytes.cu); fits_bytes() in engine.cpp defines it
//   general  every job, a number at a time (general.cu)
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   obmc_compensate
//     twin   Component::compensate() in transform/obmc/portable.cpp; in vectors:
//            Stripe::compensate() in transform/obmc/engine.cpp, rows in transform/obmc/vectors.cpp
//     test   tests/engine/obmc/obmc_test.cpp, tests/conformance/dirac_random_test.cpp
//     bench  tests/bench/dirac/bench_dirac.cpp: stage motion-render
//     page   docs/kernels.md, 16
//   obmc_upsample
//     twin   upsample_rows() in transform/obmc/portable.cpp; in vectors: upsample() in
//            transform/obmc/engine.cpp
//     test   tests/engine/obmc/obmc_test.cpp, tests/conformance/dirac_random_test.cpp
//     bench  tests/bench/dirac/bench_dirac.cpp: stage upsample
//     page   docs/kernels.md, 16
#pragma once

// X(name, sample type).
#define CT_OBMC_BYTES_COMPENSATE_KERNELS(X) X(obmc_compensate_bytes, uint8_t)
#define CT_OBMC_BYTES_UPSAMPLE_KERNELS(X) X(obmc_upsample_bytes, uint8_t)

#define CT_OBMC_GENERAL_COMPENSATE_KERNELS(X) \
  X(obmc_compensate_general_u8, uint8_t)      \
  X(obmc_compensate_general_u16, uint16_t)
#define CT_OBMC_GENERAL_UPSAMPLE_KERNELS(X) \
  X(obmc_upsample_general_u8, uint8_t)      \
  X(obmc_upsample_general_u16, uint16_t)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_OBMC_IMAGES(IMAGE)                                    \
  IMAGE(obmc_compensate_bytes, CT_OBMC_BYTES_COMPENSATE_KERNELS) \
  IMAGE(obmc_upsample_bytes, CT_OBMC_BYTES_UPSAMPLE_KERNELS)     \
  IMAGE(obmc_general, CT_OBMC_GENERAL_COMPENSATE_KERNELS)        \
  IMAGE(obmc_general, CT_OBMC_GENERAL_UPSAMPLE_KERNELS)
