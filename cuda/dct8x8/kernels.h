// Every kernel of the 8x8 DCT, by the name that a profiler prints and a launch requests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The words, in names of kernels, files and functions:
//
//   fused      a job is one launch: samples are read, transformed, quantized and stored, or the
//              other way round. Fused kernels are fast, general or teach.
//   fast       islow and float for the common formats: aligned and without gaps, so that
//              all memory is accessed in vectors (fast_*.cu, fast_plan.cpp chooses)
//   split      fast, for small frames: two threads a block forward and eight inverse, not one
//   full       fast, for planes of whole blocks, 64 or more: without code for edges
//   wide       fast, for coefficients of 32 bits
//   deep       islow of 12 bits, fast, general or scaled
//   general    islow, float and ifast for every format, layout, order and alignment, a thread a
//              block (general.cu, general_plan.cpp)
//   decided    forward: quantized by a dead zone or by rate and distortion, fast (fast_decided.cu)
//   or
//              general (decided.cu)
//   teach      the other methods for the same, with more threads a block (teaching.cu)
//   scaled     the inverse at 1/2, 1/4 and 1/8 of the size: fast or general (scaled.cu, scaled.cpp)
//   measure    adds up the SSE and the zeros as well
//   timed      writes when it began and ended, as all fast kernels do that measure
//   plan       host code that chooses a job's kernel and makes its parameters
//   params     a kernel's parameters, passed by value: params.h
//
// Each family's twin on the CPU, its tests, its benchmark and its page:
//
//   fast, split, full, wide, deep
//     twin   IslowShort, FloatShort in transform/dct8x8/simd_short_rows-inl.h (8-bit samples, S16);
//            IslowVector, FloatVector in transform/dct8x8/simd_methods-inl.h (the rest);
//            portable: IslowMethod, Islow12Method, FloatMethod in transform/dct8x8/block.h
//     test   tests/engine/dct8x8/dct8x8_test.cpp, tests/engine/dct8x8/kernels_test.cpp,
//            tests/engine/dct8x8/times_test.cpp (timed), tests/engine/dct8x8/plan_test.cpp
//            (choice), tests/conformance/libjpeg_test.cpp (islow)
//     bench  tests/bench/gpu/cases.cpp: case:limit, case:kernels, case:format
//     page   docs/kernels.md, 6 to 14
//   general
//     twin   IslowVector, FloatVector, IfastVector in transform/dct8x8/simd_methods-inl.h;
//            portable: IslowMethod, Islow12Method, FloatMethod, IfastMethod in
//            transform/dct8x8/block.h
//     test   tests/engine/dct8x8/dct8x8_test.cpp, tests/engine/dct8x8/kernels_test.cpp,
//            tests/conformance/libjpeg_test.cpp (islow, ifast)
//     bench  tests/bench/gpu/cases.cpp: case:kernels, case:format
//     page   docs/kernels.md, 6 to 9
//   decided
//     twin   decide_group() of transform/dct8x8/simd_decided-inl.h; portable: decide_block() of
//            transform/dct8x8/decision.cpp
//     test   tests/engine/dct8x8/dct8x8_test.cpp, tests/engine/dct8x8/kernels_test.cpp,
//            tests/engine/dct8x8/plan_test.cpp (choice)
//     bench  tests/bench/gpu/cases.cpp: case:decided
//     page   docs/elements/cudadct8x8.md
//   teach
//     twin   NaiveMethod, MatrixMethod, SeparableMethod, DecomposedMethod in
//            transform/dct8x8/teaching.h (shuffle has Decomposed's); ReferenceMethod in
//            transform/dct8x8/block.h
//     test   tests/engine/dct8x8/dct8x8_test.cpp, tests/conformance/ieee1180_test.cpp
//     bench  tests/bench/gpu/cases.cpp: case:ladder
//     page   docs/kernels.md, 1 to 5
//   scaled
//     twin   IslowScaledVector, Islow12ScaledVector, FloatScaledVector in
//            transform/dct8x8/simd_scaled-inl.h; portable: ScaledIslow, ScaledIslow12,
//            ScaledFloat, ScaledReference in transform/dct8x8/scaled.h
//     test   tests/engine/dct8x8/dct8x8_test.cpp, tests/conformance/scaled_libjpeg_test.cpp
//     bench  tests/bench/gpu/cases.cpp: case:scaled
//     page   docs/elements/cudaidct8x8.md
//
// Columns: direction is the list's or Forward, Inverse; samples U8 or U16; coefs S16, S32 or F32;
// planes Edged, Full, or Pairs: two components may alternate in one, as NV12's.
#pragma once

