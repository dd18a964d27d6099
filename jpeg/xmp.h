// XMP packets in JPEG files (ISO 16684-1), and the lengths that they hold of the bytes after a
// picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "transform/device/status.h"

namespace cudatransform {

// Namespaces.
inline constexpr std::string_view kXmpItem = "http://ns.google.com/photos/1.0/container/item/";
inline constexpr std::string_view kXmpCamera = "http://ns.google.com/photos/1.0/camera/";

// The packet in an APP1 segment (XMP part 3, 1.1.3); none in other segments. The second is a part
// of an extended packet.
std::optional<std::string_view> xmp_packet(const JpegSegment& segment);
std::optional<std::string_view> extended_xmp(const JpegSegment& segment);

// The prefix of a namespace's names in this packet, with its colon; "" where it has none.
std::string xmp_prefix(std::string_view xmp, std::string_view space);
// The value of a property, an attribute or an element (name="value" or <name>value<), without space
// around it. A view of `xmp`, empty where there is none.
std::string_view xmp_value(std::string_view xmp, const std::string& name);
// Of an unsigned integer; 0 where there is none.
uint64_t xmp_number(std::string_view xmp, const std::string& name);

// Replaces the value of a property that is there.
void set_xmp_value(const std::string& name, std::string_view value, std::string* xmp);
// Removes all attributes and elements of a name. Whether there were any.
bool remove_xmp_property(const std::string& name, std::string* xmp);

// Ultra HDR files and motion photos have a list of items in their XMP data (Container:Directory):
// the picture itself, then the bytes after it, in order, each with its length. Older motion photos
// have the distance of their film from the file's end (MicroVideoOffset).

// Whether these lengths are true of a file of a picture of `picture_size` bytes and `behind` it,
// where the index has pictures at `others`, which count from the picture's end: each item is there,
// a picture as the index has it. Ok without such data in `segments`. kInvalidArgument: which is not
// true.
Status check_container(std::span<const uint8_t> segments, uint64_t picture_size,
                       std::span<const uint8_t> trailing, std::span<const FilePlace> others);

// Bytes after a picture, which others replace: their number, or 0 for none.
struct MovedBytes {
  FilePlace was;  // counts from the picture's end
  uint64_t size = 0;
};

// Makes the lengths in a packet of XMP data true of the bytes that replace those after a picture.
// `moved`: all of the old ones, in order, the trailing data last. Items without remaining bytes are
// removed, and so are the statements that a video follows where the trailing data were removed.
void update_container(std::span<const MovedBytes> moved, std::string* xmp);

}  // namespace cudatransform
