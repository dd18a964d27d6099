// libgstcoef's export macro.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#ifndef GST_COEF_API
#ifdef BUILDING_GST_COEF
#define GST_COEF_API GST_API_EXPORT
#else
#define GST_COEF_API GST_API_IMPORT
#endif
#endif
