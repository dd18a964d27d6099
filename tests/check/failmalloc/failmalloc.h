// What the preloaded allocator is told, and tells.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

extern "C" {

// Allocations of more than 1 MiB are counted from here on, and `how_many` of them fail from the
// `nth` on (1: the next one).
void failmalloc_arm(int nth, int how_many);
// From here on nothing fails. Returns how many did.
int failmalloc_disarm();
// Blocks of 1 MiB and more that are in use.
int failmalloc_live();

}  // extern "C"
