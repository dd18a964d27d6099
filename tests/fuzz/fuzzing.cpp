// Shared by all fuzz targets: guarded memory, and a promise that aborts when broken.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/fuzzing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

struct Known {
  fuzzing::Target target;
  void (*set_up)();
};

std::vector<Known>& known() {
  static std::vector<Known> targets;
  return targets;
}

void (*chosen)(const uint8_t* data, size_t size) = nullptr;

}  // namespace

// Takes its argument out of the others.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using std::string_view;
  char** const end = *argv + *argc;
  char** const option = std::find_if(*argv, end, [](string_view word) {
    return word.starts_with("--target=") || word == "--list";
  });
  fuzzing::promise(option != end, "--target=NAME or --list is given");
  const bool lists = *option == string_view("--list");
  for (const auto& [target, set_up] : known()) {
    if (lists) std::puts(target.name);
    if (*option != std::string("--target=") + target.name) continue;
    chosen = target.run;
    set_up();
  }
  if (lists) std::exit(0);
  fuzzing::promise(chosen != nullptr, "there is a target of that name");
  std::rotate(option, option + 1, end);
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen(data, size);
  return 0;
}

namespace fuzzing {

Targets::Targets(std::initializer_list<Target> targets, void (*set_up)()) {
  for (const Target& target : targets) known().push_back({target, set_up});
}

void promise(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

std::vector<size_t> sizes_of_pieces(Input* input) {
  std::vector<size_t> sizes(1 + input->byte() % 8);
  for (size_t& size : sizes) {
    size = input->byte();
    if (size == 0) size = 256;
  }
  return sizes;
}

GuardedMemory::GuardedMemory(size_t capacity) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t usable = (capacity + kMargin + page - 1) / page * page;
  void* memory = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  promise(memory != MAP_FAILED, "there is memory");
  begin_ = static_cast<uint8_t*>(memory);
  guard_ = begin_ + usable;
  promise(mprotect(guard_, page, PROT_NONE) == 0, "a page can be protected");
}

GuardedMemory::~GuardedMemory() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  munmap(begin_, static_cast<size_t>(guard_ - begin_) + page);
}

uint8_t* GuardedMemory::last(size_t size, uint8_t fill) {
  promise(size + kMargin <= static_cast<size_t>(guard_ - begin_), "the guarded memory is enough");
  memset(guard_ - size - kMargin, fill, size + kMargin);
  return guard_ - size;
}

const uint8_t* GuardedMemory::copy(const uint8_t* data, size_t size) {
  uint8_t* to = last(size, 0);
  if (size > 0) memcpy(to, data, size);
  return to;
}

bool GuardedMemory::margin_is(size_t size, uint8_t fill) const {
  const uint8_t* end = guard_ - size;
  return std::all_of(end - kMargin, end, [fill](uint8_t byte) { return byte == fill; });
}

}  // namespace fuzzing
