// Every kernel for APV, by the name that a profiler prints and a launch uses.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
//   apv_inverse   all components of a frame in a launch, a thread a block (inverse.cu)
//     twin   transform/apv/vectors.cpp, transform/apv/arithmetic.h
//     test   tests/engine/apv/apv_test.cpp, tests/conformance/apv_test.cpp
//     bench  tests/engine/apv/kernel_jobs.cpp: case:apv
//     page   docs/kernels.md, 24
//   apv_entropy   all chains of several frames in a launch, a thread a chain (entropy.cu)
//     twin   apv/entropy.cpp
//     test   tests/conformance/apv_test.cpp, tests/apv/device_decoder_test.cpp
//     bench  tests/bench/apv/bench_apv.cpp
//     page   docs/kernels.md, 24
//   apv_forward   all components of a frame in a launch, a thread a block (forward.cu)
//     twin   transform/apv/forward_vectors.cpp, transform/apv/forward_arithmetic.h
//     test   tests/engine/apv/forward_test.cpp
//     bench  tests/engine/apv/kernel_jobs.cpp: case:apv-forward
//     page   docs/kernels.md, 25
//   apv_code, apv_measure   all chains of a frame in a launch, a CTA a chain (encode.cu)
//     twin   apv/chain_writer.cpp
//     test   tests/apv/device_encoder_test.cpp
//     bench  tests/bench/apv/bench_apvenc.cpp
//     page   docs/kernels.md, 25
//   apv_write     all chains of a frame in a launch, a thread a block (encode.cu)
//     twin   apv/chain_writer.cpp
//     test   tests/apv/device_encoder_test.cpp
//     bench  tests/bench/apv/bench_apvenc.cpp
//     page   docs/kernels.md, 25
#pragma once

#include <cstdint>

#include "cuda/apv/encode_params.h"
#include "cuda/common/accesses.h"
#include "cuda/common/divider.h"
#include "transform/apv/apv.h"

#define CT_APV_INVERSE_KERNELS(X) X(apv_inverse)
#define CT_APV_ENTROPY_KERNELS(X) X(apv_entropy)
#define CT_APV_FORWARD_KERNELS(X) X(apv_forward)
#define CT_APV_ENCODE_KERNELS(X) X(apv_code) X(apv_measure) X(apv_write)

// Images: X(image, its kernels), in the order of their numbers.
#define CT_APV_IMAGES(IMAGE)                 \
  IMAGE(apv_inverse, CT_APV_INVERSE_KERNELS) \
  IMAGE(apv_entropy, CT_APV_ENTROPY_KERNELS)
#define CT_APV_ENCODER_IMAGES(IMAGE)         \
  IMAGE(apv_forward, CT_APV_FORWARD_KERNELS) \
  IMAGE(apv_encode, CT_APV_ENCODE_KERNELS)

namespace cudatransform::cuda {

inline constexpr unsigned kApvInverseThreads = 128;

struct ApvPlaneParams {
  const int16_t* coefs;
  uint8_t* samples;
  int64_t pitch;
  uint32_t blocks_across, blocks_down;  // that are visible, of
  uint32_t coef_blocks_across;          // in memory
  int32_t width, height;
  uint32_t first_block;  // among those of all planes, or UINT32_MAX
  Divider by_across, by_tile_across, by_tile_down;
  bool is_aligned;  // whether rows of eight samples are
  uint8_t max_weight;
  uint8_t weights[64];
  uint8_t qp[kMaxApvTiles * kMaxApvTiles];
};

struct ApvInverseParams {
  ApvPlaneParams planes[kMaxApvComponents];
  uint32_t blocks;  // of all planes
  int32_t tile_columns;
  int32_t depth, shift;
};

inline void apv_inverse_accesses(const ApvInverseParams& params, AccessList* list) {
  for (const ApvPlaneParams& plane : params.planes) {
    if (plane.first_block == UINT32_MAX) continue;
    constexpr int64_t kBlockBytes = 64 * sizeof(int16_t);
    list->add(plane.coefs, kBlockBytes * plane.coef_blocks_across,
              kBlockBytes * plane.blocks_across, plane.blocks_down, false);
    list->add(plane.samples, plane.pitch, int64_t{2} * plane.width, plane.height, true);
  }
}

// ---- Entropy decoding ----

inline constexpr unsigned kApvEntropyThreads = 128;
inline constexpr unsigned kApvEntropyWarps = kApvEntropyThreads / 32;
inline constexpr int kMaxApvEntropyFrames = 24;
inline constexpr uint32_t kMaxApvChainsOfWarp = 4;

// A chain, in the order in which they are decoded: the longest first.
struct ApvChainInfo {
  uint32_t offset, bytes;  // in the data
  uint32_t result;         // its place among the results
  uint32_t first_block;    // among all blocks of the frame
  uint32_t blocks_across;  // of the component: from a block to the one below it
  uint32_t mbs_across, mbs_down;
  uint32_t mb_blocks_across;
};

struct ApvEntropyFrame {
  const ApvChainInfo* chains;
  // Begins at a multiple of 16 bytes, and ends there.
  const uint8_t* data;
  int16_t* coefs;
  uint32_t* results;  // ApvChainError; zero
  uint64_t data_bytes, coef_bytes;
  uint32_t chain_count;
};

// CTA (x, y) is the one of number x of frame y.
struct ApvEntropyParams {
  ApvEntropyFrame frames[kMaxApvEntropyFrames];
  uint32_t frame_count;
  uint32_t chains_of_warp;  // 1 to kMaxApvChainsOfWarp: more chains have more throughput, and take
                            // longer
};

// Without the results: stand-ins for their bytes would be errors.
inline void apv_entropy_accesses(const ApvEntropyParams& params, AccessList* list) {
  for (uint32_t i = 0; i < params.frame_count; ++i) {
    const ApvEntropyFrame& frame = params.frames[i];
    list->add_bytes(frame.chains, int64_t{sizeof(ApvChainInfo)} * frame.chain_count, false);
    list->add_bytes(frame.data, static_cast<int64_t>(frame.data_bytes), false);
    list->add_bytes(frame.coefs, static_cast<int64_t>(frame.coef_bytes), true);
  }
}

#define CT_APV_INVERSE(name) CT_ACCESSES(name, ApvInverseParams, apv_inverse_accesses)
#define CT_APV_ENTROPY(name) CT_ACCESSES(name, ApvEntropyParams, apv_entropy_accesses)
#define CT_APV_FORWARD(name) CT_ACCESSES(name, ApvForwardParams, apv_forward_accesses)
#define CT_APV_CODE(name, writes) CT_ACCESSES(name, ApvCodeParams, apv_code_accesses, writes)
inline constexpr KernelAccesses kApvAccesses[] = {CT_APV_INVERSE_KERNELS(CT_APV_INVERSE)  //
                                                  CT_APV_ENTROPY_KERNELS(CT_APV_ENTROPY)  //
                                                  CT_APV_FORWARD_KERNELS(CT_APV_FORWARD)  //
                                                  CT_APV_CODE(apv_code, false)
                                                      CT_APV_CODE(apv_measure, false)  //
                                                  CT_APV_CODE(apv_write, true)};
#undef CT_APV_FORWARD
#undef CT_APV_CODE
#undef CT_APV_INVERSE
#undef CT_APV_ENTROPY

}  // namespace cudatransform::cuda
