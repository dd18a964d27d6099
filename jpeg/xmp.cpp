// XMP packets in JPEG files (ISO 16684-1): properties found, replaced and removed in their text.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets are searched as text, not parsed as XML: what other programs have written stays as it is.

#include "jpeg/xmp.h"

#include <charconv>

namespace cudatransform {
namespace {

// What an APP1 segment of a packet, or of a part of an extended one, begins with.
constexpr std::string_view kHead("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr std::string_view kExtensionHead("http://ns.adobe.com/xmp/extension/\0", 35);
constexpr uint8_t kApp1 = 0xe1;

constexpr std::string_view kSpace = " \t\r\n";
constexpr auto kNowhere = std::string_view::npos;

// Longer prefixes than anybody uses would make a search for them take quadratic time.
constexpr size_t kMostPrefix = 64;

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

// The property whose name is at `at`, with its value; none where that is no property.
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

// The end of the element of a name that begins at `at`: behind its closing tag, or its own.
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
    if (end == kNowhere || end + 1 != at || end - begin > kMostPrefix) continue;
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

}  // namespace cudatransform
