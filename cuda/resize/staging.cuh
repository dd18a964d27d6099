// The input's rows in shared memory, and four samples of each channel from there.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rows are copied as they are, several kilobytes for each thread that waits: channels of packed
// pixels are separated when samples are used.
#pragma once

#include "cuda/common/bulk_copy.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/resize/params.h"
#include "cuda/resize/pixels.cuh"

namespace cudatransform::cuda {

// Rows of the input, and bytes of them: of each plane, if it has planes.
struct ResizePart {
  uint8_t* const* planes;
  int32_t first_row, rows, first_byte, bytes;
};

// Calls copy(to, from, y, plane, x, remaining) for every kBytes-th byte of a part's rows, of which
// `x` are before it and `remaining` behind.
template <int kBytes, int kPlanes, typename Copy>
__device__ __forceinline__ void for_pieces(const ResizeFusedParams& params, const ResizePart& part,
                                           SharedAddress raw, const Copy& copy) {
  constexpr auto kThreads = static_cast<int32_t>(kResizeFusedThreads);
  const auto thread = static_cast<int32_t>(threadIdx.x);
  const int32_t pieces = (part.bytes + kBytes - 1) / kBytes;  // of a row
  // Quotients are exact: half a piece is far more than what rounding changes.
  const float by_pieces = 1.f / static_cast<float>(pieces);
  const auto rows_of = [=](int32_t count) {
    return static_cast<int32_t>((static_cast<float>(count) + .5f) * by_pieces);
  };
  const int32_t step = rows_of(kThreads), width = kBytes * pieces;
  const int32_t more = kBytes * (kThreads - step * pieces);  // bytes, besides rows
  const int32_t row_bytes = params.row_bytes - part.first_byte;
  const int32_t planes = params.is_packed ? 1 : kPlanes;
#pragma unroll 1
  for (int32_t plane = 0; plane < planes; ++plane) {
    const int64_t pitch = params.from.pitch[plane], onward = step * pitch + more;
    int32_t row = rows_of(thread), at = kBytes * thread - row * width;
    const uint8_t* from =
        part.planes[plane] + (part.first_row + row) * pitch + part.first_byte + at;
    SharedAddress to = raw + plane * params.raw_segment + row * params.raw_pitch + at;
#pragma unroll 1
    while (row < part.rows) {
      copy(to, from, part.first_row + row, plane, part.first_byte + at, row_bytes - at);
      row += step;
      at += more;
      from += onward;
      to += step * params.raw_pitch + more;
      if (at >= width) {
        at -= width;
        from += pitch - width;
        to += params.raw_pitch - width;
        ++row;
      }
    }
  }
}

// A word of a row, of which `remaining` bytes remain, from any byte on.
__device__ __forceinline__ uint32_t load_shifted(const uint8_t* from, int32_t remaining) {
  const auto beyond = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) % 4);
  if (remaining + static_cast<int32_t>(beyond) >= 8) {
    const auto* words = reinterpret_cast<const uint32_t*>(from - beyond);
    return __funnelshift_r(__ldg(words), __ldg(words + 1), 8 * beyond);
  }
  uint32_t word = 0;
  for (int32_t i = 0; i < min(4, remaining); ++i) word |= uint32_t{__ldg(from + i)} << (8 * i);
  return word;
}

__device__ __forceinline__ bool has_bulk_copies(const ResizeFusedParams& params) {
  return kHasBulkCopies && params.copies == ResizeCopies::kRows;
}

// Their barrier is the first thing in shared memory.
__device__ __forceinline__ BulkCopies bulk_copies(const uint8_t* shared) {
  return BulkCopies(shared_address(shared));
}

// Calls row(to, from) for the rows of a part.
template <int kPlanes, typename Row>
__device__ __forceinline__ void for_rows(const ResizeFusedParams& params, const ResizePart& part,
                                         SharedAddress raw, const Row& row) {
  const int32_t planes = params.is_packed ? 1 : kPlanes;
#pragma unroll 1
  for (auto i = static_cast<int32_t>(threadIdx.x); i < part.rows * planes;
       i += kResizeFusedThreads) {
    const int32_t y = i / planes, plane = i - y * planes;
    row(raw + plane * params.raw_segment + y * params.raw_pitch,
        part.planes[plane] + (part.first_row + y) * params.from.pitch[plane] + part.first_byte);
  }
}

