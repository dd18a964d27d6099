// Numbers of the 8x8 DCT's kernels that are measured, not derived: shapes of CTAs, how many of them
// an SM should hold, and the sizes of frames at which another kernel is faster.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measured on H100 and H200 (sm_90) unless an architecture is named.
#pragma once

#include <cstdint>

namespace cudatransform::cuda {

// ---- CTAs ----

// The fast and general kernels have a thread a block.
inline constexpr unsigned kFusedThreads = 64;
inline constexpr unsigned kFusedBlocks = kFusedThreads;
// The teaching kernels: four 8x8 blocks with a thread a sample.
inline constexpr unsigned kTeachingThreads = 256;
// The scaled ones: a thread a block.
inline constexpr unsigned kScaledThreads = 128;
// The split kernels, and the threads that share a block.
inline constexpr unsigned kSplitInverseCtaThreads = 128, kSplitInverseThreads = 8;
inline constexpr unsigned kSplitPlaneCtaThreads = 256;  // of the inverse from planes
inline constexpr unsigned kSplitForwardCtaThreads = 64, kSplitForwardThreads = 2;

// ---- Sizes of frames ----

// A frame of up to this many blocks is small: 1080 lines in one plane have 32,640, in 4:2:0 48,960.
// It is over before its threads have spread over the GPU, and wholly on the device while it waits
// for its predecessor: see wait_for_predecessor().
inline constexpr uint32_t kSmallFrame = 50000;

// Up to this many blocks a split kernel is faster than one with a thread a block: docs/kernels.md,
// step 11, has the times, and `bench_cuda --sweep` measures these numbers. Above, more threads cost
// more than their overlap gains.
inline constexpr uint32_t kMaxSplitForward = 40000;
inline constexpr uint32_t kMaxSplitInverseFloat = 35000, kMaxSplitInverseIslow = 60000;

// ---- CTAs that an SM should hold ----

// Of the general kernels, and those with a dead zone or RDO: as many as fit without spilling
// registers.
inline constexpr int kGeneralCtas = 6;

// Of the split inverse: all 2,048 threads of an SM on sm_80, sm_90 and sm_100; elsewhere 1,024,
// which every SM holds.
#if defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
inline constexpr int kSplitCtas = 16;
#else
inline constexpr int kSplitCtas = 8;
#endif

}  // namespace cudatransform::cuda

