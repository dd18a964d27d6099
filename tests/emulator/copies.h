// Copies to shared memory, on their way until the thread that began them waits: cp.async of PTX.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudatransform::emulator {

// Copies `count` of `bytes` bytes and fills the rest with zeros: for half of the threads at once,
// for the others when they wait, since a GPU may do either. Ends the program, with a message, where
// a copy to the same place is on its way.
void begin_copy(uint8_t* to, const uint8_t* from, unsigned bytes, unsigned count);
void end_group_of_copies();
// For all groups of the running thread but its last `open` ones.
void wait_for_copies(unsigned open);
// Ends the program if the running thread has copies on their way.
void expect_no_copies();

}  // namespace cudatransform::emulator
