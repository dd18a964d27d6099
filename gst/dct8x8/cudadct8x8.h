// Element cudadct8x8: raw video to 8x8 DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
GType gst_cuda_dct_8x8_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudadct8x8);
G_END_DECLS
