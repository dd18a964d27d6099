// Element cudadwt: raw video to wavelet coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
GType gst_cuda_dwt_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudadwt);
G_END_DECLS
