// XMP packets in JPEG files (ISO 16684-1): properties found, replaced and removed in their text.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jpeg/metadata.h"

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

}  // namespace cudatransform
