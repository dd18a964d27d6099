// What the markers of a JPEG file say in front of its first scan, whatever its kind.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "jpeg/tables.h"
#include "transform/device/status.h"

namespace cudatransform {

// Without libjpeg, which refuses kinds that it cannot decode. What both can read is the same.
struct JpegFileInfo {
  struct Component {
    uint8_t id = 0, h = 0, v = 0;  // sampling factors as they are in the file, 0 to 15
    int table = -1;                // of `tables`; -1: the file has none in front of the scan
  };

  // Bytes up to the first scan, or to where reading has ended because of a fault; 0: the bytes
  // given end before, and more may say more.
  size_t size = 0;
  // Of the first frame header, SOF0 to SOF15; 0: there is none.
  uint8_t marker = 0;
  uint32_t width = 0, height = 0, depth = 0;
  int components = 0;                  // up to 255, of which the first four are described
  JpegColor color = JpegColor::kGray;  // of up to four, by libjpeg's rules
  Component component[kJpegMaxComponents];
  JpegTables tables;      // of those four, in their order; table_of means nothing without a table
  int orientation = 0;    // 1 to 8, of the first Exif data; 0: none
  uint32_t pictures = 1;  // by the file's index (MPF)
};

// `file`: its first bytes, or all. kInvalidArgument: it is no JPEG file, or has no whole frame
// header or table; `size` and `marker` are set nevertheless.
Status read_jpeg_info(std::span<const uint8_t> file, JpegFileInfo* info);

}  // namespace cudatransform
