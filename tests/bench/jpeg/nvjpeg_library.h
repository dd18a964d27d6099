// NVIDIA's nvJPEG on the first device, opened at run time: shared by both loops of nvJPEG.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Prototypes are those of the CUDA toolkit's nvJPEG documentation; the library itself comes with
// the toolkit and is not always there, and neither is its header.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudatransform::bench {

struct NvjpegImage {  // nvjpegImage_t
  static constexpr int kComponents = 4;
  unsigned char* channel[kComponents];
  size_t pitch[kComponents];
};

// A library that is opened once and never closed, and its functions by name.
class LateLibrary {
 public:
  // Throws std::runtime_error if none of those exists, or in find() no such function.
  LateLibrary(const char* what, std::initializer_list<const char*> names);
  template <typename Function>
  void find(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (*function == nullptr) throw std::runtime_error(std::string(name) + " is missing");
  }

 private:
  void* handle_ = nullptr;
};

// Both libraries return 0 for success.
inline void check_nvjpeg(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(result));
}

// The libraries, the device's primary context, and nvJPEG's handle in it. Functions of nvJPEG that
// work in the context need it current: see Current.
class Nvjpeg {
 public:
  // `backend`: nvjpegBackend_t. Throws std::runtime_error without a driver, the library, or that.
  explicit Nvjpeg(int backend);
  ~Nvjpeg();
  Nvjpeg(const Nvjpeg&) = delete;
  Nvjpeg& operator=(const Nvjpeg&) = delete;

  const LateLibrary driver, library;
  void* handle() const { return handle_; }
  // Device memory, freed with this. The context is current.
  unsigned char* allocate(size_t bytes);

  // Makes the context current for a scope, in this thread.
  class Current {
   public:
    explicit Current(const Nvjpeg& nvjpeg);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const Nvjpeg& nvjpeg_;
  };

 private:
  void close();

  int (*context_set_)(void*) = nullptr;
  int (*primary_release_)(int) = nullptr;
  int (*memory_alloc_)(unsigned long long*, size_t) = nullptr;
  int (*memory_free_)(unsigned long long) = nullptr;
  int (*destroy_)(void*) = nullptr;
  void *context_ = nullptr, *handle_ = nullptr;
  std::vector<unsigned long long> memory_;  // CUdeviceptr
};

}  // namespace cudatransform::bench
