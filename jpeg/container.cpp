// Lengths in a JPEG file's XMP data, of the bytes behind its picture: Google's Container.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/container.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jpeg/metadata.h"
#include "jpeg/xmp.h"

namespace cudatransform {
namespace {

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
         std::equal(what.begin(), what.end(), bytes.begin() + static_cast<ptrdiff_t>(at),
                    [](char letter, uint8_t byte) { return static_cast<uint8_t>(letter) == byte; });
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
        return untrue("a length of " + std::to_string(length) +
                      " bytes for the picture, which has " + std::to_string(picture_size));
      at = xmp_number(text, prefix + "Padding");
      continue;
    }
    if (length == 0) continue;
    const std::string what = name_of(xmp_value(text, prefix + "Semantic")) + " of " +
                             std::to_string(length) + " bytes, ";
    if (at > behind.size() || length > behind.size() - at)
      return untrue(what + "and behind the picture there are " + std::to_string(behind.size()));
    if (!begins_at(behind, at, mime) || !is_as_in_index({at, length}, others))
      return untrue(what + "which is not at byte " + std::to_string(at) + " behind the picture");
    at += length;
  }
  return {};
}

Status check_film(std::string_view xmp, std::span<const uint8_t> behind) {
  const std::string prefix = xmp_prefix(xmp, kXmpCamera);
  if (prefix.empty()) return {};
  const uint64_t distance = xmp_number(xmp, prefix + "MicroVideoOffset");
  if (distance == 0) return {};
  if (distance <= behind.size() && begins_at(behind, behind.size() - distance, "video/mp4"))
    return {};
  return untrue("a film " + std::to_string(distance) +
                " bytes before the file's end, where none is");
}

// What became of the bytes of an item; 0: nothing is left of them.
uint64_t size_after(const FilePlace& item, std::span<const MovedBytes> moved) {
  for (const MovedBytes& piece : moved) {
    if (piece.was == item) return piece.size;
    if (item.begin >= piece.was.begin && item.end() <= piece.was.end())
      return piece.size == piece.was.size ? item.size : 0;
  }
  return 0;
}

// Where an item's text ends, which begins at 0: behind its element, or where the next begins.
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
      set_xmp_value(prefix + "Length", "0", &text);  // that the picture has what is left
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
                       std::span<const uint8_t> behind, std::span<const FilePlace> others) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);) {
    const std::optional<std::string_view> xmp = xmp_packet(segment);
    if (!xmp) continue;
    CT_RETURN_IF_ERROR(check_items(*xmp, picture_size, behind, others));
    CT_RETURN_IF_ERROR(check_film(*xmp, behind));
  }
  return {};
}

}  // namespace cudatransform