// ---- Fast: X(name, method, samples, coefs, arrangement, planes, variant) ----

// fast_forward.cu. The commonest formats have kernels that measure their time.
#define CT_FAST_FORWARD_KERNELS(X)                                                     \
  X(forward_islow_u8_s16_block_timed, Islow, U8, S16, Block, Edged, Timed)             \
  X(forward_islow_u8_s16_block_pairs_timed, Islow, U8, S16, Block, Pairs, Timed)       \
  X(forward_float_u8_s16_block_timed, Float, U8, S16, Block, Edged, Timed)             \
  X(forward_float_u8_s16_block_pairs_timed, Float, U8, S16, Block, Pairs, Timed)       \
  X(forward_islow_u8_s16_block, Islow, U8, S16, Block, Edged, Plain)                   \
  X(forward_islow_u8_s16_block_measure, Islow, U8, S16, Block, Edged, Measure)         \
  X(forward_islow_u8_s16_block_pairs, Islow, U8, S16, Block, Pairs, Plain)             \
  X(forward_islow_u8_s16_block_pairs_measure, Islow, U8, S16, Block, Pairs, Measure)   \
  X(forward_islow_u8_s16_zigzag, Islow, U8, S16, Zigzag, Edged, Plain)                 \
  X(forward_islow_u8_s16_zigzag_measure, Islow, U8, S16, Zigzag, Edged, Measure)       \
  X(forward_islow_u8_s16_plane, Islow, U8, S16, Plane, Edged, Plain)                   \
  X(forward_islow_u8_s16_plane_measure, Islow, U8, S16, Plane, Edged, Measure)         \
  X(forward_float_u8_s16_block, Float, U8, S16, Block, Edged, Plain)                   \
  X(forward_float_u8_s16_block_measure, Float, U8, S16, Block, Edged, Measure)         \
  X(forward_float_u8_s16_block_pairs, Float, U8, S16, Block, Pairs, Plain)             \
  X(forward_float_u8_s16_block_pairs_measure, Float, U8, S16, Block, Pairs, Measure)   \
  X(forward_float_u8_s16_zigzag, Float, U8, S16, Zigzag, Edged, Plain)                 \
  X(forward_float_u8_s16_zigzag_measure, Float, U8, S16, Zigzag, Edged, Measure)       \
  X(forward_float_u8_s16_plane, Float, U8, S16, Plane, Edged, Plain)                   \
  X(forward_float_u8_s16_plane_measure, Float, U8, S16, Plane, Edged, Measure)         \
  X(forward_float_u16_s16_block, Float, U16, S16, Block, Edged, Plain)                 \
  X(forward_float_u16_s16_block_measure, Float, U16, S16, Block, Edged, Measure)       \
  X(forward_float_u16_s16_block_pairs, Float, U16, S16, Block, Pairs, Plain)           \
  X(forward_float_u16_s16_block_pairs_measure, Float, U16, S16, Block, Pairs, Measure) \
  X(forward_float_u16_s16_zigzag, Float, U16, S16, Zigzag, Edged, Plain)               \
  X(forward_float_u16_s16_zigzag_measure, Float, U16, S16, Zigzag, Edged, Measure)     \
  X(forward_float_u16_s16_plane, Float, U16, S16, Plane, Edged, Plain)                 \
  X(forward_float_u16_s16_plane_measure, Float, U16, S16, Plane, Edged, Measure)

// fast_batch.cu: for many jobs (cuda/common/batch.h).
#define CT_FAST_BATCH_FORWARD_KERNELS(X) \
  X(forward_islow_u8_s16_block_batch, Islow, U8, S16, Block, Edged, Plain)
#define CT_FAST_BATCH_INVERSE_KERNELS(X) \
  X(inverse_islow_u8_s16_block_batch, Islow, U8, S16, Block, Edged, Plain)

