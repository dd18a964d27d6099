// The fast kernels by number, their names, and the fat binaries that have them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/fast_numbers.h"

#include <string>

#include "cuda/dct8x8/kernels.h"
#include "cuda/device/kernel_family.h"

extern "C" {
extern const unsigned char cuda_image_dct8x8_fast_decided[];
extern const unsigned char cuda_image_dct8x8_fast_forward[];
extern const unsigned char cuda_image_dct8x8_fast_full[];
extern const unsigned char cuda_image_dct8x8_fast_inverse[];
extern const unsigned char cuda_image_dct8x8_fast_split[];
extern const unsigned char cuda_image_dct8x8_fast_wide[];
}

namespace cudatransform::cuda {
namespace {

// ---- Kernels by number: the features that tell them apart, as bits ----

constexpr uint32_t kInverseBit = 1, kFloatBit = 2, kWordsBit = 4, kPairsBit = 256,
                   kMeasureBit = 512, kTimedBit = 1024, kFullBit = 2048;
constexpr uint32_t kTypeShift = 3, kArrangementShift = 5;
constexpr uint32_t kQuantizerStep = 2 * kFullBit, kKernels = 3 * kQuantizerStep;

constexpr uint32_t kernel_number(Direction direction, Method method, SampleType samples,
                                 CoefType coefs, Arrangement arrangement, Planes planes,
                                 Variant variant, Quantizer quantizer = Quantizer::kRound) {
  uint32_t number = static_cast<uint32_t>(quantizer) * kQuantizerStep;
  number |= static_cast<uint32_t>(coefs) << kTypeShift;
  number |= static_cast<uint32_t>(arrangement) << kArrangementShift;
  if (direction == Direction::kInverse) number |= kInverseBit;
  if (method == Method::kFloat) number |= kFloatBit;
  if (samples != SampleType::kU8) number |= kWordsBit;
  if (planes == Planes::kPairs) number |= kPairsBit;
  if (planes == Planes::kFull) number |= kFullBit;
  if (variant == Variant::kMeasure) number |= kMeasureBit;
  if (variant == Variant::kTimed) number |= kTimedBit;
  return number;
}

struct FastKernel {
  uint32_t number;
  const char* name;
};
constexpr FastKernel kFastKernels[] = {
#define CT_DECIDED(name, method, samples, coefs, arrangement, planes, variant, quantizer, ctas) \
  {kernel_number(Direction::kForward, Method::k##method, SampleType::k##samples,                \
                 CoefType::k##coefs, Arrangement::k##arrangement, Planes::k##planes,            \
                 Variant::k##variant, Quantizer::k##quantizer),                                 \
   #name},
    CT_FAST_DECIDED_FORWARD_KERNELS(CT_DECIDED)
#undef CT_DECIDED
#define CT_KERNEL(direction, name, method, samples, coefs, arrangement, planes, variant) \
  {kernel_number(Direction::direction, Method::k##method, SampleType::k##samples,        \
                 CoefType::k##coefs, Arrangement::k##arrangement, Planes::k##planes,     \
                 Variant::k##variant),                                                   \
   #name},
#define CT_FORWARD(name, method, samples, coefs, arrangement, planes, variant, ctas) \
  CT_KERNEL(kForward, name, method, samples, coefs, arrangement, planes, variant)
#define CT_INVERSE(name, method, samples, coefs, arrangement, planes, variant, ctas) \
  CT_KERNEL(kInverse, name, method, samples, coefs, arrangement, planes, variant)
        CT_FAST_FORWARD_KERNELS(CT_FORWARD) CT_FAST_WIDE_FORWARD_KERNELS(CT_FORWARD)
            CT_FAST_INVERSE_KERNELS(CT_INVERSE) CT_FAST_WIDE_INVERSE_KERNELS(CT_INVERSE)
                CT_FAST_SPLIT_INVERSE_KERNELS(CT_INVERSE) CT_FAST_SPLIT_PLANE_KERNELS(CT_INVERSE)
                    CT_FAST_SPLIT_FORWARD_KERNELS(CT_FORWARD)
                        CT_FAST_FULL_FORWARD_KERNELS(CT_FORWARD)
                            CT_FAST_FULL_INVERSE_KERNELS(CT_INVERSE)
#undef CT_KERNEL
#undef CT_FORWARD
#undef CT_INVERSE
};

// A line of kernels.h with the columns of another one would have its number.
constexpr bool have_numbers_of_their_own() {
  for (const FastKernel& a : kFastKernels)
    for (const FastKernel& b : kFastKernels)
      if (&a != &b && a.number == b.number) return false;
  return true;
}
static_assert(have_numbers_of_their_own());

}  // namespace

uint32_t fast_kernel_number(const Dct8x8Job& job, Planes planes, bool split, bool timed) {
  const bool plane = job.layout == Layout::kPlane;
  const Arrangement arrangement = split   ? (plane ? Arrangement::kSplitPlane : Arrangement::kSplit)
                                  : plane ? Arrangement::kPlane
                                  : job.order == Order::kZigzag ? Arrangement::kZigzag
                                                                : Arrangement::kBlock;
  const Variant variant = job.measure != 0 ? Variant::kMeasure
                          : timed          ? Variant::kTimed
                                           : Variant::kPlain;
  return kernel_number(job.direction, job.method, job.samples[0].type, job.type, arrangement,
                       planes, variant, job.quantizer);
}

const void* fast_image(const Dct8x8Job& job, Planes planes, bool split) {
  if (job.quantizer != Quantizer::kRound) return cuda_image_dct8x8_fast_decided;
  if (split) return cuda_image_dct8x8_fast_split;
  if (planes == Planes::kFull) return cuda_image_dct8x8_fast_full;
  if (job.type != CoefType::kS16) return cuda_image_dct8x8_fast_wide;
  return job.direction == Direction::kForward ? cuda_image_dct8x8_fast_forward
                                              : cuda_image_dct8x8_fast_inverse;
}

static std::string kernel_name(uint32_t number) {
  for (const FastKernel& kernel : kFastKernels)
    if (kernel.number == number) return kernel.name;
  return "no fast kernel " + std::to_string(number);
}

const KernelFamily& fast_kernels() {
  static const KernelFamily family(kKernels, kernel_name);
  return family;
}

}  // namespace cudatransform::cuda
