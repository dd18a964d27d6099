// Lengths in a JPEG file's XMP data, of the bytes behind its picture: Google's Container.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "jpeg/mpf.h"
#include "transform/device/status.h"

namespace cudatransform {

// Ultra HDR files and motion photos have a list of items in their XMP data (Container:Directory):
// the picture itself, then the bytes behind it, in order, each with its length. Older motion photos
// have the distance of their film from the file's end (MicroVideoOffset).

// Whether these lengths are true of a file of a picture of `picture_size` bytes and `behind` it,
// where the index has pictures at `others`, which count from the picture's end: each item is there,
// a picture as the index has it. Ok without such data in `segments`. kInvalidArgument: which is not
// true.
Status check_container(std::span<const uint8_t> segments, uint64_t picture_size,
                       std::span<const uint8_t> behind, std::span<const FilePlace> others);

// Bytes behind a picture, which others replace: so many, or none (0).
struct MovedBytes {
  FilePlace was;  // counts from the picture's end
  uint64_t size = 0;
};

// Makes the lengths in a packet of XMP data true of the bytes that replace those behind a picture.
// `moved`: all of the old ones, in order, the trailing data last. Items of which nothing is left
// are removed, and so are the statements that a film follows where the trailing data are gone.
void update_container(std::span<const MovedBytes> moved, std::string* xmp);

}  // namespace cudatransform
