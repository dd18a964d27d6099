// Shared by fuzz targets of elements that make the DCT's coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace fuzzing {

// Every coefficient of an element's output can be read, and its meta is sound.
void read_coefficients(GstBuffer* buffer, GstCaps* caps);
// The same where a buffer may go on as it came: without a meta, if it needs no tables.
void read_passed_coefficients(GstBuffer* buffer, GstCaps* caps);

}  // namespace fuzzing
