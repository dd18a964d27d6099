// The metadata of a JPEG file after its picture was rotated, mirrored or cropped.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Gain maps, previews and other views (MPF), thumbnails, Exif and XMP data and trailing data belong
// to the picture that they describe. Each follows it where that takes no loss; what cannot is
// removed, and named.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jpeg/mpf.h"
#include "jpeg/xmp.h"
#include "transform/coeffilter/flip.h"

namespace cudatransform {

struct FileMetadata {
  std::vector<uint8_t> segments;       // APPn and COM (jpeg/metadata.h)
  std::vector<uint8_t> trailing;       // the bytes after the picture
  std::vector<FilePlace> attachments;  // files in `trailing`, in the order of the index
};

// Replaces `metadata` by those of the result. Returns what had to be removed, as text such as
// "attachment 1 of 2, Exif thumbnail"; empty: nothing.
std::string flip_metadata(const PictureFlip& flip, FileMetadata* metadata);

// ---- Its segments ----

// What happened to the trailing data, as far as segments describe them.
struct FlippedTrailing {
  std::vector<MovedBytes> moved;
  std::vector<uint32_t> kept;  // attachments, by their numbers in the old index, from 0
  bool has_lost = false;       // an attachment, or other bytes that are not padding
  bool has_gain_map = false;   // among the kept ones
};

struct FlippedSegments {
  std::vector<uint8_t> segments;
  // What had to be removed because it could not follow without loss, as text.
  std::vector<std::string> lost;
};

// `segments`: APPn and COM (jpeg/metadata.h). `*pixels`: how many more images inside of metadata
// may have together, which bounds the work.
FlippedSegments flip_segments(const PictureFlip& flip, const FlippedTrailing& trailing,
                              std::span<const uint8_t> segments, uint64_t* pixels);

// Whether segments are those of a gain map (ISO 21496-1, Ultra HDR).
bool are_of_gain_map(std::span<const uint8_t> segments);

}  // namespace cudatransform
