// Pillow's resampling, a sample after another: the judge of engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/engine/frame.h"
#include "transform/resize/resize.h"

namespace cudatransform::test {

// The result, channel by channel, of a job without memory: of its sizes, box, filter, order and
// reduction. Before the table of values.
Picture define_resized(const ResizeJob& job, const Picture& from);

// The value's bits as the type has them, by comparing it with all numbers of the type.
uint16_t define_float16(float value);
uint16_t define_bfloat16(float value);

}  // namespace cudatransform::test