// fast_inverse.cu.
#define CT_FAST_INVERSE_KERNELS(X)                                                     \
  X(inverse_islow_u8_s16_block_timed, Islow, U8, S16, Block, Edged, Timed)             \
  X(inverse_islow_u8_s16_block_pairs_timed, Islow, U8, S16, Block, Pairs, Timed)       \
  X(inverse_float_u8_s16_block_timed, Float, U8, S16, Block, Edged, Timed)             \
  X(inverse_float_u8_s16_block_pairs_timed, Float, U8, S16, Block, Pairs, Timed)       \
  X(inverse_islow_u8_s16_block, Islow, U8, S16, Block, Edged, Plain)                   \
  X(inverse_islow_u8_s16_block_measure, Islow, U8, S16, Block, Edged, Measure)         \
  X(inverse_islow_u8_s16_block_pairs, Islow, U8, S16, Block, Pairs, Plain)             \
  X(inverse_islow_u8_s16_block_pairs_measure, Islow, U8, S16, Block, Pairs, Measure)   \
  X(inverse_islow_u8_s16_zigzag, Islow, U8, S16, Zigzag, Edged, Plain)                 \
  X(inverse_islow_u8_s16_zigzag_measure, Islow, U8, S16, Zigzag, Edged, Measure)       \
  X(inverse_islow_u8_s16_plane, Islow, U8, S16, Plane, Edged, Plain)                   \
  X(inverse_islow_u8_s16_plane_measure, Islow, U8, S16, Plane, Edged, Measure)         \
  X(inverse_float_u8_s16_block, Float, U8, S16, Block, Edged, Plain)                   \
  X(inverse_float_u8_s16_block_measure, Float, U8, S16, Block, Edged, Measure)         \
  X(inverse_float_u8_s16_block_pairs, Float, U8, S16, Block, Pairs, Plain)             \
  X(inverse_float_u8_s16_block_pairs_measure, Float, U8, S16, Block, Pairs, Measure)   \
  X(inverse_float_u8_s16_zigzag, Float, U8, S16, Zigzag, Edged, Plain)                 \
  X(inverse_float_u8_s16_zigzag_measure, Float, U8, S16, Zigzag, Edged, Measure)       \
  X(inverse_float_u8_s16_plane, Float, U8, S16, Plane, Edged, Plain)                   \
  X(inverse_float_u8_s16_plane_measure, Float, U8, S16, Plane, Edged, Measure)         \
  X(inverse_float_u16_s16_block, Float, U16, S16, Block, Edged, Plain)                 \
  X(inverse_float_u16_s16_block_measure, Float, U16, S16, Block, Edged, Measure)       \
  X(inverse_float_u16_s16_block_pairs, Float, U16, S16, Block, Pairs, Plain)           \
  X(inverse_float_u16_s16_block_pairs_measure, Float, U16, S16, Block, Pairs, Measure) \
  X(inverse_float_u16_s16_zigzag, Float, U16, S16, Zigzag, Edged, Plain)               \
  X(inverse_float_u16_s16_zigzag_measure, Float, U16, S16, Zigzag, Edged, Measure)     \
  X(inverse_float_u16_s16_plane, Float, U16, S16, Plane, Edged, Plain)                 \
  X(inverse_float_u16_s16_plane_measure, Float, U16, S16, Plane, Edged, Measure)

// fast_wide.cu.
#define CT_FAST_WIDE_FORWARD_KERNELS(X)                                          \
  X(forward_float_u8_s32_block, Float, U8, S32, Block, Edged, Plain)             \
  X(forward_float_u8_s32_block_measure, Float, U8, S32, Block, Edged, Measure)   \
  X(forward_float_u8_f32_block, Float, U8, F32, Block, Edged, Plain)             \
  X(forward_float_u8_f32_block_measure, Float, U8, F32, Block, Edged, Measure)   \
  X(forward_float_u16_s32_block, Float, U16, S32, Block, Edged, Plain)           \
  X(forward_float_u16_s32_block_measure, Float, U16, S32, Block, Edged, Measure) \
  X(forward_float_u16_f32_block, Float, U16, F32, Block, Edged, Plain)           \
  X(forward_float_u16_f32_block_measure, Float, U16, F32, Block, Edged, Measure)

// fast_wide.cu.
#define CT_FAST_WIDE_INVERSE_KERNELS(X)                                          \
  X(inverse_float_u8_s32_block, Float, U8, S32, Block, Edged, Plain)             \
  X(inverse_float_u8_s32_block_measure, Float, U8, S32, Block, Edged, Measure)   \
  X(inverse_float_u8_f32_block, Float, U8, F32, Block, Edged, Plain)             \
  X(inverse_float_u8_f32_block_measure, Float, U8, F32, Block, Edged, Measure)   \
  X(inverse_float_u16_s32_block, Float, U16, S32, Block, Edged, Plain)           \
  X(inverse_float_u16_s32_block_measure, Float, U16, S32, Block, Edged, Measure) \
  X(inverse_float_u16_f32_block, Float, U16, F32, Block, Edged, Plain)           \
  X(inverse_float_u16_f32_block_measure, Float, U16, F32, Block, Edged, Measure)