// Begins aligned copies of whole rows, or kBytes each, and copies what remains of rows behind the
// last.
template <int kBytes, bool kRows, int kPlanes>
__device__ __forceinline__ void begin_aligned(const ResizeFusedParams& params,
                                              const ResizePart& part, uint8_t* shared) {
  const SharedAddress raw = shared_address(shared + kResizeHead);
  const int32_t whole = max((params.row_bytes & -kBytes) - part.first_byte, 0);
  if constexpr (kRows) {
    const BulkCopies bulk = bulk_copies(shared);
    const auto bytes = static_cast<uint32_t>(min((part.bytes + kBytes - 1) & -kBytes, whole));
    const auto rows = static_cast<uint32_t>(part.rows * (params.is_packed ? 1 : kPlanes));
    if (threadIdx.x == 0) bulk.expect(bytes * rows);
    bulk.follow_accesses();
    if (bytes > 0)
      for_rows<kPlanes>(params, part, raw, [&](SharedAddress to, const uint8_t* from) {
        bulk.begin(to, from, bytes);
      });
  } else if (whole > 0) {
    ResizePart inner = part;
    inner.bytes = min(part.bytes, whole);
    for_pieces<kBytes, kPlanes>(params, inner, raw,
                                [](SharedAddress to, const uint8_t* from, int32_t, int32_t, int32_t,
                                   int32_t) { begin_copy<kBytes>(to, from); });
  }
  const int32_t end = params.row_bytes - part.first_byte;
  if (part.bytes > whole)
    for_rows<kPlanes>(params, part, raw, [=](SharedAddress to, const uint8_t* from) {
#pragma unroll 1
      for (int32_t at = whole; at < end; at += 4)
        store_shared(to + at, load_shifted(from + at, end - at));
    });
}

// Four samples of a plane, or fewer at the end of its rows.
__device__ __forceinline__ uint32_t load_samples(const ResizeView& from, const uint8_t* data,
                                                 int32_t plane, int32_t x, int32_t y) {
  const uint8_t* at = data + y * from.pitch[plane] + int64_t{x} * from.step;
  uint32_t word = 0;
  for (int32_t i = 0; i < min(4, from.width - x); ++i, at += from.step)
    word |= uint32_t{__ldg(at)} << (8 * i);
  return word;
}

// Begins to copy a part; wait_for_part() and __syncthreads() complete it.
template <int kPlanes>
__device__ __forceinline__ void begin_part(const ResizeFusedParams& params, const ResizePart& part,
                                           uint8_t* shared) {
  const SharedAddress raw = shared_address(shared + kResizeHead);
  if (has_bulk_copies(params))
    begin_aligned<16, true, kPlanes>(params, part, shared);
  else if (params.copies <= ResizeCopies::kSixteen)
    begin_aligned<16, false, kPlanes>(params, part, shared);
  else if (params.copies == ResizeCopies::kFour)
    begin_aligned<4, false, kPlanes>(params, part, shared);
  else if (params.copies == ResizeCopies::kShifted)
    for_pieces<4, kPlanes>(
        params, part, raw,
        [](SharedAddress to, const uint8_t* from, int32_t, int32_t, int32_t, int32_t remaining) {
          store_shared(to, load_shifted(from, remaining));
        });
  else
    for_pieces<4, kPlanes>(
        params, part, raw,
        [&](SharedAddress to, const uint8_t*, int32_t y, int32_t plane, int32_t x, int32_t) {
          store_shared(to, load_samples(params.from, part.planes[plane], plane, x, y));
        });
  end_group_of_copies();
}

// Waits for what this thread has begun, or all threads by bulk copies. `phase`: 0 and 1 of
// parts in turn.
__device__ __forceinline__ void wait_for_part(const ResizeFusedParams& params, uint32_t phase,
                                              const uint8_t* shared) {
  if (has_bulk_copies(params))
    bulk_copies(shared).wait(phase);
  else
    wait_for_copies<0>();
}

// Four adjacent samples of each channel, in memory order, of a row in shared memory.
template <int kChannels, bool kPacked>
__device__ __forceinline__ void load_four(const uint8_t* at, int32_t segment,
                                          uint32_t (&samples)[kChannels]) {
  if constexpr (!kPacked || kChannels == 1) {
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      samples[c] = *reinterpret_cast<const uint32_t*>(at + c * segment);
  } else if constexpr (kChannels == 2) {
    const auto words = *reinterpret_cast<const uint2*>(at);
    samples[0] = bytes_of(words.x, words.y, 0x6420);
    samples[1] = bytes_of(words.x, words.y, 0x7531);
  } else if constexpr (kChannels == 3) {
    const auto* words = reinterpret_cast<const uint32_t*>(at);
    const uint32_t a = words[0], b = words[1], c = words[2];
    samples[0] = bytes_of(bytes_of(a, b, 0x0630), c, 0x5210);
    samples[1] = bytes_of(bytes_of(a, b, 0x0741), c, 0x6210);
    samples[2] = bytes_of(bytes_of(a, b, 0x0052), c, 0x7410);
  } else {
    const auto words = *reinterpret_cast<const uint4*>(at);
    const uint32_t pixels[4] = {words.x, words.y, words.z, words.w};
    transpose_bytes(pixels, samples);
  }
}

}  // namespace cudatransform::cuda
