// What tests of libcudatransform share: engines, memory and pictures that are released.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cudatransform.h"
#include "transform/device/device.h"

namespace cudatransform::test {

using Bytes = std::vector<uint8_t>;

// The device that is tested instead of the CPU, of --device=N; -1: none.
extern int32_t device;

class Engine {
 public:
  explicit Engine(int32_t ordinal = -1, int32_t threads = 2, uint64_t most = 0,
                  void* stream = nullptr) {
    const CtEngineOptions options = {sizeof options, ordinal, threads, most, stream};
    CtError error;
    EXPECT_EQ(ct_engine_new(&options, &engine_, &error), CT_OK) << error.text;
  }
  ~Engine() { ct_engine_free(engine_); }
  operator CtEngine*() const { return engine_; }

 private:
  CtEngine* engine_ = nullptr;
};

// Bytes in the memory of the tested device, with its alignment, or of the host.
class Buffer {
 public:
  explicit Buffer(const Bytes& bytes);
  void* data() const { return memory_->data(); }
  Bytes bytes() const;

 private:
  std::unique_ptr<Memory> memory_;
  size_t size_;
};

template <typename Number>
Bytes bytes_of(const std::vector<Number>& numbers) {
  const auto* begin = reinterpret_cast<const uint8_t*>(numbers.data());
  return {begin, begin + numbers.size() * sizeof(Number)};
}
template <typename Number>
std::vector<Number> numbers_of(const Bytes& bytes) {
  const auto* begin = reinterpret_cast<const Number*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(Number)};
}

inline CtDecodeOptions decode_options(CtOutput output) {
  CtDecodeOptions options = {};
  options.struct_size = sizeof options;
  options.output = output;
  return options;
}

inline CtSource source_of(const Bytes& file) { return {file.data(), file.size(), nullptr}; }

// Pictures that are released with the object.
struct Pictures : std::vector<CtPicture> {
  using std::vector<CtPicture>::vector;
  ~Pictures() {
    for (CtPicture& picture : *this) ct_picture_clear(&picture);
  }
};

Pictures decode(CtEngine* engine, const std::vector<Bytes>& files, const CtDecodeOptions& options);
// A picture's pixels or quantized coefficients on the host.
Bytes contents(CtEngine* engine, const CtPicture& picture);

// ---- Segments of files ----

void append(Bytes* to, const Bytes& more);
Bytes segment(uint8_t code, const Bytes& data);
// `file` with more behind its SOI.
Bytes with(const Bytes& file, const Bytes& more);
Bytes exif(uint8_t orientation);

// What the child exits with.
template <typename Child>
int in_child(const Child& child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cudatransform::test
