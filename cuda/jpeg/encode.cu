// Quantized coefficients to the entropy-coded bytes of a baseline JPEG file: two launches, and one
// for symbols' counts.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// jpeg/encode_bits.h has the arithmetic and the steps, jpeg/encode_scan.cpp the same on the host.
// A CTA codes a tile of 64 blocks: a warp a block, a lane two quantized coefficients. Codes stay in
// registers until the CTA knows how long those before them are; then each lane ORs its own into
// shared memory. The CTA that is last to finish finds out where all tiles begin in the file. So no
// CTA waits for another, and the host waits for none.
#include "cuda/common/batch.h"
#include "cuda/common/ptx.cuh"
#include "cuda/jpeg/encode_params.h"
#include "cuda/jpeg/kernels.h"

namespace cudatransform::cuda {
namespace {

// ---- The blocks of a warp: their places, and each lane's quantized coefficients of them ----

// The quantized coefficients of one block. Lane i has those at positions 2i and 2i + 1 in zigzag
// order; lane 0 has the difference of DC quantized coefficients.
struct LaneQcoefs {
  int32_t even, odd;
  // Alike in all lanes.
  uint32_t table_pair;
  bool is_there;  // false after the end of the tile
};

// kBlocksPerWarp blocks of a tile. All loads are in flight when the first block is examined: a
// block is 128 bytes, which two loads of a warp bring from one line.
class WarpBlocks {
 public:
  __device__ __forceinline__ WarpBlocks(const EncodeParams& params, const JpegTilePlace& tile) {
    const uint32_t lane = threadIdx.x % 32;
    // Each of the first lanes finds a block.
    const uint32_t number = threadIdx.x / 32 * kBlocksPerWarp + lane % kBlocksPerWarp;
    const int16_t* own = nullptr;
    if (number < tile.count) {
      const JpegBlockPlace place = jpeg_block_place(params.layout, tile.first + number);
      state_ = kThere;
      if (params.layout.table_pair[place.component] != 0) state_ |= kSecondPair;
      if (!place.is_dummy) {
        const JpegEncodePlane& plane = params.qcoefs[place.component];
        own = block(plane, place.x, place.y);
        int32_t dc = plain_dc(*own);
        if (place.has_before) dc -= plain_dc(*block(plane, place.before_x, place.before_y));
        state_ |= dc * (1 << kDcAt);
      }
    }
    const uint32_t even = jpeg_natural_index(2 * lane), odd = jpeg_natural_index(2 * lane + 1);
#pragma unroll
    for (uint32_t i = 0; i < kBlocksPerWarp; ++i) {
      const auto at = reinterpret_cast<const int16_t*>(
          __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(own), i));
      evens_[i] = at == nullptr ? 0 : at[even];
      odds_[i] = at == nullptr ? 0 : at[odd];
    }
  }

  // Block `i`, the same in all lanes.
  __device__ __forceinline__ LaneQcoefs qcoefs(uint32_t i) {
    const int32_t state = __shfl_sync(kAllLanes, state_, i);
    LaneQcoefs qcoefs;
    qcoefs.even = threadIdx.x % 32 == 0 ? state >> kDcAt : evens_[i];
    qcoefs.odd = odds_[i];
    qcoefs.table_pair = (state & kSecondPair) != 0 ? 1 : 0;
    qcoefs.is_there = (state & kThere) != 0;
    if (threadIdx.x % 32 != 0) largest_ = max(largest_, abs(qcoefs.even));
    largest_ = max(largest_, abs(qcoefs.odd));
    return qcoefs;
  }
  // Whether this lane has met quantized coefficients that are not plain. They are coded as others
  // then.
  __device__ __forceinline__ bool found_others() const {
    return found_others_ || largest_ > kJpegPlainAc;
  }

 private:
  static constexpr int32_t kThere = 1, kSecondPair = 2, kDcAt = 8;

