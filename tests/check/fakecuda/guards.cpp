// Memory of the fake driver between inaccessible pages.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/fakecuda/guards.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace fakecuda {
namespace {

enum class Guards { kNone, kBegin, kEnd };

Guards guards() {
  static const Guards wanted = [] {
    const char* set = std::getenv("FAKECUDA_GUARDS");
    if (set == nullptr) return Guards::kNone;
    return std::strcmp(set, "begin") == 0 ? Guards::kBegin : Guards::kEnd;
  }();
  return wanted;
}

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
size_t page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

// A page in front, whole pages for the bytes, a page behind.
void* allocate_guarded(size_t bytes, size_t alignment) {
  const size_t used = rounded(bytes, alignment), inner = rounded(used, page());
  if (guards() == Guards::kNone) return std::aligned_alloc(alignment, used);
  void* const all =
      mmap(nullptr, inner + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  uint8_t* const begin = static_cast<uint8_t*>(all) + page();
  if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(all, inner + 2 * page());
    return nullptr;
  }
  return guards() == Guards::kBegin ? begin : begin + (inner - used);
}

void free_guarded(void* data, size_t bytes, size_t alignment) {
  if (guards() == Guards::kNone) return std::free(data);
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = address - address % page();
  munmap(reinterpret_cast<void*>(begin - page()),
         rounded(rounded(bytes, alignment), page()) + 2 * page());
}

}  // namespace fakecuda
