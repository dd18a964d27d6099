// Kernels that use local memory, for kernel_resources.py to find, and one that does not.
// SPDX-License-Identifier: LGPL-2.1-or-later

// Registers cannot be indexed at run time, so this array is on the stack.
extern "C" __global__ void plants_stack(int* values, int n) {
  int seen[64] = {};
  for (int k = 0; k < n; ++k) seen[values[k] & 63] += k;
  for (int k = 0; k < n; ++k) values[k] = seen[(values[k] >> 6) & 63];
}

// 64 values are alive at the barrier, and there are 24 registers.
extern "C" __global__ void __maxnreg__(24) plants_spill(const float* in, float* out) {
  float v[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) v[k] = in[k * 32 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 64; ++k) out[k * 32 + threadIdx.x] = v[k] * v[63 - k] + v[k * 7 % 64];
}

extern "C" __global__ void is_clean(float* out) {
  __shared__ float shared[32];
  shared[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = shared[31 - threadIdx.x];
}