  static __device__ __forceinline__ const int16_t* block(const JpegEncodePlane& plane, uint32_t x,
                                                         uint32_t y) {
    const auto* row = reinterpret_cast<const uint8_t*>(plane.data) + int64_t{y} * plane.stride;
    return reinterpret_cast<const int16_t*>(row) + uint64_t{x} * 64;
  }
  __device__ __forceinline__ int32_t plain_dc(int32_t qcoef) {
    const int32_t clamped = max(min(qcoef, kJpegPlainDc), -kJpegPlainDc - 1);
    found_others_ |= clamped != qcoef;
    return clamped;
  }

  int16_t evens_[kBlocksPerWarp], odds_[kBlocksPerWarp];
  int32_t state_ = 0;  // of the block that this lane has found, its difference of DC quantized
                       // coefficients above
  int32_t largest_ = 0;
  bool found_others_ = false;
};

__device__ __forceinline__ JpegLaneSymbols symbols_of(const LaneQcoefs& qcoefs) {
  const uint32_t evens = __ballot_sync(kAllLanes, qcoefs.even != 0);
  const uint32_t odds = __ballot_sync(kAllLanes, qcoefs.odd != 0);
  return jpeg_lane_symbols(threadIdx.x % 32, qcoefs.even, qcoefs.odd, evens, odds, kJpegDcSymbols);
}

// ---- Codes ----

constexpr uint32_t kTileWords = kJpegMaxTileBits / 32 + 4;  // zeros are read after the last

// A lane's codes of a block, before their place is known: the bits of up to two symbols, where they
// begin in the warp's, how many they are, and how many long runs come before them.
struct LaneCode {
  static constexpr uint32_t kFirstAt = 14, kSecondAt = 19, kLongRunsAt = 24;
  uint32_t bits[2];
  uint32_t place;

