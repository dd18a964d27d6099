// Element jpegcoefdec: JPEG pictures and Motion-JPEG to their quantised DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE(jpegcoefdec);

G_END_DECLS
