// Baseline entropy coding of a whole scan in parallel as a job: which quantized coefficients, with
// which codes, and where the bytes go.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every engine offers a JpegEncodeOps; all of them take the same JpegEncodeJob and write the same
// bytes, which are those of libjpeg. Both take the same steps (encode_bits.h): the blocks of a scan
// are cut into tiles, each is coded by itself from its first bit, then it is known where each
// begins in the file and how many bytes have to be stuffed before it, and the tiles are written
// there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/encode_layout.h"
#include "transform/device/device.h"

namespace cudatransform {

inline constexpr uint32_t kJpegDcSymbols = 256;     // DC symbols follow AC symbols
inline constexpr uint32_t kJpegSymbols = 256 + 16;  // of a DC and an AC table

// The codes of all symbols, of both pairs of tables, as jpeg_code() in encode_bits.h packs them. 0:
// there is none.
struct JpegCodes {
  uint32_t of[kJpegTablePairs][kJpegSymbols] = {};
};
// How often each symbol is there.
struct JpegSymbolCounts {
  uint32_t of[kJpegTablePairs][kJpegSymbols];
};

// Reasons why there is no scan, ORed.
enum JpegEncodeFault : uint32_t {
  // An AC quantized coefficient beyond 1023 in magnitude, or a DC quantized coefficient that is not
  // from -1024 to 1023: 8-bit
  // samples never give these. JPEG may have a code for it or not; JpegWriter knows.
  kJpegQcoefsNotPlain = 1,
  kJpegNoCode = 2,  // a symbol has none
  kJpegNoRoom = 4,  // `size` is more than `capacity`
};
struct JpegEncodeResult {
  uint32_t size;    // bytes of scan and end marker; meaningful without kJpegNoCode
  uint32_t faults;  // of JpegEncodeFault
};

// Quantized coefficients of a component: rows of blocks of 64 int16 in natural order, `stride`
// bytes from one row of blocks to the next. Without dummy blocks.
struct JpegEncodePlane {
  const int16_t* data = nullptr;
  ptrdiff_t stride = 0;
};

struct JpegEncodeJob {
  JpegScanLayout layout;
  JpegEncodePlane qcoefs[kJpegMaxComponents];  // CUDA: device addresses

  // For encode(). Codes are read during the call. The scan and an EOI marker are written to
  // `output`, of which no more than `capacity` bytes are touched; its content after a fault is
  // undefined. CUDA: output is device memory or pinned, the result is pinned.
  const JpegCodes* codes = nullptr;
  uint8_t* output = nullptr;
  size_t capacity = 0;
  JpegEncodeResult* result = nullptr;

  // For count(). CUDA: pinned. Quantized coefficients that are not plain are counted as the nearest
  // that are.
  JpegSymbolCounts* counts = nullptr;
};

// Checks everything that an engine relies on. Engines call it first.
Status validate(const JpegEncodeJob& job, bool counts);

// The operations of one engine. Calls return immediately; `fence` (may be null) is done when
// results are complete.
struct JpegEncodeOps {
  const char* name;
  Status (*encode)(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence);
  Status (*count)(Device& device, Queue& queue, const JpegEncodeJob& job, FencePtr* fence);
};

// On the host: it defines the results of all engines. For jobs that are valid; kOutOfMemory.
Status encode_jpeg_scan(const JpegEncodeJob& job);
void count_jpeg_symbols(const JpegEncodeJob& job);
// The same as an engine, for the host device.
const JpegEncodeOps& host_jpeg_encode_ops();

}  // namespace cudatransform
