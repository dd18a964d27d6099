// The pictures of a file that come by themselves behind its first.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/detached_pictures.h"

#include <span>
#include <utility>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/one_piece.h"

namespace cudatransform {
namespace {

// More is not held of a file: bytes, and pictures, each of which is a memory of a buffer. GStreamer
// merges more memories than 16, and ends the process where it cannot.
constexpr uint64_t kMostBytes = uint64_t{1} << 28;
constexpr uint32_t kMostHeld = 8;

// Whether pictures at these places follow each other from `begin` on.
bool are_in_a_row(const FilePlaces& places, uint64_t begin) {
  for (const FilePlace& place : places.all()) {
    if (place.begin != begin) return false;
    begin = place.end();
  }
  return begin <= kMostBytes && places.count <= kMostHeld;
}

bool read_places(GstBuffer* picture, FilePlaces* places) {
  BufferPtr piece;
  GstMapInfo map;
  if (!in_one_piece(picture, &piece).ok() || !gst_buffer_map(piece.get(), &map, GST_MAP_READ))
    return false;
  const bool found = find_places({map.data, map.size}, map.size, places).ok();
  gst_buffer_unmap(piece.get(), &map);
  return found && places->count > 0;
}

}  // namespace

DetachedPictures::~DetachedPictures() {
  if (held_) gst_video_codec_frame_unref(held_);
}

bool DetachedPictures::hold(GstVideoCodecFrame* frame) {
  FilePlaces places;
  if (!holds_ || held_ || !read_places(frame->input_buffer, &places) ||
      !are_in_a_row(places, gst_buffer_get_size(frame->input_buffer)))
    return false;
  expect(places);
  held_ = frame;
  return true;
}

GstVideoCodecFrame* DetachedPictures::release() { return std::exchange(held_, nullptr); }

bool DetachedPictures::take(GstBuffer* picture) {
  if (next_ < expected_.count && expected_.place[next_].size == gst_buffer_get_size(picture)) {
    next_++;
    if (held_)
      held_->input_buffer = gst_buffer_append(held_->input_buffer, gst_buffer_ref(picture));
    return true;
  }
  expected_.count = 0;
  if (held_) holds_ = false;
  return false;
}

}  // namespace cudatransform