  __device__ __forceinline__ uint32_t before() const { return place & ((1u << kFirstAt) - 1); }
  __device__ __forceinline__ uint32_t first() const { return place >> kFirstAt & 31; }
  __device__ __forceinline__ uint32_t second() const { return place >> kSecondAt & 31; }
  __device__ __forceinline__ uint32_t long_runs() const { return place >> kLongRunsAt; }
};
static_assert(kBlocksPerWarp * kJpegMaxBlockBits < 1u << LaneCode::kFirstAt);

// The code of one block's quantized coefficients in this lane, without its place. Returns its
// length.
// `*least` becomes 0 where a symbol has no code.
__device__ __forceinline__ uint32_t code_of(const LaneQcoefs& qcoefs, const uint32_t* codes,
                                            LaneCode* coded, uint32_t* least) {
  const JpegLaneSymbols lane = symbols_of(qcoefs);
  uint32_t lengths[2];
#pragma unroll
  for (int s = 0; s < 2; ++s) {
    const uint32_t code = lane.has[s] ? codes[lane.symbols[s].index] : 0;
    if (lane.has[s]) *least = min(*least, code);
    lengths[s] = jpeg_code_length(code);
    coded->bits[s] = jpeg_code_bits(code) | lane.symbols[s].extra;
  }
  coded->place = lengths[0] << LaneCode::kFirstAt | lengths[1] << LaneCode::kSecondAt;
  uint32_t length = lengths[0] + lengths[1];
  if (lane.long_runs > 0) {
    const uint32_t code = codes[kJpegLongRun];
    *least = min(*least, code);
    length += lane.long_runs * jpeg_code_length(code);
    coded->place |= lane.long_runs << LaneCode::kLongRunsAt;
  }
  return length;
}

// All blocks of a warp; returns the length of their code. Two blocks' lengths are summed in one
// word.
__device__ __forceinline__ uint32_t code_blocks(WarpBlocks& blocks, const uint32_t* codes,
                                                LaneCode (&coded)[kBlocksPerWarp],
                                                uint32_t* second_pairs, uint32_t* least) {
  static_assert(kBlocksPerWarp % 2 == 0 && kJpegMaxBlockBits < 1u << 16);
  uint32_t before = 0;
#pragma unroll
  for (uint32_t i = 0; i < kBlocksPerWarp; i += 2) {
    uint32_t lengths = 0;
#pragma unroll
    for (uint32_t k = 0; k < 2; ++k) {
      const LaneQcoefs qcoefs = blocks.qcoefs(i + k);
      coded[i + k].place = 0;
      if (!qcoefs.is_there) continue;
      *second_pairs |= qcoefs.table_pair << (i + k);
      lengths |= code_of(qcoefs, codes + qcoefs.table_pair * kJpegSymbols, &coded[i + k], least)
                 << (16 * k);
    }
    const uint32_t ends = sum_up_to_lane(lengths);
    const uint32_t all = __shfl_sync(kAllLanes, ends, 31u), own = ends - lengths;
    coded[i].place |= before + (own & 0xffff);
    before += all & 0xffff;
    coded[i + 1].place |= before + (own >> 16);
    before += all >> 16;
  }
  return before;
}

__device__ __forceinline__ void put_code(const LaneCode& code, uint32_t at, uint32_t long_run,
                                         uint32_t* words) {
  const auto put = [&](uint32_t i, uint32_t bits) { atomicOr(&words[i], bits); };
  at += code.before();
  const uint32_t run_length = jpeg_code_length(long_run);
  for (uint32_t n = code.long_runs(); n > 0 && run_length > 0; --n, at += run_length)
    jpeg_put_bits(at, jpeg_code_bits(long_run), run_length, put);
  if (code.first() > 0) jpeg_put_bits(at, code.bits[0], code.first(), put);
  if (code.second() > 0) jpeg_put_bits(at + code.first(), code.bits[1], code.second(), put);
}

// Copies a tile's words to memory, and counts ones in a row.
__device__ __forceinline__ void hand_on_words(const uint32_t* words, uint32_t bits, uint32_t* to,
                                              uint32_t (&ones_at)[8]) {
  const uint32_t count = bits / 32 + 1;
  for (uint32_t i = threadIdx.x; i < count; i += kEncodeThreads) {
    const uint32_t word = words[i];
    if (to != nullptr) to[i] = word;
    // The bits after the tile's are zero.
    for (uint32_t ones = jpeg_ones_in_a_row(word, words[i + 1]); ones != 0; ones &= ones - 1)
      atomicAdd(&ones_at[(32 - jpeg_bit_width(ones & (~ones + 1))) % 8], 1u);
  }
}

// ---- The places of tiles ----

// As sum_before_thread(), of spans of tiles.
__device__ __forceinline__ JpegSpan join_before_thread(JpegSpan span,
                                                       JpegSpan (&spans)[kEncodeWarps],
                                                       JpegSpan* all) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    JpegSpan other;
    other.open = __shfl_up_sync(kAllLanes, span.open, distance);
    other.closed = __shfl_up_sync(kAllLanes, span.closed, distance);
    other.closes = __shfl_up_sync(kAllLanes, uint32_t{span.closes}, distance) != 0;
    if (lane >= distance) span = jpeg_join(other, span);
  }
  if (lane == 31) spans[warp] = span;
  JpegSpan before;
  before.open = __shfl_up_sync(kAllLanes, span.open, 1);
  before.closed = __shfl_up_sync(kAllLanes, span.closed, 1);
  before.closes = __shfl_up_sync(kAllLanes, uint32_t{span.closes}, 1) != 0;
  if (lane == 0) before = {};
  __syncthreads();
  JpegSpan warps = {}, total = {};
#pragma unroll
  for (uint32_t i = 0; i < kEncodeWarps; ++i) {
    if (i < warp) warps = jpeg_join(warps, spans[i]);
    total = jpeg_join(total, spans[i]);
  }
  *all = total;
  return jpeg_join(warps, before);
}

// The memory of place_tiles(), other than a tile's words, which hold kPlaced numbers of two kinds.
struct Placing {
  uint32_t sums[kEncodeWarps];
  JpegSpan spans[kEncodeWarps];
};
constexpr uint32_t kPlaced = 1536;
static_assert(2 * kPlaced <= kTileWords);

