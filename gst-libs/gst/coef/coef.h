// libgstcoef: coefficients as video, for elements and applications. Includes all other headers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dct.h>
#include <gst/coef/dwt.h>
#include <gst/coef/fence.h>
#include <gst/coef/format.h>
#include <gst/coef/prelude.h>
#include <gst/coef/reference.h>