// fast_full.cu: where it is faster.
#define CT_FAST_FULL_FORWARD_KERNELS(X)                                              \
  X(forward_islow_u8_s16_block_full, Islow, U8, S16, Block, Full, Plain)             \
  X(forward_islow_u8_s16_block_full_timed, Islow, U8, S16, Block, Full, Timed)       \
  X(forward_islow_u8_s16_block_full_measure, Islow, U8, S16, Block, Full, Measure)   \
  X(forward_islow_u8_s16_zigzag_full, Islow, U8, S16, Zigzag, Full, Plain)           \
  X(forward_islow_u8_s16_zigzag_full_measure, Islow, U8, S16, Zigzag, Full, Measure) \
  X(forward_islow_u8_s16_plane_full, Islow, U8, S16, Plane, Full, Plain)             \
  X(forward_islow_u8_s16_plane_full_measure, Islow, U8, S16, Plane, Full, Measure)   \
  X(forward_float_u8_s16_block_full_measure, Float, U8, S16, Block, Full, Measure)   \
  X(forward_float_u8_s16_zigzag_full_measure, Float, U8, S16, Zigzag, Full, Measure) \
  X(forward_float_u8_s16_plane_full_measure, Float, U8, S16, Plane, Full, Measure)

// fast_full.cu.
#define CT_FAST_FULL_INVERSE_KERNELS(X)                                        \
  X(inverse_islow_u8_s16_block_full, Islow, U8, S16, Block, Full, Plain)       \
  X(inverse_islow_u8_s16_block_full_timed, Islow, U8, S16, Block, Full, Timed) \
  X(inverse_islow_u8_s16_zigzag_full, Islow, U8, S16, Zigzag, Full, Plain)     \
  X(inverse_islow_u8_s16_plane_full, Islow, U8, S16, Plane, Full, Plain)       \
  X(inverse_float_u8_s16_plane_full, Float, U8, S16, Plane, Full, Plain)

// fast_deep.cu: islow of 12 bits.
#define CT_FAST_DEEP_FORWARD_KERNELS(X)                                                \
  X(forward_islow12_u16_s16_block, Islow12, U16, S16, Block, Edged, Plain)             \
  X(forward_islow12_u16_s16_block_measure, Islow12, U16, S16, Block, Edged, Measure)   \
  X(forward_islow12_u16_s16_zigzag, Islow12, U16, S16, Zigzag, Edged, Plain)           \
  X(forward_islow12_u16_s16_zigzag_measure, Islow12, U16, S16, Zigzag, Edged, Measure) \
  X(forward_islow12_u16_s16_plane, Islow12, U16, S16, Plane, Edged, Plain)             \
  X(forward_islow12_u16_s16_plane_measure, Islow12, U16, S16, Plane, Edged, Measure)

// fast_deep.cu.
#define CT_FAST_DEEP_INVERSE_KERNELS(X)                                                \
  X(inverse_islow12_u16_s16_block, Islow12, U16, S16, Block, Edged, Plain)             \
  X(inverse_islow12_u16_s16_block_measure, Islow12, U16, S16, Block, Edged, Measure)   \
  X(inverse_islow12_u16_s16_zigzag, Islow12, U16, S16, Zigzag, Edged, Plain)           \
  X(inverse_islow12_u16_s16_zigzag_measure, Islow12, U16, S16, Zigzag, Edged, Measure) \
  X(inverse_islow12_u16_s16_plane, Islow12, U16, S16, Plane, Edged, Plain)             \
  X(inverse_islow12_u16_s16_plane_measure, Islow12, U16, S16, Plane, Edged, Measure)

// fast_split.cu.
#define CT_FAST_SPLIT_INVERSE_KERNELS(X)                                   \
  X(inverse_float_u8_s16_split, Float, U8, S16, Split, Edged, Plain)       \
  X(inverse_islow_u8_s16_split, Islow, U8, S16, Split, Edged, Plain)       \
  X(inverse_float_u8_s16_split_timed, Float, U8, S16, Split, Edged, Timed) \
  X(inverse_islow_u8_s16_split_timed, Islow, U8, S16, Split, Edged, Timed)

