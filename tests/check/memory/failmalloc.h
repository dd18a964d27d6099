// The interface of the preloaded allocator.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

extern "C" {

// Counts allocations of more than 1 MiB from here on, and lets `how_many` of them fail from the
// `nth` on (1: the next one).
void failmalloc_arm(int nth, int how_many);
// From here on nothing fails. Returns how many did.
int failmalloc_disarm();
// Blocks of 1 MiB and more that are in use.
int failmalloc_live();

}  // extern "C"
