// Element cudadiracdec: Dirac and VC-2 to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
GType gst_cuda_dirac_dec_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudadiracdec);
G_END_DECLS