// fast_split.cu.
#define CT_FAST_SPLIT_PLANE_KERNELS(X) \
  X(inverse_islow_u8_s16_split_plane, Islow, U8, S16, SplitPlane, Edged, Plain)

// fast_split.cu.
#define CT_FAST_SPLIT_FORWARD_KERNELS(X)                                   \
  X(forward_float_u8_s16_split, Float, U8, S16, Split, Edged, Plain)       \
  X(forward_islow_u8_s16_split, Islow, U8, S16, Split, Edged, Plain)       \
  X(forward_float_u8_s16_split_timed, Float, U8, S16, Split, Edged, Timed) \
  X(forward_islow_u8_s16_split_timed, Islow, U8, S16, Split, Edged, Timed)

// fast_decided.cu: X(name, method, samples, coefs, arrangement, planes, variant, quantizer).
#define CT_FAST_DECIDED_FORWARD_KERNELS(X)                                                         \
  X(forward_islow_u8_s16_block_dead_zone, Islow, U8, S16, Block, Edged, Plain, DeadZone)           \
  X(forward_islow_u8_s16_block_dead_zone_measure, Islow, U8, S16, Block, Edged, Measure, DeadZone) \
  X(forward_islow_u8_s16_block_pairs_dead_zone, Islow, U8, S16, Block, Pairs, Plain, DeadZone)     \
  X(forward_islow_u8_s16_block_pairs_dead_zone_measure, Islow, U8, S16, Block, Pairs, Measure,     \
    DeadZone)                                                                                      \
  X(forward_islow_u8_s16_zigzag_dead_zone, Islow, U8, S16, Zigzag, Edged, Plain, DeadZone)         \
  X(forward_islow_u8_s16_zigzag_dead_zone_measure, Islow, U8, S16, Zigzag, Edged, Measure,         \
    DeadZone)                                                                                      \
  X(forward_islow_u8_s16_plane_dead_zone, Islow, U8, S16, Plane, Edged, Plain, DeadZone)           \
  X(forward_islow_u8_s16_plane_dead_zone_measure, Islow, U8, S16, Plane, Edged, Measure, DeadZone) \
  X(forward_islow_u8_s16_block_rd, Islow, U8, S16, Block, Edged, Plain, Rd)                        \
  X(forward_islow_u8_s16_block_rd_measure, Islow, U8, S16, Block, Edged, Measure, Rd)              \
  X(forward_islow_u8_s16_block_pairs_rd, Islow, U8, S16, Block, Pairs, Plain, Rd)                  \
  X(forward_islow_u8_s16_block_pairs_rd_measure, Islow, U8, S16, Block, Pairs, Measure, Rd)        \
  X(forward_islow_u8_s16_zigzag_rd, Islow, U8, S16, Zigzag, Edged, Plain, Rd)                      \
  X(forward_islow_u8_s16_zigzag_rd_measure, Islow, U8, S16, Zigzag, Edged, Measure, Rd)            \
  X(forward_islow_u8_s16_plane_rd, Islow, U8, S16, Plane, Edged, Plain, Rd)                        \
  X(forward_islow_u8_s16_plane_rd_measure, Islow, U8, S16, Plane, Edged, Measure, Rd)              \
  X(forward_float_u8_s16_block_dead_zone, Float, U8, S16, Block, Edged, Plain, DeadZone)           \
  X(forward_float_u8_s16_block_dead_zone_measure, Float, U8, S16, Block, Edged, Measure, DeadZone) \
  X(forward_float_u8_s16_block_pairs_dead_zone, Float, U8, S16, Block, Pairs, Plain, DeadZone)     \
  X(forward_float_u8_s16_block_pairs_dead_zone_measure, Float, U8, S16, Block, Pairs, Measure,     \
    DeadZone)                                                                                      \
  X(forward_float_u8_s16_zigzag_dead_zone, Float, U8, S16, Zigzag, Edged, Plain, DeadZone)         \
  X(forward_float_u8_s16_zigzag_dead_zone_measure, Float, U8, S16, Zigzag, Edged, Measure,         \
    DeadZone)                                                                                      \
  X(forward_float_u8_s16_plane_dead_zone, Float, U8, S16, Plane, Edged, Plain, DeadZone)           \
  X(forward_float_u8_s16_plane_dead_zone_measure, Float, U8, S16, Plane, Edged, Measure, DeadZone) \
  X(forward_float_u8_s16_block_rd, Float, U8, S16, Block, Edged, Plain, Rd)                        \
  X(forward_float_u8_s16_block_rd_measure, Float, U8, S16, Block, Edged, Measure, Rd)              \
  X(forward_float_u8_s16_block_pairs_rd, Float, U8, S16, Block, Pairs, Plain, Rd)                  \
  X(forward_float_u8_s16_block_pairs_rd_measure, Float, U8, S16, Block, Pairs, Measure, Rd)        \
  X(forward_float_u8_s16_zigzag_rd, Float, U8, S16, Zigzag, Edged, Plain, Rd)                      \
  X(forward_float_u8_s16_zigzag_rd_measure, Float, U8, S16, Zigzag, Edged, Measure, Rd)            \
  X(forward_float_u8_s16_plane_rd, Float, U8, S16, Plane, Edged, Plain, Rd)                        \
  X(forward_float_u8_s16_plane_rd_measure, Float, U8, S16, Plane, Edged, Measure, Rd)

