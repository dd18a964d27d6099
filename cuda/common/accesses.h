// The memory that a kernel's launch reads and writes, by its parameters: for drivers that check
// order, and for the emulator of tests.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each module's accesses.h has a table with a line for each of its kernels, from the lists of
// kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudatransform::cuda {

// Rows of bytes: `unit` bytes at every `step`, up to `width`.
struct Access {
  const void* first;
  int64_t pitch, width, rows;
  bool is_written;
  int64_t unit = 1, step = 1;
  bool on_host = false;
};

class AccessList {
 public:
  // Nothing where there is no memory, or none of it.
  void add(const Access& access) {
    if (access.first != nullptr && access.width > 0 && access.rows > 0) data_.push_back(access);
  }
  void add(const void* first, int64_t pitch, int64_t width, int64_t rows, bool is_written) {
    add(Access{first, pitch, width, rows, is_written});
  }
  void add_bytes(const void* first, int64_t bytes, bool is_written) {
    add(first, bytes, bytes, 1, is_written);
  }
  // Written numbers of 64 bits: sums, counts, times.
  void add_numbers(const void* first, size_t bytes, bool on_host) {
    const auto width = static_cast<int64_t>(bytes);
    if (first != nullptr) numbers_.push_back({first, width, width, 1, true, 1, 1, on_host});
  }
  const std::vector<Access>& data() const { return data_; }
  const std::vector<Access>& numbers() const { return numbers_; }

 private:
  std::vector<Access> data_, numbers_;
};

struct KernelAccesses {
  const char* kernel;
  // `params` is the kernel's argument.
  void (*find)(const void* params, uint32_t ctas, AccessList* list);
};

}  // namespace cudatransform::cuda

// A line of a table of KernelAccesses: calls function(params, ..., list), or with `ctas` if that is
// among the other arguments.
#define CT_ACCESSES(name, Params, function, ...)                                     \
  {#name, []([[maybe_unused]] const void* params, [[maybe_unused]] uint32_t ctas,    \
             ::cudatransform::cuda::AccessList* list) {                              \
     function(*static_cast<const Params*>(params) __VA_OPT__(, ) __VA_ARGS__, list); \
   }},