// Places tiles `first` to `first` + `count` - 1. The first begins at `*position`, with `*stuffed`
// bytes stuffed before it; both then become those of the tile after them. Threads access memory
// coalesced, and shared memory each its own consecutive share.
__device__ __forceinline__ void place_some(const EncodeParams& params, uint32_t first,
                                           uint32_t count, uint32_t* words, Placing& shared,
                                           uint32_t* position, uint32_t* stuffed) {
  const JpegScanLayout& layout = params.layout;
  uint32_t* const numbers = words;  // bits, then FF bytes, then those before the tile
  uint32_t* const positions = words + kPlaced;
  JpegTile* const tiles = params.tiles + first;
  const auto closes = [&](uint32_t i) {
    const uint32_t next = first + i + 1;
    return next == layout.tiles ||
           next == layout.by_segment_tiles.quotient(next) * layout.segment_tiles;
  };
  const uint32_t share = (count + kEncodeThreads - 1) / kEncodeThreads;
  const uint32_t begin = min(threadIdx.x * share, count), end = min(begin + share, count);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += kEncodeThreads) numbers[i] = tiles[i].bits;
  __syncthreads();
  JpegSpan own = {}, all;
  for (uint32_t i = begin; i < end; ++i)
    own = jpeg_join(own, jpeg_tile_span(numbers[i], closes(i)));
  uint32_t at = jpeg_advance(*position, join_before_thread(own, shared.spans, &all));
  *position = jpeg_advance(*position, all);
  for (uint32_t i = begin; i < end; ++i) {
    positions[i] = at;
    at = jpeg_advance(at, jpeg_tile_span(numbers[i], closes(i)));
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += kEncodeThreads)
    numbers[i] = jpeg_tile_ff_bytes(tiles[i], positions[i], closes(i) ? 0xff : tiles[i + 1].head);
  __syncthreads();
  uint32_t sum = 0, all_stuffed = 0;
  for (uint32_t i = begin; i < end; ++i) sum += numbers[i];
  uint32_t before = *stuffed + sum_before_thread(sum, shared.sums, &all_stuffed);
  *stuffed += all_stuffed;
  for (uint32_t i = begin; i < end; ++i) {
    const uint32_t ff_bytes = numbers[i];
    numbers[i] = before;
    before += ff_bytes;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += kEncodeThreads) {
    tiles[i].position = positions[i];
    tiles[i].stuffed = numbers[i];
  }
}

// Called by one CTA: passes all tiles their positions, and the host the size of the scan.
__device__ __forceinline__ void place_tiles(const EncodeParams& params, uint32_t faults,
                                            uint32_t* words, Placing& shared) {
  uint32_t position = 0, stuffed = 0;
  for (uint32_t first = 0; first < params.layout.tiles; first += kPlaced)
    place_some(params, first, min(params.layout.tiles - first, kPlaced), words, shared, &position,
               &stuffed);
  if (threadIdx.x != 0) return;
  JpegEncodeResult result;
  result.size = position / 8 + stuffed;
  result.faults = faults | (result.size > params.capacity ? uint32_t{kJpegNoRoom} : 0);
  *params.placed = result;
  *params.result = result;
}

