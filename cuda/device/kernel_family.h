// The kernels of a transform, known by number: their names, and the images that have them. For
// tests too: it needs no cuda.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string>

namespace cudatransform::cuda {

// A kernel, and the fat binary that has it.
struct KernelEntry {
  const void* image;
  const char* name;
};
// Kernels of an image.
struct KernelImage {
  const void* image;
  const char* const* names;
  uint32_t count;
};

// The kernels of one transform, known by number, so that launches need no lookup by name. A
// transform has one such object, which lives as long as the process; numbers of different families
// are unrelated.
class KernelFamily {
 public:
  static constexpr uint32_t kMax = 64;  // families

  // Numbers follow the order of the images and of the names in them.
  template <size_t kCount>
  explicit KernelFamily(const KernelImage (&images)[kCount]) : images_(images) {
    for (const KernelImage& image : images) count_ += image.count;
  }
  KernelFamily(const KernelFamily&) = delete;
  KernelFamily& operator=(const KernelFamily&) = delete;

  uint32_t count() const { return count_; }
  // Of a number below count().
  KernelEntry kernel(uint32_t number) const {
    const KernelImage* image = images_;
    for (; number >= image->count; ++image) number -= image->count;
    return {image->image, image->names[number]};
  }
  std::string name(uint32_t number) const { return kernel(number).name; }
  // Among all families of the process, in the order in which they were made.
  uint32_t index() const { return index_; }

 private:
  static inline std::atomic<uint32_t> made_ = 0;

  const uint32_t index_ = made_++;
  const KernelImage* const images_;
  uint32_t count_ = 0;
};

struct KernelKey {
  const KernelFamily& family;
  uint32_t number;  // below family.count()
};

}  // namespace cudatransform::cuda

// Defines `const KernelFamily& function()` from a module's IMAGES of kernels.h, whose lines are
// X(image, list of kernels). Outside of unnamed namespaces.
#define CT_KERNEL_FAMILY(function, IMAGES)                                                     \
  IMAGES(CT_KERNEL_SYMBOL)                                                                     \
  const ::cudatransform::cuda::KernelFamily& function();                                       \
  const ::cudatransform::cuda::KernelFamily& function() {                                      \
    IMAGES(CT_KERNEL_NAMES)                                                                    \
    static constexpr ::cudatransform::cuda::KernelImage kImages[] = {IMAGES(CT_KERNEL_IMAGE)}; \
    static const ::cudatransform::cuda::KernelFamily family(kImages);                          \
    return family;                                                                             \
  }
#define CT_KERNEL_SYMBOL(image, kernels) \
  extern "C" const unsigned char cuda_image_##image[];  // embedded by the build
#define CT_KERNEL_NAMES(image, kernels) \
  static constexpr const char* k##kernels[] = {kernels(CT_KERNEL_NAME)};
#define CT_KERNEL_NAME(name, ...) #name,
#define CT_KERNEL_IMAGE(image, kernels) {cuda_image_##image, k##kernels, std::size(k##kernels)},
