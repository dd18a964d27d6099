// The kernels of a transform, known by number. For tests too: it needs no cuda.h.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace cudatransform::cuda {

// The kernels of one transform that are launched for every frame: known by number, so that nothing
// has to be looked up by name. A transform has one such object, which lives as long as the process;
// numbers of different families have nothing to do with each other.
class KernelFamily {
 public:
  static constexpr uint32_t kMost = 64;  // families

  // `count` kernels; `name` tells the name of the one with a number.
  KernelFamily(uint32_t count, std::string (*name)(uint32_t)) : count_(count), name_(name) {}
  KernelFamily(const KernelFamily&) = delete;
  KernelFamily& operator=(const KernelFamily&) = delete;

  uint32_t count() const { return count_; }
  std::string name(uint32_t number) const { return name_(number); }
  // Among all families of the process, in the order in which they were made.
  uint32_t index() const { return index_; }

 private:
  static inline std::atomic<uint32_t> made_ = 0;

  const uint32_t index_ = made_++;
  const uint32_t count_;
  std::string (*const name_)(uint32_t);
};

struct KernelKey {
  const KernelFamily& family;
  uint32_t number;  // below family.count()
};

}  // namespace cudatransform::cuda
