// Shared by fuzz targets with raw video: frames whose sizes and GstVideoMetas lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// Feeds an element with raw frames until the input is used up: the caps, then the actions before
// each frame, the shape of its buffer, the lie of its meta, a word for both, and samples. A picture
// is small and of any format that the elements take: three bytes. `with_rgb`: also packed ones and
// RGBP.
void push_raw_frames(ElementRun* run, Input* input, bool with_rgb = false);

// The size of a buffer that should have `whole` bytes: fewer, which clears `*sound`, or some more.
gsize other_size(guint32 value, gsize whole, bool* sound);

// An ElementRun::Look: every sample can be read, and the frame has the size of its caps.
void read_raw_frame(GstBuffer* buffer, GstCaps* caps);

// Adds a reference meta with the pictures' source, or with something else, of a `sampling`. False
// if the meta places samples outside of the buffer.
bool add_reference(GstBuffer* buffer, bool is_444, guint width, guint height, guint8 kind);

}  // namespace fuzzing
