// NVIDIA's nvJPEG and driver, opened at run time: what both loops of nvJPEG share.
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

namespace cudatransform::bench {

struct NvjpegImage {  // nvjpegImage_t
  static constexpr int kComponents = 4;
  unsigned char* channel[kComponents];
  size_t pitch[kComponents];
};

// A library that is opened once and never closed, and its functions by name.
class LateLibrary {
 public:
  explicit LateLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  bool is_open() const { return handle_ != nullptr; }
  // Throws std::runtime_error where there is none of that name.
  template <typename Function>
  void find(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (*function == nullptr) throw std::runtime_error(std::string(name) + " is missing");
  }

 private:
  void* handle_ = nullptr;
};

inline LateLibrary open_cuda_driver() { return LateLibrary{"libcuda.so.1"}; }
inline LateLibrary open_nvjpeg() {
  return LateLibrary{"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so",
                     "/usr/local/cuda/lib64/libnvjpeg.so"};
}

// Both libraries return 0 for success.
inline void check_nvjpeg(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(result));
}

}  // namespace cudatransform::bench
