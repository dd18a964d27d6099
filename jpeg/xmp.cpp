// XMP packets in JPEG files (ISO 16684-1), and the lengths that they hold of the bytes after a
// picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets are searched as text, not parsed as XML: text of other programs stays unchanged.

#include "jpeg/xmp.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jpeg/metadata.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

// What an APP1 segment of a packet, or of a part of an extended one, begins with.
constexpr std::string_view kHead("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr std::string_view kExtensionHead("http://ns.adobe.com/xmp/extension/\0", 35);

constexpr std::string_view kSpace = " \t\r\n";
constexpr auto kNowhere = std::string_view::npos;

// Longer prefixes than anybody uses would make a search for them take quadratic time.
constexpr size_t kMaxPrefix = 64;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == kNowhere) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::optional<std::string_view> behind_head(const JpegSegment& segment, std::string_view head) {
  const std::string_view text(reinterpret_cast<const char*>(segment.data.data()),
                              segment.data.size());
  if (segment.code != kApp1 || !text.starts_with(head)) return {};
  return text.substr(head.size());
}

// A property in a packet: where it begins (its name, or the < in front), and its value.
struct Property {
  size_t begin, value_begin, value_end;
  bool is_element;
};

// The property whose name is at `at`, with its value; empty where that is no property.
std::optional<Property> property_at(std::string_view xmp, const std::string& name, size_t at) {
  const bool is_element = at > 0 && xmp[at - 1] == '<';
  if (at == 0 || (!is_element && kSpace.find(xmp[at - 1]) == kNowhere)) return {};
  const size_t next = xmp.find_first_not_of(kSpace, at + name.size());
  if (next == kNowhere || xmp[next] != (is_element ? '>' : '=')) return {};
  char last = '<';
  size_t begin = next + 1;
  if (!is_element) {
    begin = xmp.find_first_not_of(kSpace, begin);
    if (begin == kNowhere) return {};
    last = xmp[begin++];
    if (last != '"' && last != '\'') return {};
  }
  const size_t end = xmp.find(last, begin);
  if (end == kNowhere) return {};
  return Property{at - is_element, begin, end, is_element};
}

std::optional<Property> find_property(std::string_view xmp, const std::string& name) {
  for (size_t at = xmp.find(name); at != kNowhere; at = xmp.find(name, at + 1))
    if (const std::optional<Property> found = property_at(xmp, name, at)) return found;
  return {};
}

// The end of the element of a name that begins at `at`: after its closing tag, or its own.
size_t element_end(std::string_view xmp, const std::string& name, size_t at) {
  const size_t tag_end = xmp.find('>', at);
  if (tag_end == kNowhere) return kNowhere;
  if (xmp[tag_end - 1] == '/') return tag_end + 1;
  const std::string closing = "</" + name;
  const size_t begin = xmp.find(closing, tag_end);
  const size_t end = begin == kNowhere ? kNowhere : xmp.find('>', begin + closing.size());
  return end == kNowhere ? kNowhere : end + 1;
}

// Where a property of a name begins and ends, whatever its value: from `at` on.
struct Range {
  size_t begin = kNowhere, end = kNowhere;
};
Range find_range(std::string_view xmp, const std::string& name, size_t at) {
  for (at = xmp.find(name, at); at != kNowhere; at = xmp.find(name, at + 1)) {
    const size_t behind = at + name.size();
    if (at == 0 || behind >= xmp.size()) continue;
    const char after = xmp[behind];
    const bool is_whole = after == '>' || after == '/' || kSpace.find(after) != kNowhere;
    if (xmp[at - 1] == '<' && is_whole) return {at - 1, element_end(xmp, name, at)};
    const std::optional<Property> attribute = property_at(xmp, name, at);
    if (attribute && !attribute->is_element) return {at - 1, attribute->value_end + 1};
  }
  return {};
}

}  // namespace

std::optional<std::string_view> xmp_packet(const JpegSegment& segment) {
  return behind_head(segment, kHead);
}

std::optional<std::string_view> extended_xmp(const JpegSegment& segment) {
  return behind_head(segment, kExtensionHead);
}

