// The numbers and images of the wavelet kernels of kernels.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/kernel_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "cuda/dwt/kernels.h"

// The fat binaries, embedded by the build.
extern "C" {
extern const unsigned char cuda_image_dwt_separable[];
extern const unsigned char cuda_image_dwt_fused_forward[];
extern const unsigned char cuda_image_dwt_fused_inverse[];
extern const unsigned char cuda_image_dwt_fast_forward[];
extern const unsigned char cuda_image_dwt_fast_inverse[];
}

namespace cudatransform::cuda {
namespace {

// In the order of numbers.
struct KernelTraits {
  const char* name;
  KernelKind kind;
  Wavelet wavelet;
  Direction direction;
  int coef_bytes;
  int pairs;
  bool operator==(const KernelTraits& other) const {
    return kind == other.kind && wavelet == other.wavelet && direction == other.direction &&
           coef_bytes == other.coef_bytes && pairs == other.pairs;
  }
};
constexpr KernelKind kind_of(const char* lines) {
  return lines[0] == 'r' ? KernelKind::kRows : KernelKind::kColumns;
}
constexpr KernelKind fast_kind(bool at_samples) {
  return at_samples ? KernelKind::kFastSamples : KernelKind::kFastValues;
}
#define CT_PASS(name, lines, wavelet, direction, coef) \
  {#name, kind_of(#lines), Wavelet::k##wavelet, Direction::k##direction, sizeof(coef), 1},
#define CT_FUSED(name, wavelet, direction, coef, pairs) \
  {#name, KernelKind::kFused, Wavelet::k##wavelet, Direction::k##direction, sizeof(coef), pairs},
#define CT_FAST(name, wavelet, direction, pairs, at_samples) \
  {#name, fast_kind(at_samples), Wavelet::k##wavelet, Direction::k##direction, 2, pairs},
#define CT_TWO_LEVELS(name, wavelet) \
  {#name, KernelKind::kTwoLevels, Wavelet::k##wavelet, Direction::kInverse, 2, 4},
constexpr KernelTraits kKernels[] = {CT_DWT_PASS_KERNELS(CT_PASS)            //
                                     CT_DWT_FUSED_FORWARD_KERNELS(CT_FUSED)  //
                                     CT_DWT_FUSED_INVERSE_KERNELS(CT_FUSED)  //
                                     CT_DWT_FAST_FORWARD_KERNELS(CT_FAST)    //
                                     CT_DWT_FAST_INVERSE_KERNELS(CT_FAST)    //
                                     CT_DWT_TWO_LEVELS_KERNELS(CT_TWO_LEVELS)};
#undef CT_PASS
#undef CT_FUSED
#undef CT_FAST
#undef CT_TWO_LEVELS

}  // namespace

const KernelFamily& dwt_kernels() {
  static const KernelFamily family(static_cast<uint32_t>(std::size(kKernels)), [](uint32_t number) {
    return std::string(kKernels[number].name);
  });
  return family;
}

uint32_t dwt_kernel_number(KernelKind kind, Wavelet wavelet, Direction direction, int coef_bytes,
                           int pairs) {
  if (wavelet == Wavelet::kHaarShift) wavelet = Wavelet::kHaar;
  const KernelTraits wanted = {"", kind, wavelet, direction, coef_bytes, pairs};
  return static_cast<uint32_t>(std::ranges::find(kKernels, wanted) - std::begin(kKernels));
}

bool has_two_level_kernel(Wavelet wavelet) {
  return dwt_kernel_number(KernelKind::kTwoLevels, wavelet, Direction::kInverse, 2, 4) <
         std::size(kKernels);
}

const void* dwt_image(KernelKind kind, Direction direction) {
  const bool forward = direction == Direction::kForward;
  switch (kind) {
    case KernelKind::kRows:
    case KernelKind::kColumns:
      return cuda_image_dwt_separable;
    case KernelKind::kFused:
      return forward ? cuda_image_dwt_fused_forward : cuda_image_dwt_fused_inverse;
    case KernelKind::kFastValues:
    case KernelKind::kFastSamples:
    case KernelKind::kTwoLevels:
      break;
  }
  return forward ? cuda_image_dwt_fast_forward : cuda_image_dwt_fast_inverse;
}

}  // namespace cudatransform::cuda
