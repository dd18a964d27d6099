// When an element asks the device how far it is, and when it leaves that to others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include "transform/device/device.h"

namespace cudatransform {

// To ask takes a microsecond, a twentieth of a small frame. Whoever has to wait for a frame finds
// out when it is done, and with it what it was made from. So who only wants to let go of something,
// or to read what was measured, asks if nobody has found out for so many microseconds.
inline constexpr gint64 kPatienceUs = 200;

// Whether the first of `count` fences is done, which was made at `since`. `now`: as that, by
// g_get_monotonic_time(). `at`: as for first_is_done(), and never null.
template <typename At>
bool first_is_done_by(gint64 now, gint64 since, size_t count, At&& at) {
  return at(0)->known_done() || (now - since >= kPatienceUs && first_is_done(count, at));
}

}  // namespace cudatransform
