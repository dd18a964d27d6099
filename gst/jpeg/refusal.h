// Coefficients of a JPEG picture that downstream refuses: found before caps are set, and explained.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "transform/device/status.h"

namespace cudatransform {

// Whether downstream accepts coefficients of fixed `caps`. kUnsupported: it does not; the message
// says what the picture is, what downstream accepts, and what to put in between.
Status ask_downstream(GstPad* src, GstCaps* caps);

}  // namespace cudatransform