// ---- General: X(name, method, coefs, measure) ----

// general.cu.
#define CT_GENERAL_FORWARD_KERNELS(X)                    \
  X(forward_islow_general_s16, Islow, S16, false)        \
  X(forward_islow_general_s16_measure, Islow, S16, true) \
  X(forward_islow_general_s32, Islow, S32, false)        \
  X(forward_islow_general_s32_measure, Islow, S32, true) \
  X(forward_islow_general_f32, Islow, F32, false)        \
  X(forward_islow_general_f32_measure, Islow, F32, true) \
  X(forward_float_general_s16, Float, S16, false)        \
  X(forward_float_general_s16_measure, Float, S16, true) \
  X(forward_float_general_s32, Float, S32, false)        \
  X(forward_float_general_s32_measure, Float, S32, true) \
  X(forward_float_general_f32, Float, F32, false)        \
  X(forward_float_general_f32_measure, Float, F32, true) \
  X(forward_ifast_general_s16, Ifast, S16, false)        \
  X(forward_ifast_general_s16_measure, Ifast, S16, true) \
  X(forward_ifast_general_s32, Ifast, S32, false)        \
  X(forward_ifast_general_s32_measure, Ifast, S32, true) \
  X(forward_ifast_general_f32, Ifast, F32, false)        \
  X(forward_ifast_general_f32_measure, Ifast, F32, true)

// general.cu: islow of 12 bits.
#define CT_DEEP_FORWARD_KERNELS(X)                           \
  X(forward_islow12_general_s16, Islow12, S16, false)        \
  X(forward_islow12_general_s16_measure, Islow12, S16, true) \
  X(forward_islow12_general_s32, Islow12, S32, false)        \
  X(forward_islow12_general_s32_measure, Islow12, S32, true) \
  X(forward_islow12_general_f32, Islow12, F32, false)        \
  X(forward_islow12_general_f32_measure, Islow12, F32, true)

// general.cu.
#define CT_DEEP_INVERSE_KERNELS(X)                           \
  X(inverse_islow12_general_s16, Islow12, S16, false)        \
  X(inverse_islow12_general_s16_measure, Islow12, S16, true) \
  X(inverse_islow12_general_s32, Islow12, S32, false)        \
  X(inverse_islow12_general_s32_measure, Islow12, S32, true) \
  X(inverse_islow12_general_f32, Islow12, F32, false)        \
  X(inverse_islow12_general_f32_measure, Islow12, F32, true)

// decided.cu: X(name, method, quantizer, measure).
#define CT_DECIDED_FORWARD_KERNELS(X)                               \
  X(forward_islow_general_dead_zone, Islow, DeadZone, false)        \
  X(forward_islow_general_dead_zone_measure, Islow, DeadZone, true) \
  X(forward_islow_general_rd, Islow, Rd, false)                     \
  X(forward_islow_general_rd_measure, Islow, Rd, true)              \
  X(forward_float_general_dead_zone, Float, DeadZone, false)        \
  X(forward_float_general_dead_zone_measure, Float, DeadZone, true) \
  X(forward_float_general_rd, Float, Rd, false)                     \
  X(forward_float_general_rd_measure, Float, Rd, true)              \
  X(forward_ifast_general_dead_zone, Ifast, DeadZone, false)        \
  X(forward_ifast_general_dead_zone_measure, Ifast, DeadZone, true) \
  X(forward_ifast_general_rd, Ifast, Rd, false)                     \
  X(forward_ifast_general_rd_measure, Ifast, Rd, true)

