// Memory of the fake driver between inaccessible pages.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// With FAKECUDA_GUARDS=end an access after the last byte of an allocation, rounded up to its
// alignment, ends the program; with FAKECUDA_GUARDS=begin an access before the first. Sanitizers
// cannot check kernels on the emulator, whose threads they do not follow.
#pragma once

#include <cstddef>

namespace fakecuda {

// Aligned memory, or null; without that variable from the C library.
void* allocate_guarded(size_t bytes, size_t alignment);
// Of the same size and alignment.
void free_guarded(void* data, size_t bytes, size_t alignment);

}  // namespace fakecuda
