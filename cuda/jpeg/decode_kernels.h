// Every kernel that decodes JPEG scans, by the name that a profiler prints and a launch asks for.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// X(name, sets of tables that a scan may use).
#define CT_JPEG_SYNC_KERNELS(X) \
  X(jpeg_decode_sync_1, 1)      \
  X(jpeg_decode_sync_2, 2)      \
  X(jpeg_decode_sync_3, 3)

// Likewise. For two there is room to put blocks together.
#define CT_JPEG_WRITE_KERNELS(X) \
  X(jpeg_decode_write_2, 2)      \
  X(jpeg_decode_write_3, 3)