std::string xmp_prefix(std::string_view xmp, std::string_view space) {
  constexpr std::string_view kDeclares = "xmlns:";
  for (const char quote : {'"', '\''}) {
    // With both quotes, because namespaces begin like others.
    const size_t at = xmp.find(quote + std::string(space) + quote);
    if (at == kNowhere || at < kDeclares.size() + 1) continue;
    const size_t declared = xmp.rfind(kDeclares, at);
    if (declared == kNowhere) continue;
    const size_t begin = declared + kDeclares.size(), end = xmp.find('=', begin);
    if (end == kNowhere || end + 1 != at || end - begin > kMaxPrefix) continue;
    return std::string(xmp.substr(begin, end - begin)) + ':';
  }
  return "";
}

std::string_view xmp_value(std::string_view xmp, const std::string& name) {
  const std::optional<Property> found = find_property(xmp, name);
  return found ? trimmed(xmp.substr(found->value_begin, found->value_end - found->value_begin))
               : std::string_view();
}

uint64_t xmp_number(std::string_view xmp, const std::string& name) {
  const std::string_view text = xmp_value(xmp, name);
  uint64_t number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc() ? number
                                                                                           : 0;
}

void set_xmp_value(const std::string& name, std::string_view value, std::string* xmp) {
  if (const std::optional<Property> found = find_property(*xmp, name))
    xmp->replace(found->value_begin, found->value_end - found->value_begin, value);
}

bool remove_xmp_property(const std::string& name, std::string* xmp) {
  std::string left;
  size_t at = 0;
  for (Range range = find_range(*xmp, name, 0); range.end != kNowhere && range.begin >= at;
       range = find_range(*xmp, name, at)) {
    left += xmp->substr(at, range.begin - at);
    at = range.end;
  }
  if (at == 0) return false;
  *xmp = left + xmp->substr(at);
  return true;
}

namespace {

// What an item is, as text. The file may have anything there, and messages are UTF-8.
std::string name_of(std::string_view semantic) {
  constexpr size_t kMaxName = 32;
  const bool is_name =
      !semantic.empty() && semantic.size() <= kMaxName &&
      std::all_of(semantic.begin(), semantic.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      });
  return is_name ? std::string(semantic) : "item";
}

Status mismatch(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, "XMP: " + what);
}

bool has_at(std::span<const uint8_t> bytes, uint64_t at, std::string_view what) {
  return at <= bytes.size() && what.size() <= bytes.size() - at &&
         std::equal(what.begin(), what.end(), bytes.begin() + static_cast<ptrdiff_t>(at),
                    [](char letter, uint8_t byte) { return static_cast<uint8_t>(letter) == byte; });
}

// Whether data of this kind begin there, as far as we know the kind.
bool begins_at(std::span<const uint8_t> trailing, uint64_t at, std::string_view mime) {
  if (mime == "image/jpeg") return has_at(trailing, at, "\xff\xd8");
  if (mime == "video/mp4" || mime == "video/quicktime") return has_at(trailing, at + 4, "ftyp");
  return true;
}

bool is_as_in_index(const FilePlace& item, std::span<const FilePlace> others) {
  return std::all_of(others.begin(), others.end(), [&](const FilePlace& other) {
    return item == other || item.end() <= other.begin || other.end() <= item.begin;
  });
}

Status check_items(std::string_view xmp, uint64_t picture_size, std::span<const uint8_t> trailing,
                   std::span<const FilePlace> others) {
  constexpr std::string_view kItem = "<rdf:li";
  const std::string prefix = xmp_prefix(xmp, kXmpItem);
  if (prefix.empty()) return {};
  uint64_t at = 0;
  bool is_first = true;
  for (size_t begin = xmp.find(kItem), next; begin != std::string_view::npos; begin = next) {
    next = xmp.find(kItem, begin + 1);
    const std::string_view text =
        xmp.substr(begin, next == std::string_view::npos ? next : next - begin);
    const std::string_view mime = xmp_value(text, prefix + "Mime");
    if (mime.empty()) continue;
    const uint64_t length = xmp_number(text, prefix + "Length");
    if (std::exchange(is_first, false)) {
      if (length != 0 && length != picture_size)
        return mismatch("length of " + std::to_string(length) + " bytes for the primary image of " +
                        std::to_string(picture_size) + " bytes");
      at = xmp_number(text, prefix + "Padding");
      continue;
    }
    if (length == 0) continue;
    const std::string what =
        name_of(xmp_value(text, prefix + "Semantic")) + " of " + std::to_string(length) + " bytes ";
    if (at > trailing.size() || length > trailing.size() - at)
      return mismatch(what + "exceeds the trailing data of " + std::to_string(trailing.size()) +
                      " bytes");
    if (!begins_at(trailing, at, mime) || !is_as_in_index({at, length}, others))
      return mismatch(what + "is not at byte " + std::to_string(at) + " of the trailing data");
    at += length;
  }
  return {};
}

