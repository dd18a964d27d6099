// The meaning of video/x-dwt buffers: the coefficients of an integer wavelet transform, as in
// Dirac, VC-2 and JPEG 2000.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dwt-info.h>
#include <gst/coef/dwt-meta.h>
