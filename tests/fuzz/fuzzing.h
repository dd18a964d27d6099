// Shared by all fuzz targets: guarded memory, and a promise that aborts when broken.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A program has several targets: libFuzzer's calls the one of --target=NAME with generated inputs;
// run_files.cpp calls it with files, so that every compiler builds the targets and every suite runs
// the seeds. --list prints their names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace fuzzing {

struct Target {
  const char* name;
  void (*run)(const uint8_t* data, size_t size);
};
// Adds targets to those of the program. `set_up` runs once, before the first input of one of them.
struct Targets {
  Targets(
      std::initializer_list<Target> targets, void (*set_up)() = [] {});
};

// Aborts with the promise's text if it does not hold.
void promise(bool holds, const char* what);

// Memory that ends at an inaccessible page. Libraries of the distribution are not instrumented:
// AddressSanitizer does not see their accesses beyond the end, and this page does.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t capacity);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // The last `size` bytes, filled with `fill`, as are the kMargin bytes before them.
  uint8_t* last(size_t size, uint8_t fill);
  // The last `size` bytes, a copy of `data`.
  const uint8_t* copy(const uint8_t* data, size_t size);
  // Whether the bytes before the last `size` are still `fill`.
  bool margin_is(size_t size, uint8_t fill) const;

 private:
  static constexpr size_t kMargin = 256;
  uint8_t* begin_ = nullptr;
  uint8_t* guard_ = nullptr;
};

// Takes an input apart, from its front; zeros after its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t byte() {
    if (size_ == 0) return 0;
    size_--;
    return *data_++;
  }
  uint16_t word() {
    const unsigned high = byte();
    return static_cast<uint16_t>(high << 8 | byte());
  }
  // Copies up to `size` bytes; the rest is unchanged if the input is shorter.
  void take(uint8_t* to, size_t size) {
    const size_t taken = std::min(size, size_);
    std::copy_n(data_, taken, to);
    data_ += taken;
    size_ -= taken;
  }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

// Sizes of the pieces of a stream, over and over: their number, then they themselves (0 = 256).
std::vector<size_t> sizes_of_pieces(Input* input);

}  // namespace fuzzing
