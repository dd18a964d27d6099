// The application in the tests of lost waits: a stream, points of fences, and memory that it writes
// to as soon as it gets the memory back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <dlfcn.h>

#include <deque>
#include <vector>

#include "tests/check/drivers/cudaframes.h"

namespace testing {

// Ends the process: a lost wait may lead anywhere.
void require(bool holds, const char* what);

// A function of the driver's.
template <typename Function>
Function* entry(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

// A stream that does not wait for the NULL stream, nor that for it.
class AppStream {
 public:
  explicit AppStream(GstCudaContext* context);
  ~AppStream();
  AppStream(const AppStream&) = delete;
  AppStream& operator=(const AppStream&) = delete;
  CUstream handle() const { return stream_; }
  GstCudaContext* context() const { return context_; }

  void copy(const void* from, CUmemorytype from_type, size_t from_pitch, void* to,
            CUmemorytype to_type, size_t to_pitch, size_t width, size_t rows) const;
  void finish() const;  // the host waits

 private:
  GstCudaContext* context_;
  CUstream stream_ = nullptr;
};

// The end of the stream's work so far.
GstCoefSyncPoint* point_of(const AppStream& stream);

struct Bytes {
  guint8* data;
  size_t pitch, width, rows;
};

// The planes of a raw frame, or the components of coefficients, or a file; of CUDA memory the
// addresses are the device's.
std::vector<Bytes> bytes_in(GstBuffer* buffer, GstCaps* caps);

// Memory that buffers of the application share in order.
struct Slot {
  GstBuffer* own;           // keeps it
  std::vector<Bytes> rows;  // of it
  const AppStream* stream;  // where it is CUDA memory
  bool free = true;
  std::deque<std::vector<guint8>> scribbles = {};  // that it may still be overwritten with

  // With CUDA memory the stream does the work, and copies from `*from`.
  void write(unsigned char value, std::deque<std::vector<guint8>>* from) const;
};

// A buffer of a free slot's memory. When its last reference is dropped, the application overwrites
// it, and the slot is free.
GstBuffer* lend(Slot* slot);

}  // namespace testing
