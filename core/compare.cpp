// How far two arrays on the host are from each other.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "core/cudatransform.h"
#include "core/engine.h"

namespace cudatransform::core {
namespace {

// Samples that a thread takes at a time: fewer are not worth waking one.
constexpr size_t kPiece = size_t{1} << 18;

// The loops below are as compilers make vectors of them.

// The number of samples up to which 32-bit sums do not overflow.
constexpr size_t kShort = size_t{1} << 15;

double squares(const uint8_t* a, const uint8_t* b, size_t count) {
  uint64_t sum = 0;
  for (size_t begin = 0; begin < count; begin += kShort) {
    const size_t end = std::min(count, begin + kShort);
    int32_t part = 0;
    for (size_t i = begin; i < end; ++i) {
      const auto difference = static_cast<int16_t>(a[i] - b[i]);
      part += difference * difference;
    }
    sum += static_cast<uint32_t>(part);
  }
  return static_cast<double>(sum);
}

double squares(const uint16_t* a, const uint16_t* b, size_t count) {
  uint64_t sum = 0;
  for (size_t begin = 0; begin < count; begin += kShort) {
    const size_t end = std::min(count, begin + kShort);
    uint32_t low = 0, high = 0;  // halves of squares
    for (size_t i = begin; i < end; ++i) {
      const uint16_t one = a[i], other = b[i];
      const auto difference = static_cast<uint16_t>(one > other ? one - other : other - one);
      const uint32_t square = uint32_t{difference} * difference;
      low += square & 0xffff;
      high += square >> 16;
    }
    sum += low + (uint64_t{high} << 16);
  }
  return static_cast<double>(sum);
}

// Compilers keep the order of floating-point sums: this many are independent.
double squares(const float* a, const float* b, size_t count) {
  constexpr size_t kSums = 8;
  double sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (size_t k = 0; k < kSums; ++k) {
      const double difference = double{a[i + k]} - double{b[i + k]};
      sums[k] += difference * difference;
    }
  }
  for (; i < count; ++i) {
    const double difference = double{a[i]} - double{b[i]};
    sums[0] += difference * difference;
  }
  return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

// Samples from `begin` to `end`, which count from the first row's first.
template <typename Sample>
double squares_of(const CtArray& a, const CtArray& b, size_t row_samples, size_t begin,
                  size_t end) {
  const auto at = [&](const CtArray& array, size_t sample) {
    const auto row = static_cast<ptrdiff_t>(sample / row_samples);
    return reinterpret_cast<const Sample*>(static_cast<const uint8_t*>(array.data) +
                                           row * array.pitch) +
           sample % row_samples;
  };
  double sum = 0;
  for (size_t i = begin; i < end;) {
    const size_t count = std::min(end - i, row_samples - i % row_samples);
    sum += squares(at(a, i), at(b, i), count);
    i += count;
  }
  return sum;
}

template <typename Sample>
double squared_error(Threads& threads, const CtArray& a, const CtArray& b, size_t row_samples,
                     size_t rows) {
  // Arrays without gaps are one row.
  const auto row_bytes = static_cast<int64_t>(row_samples * sizeof(Sample));
  if (a.pitch == row_bytes && b.pitch == row_bytes) {
    row_samples *= rows;
    rows = 1;
  }
  const size_t count = row_samples * rows;
  std::vector<double> sums((count + kPiece - 1) / kPiece);
  threads.run_here(sums.size(), [&](size_t i) {
    sums[i] = squares_of<Sample>(a, b, row_samples, i * kPiece, std::min(count, (i + 1) * kPiece));
  });
  // In one order, whichever thread was first.
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

CtCode check_array(const char* name, const CtArray* array, size_t row_bytes, size_t alignment,
                   CtError* error) {
  const auto wrong = [&](const std::string& what) {
    return report(CT_INVALID_ARGUMENT, name + what, error);
  };
  if (array == nullptr || array->data == nullptr) return wrong(" is NULL");
  if (array->pitch < 0 || static_cast<uint64_t>(array->pitch) < row_bytes)
    return wrong(" has a pitch of " + std::to_string(array->pitch) + " for rows of " +
                 std::to_string(row_bytes) + " bytes");
  if (reinterpret_cast<uintptr_t>(array->data) % alignment != 0 ||
      static_cast<uint64_t>(array->pitch) % alignment != 0)
    return wrong(" is not aligned to its samples");
  return CT_OK;
}

}  // namespace
}  // namespace cudatransform::core

using namespace cudatransform::core;  // for the public functions below

CtCode ct_squared_error(CtEngine* engine, CtType type, const CtArray* a, const CtArray* b,
                        size_t row_samples, size_t rows, double* sum, CtError* error) {
  return guarded(error, [&] {
    if (const CtCode code = check(engine, error); code != CT_OK) return code;
    const size_t size = type == CT_UINT8 ? 1 : type == CT_UINT16 ? 2 : type == CT_FLOAT32 ? 4 : 0;
    if (size == 0)
      return report(CT_INVALID_ARGUMENT,
                    "samples are CT_UINT8, CT_UINT16 or CT_FLOAT32, not " + std::to_string(type),
                    error);
    size_t row_bytes = 0, bytes = 0;
    if (sum == nullptr || __builtin_mul_overflow(row_samples, size, &row_bytes) ||
        __builtin_mul_overflow(row_bytes, rows, &bytes))
      return report(CT_INVALID_ARGUMENT, "sum is NULL, or arrays are too large", error);
    *sum = 0;
    if (bytes == 0) return CT_OK;
    CtCode code = check_array("a", a, row_bytes, size, error);
    if (code == CT_OK) code = check_array("b", b, row_bytes, size, error);
    if (code != CT_OK) return code;
    const auto squared = type == CT_UINT8    ? squared_error<uint8_t>
                         : type == CT_UINT16 ? squared_error<uint16_t>
                                             : squared_error<float>;
    *sum = squared(*engine->threads, *a, *b, row_samples, rows);
    return CT_OK;
  });
}