// general.cu.
#define CT_GENERAL_INVERSE_KERNELS(X)                    \
  X(inverse_islow_general_s16, Islow, S16, false)        \
  X(inverse_islow_general_s16_measure, Islow, S16, true) \
  X(inverse_islow_general_s32, Islow, S32, false)        \
  X(inverse_islow_general_s32_measure, Islow, S32, true) \
  X(inverse_islow_general_f32, Islow, F32, false)        \
  X(inverse_islow_general_f32_measure, Islow, F32, true) \
  X(inverse_float_general_s16, Float, S16, false)        \
  X(inverse_float_general_s16_measure, Float, S16, true) \
  X(inverse_float_general_s32, Float, S32, false)        \
  X(inverse_float_general_s32_measure, Float, S32, true) \
  X(inverse_float_general_f32, Float, F32, false)        \
  X(inverse_float_general_f32_measure, Float, F32, true) \
  X(inverse_ifast_general_s16, Ifast, S16, false)        \
  X(inverse_ifast_general_s16_measure, Ifast, S16, true) \
  X(inverse_ifast_general_s32, Ifast, S32, false)        \
  X(inverse_ifast_general_s32_measure, Ifast, S32, true) \
  X(inverse_ifast_general_f32, Ifast, F32, false)        \
  X(inverse_ifast_general_f32_measure, Ifast, F32, true)

// ---- Teaching: X(name, method) ----

// teaching.cu.
#define CT_TEACHING_FORWARD_KERNELS(X)    \
  X(forward_naive_teach, Naive)           \
  X(forward_matrix_teach, Matrix)         \
  X(forward_separable_teach, Separable)   \
  X(forward_decomposed_teach, Decomposed) \
  X(forward_shuffle_teach, Shuffle)       \
  X(forward_reference_teach, Reference)

// teaching.cu.
#define CT_TEACHING_INVERSE_KERNELS(X)    \
  X(inverse_naive_teach, Naive)           \
  X(inverse_matrix_teach, Matrix)         \
  X(inverse_separable_teach, Separable)   \
  X(inverse_decomposed_teach, Decomposed) \
  X(inverse_shuffle_teach, Shuffle)       \
  X(inverse_reference_teach, Reference)

// ---- Scaled, scaled.cu ----

// X(name, method, scale): the size is divided by the scale.
#define CT_SCALED_FAST_KERNELS(X)  \
  X(scaled_islow_2_fast, Islow, 2) \
  X(scaled_float_2_fast, Float, 2) \
  X(scaled_islow_4_fast, Islow, 4) \
  X(scaled_float_4_fast, Float, 4) \
  X(scaled_islow_8_fast, Islow, 8) \
  X(scaled_float_8_fast, Float, 8)

// X(name, method, scale, coefs)
#define CT_SCALED_GENERAL_KERNELS(X)                   \
  X(scaled_islow_2_general_s16, Islow, 2, S16)         \
  X(scaled_islow_2_general_s32, Islow, 2, S32)         \
  X(scaled_islow_2_general_f32, Islow, 2, F32)         \
  X(scaled_float_2_general_s16, Float, 2, S16)         \
  X(scaled_float_2_general_s32, Float, 2, S32)         \
  X(scaled_float_2_general_f32, Float, 2, F32)         \
  X(scaled_reference_2_general_s16, Reference, 2, S16) \
  X(scaled_reference_2_general_s32, Reference, 2, S32) \
  X(scaled_reference_2_general_f32, Reference, 2, F32) \
  X(scaled_islow_4_general_s16, Islow, 4, S16)         \
  X(scaled_islow_4_general_s32, Islow, 4, S32)         \
  X(scaled_islow_4_general_f32, Islow, 4, F32)         \
  X(scaled_float_4_general_s16, Float, 4, S16)         \
  X(scaled_float_4_general_s32, Float, 4, S32)         \
  X(scaled_float_4_general_f32, Float, 4, F32)         \
  X(scaled_reference_4_general_s16, Reference, 4, S16) \
  X(scaled_reference_4_general_s32, Reference, 4, S32) \
  X(scaled_reference_4_general_f32, Reference, 4, F32) \
  X(scaled_islow_8_general_s16, Islow, 8, S16)         \
  X(scaled_islow_8_general_s32, Islow, 8, S32)         \
  X(scaled_islow_8_general_f32, Islow, 8, F32)         \
  X(scaled_float_8_general_s16, Float, 8, S16)         \
  X(scaled_float_8_general_s32, Float, 8, S32)         \
  X(scaled_float_8_general_f32, Float, 8, F32)         \
  X(scaled_reference_8_general_s16, Reference, 8, S16) \
  X(scaled_reference_8_general_s32, Reference, 8, S32) \
  X(scaled_reference_8_general_f32, Reference, 8, F32)

