// The numbers of the wavelet kernels of kernels.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "cuda/dwt/kernels.h"
#include "cuda/dwt/plan.h"

namespace cudatransform::cuda {

CT_KERNEL_FAMILY(dwt_kernels, CT_DWT_IMAGES)

namespace {

// In the order of numbers.
struct KernelTraits {
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
  {kind_of(#lines), Wavelet::k##wavelet, Direction::k##direction, sizeof(coef), 1},
#define CT_FUSED(name, wavelet, direction, coef, pairs) \
  {KernelKind::kFused, Wavelet::k##wavelet, Direction::k##direction, sizeof(coef), pairs},
#define CT_FAST(name, wavelet, direction, pairs, at_samples) \
  {fast_kind(at_samples), Wavelet::k##wavelet, Direction::k##direction, 2, pairs},
#define CT_TWO_LEVELS(name, wavelet) \
  {KernelKind::kTwoLevels, Wavelet::k##wavelet, Direction::kInverse, 2, 4},
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

uint32_t dwt_kernel_number(KernelKind kind, Wavelet wavelet, Direction direction, int coef_bytes,
                           int pairs) {
  if (wavelet == Wavelet::kHaarShift) wavelet = Wavelet::kHaar;
  const KernelTraits wanted = {kind, wavelet, direction, coef_bytes, pairs};
  return static_cast<uint32_t>(std::ranges::find(kKernels, wanted) - std::begin(kKernels));
}

bool has_two_level_kernel(Wavelet wavelet) {
  return dwt_kernel_number(KernelKind::kTwoLevels, wavelet, Direction::kInverse, 2, 4) <
         std::size(kKernels);
}

}  // namespace cudatransform::cuda