Status check_film(std::string_view xmp, std::span<const uint8_t> trailing) {
  const std::string prefix = xmp_prefix(xmp, kXmpCamera);
  if (prefix.empty()) return {};
  const uint64_t distance = xmp_number(xmp, prefix + "MicroVideoOffset");
  if (distance == 0) return {};
  if (distance <= trailing.size() && begins_at(trailing, trailing.size() - distance, "video/mp4"))
    return {};
  return mismatch("no MP4 at MicroVideoOffset " + std::to_string(distance));
}

// The size of an item after the move; 0: none of its bytes remain.
uint64_t size_after(const FilePlace& item, std::span<const MovedBytes> moved) {
  for (const MovedBytes& piece : moved) {
    if (piece.was == item) return piece.size;
    if (item.begin >= piece.was.begin && item.end() <= piece.was.end())
      return piece.size == piece.was.size ? item.size : 0;
  }
  return 0;
}

// Where an item's text ends, which begins at 0: after its element, or where the next begins.
size_t end_of_item(std::string_view text) {
  constexpr std::string_view kClosing = "</rdf:li>";
  const size_t closing = text.find(kClosing);
  if (closing != std::string_view::npos) return closing + kClosing.size();
  const size_t tag = text.find('>');
  return tag == std::string_view::npos ? text.size() : tag + 1;
}

void update_items(std::span<const MovedBytes> moved, std::string* xmp) {
  constexpr std::string_view kItem = "<rdf:li";
  const std::string prefix = xmp_prefix(*xmp, kXmpItem);
  size_t begin = prefix.empty() ? std::string::npos : xmp->find(kItem);
  std::string made = xmp->substr(0, begin);
  uint64_t at = 0;
  bool is_first = true;
  while (begin != std::string::npos) {
    const size_t next = xmp->find(kItem, begin + 1);
    std::string text = xmp->substr(begin, next == std::string::npos ? next : next - begin);
    begin = next;
    const uint64_t length = xmp_number(text, prefix + "Length");
    if (xmp_value(text, prefix + "Mime").empty()) {
      // Of another list.
    } else if (std::exchange(is_first, false)) {
      at = xmp_number(text, prefix + "Padding");
      if (at > 0 && size_after({0, at}, moved) == 0) set_xmp_value(prefix + "Padding", "0", &text);
      set_xmp_value(prefix + "Length", "0", &text);  // that the remaining bytes are the picture's
    } else if (length > 0) {
      const bool is_possible = length <= std::numeric_limits<uint64_t>::max() - at;
      const uint64_t size = is_possible ? size_after({at, length}, moved) : 0;
      if (is_possible) at += length;
      if (size > 0)
        set_xmp_value(prefix + "Length", std::to_string(size), &text);
      else
        text.erase(0, end_of_item(text));
    }
    made += text;
  }
  *xmp = std::move(made);
}

}  // namespace

void update_container(std::span<const MovedBytes> moved, std::string* xmp) {
  update_items(moved, xmp);
  const bool lost_film = !moved.empty() && moved.back().was.size > 0 && moved.back().size == 0;
  const std::string camera = xmp_prefix(*xmp, kXmpCamera);
  if (!lost_film || camera.empty()) return;
  for (const char* name : {"MotionPhoto", "MicroVideo", "MicroVideoOffset"})
    set_xmp_value(camera + name, "0", xmp);
}

Status check_container(std::span<const uint8_t> segments, uint64_t picture_size,
                       std::span<const uint8_t> trailing, std::span<const FilePlace> others) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);) {
    const std::optional<std::string_view> xmp = xmp_packet(segment);
    if (!xmp) continue;
    CT_RETURN_IF_ERROR(check_items(*xmp, picture_size, trailing, others));
    CT_RETURN_IF_ERROR(check_film(*xmp, trailing));
  }
  return {};
}

}  // namespace cudatransform
