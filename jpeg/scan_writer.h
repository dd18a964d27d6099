// Huffman-coded scans of JPEG files, sequential and progressive, of any depth.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// libjpeg codes quantized coefficients of 8-bit samples alone, and of 12-bit samples only from
// libjpeg-turbo 3 on. These are its bytes.
#pragma once

#include <cstdint>

#include "jpeg/errors.h"
#include "jpeg/writer.h"
#include "transform/device/status.h"

namespace cudatransform {

// Where a scan stands in its file. Components are libjpeg's, with the numbers of their tables.
struct JpegScanContext {
  const jpeg_component_info* components = nullptr;
  uint32_t restart_interval = 0;
  bool is_first = true;  // then its header says the interval
};

// Appends a scan of a picture that check_qcoefs() has passed, with the tables that make it shortest
// and its header. kUnsupported where libjpeg would find no tables; kOutOfMemory.
Status append_jpeg_scan(const JpegPicture& picture, const jpeg_scan_info& scan,
                        const JpegScanContext& context, JpegBytes* bytes);
// After the last one.
Status append_jpeg_end(JpegBytes* bytes);

}  // namespace cudatransform
