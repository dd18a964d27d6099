// Memory of the fake driver between pages that nobody may touch.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// With FAKECUDA_GUARDS=end what is read or written behind the last byte of an allocation, rounded
// up to its alignment, ends the program; with FAKECUDA_GUARDS=begin what is in front of the first.
// Sanitizers cannot look at kernels on the emulator, whose threads they do not follow.
#pragma once

#include <cstddef>

namespace fakecuda {

// Aligned memory, or null; without that variable the C library's.
void* allocate_guarded(size_t bytes, size_t alignment);
// Of the same size and alignment.
void free_guarded(void* data, size_t bytes, size_t alignment);

}  // namespace fakecuda
