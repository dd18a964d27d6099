// The processor a thread runs on: choosing it, and whether another thread uses its core.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace cudatransform::bench {

// Moves the calling thread to another of the processors that it may run on; numbers wrap at their
// count. It is not bound there.
void move_to_processor(int number);

// How long independent additions take on the processor that the calling thread is on, in units of
// as many multiplications that wait for each other. The clock's frequency cancels out. A core whose
// other hardware thread is busy has fewer units left for the additions, while the multiplications
// leave most of them idle in any case: the value is then larger by a fifth to four fifths (Intel
// Xeon, 2.1 GHz). Takes half a millisecond.
double core_width();

// A thread was alone on its core if core_width() was at most this many times the lowest decile of
// many values: not the minimum, which is often 5 to 10 % lower because of an interruption. Where
// more than nine tenths shared their cores, or cores differ, this cannot tell.
inline constexpr double kAloneWidth = 1.1;

}  // namespace cudatransform::bench
