// The instruction sets that the CPU engine's vector code is compiled for. To be included before
// Highway, by every file that is compiled once for each.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Rows are structs of vectors, which vectors without a size at compile time cannot be members of:
// such machines run their fixed-size baseline. Processors with SSSE3 alone are older than any
// GPU that the kernels run on. Builds that are for tests alone leave out more.
#ifndef CT_LEFT_OUT_TARGETS
#define CT_LEFT_OUT_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | CT_LEFT_OUT_TARGETS)

namespace cudatransform {

// Those of them that this CPU has, best first: name and Highway's bit for it.
std::vector<std::pair<std::string, int64_t>> host_simd_targets();

// For tests: later jobs of the whole process use only instruction sets in `mask`; 0 lifts the
// restriction. Not to be called while a job runs.
void set_host_simd_targets(int64_t mask);

}  // namespace cudatransform
