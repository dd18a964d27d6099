// The symbols of a JPEG scan for several sets of tables together.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "jpeg/encode_scan.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform {

// Candidates for the tables of a frame.
struct RateCountJob {
  static constexpr int kMax = 8;

  // A forward job of 8 bits and quantized S16, by islow, ifast or float, whose quantized
  // coefficients round or have a dead zone. Its tables do not matter, nor where its coefficients
  // are: none are written.
  Dct8x8Job dct;
  JpegScanLayout layout;
  int candidates = 0;
  QuantTable tables[kMax][4];  // each in place of dct.tables
  // It is the frame of the queue's job before, unchanged: with tables about as coarse, or coarser,
  // it need not be transformed again.
  bool same_frame = false;
  // Pinned, for kernels write there, and aligned to 16; one for each candidate. As
  // JpegEncodeOps::count() counts the quantized coefficients of the job.
  JpegSymbolCounts* counts = nullptr;
};

bool has_rate_kernel(Method method, Quantizer quantizer);

// Returns immediately; `fence` is done when the counts are complete.
Status count_rate_candidates(Device& device, Queue& queue, const RateCountJob& job,
                             FencePtr* fence);

}  // namespace cudatransform