__device__ __forceinline__ void code_tiles(const EncodeParams& params) {
  __shared__ uint32_t codes[kJpegTablePairs * kJpegSymbols];
  __shared__ uint32_t words[kTileWords];
  __shared__ uint32_t warp_bits[kEncodeWarps];
  __shared__ uint32_t ones_at[8];
  __shared__ uint32_t words_at, faults, is_last;
  __shared__ Placing placing;

  const JpegTilePlace place = jpeg_tile_place(params.layout, blockIdx.x);
  for (uint32_t i = threadIdx.x; i < kJpegTablePairs * kJpegSymbols; i += kEncodeThreads)
    codes[i] = reinterpret_cast<const uint32_t*>(params.codes)[i];
  if (threadIdx.x < 8) ones_at[threadIdx.x] = 0;
  if (threadIdx.x == 0) faults = 0;
  WarpBlocks blocks(params, place);
  __syncthreads();

  LaneCode coded[kBlocksPerWarp];
  uint32_t second_pairs = 0, least = ~0u;
  const uint32_t length = code_blocks(blocks, codes, coded, &second_pairs, &least);
  uint32_t bits = 0;
  // All lanes have the warp's length; the last one reports it.
  const uint32_t own = threadIdx.x % 32 == 31 ? length : 0;
  uint32_t at = sum_before_thread(own, warp_bits, &bits);
  if (blocks.found_others()) atomicOr(&faults, uint32_t{kJpegQcoefsNotPlain});
  if (least == 0) atomicOr(&faults, uint32_t{kJpegNoCode});
  const uint32_t count = bits / 32 + 1;
  for (uint32_t i = threadIdx.x; i < count + 3; i += kEncodeThreads) words[i] = 0;
  if (threadIdx.x == 0) words_at = atomicAdd(&params.progress->words, count);
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kBlocksPerWarp; ++i)
    put_code(coded[i], at, codes[(second_pairs >> i & 1) * kJpegSymbols + kJpegLongRun], words);
  __syncthreads();
  // If the words have no room, the file has none either.
  const bool fits = words_at + count <= params.max_words;
  hand_on_words(words, bits, fits ? params.words + words_at : nullptr, ones_at);
  __syncthreads();
  if (threadIdx.x == 0) {
    JpegTile tile = {};
    tile.bits = bits;
    tile.words_at = words_at;
    tile.head = jpeg_tile_head(words[0], bits);
    tile.tail = jpeg_tile_tail(count > 1 ? words[count - 2] : 0, words[count - 1], bits);
    for (uint32_t i = 0; i < 8; ++i) tile.ones[i] = static_cast<uint16_t>(ones_at[i]);
    params.tiles[blockIdx.x] = tile;
    if (faults != 0) atomicOr(&params.progress->faults, faults);
    __threadfence();
    is_last = atomicAdd(&params.progress->tiles, 1u) + 1 == params.layout.tiles;
    __threadfence();
    faults = is_last ? params.progress->faults : 0;
    if (is_last) *params.progress = {};
  }
  __syncthreads();
  if (is_last) place_tiles(params, faults, words, placing);
}

// The four bytes from bit `bit` of a tile on, the first in the lowest byte.
__device__ __forceinline__ uint32_t four_bytes(const uint32_t* words, uint32_t bit) {
  const uint32_t word = bit / 32;
  return __byte_perm(__funnelshift_l(words[word + 1], words[word], bit % 32), 0, 0x0123);
}

// Stores bytes of shared memory at `to`; both are as far from an address that 16 divides.
__device__ __forceinline__ void store_bytes(const uint8_t* from, uint32_t count, uint8_t* to) {
  const auto offset = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) % 16);
  const uint32_t head = min((16 - offset) % 16, count);
  const uint32_t wide = (count - head) / 16, tail = head + wide * 16;
  const uint32_t i = threadIdx.x;
  if (i < head) to[i] = from[i];
  for (uint32_t k = i; k < wide; k += kEncodeThreads)
    reinterpret_cast<uint4*>(to + head)[k] = reinterpret_cast<const uint4*>(from + head)[k];
  if (tail + i < count) to[tail + i] = from[tail + i];
}

// A marker after the last tile of a segment.
__device__ __forceinline__ void store_marker(const EncodeParams& params, uint32_t segment,
                                             uint8_t* to) {
  to[0] = 0xff;
  to[1] = static_cast<uint8_t>(blockIdx.x + 1 == params.layout.tiles ? 0xd9 : 0xd0 + segment % 8);
}

