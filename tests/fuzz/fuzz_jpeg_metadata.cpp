// Fuzz target: what a file has besides its picture, after flips and crops. Segments stay segments,
// attachments stay files that follow each other, and nothing grows beyond what is there.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings, the picture's size and the crop (five bytes each), then a file:
// its segments and, behind its first picture, the attachments that its index names.
#include <algorithm>
#include <vector>

#include "jpeg/flip_metadata.h"
#include "jpeg/metadata.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace cudatransform;
using fuzzing::promise;

FileMetadata metadata_of(const std::vector<uint8_t>& file) {
  FileMetadata metadata;
  const FirstPicture first = first_picture(file);
  const JpegKept kept = {.index = true};
  metadata.segments.resize(jpeg_metadata_size(file, kept));
  if (!metadata.segments.empty()) copy_jpeg_metadata(file, kept, metadata.segments.data());
  metadata.trailing.assign(file.begin() + static_cast<ptrdiff_t>(first.size), file.end());
  FilePlaces places;
  (void)find_places(file, first.size, &places);  // true or not
  for (FilePlace place : places.all()) {
    place.begin -= first.size;
    metadata.attachments.push_back(place);
  }
  return metadata;
}

void check(const FileMetadata& metadata, bool is_decoded) {
  JpegSegments segments(metadata.segments);
  size_t bytes = 0;
  for (JpegSegment segment; segments.next(&segment);) bytes += 4 + segment.data.size();
  promise(bytes == metadata.segments.size(), "segments follow each other");
  std::vector<FilePlace> places = metadata.attachments;
  std::sort(places.begin(), places.end(),
            [](const FilePlace& a, const FilePlace& b) { return a.begin < b.begin; });
  uint64_t at = 0;
  for (const FilePlace& place : places) {
    promise(place.begin >= at && place.size > 0, "attachments do not overlap");
    at = place.end();
    promise(at <= metadata.trailing.size(), "attachments are among the bytes behind the picture");
    const std::span file = std::span(metadata.trailing).subspan(place.begin, place.size);
    // One that is not flipped is not decoded either.
    promise(!is_decoded || first_picture(file).has_end, "an attachment is a whole image");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const uint8_t settings = input.byte();
  PictureFlip flip;
  flip.picture = {1 + input.word() % 512, 1 + input.word() % 512, settings & 1 ? 8 : 16,
                  settings & 2 ? 8 : 16};
  flip.turn = {(settings & 4) != 0, (settings & 8) != 0, (settings & 16) != 0};
  flip.is_upright = (settings & 32) != 0;
  FlipRequest request = {flip.turn, input.byte(), input.byte(), input.byte(), input.byte()};
  request.trim = (settings & 64) != 0;
  const std::vector<uint8_t> file(input.data(), input.data() + input.size());
  if (!plan_flip(flip.picture, request, &flip.plan).ok()) return 0;
  FileMetadata metadata = metadata_of(file);
  const size_t before = metadata.attachments.size();
  const std::string lost = flip_metadata(flip, &metadata);
  promise(metadata.attachments.size() <= before, "no attachment comes from nowhere");
  promise(metadata.attachments.size() == before || !lost.empty(), "what is lost is named");
  check(metadata, flip.turn != Turn() && !flip.is_upright);
  return 0;
}
