// libjpeg's header, which needs others before it and has macros that others do not like.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdio>

// The order matters: jpeglib.h uses FILE and size_t without declaring them.
#include <jpeglib.h>

#include <jerror.h>
