// The contestants of bench_cpu other than the engine: copies, AVDCT, and libjpeg's RGB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/bench/cpu/frames.h"

namespace cudatransform::bench {

// Ordinary stores read each line that they write into the cache first; streamed ones do not, and do
// not cache it for the next reader.
enum class Stores { kCached, kStreamed };

// Forward: every sample is read and written as 16 bits to the coefficients' place. Inverse: every
// coefficient is read and its low 8 bits are written to the samples' place.
void run_copy(Threads threads, Stores stores, const FrameSize& size, Direction direction,
              Frame& frame);

// The order in which the inverse gets its coefficients: raster like the engine's, so that a loop
// has to permute them, or AVDCT's own, which a decoder gets for free while it parses.
enum class AvdctOrder { kRaster, kOwn };

// "59.37.100", or "" if the benchmark was built without libavcodec: then none of the following may
// be called.
std::string avdct_version();

// Puts the inverse's coefficients in AVDCT's own order into `spare`, and compares AVDCT's results
// with the engine's. "", or how they differ: quantized coefficients by more than one, samples by
// more than two, in either order.
std::string prepare_avdct(const FrameSize& size, Direction direction, Frame& frame);

void run_avdct(Threads threads, const FrameSize& size, Direction direction, AvdctOrder order,
               Frame& frame);

#ifndef CT_BENCH_HAVE_AVDCT
inline std::string avdct_version() { return ""; }
inline std::string prepare_avdct(const FrameSize&, Direction, Frame&) { return ""; }
inline void run_avdct(Threads, const FrameSize&, Direction, AvdctOrder, Frame&) {}
#endif

// Registers the cases of RGB, whose contestant is libjpeg. Each takes `*seconds`; `*failed` is set
// where one fails.
void add_rgb_cases(const FrameSize& size, const double* seconds, bool* failed);
#ifndef CT_BENCH_HAVE_LIBJPEG
inline void add_rgb_cases(const FrameSize&, const double*, bool*) {}
#endif

// The parts of a whole job that AVDCT leaves out, as loops that the compiler vectorizes.

// A table prepared for 16-bit arithmetic: |quantized coefficient| = ((|x| + half) * reciprocal >>
// 16) * scale
// >> 16.
struct PlainTable {
  int16_t q[64];
  uint16_t half[64], reciprocal[64];
};

// Entries 1..255; values are 8 times the orthonormal transform.
PlainTable make_plain_table(const uint16_t* q);

// 64 values, 128 x 64 less in DC for the level shift, to levels.
void plain_quantize(const int16_t* values, const PlainTable& table, int16_t* qcoefs);

// Quantized coefficients to values, 128 x 8 more in DC; the second puts coefficient i at
// permutation[i].
void plain_dequantize(const int16_t* qcoefs, const PlainTable& table, int16_t* values);
void plain_dequantize_permuted(const int16_t* qcoefs, const PlainTable& table,
                               const uint8_t* permutation, int16_t* values);

// 64 samples, clamped to 0..255.
void plain_clamp(const int16_t* samples, uint8_t* to, ptrdiff_t pitch);

}  // namespace cudatransform::bench
