// Every kernel of JPEG's entropy coding, by the name that a profiler prints and a launch asks for.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// X(name, function).
#define CT_JPEG_ENCODE_KERNELS(X)         \
  X(jpeg_encode_code_tiles, code_tiles)   \
  X(jpeg_encode_write_tiles, write_tiles) \
  X(jpeg_encode_count_symbols, count_symbols)
