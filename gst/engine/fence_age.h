// Decides when an element asks the device for its progress, and when it leaves that to others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include "transform/device/device.h"

namespace cudatransform {

// Asking takes a microsecond, a twentieth of a small frame. A thread that waits for a frame learns
// anyway that the frame is done, and its input with it. So code that only lets go of something, or
// reads measurements, asks the device when a fence's state has been unknown for this many
// microseconds.
inline constexpr gint64 kPatienceUs = 200;

// Whether the first of `count` fences is done; it was made at `since`. `now` and `since` are times
// of g_get_monotonic_time(). `at`: as for first_is_done(), and never null.
template <typename At>
bool first_is_done_by(gint64 now, gint64 since, size_t count, At&& at) {
  return at(0)->known_done() || (now - since >= kPatienceUs && first_is_done(count, at));
}

}  // namespace cudatransform
