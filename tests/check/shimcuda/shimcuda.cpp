// A CUDA driver that calls the next one, for tests: it counts calls and lets calls fail.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Built as libcuda.so.1 in a separate folder, which a test puts first on LD_LIBRARY_PATH. The next
// driver is CUDATRANSFORM_REAL_LIBCUDA or else the first libcuda.so.1 where drivers are.
#include "tests/check/shimcuda/shimcuda.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/check/shimcuda/entries.h"
#include "tests/check/shimcuda/ledger.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace shimcuda;  // all of it is this file's

// Every entry point, of both lists.
#define SHIMCUDA_ENTRIES(OURS, GSTREAMER) \
  CT_CUDA_ENTRY_POINTS(OURS)              \
  CT_CUDA_OPTIONAL_ENTRY_POINTS(OURS)     \
  CT_CUDA_BENCHMARK_ENTRY_POINTS(OURS)    \
  SHIMCUDA_GSTREAMER_ENTRIES(GSTREAMER)

enum Entry : int {
#define SHIMCUDA_NUMBER(name, arguments, kind) entry_##name,
#define SHIMCUDA_OUR_NUMBER(member, function, name, arguments, kind) entry_##name,
  SHIMCUDA_ENTRIES(SHIMCUDA_OUR_NUMBER, SHIMCUDA_NUMBER) kEntries
};

constexpr const char* kNames[] = {
#define SHIMCUDA_NAME(name, arguments, kind) #name,
#define SHIMCUDA_OUR_NAME(member, function, name, arguments, kind) #name,
    SHIMCUDA_ENTRIES(SHIMCUDA_OUR_NAME, SHIMCUDA_NAME)};

constexpr Kind kKinds[] = {
#define SHIMCUDA_KIND(name, arguments, kind) Kind::kind,
#define SHIMCUDA_OUR_KIND(member, function, name, arguments, kind) Kind::kind,
    SHIMCUDA_ENTRIES(SHIMCUDA_OUR_KIND, SHIMCUDA_KIND)};

std::string own_folder() {
  Dl_info info = {};
  dladdr(reinterpret_cast<void*>(&own_folder), &info);
  char* path = info.dli_fname ? realpath(info.dli_fname, nullptr) : nullptr;
  const std::string text = path ? path : "";
  std::free(path);
  return text.substr(0, text.rfind('/'));
}

void* open_next() {
  if (const char* set = std::getenv("CUDATRANSFORM_REAL_LIBCUDA"))
    return dlopen(set, RTLD_NOW | RTLD_LOCAL);
  const char* path = std::getenv("LD_LIBRARY_PATH");
  std::string folders = path ? std::string(path) + ":" : "";
  folders +=
      "/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:/usr/lib:/usr/local/lib:"
      "/usr/local/nvidia/lib64:/usr/local/nvidia/lib:/usr/lib/wsl/lib:/usr/local/cuda/compat:";
  const std::string own = own_folder();
  for (size_t at = 0; at < folders.size();) {
    const size_t end = folders.find(':', at);
    const std::string folder = folders.substr(at, end - at);
    at = end + 1;
    char* real = folder.empty() ? nullptr : realpath(folder.c_str(), nullptr);
    const bool ours = real && own == real;
    std::free(real);
    if (folder.empty() || ours) continue;
    // With its folder: a bare name would find this library.
    if (void* next = dlopen((folder + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL)) return next;
  }
  return nullptr;
}

struct Next {
  void* library = open_next();
  void* functions[kEntries] = {};

  Next() {
    for (int i = 0; library && i < kEntries; i++) functions[i] = dlsym(library, kNames[i]);
  }
};

void* next_function(Entry entry) {
  static Next& next = *new Next;  // outlives whatever is released at exit
  return next.functions[entry];
}

// CUipcEventHandle and CUipcMemHandle.
struct Handle {
  char reserved[64];
};

uintptr_t word_of(uintptr_t word) { return word; }
uintptr_t word_of(const Handle&) { return 0; }

template <typename... Arguments>
int forward(Entry entry, Arguments... all) {
  constexpr int kNoDevice = 100, kNotSupported = 801;
  const uintptr_t arguments[] = {word_of(all)..., 0};
  const Kind kind = kKinds[entry];
  Ledger& book = ledger();
  const int injected = book.failure_of(kNames[entry], kind);
  book.begin(kind, arguments);
  if (injected != 0) book.answer(kind, arguments, injected);
  if (injected != 0 && !is_release(kind)) return injected;
  auto function = reinterpret_cast<int (*)(Arguments...)>(next_function(entry));
  const int result = function                ? function(all...)
                     : entry == entry_cuInit ? kNoDevice
                                             : kNotSupported;
  book.answer(kind, arguments, result);
  if (result == 0) book.end(kind, arguments);
  return injected != 0 ? injected : result;
}

}  // namespace

#define WORDS_0
#define WORDS_1 uintptr_t a
#define WORDS_2 WORDS_1, uintptr_t b
#define WORDS_3 WORDS_2, uintptr_t c
#define WORDS_4 WORDS_3, uintptr_t d
#define WORDS_5 WORDS_4, uintptr_t e
#define WORDS_6 WORDS_5, uintptr_t f
#define WORDS_11 WORDS_6, uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k
#define WORDS_1H WORDS_1, Handle b
#define WORDS_1H1 WORDS_1H, uintptr_t c
#define PASS_0
#define PASS_1 , a
#define PASS_2 PASS_1, b
#define PASS_3 PASS_2, c
#define PASS_4 PASS_3, d
#define PASS_5 PASS_4, e
#define PASS_6 PASS_5, f
#define PASS_11 PASS_6, g, h, i, j, k
#define PASS_1H PASS_2
#define PASS_1H1 PASS_3

#define SHIMCUDA_FORWARD(name, arguments, kind) \
  EXPORT int name(WORDS_##arguments) { return forward(entry_##name PASS_##arguments); }
#define SHIMCUDA_FORWARD_OURS(member, function, name, arguments, kind) \
  SHIMCUDA_FORWARD(name, arguments, kind)
SHIMCUDA_ENTRIES(SHIMCUDA_FORWARD_OURS, SHIMCUDA_FORWARD)

EXPORT void shimcuda_get_counts(ShimcudaCounts* counts) { *counts = ledger().counts(); }

EXPORT void shimcuda_fail(const char* name, int after, int code, ShimcudaFailure how) {
  ledger().fail(name, after, code, how);
}

EXPORT int shimcuda_failed(void) { return ledger().failed(); }
