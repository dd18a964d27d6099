// The GstDctJpegMeta of a flipped picture, and what it says of the picture's orientation.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/flip_metadata.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "gst/engine/buffer_ptr.h"
#if CT_HAVE_JPEG
#include "jpeg/exif.h"
#include "jpeg/flip_metadata.h"
#endif

namespace cudatransform {

#if CT_HAVE_JPEG

namespace {

std::vector<uint8_t> copy_of(GBytes* bytes) {
  gsize size = 0;
  const auto* data = bytes ? static_cast<const uint8_t*>(g_bytes_get_data(bytes, &size)) : nullptr;
  return {data, data + size};
}

// Without a copy, for which GLib would end the process when memory runs out.
BytesPtr bytes_of(std::vector<uint8_t> data) {
  auto* held = new std::vector<uint8_t>(std::move(data));
  const auto free = [](gpointer memory) { delete static_cast<std::vector<uint8_t>*>(memory); };
  return BytesPtr(g_bytes_new_with_free_func(held->data(), held->size(), free, held));
}

// Throws std::bad_alloc.
std::string flip_all(const PictureFlip& flip, GstDctJpegMeta* meta) {
  FileMetadata metadata = {copy_of(meta->segments), copy_of(meta->behind), {}};
  const guint count = std::min<guint>(meta->n_attachments, GST_DCT_JPEG_MAX_ATTACHMENTS);
  for (guint i = 0; i < count; i++)
    metadata.attachments.push_back({meta->attachments[i].offset, meta->attachments[i].size});
  std::string lost = flip_metadata(flip, &metadata);
  std::vector<GstDctJpegPlace> places;
  for (const FilePlace& place : metadata.attachments) places.push_back({place.begin, place.size});
  const bool has_trailing = !metadata.trailing.empty();
  BytesPtr segments(bytes_of(std::move(metadata.segments)));
  const BytesPtr trailing(bytes_of(std::move(metadata.trailing)));
  // Without segments the meta of CMYK says that there was no Adobe marker.
  const BytesPtr old(meta->segments);
  meta->segments = old ? segments.release() : nullptr;
  gst_dct_jpeg_meta_set_behind(meta, has_trailing ? trailing.get() : nullptr, places.data(),
                               static_cast<guint>(places.size()));
  return lost;
}

}  // namespace

bool read_upright_turn(const GstDctJpegMeta& meta, Turn* turn) {
  gsize size = 0;
  const auto* data =
      meta.segments ? static_cast<const uint8_t*>(g_bytes_get_data(meta.segments, &size)) : nullptr;
  try {
    const int orientation = exif_orientation({data, size});
    *turn = upright_turn(orientation);
    return orientation != 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::string flip_jpeg_meta(const PictureFlip& flip, GstDctJpegMeta* meta) {
  try {
    return flip_all(flip, meta);
  } catch (const std::bad_alloc&) {
    const BytesPtr segments(g_steal_pointer(&meta->segments));
    gst_dct_jpeg_meta_set_behind(meta, nullptr, nullptr, 0);
    return "all metadata";  // short enough to need none
  }
}

#else

bool read_upright_turn(const GstDctJpegMeta&, Turn*) { return false; }

std::string flip_jpeg_meta(const PictureFlip&, GstDctJpegMeta* meta) {
  const BytesPtr segments(g_steal_pointer(&meta->segments));
  const bool had_any = segments || meta->behind;
  gst_dct_jpeg_meta_set_behind(meta, nullptr, nullptr, 0);
  return had_any ? "all metadata: this build has no libjpeg" : "";
}

#endif

}  // namespace cudatransform