// Of each fast kernel, as many as fit without spilling registers on every architecture: X(name,
// CTAs).
#define CT_FAST_CTAS(X)                                    \
  X(forward_islow_u8_s16_block_batch, 10)                  \
  X(inverse_islow_u8_s16_block_batch, 12)                  \
  X(forward_islow_u8_s16_block_timed, 12)                  \
  X(forward_islow_u8_s16_block_pairs_timed, 10)            \
  X(forward_float_u8_s16_block_timed, 12)                  \
  X(forward_float_u8_s16_block_pairs_timed, 10)            \
  X(forward_islow_u8_s16_block, 12)                        \
  X(forward_islow_u8_s16_block_measure, 8)                 \
  X(forward_islow_u8_s16_block_pairs, 10)                  \
  X(forward_islow_u8_s16_block_pairs_measure, 10)          \
  X(forward_islow_u8_s16_zigzag, 12)                       \
  X(forward_islow_u8_s16_zigzag_measure, 8)                \
  X(forward_islow_u8_s16_plane, 10)                        \
  X(forward_islow_u8_s16_plane_measure, 10)                \
  X(forward_float_u8_s16_block, 12)                        \
  X(forward_float_u8_s16_block_measure, 10)                \
  X(forward_float_u8_s16_block_pairs, 10)                  \
  X(forward_float_u8_s16_block_pairs_measure, 10)          \
  X(forward_float_u8_s16_zigzag, 12)                       \
  X(forward_float_u8_s16_zigzag_measure, 10)               \
  X(forward_float_u8_s16_plane, 12)                        \
  X(forward_float_u8_s16_plane_measure, 10)                \
  X(forward_float_u16_s16_block, 12)                       \
  X(forward_float_u16_s16_block_measure, 6)                \
  X(forward_float_u16_s16_block_pairs, 10)                 \
  X(forward_float_u16_s16_block_pairs_measure, 6)          \
  X(forward_float_u16_s16_zigzag, 12)                      \
  X(forward_float_u16_s16_zigzag_measure, 6)               \
  X(forward_float_u16_s16_plane, 12)                       \
  X(forward_float_u16_s16_plane_measure, 6)                \
  X(inverse_islow_u8_s16_block_timed, 12)                  \
  X(inverse_islow_u8_s16_block_pairs_timed, 10)            \
  X(inverse_float_u8_s16_block_timed, 12)                  \
  X(inverse_float_u8_s16_block_pairs_timed, 10)            \
  X(inverse_islow_u8_s16_block, 12)                        \
  X(inverse_islow_u8_s16_block_measure, 8)                 \
  X(inverse_islow_u8_s16_block_pairs, 10)                  \
  X(inverse_islow_u8_s16_block_pairs_measure, 8)           \
  X(inverse_islow_u8_s16_zigzag, 12)                       \
  X(inverse_islow_u8_s16_zigzag_measure, 8)                \
  X(inverse_islow_u8_s16_plane, 12)                        \
  X(inverse_islow_u8_s16_plane_measure, 8)                 \
  X(inverse_float_u8_s16_block, 12)                        \
  X(inverse_float_u8_s16_block_measure, 8)                 \
  X(inverse_float_u8_s16_block_pairs, 10)                  \
  X(inverse_float_u8_s16_block_pairs_measure, 8)           \
  X(inverse_float_u8_s16_zigzag, 12)                       \
  X(inverse_float_u8_s16_zigzag_measure, 8)                \
  X(inverse_float_u8_s16_plane, 10)                        \
  X(inverse_float_u8_s16_plane_measure, 8)                 \
  X(inverse_float_u16_s16_block, 10)                       \
  X(inverse_float_u16_s16_block_measure, 8)                \
  X(inverse_float_u16_s16_block_pairs, 10)                 \
  X(inverse_float_u16_s16_block_pairs_measure, 8)          \
  X(inverse_float_u16_s16_zigzag, 10)                      \
  X(inverse_float_u16_s16_zigzag_measure, 8)               \
  X(inverse_float_u16_s16_plane, 10)                       \
  X(inverse_float_u16_s16_plane_measure, 8)                \
  X(forward_float_u8_s32_block, 10)                        \
  X(forward_float_u8_s32_block_measure, 6)                 \
  X(forward_float_u8_f32_block, 10)                        \
  X(forward_float_u8_f32_block_measure, 6)                 \
  X(forward_float_u16_s32_block, 10)                       \
  X(forward_float_u16_s32_block_measure, 6)                \
  X(forward_float_u16_f32_block, 10)                       \
  X(forward_float_u16_f32_block_measure, 6)                \
  X(inverse_float_u8_s32_block, 10)                        \
  X(inverse_float_u8_s32_block_measure, 8)                 \
  X(inverse_float_u8_f32_block, 10)                        \
  X(inverse_float_u8_f32_block_measure, 8)                 \
  X(inverse_float_u16_s32_block, 10)                       \
  X(inverse_float_u16_s32_block_measure, 8)                \
  X(inverse_float_u16_f32_block, 10)                       \
  X(inverse_float_u16_f32_block_measure, 8)                \
  X(forward_islow_u8_s16_block_full, 12)                   \
  X(forward_islow_u8_s16_block_full_timed, 12)             \
  X(forward_islow_u8_s16_block_full_measure, 10)           \
  X(forward_islow_u8_s16_zigzag_full, 12)                  \
  X(forward_islow_u8_s16_zigzag_full_measure, 10)          \
  X(forward_islow_u8_s16_plane_full, 12)                   \
  X(forward_islow_u8_s16_plane_full_measure, 10)           \
  X(forward_float_u8_s16_block_full_measure, 10)           \
  X(forward_float_u8_s16_zigzag_full_measure, 10)          \
  X(forward_float_u8_s16_plane_full_measure, 10)           \
  X(inverse_islow_u8_s16_block_full, 12)                   \
  X(inverse_islow_u8_s16_block_full_timed, 12)             \
  X(inverse_islow_u8_s16_zigzag_full, 12)                  \
  X(inverse_islow_u8_s16_plane_full, 12)                   \
  X(inverse_float_u8_s16_plane_full, 10)                   \
  X(forward_islow12_u16_s16_block, 10)                     \
  X(forward_islow12_u16_s16_block_measure, 6)              \
  X(forward_islow12_u16_s16_zigzag, 10)                    \
  X(forward_islow12_u16_s16_zigzag_measure, 6)             \
  X(forward_islow12_u16_s16_plane, 10)                     \
  X(forward_islow12_u16_s16_plane_measure, 6)              \
  X(inverse_islow12_u16_s16_block, 10)                     \
  X(inverse_islow12_u16_s16_block_measure, 8)              \
  X(inverse_islow12_u16_s16_zigzag, 10)                    \
  X(inverse_islow12_u16_s16_zigzag_measure, 8)             \
  X(inverse_islow12_u16_s16_plane, 10)                     \
  X(inverse_islow12_u16_s16_plane_measure, 8)              \
  X(inverse_float_u8_s16_split, kSplitCtas)                \
  X(inverse_islow_u8_s16_split, kSplitCtas)                \
  X(inverse_float_u8_s16_split_timed, kSplitCtas)          \
  X(inverse_islow_u8_s16_split_timed, kSplitCtas)          \
  X(inverse_islow_u8_s16_split_plane, kSplitCtas / 2)      \
  X(forward_float_u8_s16_split, 16)                        \
  X(forward_islow_u8_s16_split, 16)                        \
  X(forward_float_u8_s16_split_timed, 16)                  \
  X(forward_islow_u8_s16_split_timed, 16)                  \
  X(forward_islow_u8_s16_block_dead_zone, 10)              \
  X(forward_islow_u8_s16_block_dead_zone_measure, 8)       \
  X(forward_islow_u8_s16_block_pairs_dead_zone, 8)         \
  X(forward_islow_u8_s16_block_pairs_dead_zone_measure, 8) \
  X(forward_islow_u8_s16_zigzag_dead_zone, 8)              \
  X(forward_islow_u8_s16_zigzag_dead_zone_measure, 8)      \
  X(forward_islow_u8_s16_plane_dead_zone, 10)              \
  X(forward_islow_u8_s16_plane_dead_zone_measure, 8)       \
  X(forward_islow_u8_s16_block_rd, 8)                      \
  X(forward_islow_u8_s16_block_rd_measure, 8)              \
  X(forward_islow_u8_s16_block_pairs_rd, 8)                \
  X(forward_islow_u8_s16_block_pairs_rd_measure, 8)        \
  X(forward_islow_u8_s16_zigzag_rd, 8)                     \
  X(forward_islow_u8_s16_zigzag_rd_measure, 8)             \
  X(forward_islow_u8_s16_plane_rd, 8)                      \
  X(forward_islow_u8_s16_plane_rd_measure, 6)              \
  X(forward_float_u8_s16_block_dead_zone, 10)              \
  X(forward_float_u8_s16_block_dead_zone_measure, 8)       \
  X(forward_float_u8_s16_block_pairs_dead_zone, 10)        \
  X(forward_float_u8_s16_block_pairs_dead_zone_measure, 8) \
  X(forward_float_u8_s16_zigzag_dead_zone, 10)             \
  X(forward_float_u8_s16_zigzag_dead_zone_measure, 8)      \
  X(forward_float_u8_s16_plane_dead_zone, 10)              \
  X(forward_float_u8_s16_plane_dead_zone_measure, 8)       \
  X(forward_float_u8_s16_block_rd, 8)                      \
  X(forward_float_u8_s16_block_rd_measure, 6)              \
  X(forward_float_u8_s16_block_pairs_rd, 8)                \
  X(forward_float_u8_s16_block_pairs_rd_measure, 6)        \
  X(forward_float_u8_s16_zigzag_rd, 8)                     \
  X(forward_float_u8_s16_zigzag_rd_measure, 6)             \
  X(forward_float_u8_s16_plane_rd, 8)                      \
  X(forward_float_u8_s16_plane_rd_measure, 6)

namespace cudatransform::cuda {

// kCtas_NAME
#define CT_CTAS(name, ctas) inline constexpr int kCtas_##name = ctas;
CT_FAST_CTAS(CT_CTAS)
#undef CT_CTAS

}  // namespace cudatransform::cuda
