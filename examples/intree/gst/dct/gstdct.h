// The header under the name by which installed programs know it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dct.h>
