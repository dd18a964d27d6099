// The elements of the plugin, for its list of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE(cudadct8x8);
GST_ELEMENT_REGISTER_DECLARE(cudaidct8x8);
GST_ELEMENT_REGISTER_DECLARE(cudadwt);
GST_ELEMENT_REGISTER_DECLARE(cudaidwt);
GST_ELEMENT_REGISTER_DECLARE(cudadiracdec);
GST_ELEMENT_REGISTER_DECLARE(jpegcoefdec);
GST_ELEMENT_REGISTER_DECLARE(jpegcoefenc);
