// The tiny transform's kernel. The CPU's twin is submit() in tiny.cpp.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/tiny/tiny.h"

extern "C" __global__ void tiny_xor(const cudatransform::test::TinyParams params) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t y = i / params.width, x = i % params.width;
  if (y >= params.height) return;
  params.to[y * params.to_pitch + x] = params.from[y * params.from_pitch + x] ^ params.mask;
}
