// Shared by all fuzz targets: guarded memory, and a promise that aborts when broken.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/fuzzing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fuzzing {

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
