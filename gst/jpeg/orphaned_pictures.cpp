// The pictures of an MPF file that arrive as separate buffers after its first.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/orphaned_pictures.h"

#include <algorithm>
#include <span>
#include <utility>

#include "gst/engine/contiguous_adapter.h"

namespace cudatransform {
namespace {

// More is not held of a file: bytes, and pictures, each of which is a memory of a buffer. GStreamer
// merges more memories than 16, and ends the process where it cannot.
constexpr uint64_t kMaxBytes = uint64_t{1} << 28;
constexpr uint32_t kMaxHeld = 8;

// Whether pictures at these places follow each other from `begin` on.
bool are_in_a_row(const FilePlaces& places, uint64_t begin) {
  for (const FilePlace& place : places.all()) {
    if (place.begin != begin) return false;
    begin = place.end();
  }
  return begin <= kMaxBytes && places.count <= kMaxHeld;
}

// Calls `with` with the buffer's bytes if they are contiguous, as parsers make them: checking them
// is not worth a copy.
template <typename Function>
void inspect(GstBuffer* buffer, const Function& with) {
  GstMapInfo map;
  if (!is_one_piece(buffer) || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return;
  with(std::span<const uint8_t>(map.data, map.size));
  gst_buffer_unmap(buffer, &map);
}

bool read_places(GstBuffer* picture, FilePlaces* places) {
  bool found = false;
  inspect(picture, [&](std::span<const uint8_t> bytes) {
    found = find_places(bytes, bytes.size(), places).ok();
  });
  return found && places->count > 0;
}

gsize size_without_trailer(GstBuffer* picture) {
  gsize size = 0;
  inspect(picture, [&](std::span<const uint8_t> bytes) { size = first_picture(bytes).size; });
  return size;
}

}  // namespace

OrphanedPictures::~OrphanedPictures() {
  if (held_) gst_video_codec_frame_unref(held_);
}

bool OrphanedPictures::hold(GstVideoCodecFrame* frame) {
  FilePlaces places;
  if (!holds_ || held_ || gst_buffer_n_memory(frame->input_buffer) != 1 ||
      !read_places(frame->input_buffer, &places) ||
      !are_in_a_row(places, gst_buffer_get_size(frame->input_buffer)))
    return false;
  expect(places);
  held_ = frame;
  return true;
}

GstVideoCodecFrame* OrphanedPictures::release() { return std::exchange(held_, nullptr); }

bool OrphanedPictures::take(GstBuffer* picture) {
  const std::span<const FilePlace> left = expected_.all().subspan(next_);
  const auto find = [left](gsize size) {
    return std::find_if(left.begin(), left.end(),
                        [size](const FilePlace& place) { return place.size == size; });
  };
  auto found = find(gst_buffer_get_size(picture));
  // In a stream the file's trailer may follow it.
  if (found == left.end() && !left.empty() && !held_) found = find(size_without_trailer(picture));
  if (found == left.end() || (held_ && found != left.begin())) {
    expected_.count = next_ = 0;
    if (held_) holds_ = false;
    return false;
  }
  BufferPtr one(held_ == nullptr                    ? nullptr
                : gst_buffer_n_memory(picture) == 1 ? gst_buffer_ref(picture)
                                                    : copy_bytes(picture));
  if (held_ && !one) return false;  // no memory
  next_ += static_cast<uint32_t>(found - left.begin()) + 1;
  if (held_) held_->input_buffer = gst_buffer_append(held_->input_buffer, one.release());
  return true;
}

}  // namespace cudatransform
