// Hong et al.: the forward DCT of a plane by three algorithms, serially, with oneTBB and with SIMD.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/bench/papers/jobs.h"

namespace cudatransform::bench {

enum class HongAlgorithm {
  kNaive,      // the double sum, in double precision, with cosines and roots computed in the loops
  kMatrix,     // T M T^T with T in a table: the engine's method matrix
  kRowColumn,  // a fast one-dimensional transform of rows and columns: decomposed; with SIMD float
};
inline constexpr HongAlgorithm kHongAlgorithms[] = {HongAlgorithm::kNaive, HongAlgorithm::kMatrix,
                                                    HongAlgorithm::kRowColumn};
const char* hong_name(HongAlgorithm algorithm);

// The SIMD code is a fast transform of rows and columns; CUDA's cases are bench_cuda's.
bool hong_exists(HongAlgorithm algorithm, Runner runner);

struct HongResult {
  Times times;   // of the whole plane
  double share;  // of the plane's rows that were transformed in a reading; times are over it
  double error;  // largest difference from the definition's coefficients
};

// Transforms a plane of side x side samples to unquantised fp32 coefficients. If the plane would
// take longer than `budget` seconds, it transforms as many rows as fit. Throws.
HongResult run_hong(HongAlgorithm algorithm, Runner runner, int side, double seconds,
                    double budget);

}  // namespace cudatransform::bench
