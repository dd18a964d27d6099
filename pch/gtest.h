// The same of the engines' tests: GoogleTest besides.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "std.h"

#include <gtest/gtest.h>
