// Parameters of the kernels that decode JPEG scans, and their messages to each other.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/huffman_write.h"

namespace cudatransform::cuda {

inline constexpr uint32_t kJpegSyncThreads = kWarmUp + kTileSubsequences;
// A tile is written by several CTAs, a row a thread.
inline constexpr uint32_t kJpegWriteCtas = 4;
inline constexpr uint32_t kJpegWriteSubsequences = kTileSubsequences / kJpegWriteCtas;
inline constexpr uint32_t kJpegWriteThreads = kJpegWriteSubsequences * kRowsInSubsequence;

// A part of a tile of a small picture, which a CTA decodes together with the last rows of the part
// before: a thread for each row and phase.
inline constexpr uint32_t kPartPhases = 6;  // at most
inline constexpr uint32_t kPartRows = kPartSubsequences * kRowsInSubsequence, kPartWarmUp = 12;
inline constexpr uint32_t kJpegPartThreads = (kPartWarmUp + kPartRows) * kPartPhases;
inline constexpr uint32_t kPartTrails = 32;
// It is written in halves of rows, some in each warp.
inline constexpr uint32_t kPartRowBits = kRowBits / 2, kPartRowLanes = 8;
inline constexpr uint32_t kJpegPartWriteThreads =
    kPartRows * (kRowBits / kPartRowBits) * (32 / kPartRowLanes);
struct alignas(32) JpegPart {
  uint32_t map[kPartTrails / 4];            // bytes
  uint32_t counts[1 + kJpegMaxComponents];  // blocks, DC differences by class
};

struct JpegPlaneParams {
  uint8_t* data;
  int64_t stride;
  uint32_t blocks_w, blocks_h;
};

// Counts of a row, of the subsequence before it; of a subsequence or a tile, since the segment
// began or, where kInSegment is not set, since the tile began. All are columns of numbers.
inline constexpr uint32_t kInSegment = 1u << 31;
struct JpegCounts {
  uint32_t* states;  // where a row begins, a tile ends
  uint32_t* begins;  // of tiles alone: where it has been decoded from
  uint32_t* blocks;
  uint32_t* sums;  // DC differences: a column for each class
  uint32_t count;
};

struct JpegDecodeParams {
  const uint8_t* block;
  uint64_t infos_at, words_at, sets_at, runs_at;  // see JpegScans
  uint32_t subsequences, scan_count;
  uint32_t fixes;  // whether the results of the tile before are known
  uint32_t components;
  uint32_t* result;                     // damage, whole segments, CTAs that have written
  uint32_t* host_result;                // the first two of it, where the host reads them
  JpegScanPlan scans[kMaxScans];        // their sets are numbers of slots
  uint32_t slots[kMaxScans][kMaxSets];  // sets in shared memory
  JpegCounts rows, subsequence, tiles;
  // Of small pictures:
  JpegPart* parts;
  uint32_t* part_flags;  // two for each part, zero at first
  uint32_t part_count, first_part[kMaxScans];
  uint32_t natural[16];  // of coefficient i in zigzag order, a byte each
  JpegPlaneParams planes[kJpegMaxComponents];
};

}  // namespace cudatransform::cuda
