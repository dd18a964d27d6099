// An allocator for LD_PRELOAD: glibc's, except that chosen large allocations fail.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// operator new, GLib and aligned_alloc() all end here; direct calls of mmap() do not.
#include "tests/check/memory/failmalloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include <atomic>
#include <climits>
#include <cstddef>

#define EXPORT extern "C" __attribute__((visibility("default")))

// glibc's own, which dlsym() would have to allocate to find.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);
}

namespace {

constexpr size_t kLarge = size_t{1} << 20;

std::atomic<bool> armed = false;
std::atomic<int> seen = 0, failed = 0, live = 0;
std::atomic<int> first = 0, last = 0;

bool fails(size_t bytes) {
  if (bytes <= kLarge || !armed) return false;
  const int number = ++seen;
  if (number < first || number > last) return false;
  failed++;
  errno = ENOMEM;
  return true;
}

// By the block's usable size, which free() can find again.
void* count(void* block) {
  if (block != nullptr && malloc_usable_size(block) >= kLarge) live++;
  return block;
}

void discount(void* block) {
  if (block != nullptr && malloc_usable_size(block) >= kLarge) live--;
}

}  // namespace

EXPORT void failmalloc_arm(int nth, int how_many) {
  seen = failed = 0;
  first = nth;
  last = how_many > INT_MAX - nth ? INT_MAX : nth + how_many - 1;
  armed = true;
}

EXPORT int failmalloc_disarm() {
  armed = false;
  return failed;
}

EXPORT int failmalloc_live() { return live; }

EXPORT void* malloc(size_t bytes) { return fails(bytes) ? nullptr : count(__libc_malloc(bytes)); }

EXPORT void* calloc(size_t number, size_t bytes) {
  size_t total = 0;
  if (!__builtin_mul_overflow(number, bytes, &total) && fails(total)) return nullptr;
  return count(__libc_calloc(number, bytes));
}

EXPORT void* realloc(void* block, size_t bytes) {
  if (fails(bytes)) return nullptr;
  const bool was_large = block != nullptr && malloc_usable_size(block) >= kLarge;
  void* made = __libc_realloc(block, bytes);
  if (was_large && (made != nullptr || bytes == 0)) live--;
  return count(made);
}

EXPORT void* memalign(size_t alignment, size_t bytes) {
  return fails(bytes) ? nullptr : count(__libc_memalign(alignment, bytes));
}

EXPORT void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

EXPORT int posix_memalign(void** block, size_t alignment, size_t bytes) {
  void* made = memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

EXPORT void free(void* block) {
  const int error = errno;
  discount(block);
  __libc_free(block);
  errno = error;
}