__device__ __forceinline__ void write_tiles(const EncodeParams& params) {
  constexpr uint32_t kChunk = 4 * kEncodeThreads;  // bytes at a time, before they are stuffed
  __shared__ uint32_t words[kTileWords];
  alignas(16) __shared__ uint8_t stage[2 * kChunk + 16];
  __shared__ uint32_t warp_sums[kEncodeWarps];
  if (params.placed->faults != 0) return;
  const JpegTile tile = params.tiles[blockIdx.x];
  const JpegTilePlace place = jpeg_tile_place(params.layout, blockIdx.x);
  const uint32_t count = tile.bits / 32 + 1;
  for (uint32_t i = threadIdx.x; i < count + 2; i += kEncodeThreads)
    words[i] = i < count ? params.words[tile.words_at + i] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    const uint32_t next = place.closes ? 0xff : params.tiles[blockIdx.x + 1].head;
    jpeg_put_bits(tile.bits, next, 8, [&](uint32_t i, uint32_t bits) { words[i] |= bits; });
  }
  uint8_t* to = params.output + (tile.position + 7) / 8 + tile.stuffed;
  const uint32_t bytes = jpeg_tile_bytes(tile.position, tile.bits);
  const uint32_t first_bit = jpeg_first_byte(tile.position);
  for (uint32_t begin = 0; begin < bytes; begin += kChunk) {
    __syncthreads();  // words are there, and the stage is free
    const uint32_t own = begin + 4 * threadIdx.x;
    const uint32_t mine = own < bytes ? min(bytes - own, 4u) : 0;
    const uint32_t four = mine > 0 ? four_bytes(words, first_bit + 8 * own) : 0;
    uint32_t stuffed = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i)
      if (i < mine && (four >> (8 * i) & 0xff) == 0xff) ++stuffed;
    uint32_t all_stuffed = 0;
    const uint32_t before = sum_before_thread(stuffed, warp_sums, &all_stuffed);
    const auto offset = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) % 16);
    uint8_t* at = stage + offset + 4 * threadIdx.x + before;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if (i >= mine) continue;
      const uint32_t byte = four >> (8 * i) & 0xff;
      *at++ = static_cast<uint8_t>(byte);
      if (byte == 0xff) *at++ = 0;
    }
    __syncthreads();
    const uint32_t staged = min(bytes - begin, kChunk) + all_stuffed;
    store_bytes(stage + offset, staged, to);
    to += staged;
  }
  if (threadIdx.x == 0 && place.closes) store_marker(params, place.segment, to);
}

__device__ __forceinline__ void count_symbols(const EncodeParams& params) {
  __shared__ uint32_t counts[kJpegTablePairs * kJpegSymbols];
  const JpegTilePlace place = jpeg_tile_place(params.layout, blockIdx.x);
  for (uint32_t i = threadIdx.x; i < kJpegTablePairs * kJpegSymbols; i += kEncodeThreads)
    counts[i] = 0;
  WarpBlocks blocks(params, place);
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kBlocksPerWarp; ++i) {
    const LaneQcoefs qcoefs = blocks.qcoefs(i);
    if (!qcoefs.is_there) continue;
    const JpegLaneSymbols lane = symbols_of(qcoefs);
    uint32_t* own = counts + qcoefs.table_pair * kJpegSymbols;
#pragma unroll
    for (int s = 0; s < 2; ++s)
      if (lane.has[s]) atomicAdd(&own[lane.symbols[s].index], 1u);
    if (lane.long_runs > 0) atomicAdd(&own[kJpegLongRun], lane.long_runs);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kJpegTablePairs * kJpegSymbols; i += kEncodeThreads)
    if (counts[i] != 0) atomicAdd(reinterpret_cast<uint32_t*>(params.counts) + i, counts[i]);
}

}  // namespace

#define CT_ENCODE(name, function)                                           \
  extern "C" __global__ void __launch_bounds__(kEncodeThreads, kEncodeCtas) \
      name(const __grid_constant__ EncodeParams params) {                   \
    function(params);                                                       \
  }
CT_JPEG_ENCODE_KERNELS(CT_ENCODE)

#define CT_ENCODE_BATCH(name, function)                                     \
  extern "C" __global__ void __launch_bounds__(kEncodeThreads, kEncodeCtas) \
      name(const __grid_constant__ BatchParams<EncodeParams> batch) {       \
    run_job(batch, [](const EncodeParams& params) { function(params); });   \
  }
CT_JPEG_ENCODE_BATCH_KERNELS(CT_ENCODE_BATCH)

}  // namespace cudatransform::cuda
