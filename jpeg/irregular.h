// Oddities of a JPEG file that is complete.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

namespace cudatransform {

// A picture is damaged when something is missing or contradicts itself. It is irregular when all
// of its blocks came, by codes that exist, so that its levels are certain, but the file has one of
// these. Bits of a set.
//
// Bytes behind the last block of an interval or a scan, which are not more MCUs.
inline constexpr uint32_t kJpegLeftOverBytes = 1 << 0;
// Bytes between segments.
inline constexpr uint32_t kJpegStrayBytes = 1 << 1;
// Ss, Se, Ah, Al of a sequential scan.
inline constexpr uint32_t kJpegScanParameters = 1 << 2;
// The file ends without EOI, behind the last block.
inline constexpr uint32_t kJpegMissingEnd = 1 << 3;
// A marker that says nothing where it is: RSTn outside of a scan, TEM, DNL.
inline constexpr uint32_t kJpegUselessMarker = 1 << 4;
// An unknown JFIF version or Adobe transform code.
inline constexpr uint32_t kJpegUnknownHeader = 1 << 5;

// In words, for messages; empty for 0.
std::string irregularity_text(uint32_t irregularities);

// A decoder's verdict about a picture.
struct JpegFindings {
  std::string damage;      // the first fault; empty: nothing is missing
  uint32_t irregular = 0;  // bits of those above; they mean nothing if the picture is damaged
};

}  // namespace cudatransform
