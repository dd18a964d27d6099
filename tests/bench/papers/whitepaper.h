// NVIDIA's DCT8x8 whitepaper: its picture at four sizes through its two implementations and ours.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/papers/jobs.h"
#include "tests/conformance/flat_job.h"

namespace cudatransform::bench {

// Keys' bicubic interpolation (a = -1/2) to `factor` times the size, sample centres on centres of
// area, edges replicated, rounded once after both directions.
test::BytePlane enlarge(const test::BytePlane& plane, int factor);

struct WhitepaperResult {
  int width, height;
  double sse;       // against the source
  double sse_gold;  // against the picture of plain C++
  Times forward, inverse;
};

// The picture enlarged `factor` times, quantised by the whitepaper's table. Throws.
WhitepaperResult run_whitepaper(Runner runner, Method method, const test::BytePlane& picture,
                                int factor, double seconds);

}  // namespace cudatransform::bench