// islow of 12 bits; at 1/8 scaled_islow_8_general_*.
#define CT_SCALED_DEEP_KERNELS(X)                  \
  X(scaled_islow12_2_general_s16, Islow12, 2, S16) \
  X(scaled_islow12_2_general_s32, Islow12, 2, S32) \
  X(scaled_islow12_2_general_f32, Islow12, 2, F32) \
  X(scaled_islow12_4_general_s16, Islow12, 4, S16) \
  X(scaled_islow12_4_general_s32, Islow12, 4, S32) \
  X(scaled_islow12_4_general_f32, Islow12, 4, F32)

// X(name, coefs): counts the zeros, which is measured at any scale.
#define CT_SCALED_ZEROS_KERNELS(X) \
  X(scaled_zeros_s16, S16)         \
  X(scaled_zeros_s32, S32)         \
  X(scaled_zeros_f32, F32)

// ---- Images: X(image, its kernels) ----

#define CT_DCT8X8_FAST_IMAGES(IMAGE)                          \
  IMAGE(dct8x8_fast_decided, CT_FAST_DECIDED_FORWARD_KERNELS) \
  IMAGE(dct8x8_fast_forward, CT_FAST_FORWARD_KERNELS)         \
  IMAGE(dct8x8_fast_wide, CT_FAST_WIDE_FORWARD_KERNELS)       \
  IMAGE(dct8x8_fast_inverse, CT_FAST_INVERSE_KERNELS)         \
  IMAGE(dct8x8_fast_wide, CT_FAST_WIDE_INVERSE_KERNELS)       \
  IMAGE(dct8x8_fast_split, CT_FAST_SPLIT_INVERSE_KERNELS)     \
  IMAGE(dct8x8_fast_split, CT_FAST_SPLIT_PLANE_KERNELS)       \
  IMAGE(dct8x8_fast_split, CT_FAST_SPLIT_FORWARD_KERNELS)     \
  IMAGE(dct8x8_fast_full, CT_FAST_FULL_FORWARD_KERNELS)       \
  IMAGE(dct8x8_fast_full, CT_FAST_FULL_INVERSE_KERNELS)       \
  IMAGE(dct8x8_fast_deep, CT_FAST_DEEP_FORWARD_KERNELS)       \
  IMAGE(dct8x8_fast_deep, CT_FAST_DEEP_INVERSE_KERNELS)

#define CT_DCT8X8_BATCH_IMAGES(IMAGE)                     \
  IMAGE(dct8x8_fast_batch, CT_FAST_BATCH_FORWARD_KERNELS) \
  IMAGE(dct8x8_fast_batch, CT_FAST_BATCH_INVERSE_KERNELS)

#define CT_DCT8X8_GENERAL_IMAGES(IMAGE)               \
  IMAGE(dct8x8_general, CT_GENERAL_FORWARD_KERNELS)   \
  IMAGE(dct8x8_general, CT_GENERAL_INVERSE_KERNELS)   \
  IMAGE(dct8x8_general, CT_DEEP_FORWARD_KERNELS)      \
  IMAGE(dct8x8_general, CT_DEEP_INVERSE_KERNELS)      \
  IMAGE(dct8x8_decided, CT_DECIDED_FORWARD_KERNELS)   \
  IMAGE(dct8x8_teaching, CT_TEACHING_FORWARD_KERNELS) \
  IMAGE(dct8x8_teaching, CT_TEACHING_INVERSE_KERNELS)

#define CT_DCT8X8_SCALED_IMAGES(IMAGE)            \
  IMAGE(dct8x8_scaled, CT_SCALED_FAST_KERNELS)    \
  IMAGE(dct8x8_scaled, CT_SCALED_GENERAL_KERNELS) \
  IMAGE(dct8x8_scaled, CT_SCALED_DEEP_KERNELS)    \
  IMAGE(dct8x8_scaled, CT_SCALED_ZEROS_KERNELS)
