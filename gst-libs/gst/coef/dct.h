// The meaning of video/x-dct buffers: the coefficients of an 8x8 DCT, as in JPEG.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dct-info.h>
#include <gst/coef/dct-meta.h>
