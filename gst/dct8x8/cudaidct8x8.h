// Element cudaidct8x8: 8x8 DCT coefficients to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
GType gst_cuda_idct_8x8_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudaidct8x8);
G_END_DECLS
