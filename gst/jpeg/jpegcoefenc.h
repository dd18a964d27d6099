// Element jpegcoefenc: 8x8 DCT coefficients to JPEG files.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
GST_ELEMENT_REGISTER_DECLARE(jpegcoefenc);
G_END_DECLS
