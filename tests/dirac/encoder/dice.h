// Random numbers that are the same with every standard library.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace cudatransform::test {

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}

  // Both included.
  int64_t any(int64_t from, int64_t to) {
    const auto span = static_cast<uint64_t>(to - from) + 1;
    const uint64_t number = uint64_t{random_()} << 32 | random_();
    return from + static_cast<int64_t>(span != 0 ? number % span : number);
  }
  int number(int from, int to) { return static_cast<int>(any(from, to)); }
  bool one_in(int count) { return any(1, count) == 1; }

  template <typename Value, size_t kCount>
  const Value& of(const Value (&values)[kCount]) {
    return values[any(0, static_cast<int64_t>(kCount) - 1)];
  }

 private:
  std::mt19937 random_;
};

}  // namespace cudatransform::test
