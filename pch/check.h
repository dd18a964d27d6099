// The same of the elements' tests: GstCheck besides.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// <fstream> comes first: GstCheck's fail() is a macro.
#include "gst.h"

#include <fstream>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
