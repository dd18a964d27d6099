// The Exif data of a JPEG file (JEITA CP-3451): the orientation, and what follows a flipped
// picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "jpeg/metadata.h"
#include "jpeg/tiff.h"
#include "transform/coeffilter/flip.h"

namespace cudatransform {

// Exif data in an APP1 segment: "Exif", two zeros, a TIFF structure.
inline constexpr size_t kExifHead = 6;

// 1 to 8, of a segment of Exif data; 0: it has none. Empty: no such segment.
std::optional<int> segment_orientation(const JpegSegment& segment);
// Of the first Exif data among `segments`; 0: none, or without one.
int exif_orientation(std::span<const uint8_t> segments);
// What makes a picture of this orientation, 0 to 8, upright.
Orientation upright_orientation(int orientation);

// An image inside of other data, flipped as the picture is.
enum class EmbeddedImage {
  kMade,
  kNoImage,  // the bytes are no JPEG image
  kLost,     // it cannot follow the picture without loss
};
using FlipEmbedded =
    std::function<EmbeddedImage(std::span<const uint8_t> image, std::vector<uint8_t>* made)>;

struct ExifFlip {
  bool is_upright = false;         // the orientation is to become 1
  uint32_t width = 0, height = 0;  // of the result
  bool transposes = false;         // rows of the picture are columns of the result
  FlipEmbedded image;
  // Moves a sample of the picture to its place in the result; false where that does not show it.
  std::function<bool(int32_t* x, int32_t* y)> point;
};

// Which images of Exif data have been removed, because they could not follow.
struct ExifLost {
  bool thumbnail = false, preview = false;
};

// Makes Exif data true of the flipped picture: orientation, sizes, the subject's place, the
// thumbnail of IFD1 and previews in maker notes.
ExifLost flip_exif(const ExifFlip& flip, TiffEditor* tiff);

}  // namespace cudatransform
