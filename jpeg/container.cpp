// Lengths in a JPEG file's XMP data, of the bytes behind its picture: Google's Container.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/container.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "jpeg/metadata.h"

namespace cudatransform {
namespace {

// XMP, part 3, 1.1.3: what an APP1 segment of it begins with, its last zero included.
constexpr std::string_view kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr uint8_t kApp1 = 0xe1;
constexpr std::string_view kItemSpace = "http://ns.google.com/photos/1.0/container/item/";
constexpr std::string_view kCameraSpace = "http://ns.google.com/photos/1.0/camera/";

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Longer prefixes than anybody uses would make a search for them take the square of the time.
constexpr size_t kMostPrefix = 64;

// The prefix that names of a namespace have in these data, with its colon; "" without one.
std::string prefix_of(std::string_view xmp, std::string_view space) {
  constexpr std::string_view kDeclares = "xmlns:";
  const size_t at = xmp.find(space);
  if (at == std::string_view::npos || at < kDeclares.size() + 2) return "";
  const size_t declared = xmp.rfind(kDeclares, at);
  if (declared == std::string_view::npos) return "";
  const size_t begin = declared + kDeclares.size(), end = xmp.find('=', begin);
  if (end == std::string_view::npos || end + 2 != at || end - begin > kMostPrefix) return "";
  return std::string(xmp.substr(begin, end - begin)) + ':';
}

// The value of a property, which is an attribute or an element: name="value" or <name>value<.
std::string_view value_of(std::string_view xmp, const std::string& name) {
  for (size_t at = xmp.find(name); at != std::string_view::npos; at = xmp.find(name, at + 1)) {
    if (at == 0 || (xmp[at - 1] != '<' && kSpace.find(xmp[at - 1]) == std::string_view::npos))
      continue;
    const size_t next = xmp.find_first_not_of(kSpace, at + name.size());
    if (next == std::string_view::npos) return {};
    char last = '<';
    size_t begin = next + 1;
    if (xmp[next] == '=') {
      const size_t quote = xmp.find_first_not_of(kSpace, begin);
      if (quote == std::string_view::npos) return {};
      last = xmp[quote];
      begin = quote + 1;
      if (last != '"' && last != '\'') continue;
    } else if (xmp[next] != '>') {
      continue;
    }
    const size_t end = xmp.find(last, begin);
    return end == std::string_view::npos ? std::string_view()
                                         : trimmed(xmp.substr(begin, end - begin));
  }
  return {};
}

// 0 where there is no number.
uint64_t number_of(std::string_view xmp, const std::string& name) {
  const std::string_view text = value_of(xmp, name);
  uint64_t number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc() ? number
                                                                                           : 0;
}

// What an item is, for people. The file may have anything there, and messages are UTF-8.
std::string name_of(std::string_view semantic) {
  constexpr size_t kMostName = 32;
  const bool is_name =
      !semantic.empty() && semantic.size() <= kMostName &&
      std::all_of(semantic.begin(), semantic.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      });
  return is_name ? std::string(semantic) : "an item";
}

Status untrue(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, "the picture's XMP data name " + what);
}

bool has_at(std::span<const uint8_t> bytes, uint64_t at, std::string_view what) {
  return at <= bytes.size() && what.size() <= bytes.size() - at &&
         text_of(bytes.subspan(at, what.size())) == what;
}

// Whether something of this kind begins there, as far as we know the kind.
bool begins_at(std::span<const uint8_t> behind, uint64_t at, std::string_view mime) {
  if (mime == "image/jpeg") return has_at(behind, at, "\xff\xd8");
  if (mime == "video/mp4" || mime == "video/quicktime") return has_at(behind, at + 4, "ftyp");
  return true;
}

bool is_as_in_index(const FilePlace& item, std::span<const FilePlace> others) {
  return std::all_of(others.begin(), others.end(), [&](const FilePlace& other) {
    return item == other || item.end() <= other.begin || other.end() <= item.begin;
  });
}

Status check_items(std::string_view xmp, uint64_t picture_size, std::span<const uint8_t> behind,
                   std::span<const FilePlace> others) {
  constexpr std::string_view kItem = "<rdf:li";
  const std::string prefix = prefix_of(xmp, kItemSpace);
  if (prefix.empty()) return {};
  uint64_t at = 0;
  bool is_first = true;
  for (size_t begin = xmp.find(kItem), next; begin != std::string_view::npos; begin = next) {
    next = xmp.find(kItem, begin + 1);
    const std::string_view text =
        xmp.substr(begin, next == std::string_view::npos ? next : next - begin);
    const std::string_view mime = value_of(text, prefix + "Mime");
    if (mime.empty()) continue;
    const uint64_t length = number_of(text, prefix + "Length");
    if (std::exchange(is_first, false)) {
      if (length != 0 && length != picture_size)
        return untrue("a length of " + std::to_string(length) +
                      " bytes for the picture, which has " + std::to_string(picture_size));
      at = number_of(text, prefix + "Padding");
      continue;
    }
    if (length == 0) continue;
    const std::string what =
        name_of(value_of(text, prefix + "Semantic")) + " of " + std::to_string(length) + " bytes, ";
    if (at > behind.size() || length > behind.size() - at)
      return untrue(what + "and behind the picture there are " + std::to_string(behind.size()));
    if (!begins_at(behind, at, mime) || !is_as_in_index({at, length}, others))
      return untrue(what + "which is not at byte " + std::to_string(at) + " behind the picture");
    at += length;
  }
  return {};
}

Status check_film(std::string_view xmp, std::span<const uint8_t> behind) {
  const std::string prefix = prefix_of(xmp, kCameraSpace);
  if (prefix.empty()) return {};
  const uint64_t distance = number_of(xmp, prefix + "MicroVideoOffset");
  if (distance == 0) return {};
  if (distance <= behind.size() && begins_at(behind, behind.size() - distance, "video/mp4"))
    return {};
  return untrue("a film " + std::to_string(distance) +
                " bytes before the file's end, where none is");
}

}  // namespace

Status check_container(std::span<const uint8_t> segments, uint64_t picture_size,
                       std::span<const uint8_t> behind, std::span<const FilePlace> others) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);) {
    const std::string_view text = text_of(segment.data);
    if (segment.code != kApp1 || !text.starts_with(kXmp)) continue;
    const std::string_view xmp = text.substr(kXmp.size());
    CT_RETURN_IF_ERROR(check_items(xmp, picture_size, behind, others));
    CT_RETURN_IF_ERROR(check_film(xmp, behind));
  }
  return {};
}

}  // namespace cudatransform
