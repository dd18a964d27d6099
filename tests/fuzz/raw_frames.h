// Shared by fuzz targets that feed or get raw video: frames whose sizes and GstVideoMetas lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// Feeds an element with raw frames until the input is used up: the caps, then what comes before
// each frame, the shape of its buffer, the lie of its meta, a word for both, and samples. A picture
// is small and of any format that the elements take: three bytes.
void push_raw_frames(ElementRun* run, Input* input);

// The size of a buffer that should have `whole` bytes: fewer, in which case `*sound` is cleared, or
// some more.
gsize other_size(guint32 value, gsize whole, bool* sound);

// An ElementRun::Look: every sample can be read, and the frame is of the size that its caps say.
void read_raw_frame(GstBuffer* buffer, GstCaps* caps);

// Adds what the pictures were made from, or something else that a meta calls so, of a `sampling`.
// False where it lies: where it says that the samples lie outside of the buffer.
bool add_reference(GstBuffer* buffer, bool is_444, guint width, guint height, guint8 kind);

}  // namespace fuzzing
