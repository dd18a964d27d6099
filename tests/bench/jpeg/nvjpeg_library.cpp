// NVIDIA's nvJPEG on the first device, opened at run time: shared by both loops of nvJPEG.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/nvjpeg_library.h"

namespace cudatransform::bench {

LateLibrary::LateLibrary(const char* what, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(std::string("no ") + what);
}

Nvjpeg::Nvjpeg(int backend)
    : driver("CUDA driver", {"libcuda.so.1"}),
      library("libnvjpeg", {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so",
                            "/usr/local/cuda/lib64/libnvjpeg.so"}) {
  int (*init)(unsigned) = nullptr;
  int (*primary_retain)(void**, int) = nullptr;
  int (*create)(int, void*, void*, unsigned, void**) = nullptr;
  driver.find("cuInit", &init);
  driver.find("cuDevicePrimaryCtxRetain", &primary_retain);
  driver.find("cuDevicePrimaryCtxRelease_v2", &primary_release_);
  driver.find("cuCtxSetCurrent", &context_set_);
  driver.find("cuMemAlloc_v2", &memory_alloc_);
  driver.find("cuMemFree_v2", &memory_free_);
  library.find("nvjpegCreateEx", &create);
  library.find("nvjpegDestroy", &destroy_);
  check_nvjpeg(init(0), "cuInit");
  check_nvjpeg(primary_retain(&context_, 0), "cuDevicePrimaryCtxRetain");
  try {
    const Current current(*this);
    check_nvjpeg(create(backend, nullptr, nullptr, 0, &handle_), "nvjpegCreateEx");
  } catch (...) {
    close();
    throw;
  }
}

Nvjpeg::~Nvjpeg() { close(); }

void Nvjpeg::close() {
  context_set_(context_);
  for (const unsigned long long address : memory_) memory_free_(address);
  if (handle_ != nullptr) destroy_(handle_);
  context_set_(nullptr);
  primary_release_(0);
}

unsigned char* Nvjpeg::allocate(size_t bytes) {
  unsigned long long address = 0;
  check_nvjpeg(memory_alloc_(&address, bytes), "cuMemAlloc");
  memory_.push_back(address);
  return reinterpret_cast<unsigned char*>(address);
}

Nvjpeg::Current::Current(const Nvjpeg& nvjpeg) : nvjpeg_(nvjpeg) {
  check_nvjpeg(nvjpeg.context_set_(nvjpeg.context_), "cuCtxSetCurrent");
}

Nvjpeg::Current::~Current() { nvjpeg_.context_set_(nullptr); }

}  // namespace cudatransform::bench
