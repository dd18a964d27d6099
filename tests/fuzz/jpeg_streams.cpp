// Fuzz targets of streams and files of JPEG around their pictures: splitters, indices of several
// pictures (MPF), and metadata after flips and crops.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <utility>
#include <vector>

#include "jpeg/flip_metadata.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "jpeg/splitter.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/jpeg/split_files.h"

namespace {

using namespace cudatransform;
using fuzzing::promise;

// JpegSplitter finds the same pictures for every division of the stream. The input: how many sizes
// of pieces follow, those sizes (0 = 256), then the stream.

using Pictures = std::vector<std::pair<size_t, size_t>>;  // begin, end

bool is_soi(const uint8_t* data) { return data[0] == 0xff && data[1] == 0xd8; }

// Splits as an element does: the splitter restarts after each picture. `sizes` are those of the
// pieces, over and over; none: one piece.
Pictures split(const uint8_t* stream, size_t size, const std::vector<size_t>& sizes) {
  Pictures pictures;
  JpegSplitter splitter;
  size_t start = 0, piece = 0;  // of the wanted picture; of the sizes
  for (;;) {
    const size_t seen = start + splitter.position(), left = size - seen;
    if (!splitter.found() && left > 0) {
      const size_t wanted = sizes.empty() ? left : std::min(left, sizes[piece++ % sizes.size()]);
      // Separate memory, so that a read outside of the piece is seen.
      const std::vector<uint8_t> bytes(stream + seen, stream + seen + wanted);
      const size_t used = splitter.feed(bytes.data(), bytes.size());
      promise(used <= wanted, "feed() uses no more than there is");
      promise(used == wanted || splitter.found(), "feed() looks at everything unless it finds");
      promise(start + splitter.position() == seen + used, "the position is that of the bytes used");
      continue;
    }
    if (!splitter.found()) {
      if (!splitter.inside()) return pictures;
      splitter.cut();
    }
    const size_t begin = splitter.begin(), end = splitter.end();
    promise(splitter.found(), "a picture that was cut has been found");
    promise(end >= begin + 2 && end <= splitter.position(), "a picture lies in what was seen");
    promise(is_soi(stream + start + begin), "a picture begins with SOI");
    pictures.emplace_back(start + begin, start + end);
    start += end;
    splitter.restart();
    promise(splitter.position() == 0 && !splitter.found() && !splitter.inside(),
            "a splitter that starts anew knows nothing");
  }
}

void run_splitter(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const std::vector<size_t> sizes = fuzzing::sizes_of_pieces(&input);
  const Pictures whole = split(input.data(), input.size(), {});
  promise(split(input.data(), input.size(), sizes) == whole,
          "pictures do not depend on how the stream is cut");
  promise(split(input.data(), input.size(), {1}) == whole,
          "pictures do not depend on how the stream is cut into bytes");
  size_t last = 0;
  for (const auto& [begin, end] : whole) {
    promise(begin >= last, "pictures do not overlap");
    last = end;
  }
}

// Splitting a stream into files takes time linear in its bytes and holds no more than may be
// awaited, for any claims and any cuts. The input: a byte of settings (1: all pictures are files,
// 2: trailing bytes stay, 4: framed), how many sizes of pieces follow, those sizes (0 = 256), then
// the stream.
void run_file_splitter(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const uint8_t settings = input.byte();
  const std::vector<size_t> sizes = fuzzing::sizes_of_pieces(&input);
  const std::vector<uint8_t> stream(input.data(), input.data() + input.size());
  const JpegFileRules rules = {.with_others = (settings & 1) == 0,
                               .with_rest = (settings & 3) == 2,
                               .is_framed = (settings & 4) != 0,
                               .most = 1000};
  const test::SplitFilesCost whole = test::split_files(stream, {stream.size() + 1}, rules);
  for (const std::vector<size_t>& pieces : {sizes, {1}, {stream.size() + 1}}) {
    const test::SplitFilesCost cost = test::split_files(stream, pieces, rules);
    promise(cost.end == stream.size(), "all of the stream is split");
    promise(cost.examined <= test::max_examined(stream.size(), cost.calls), "time is linear");
    promise(cost.calls <= 2 * stream.size() + 2, "there is progress");
    const size_t piece = *std::max_element(pieces.begin(), pieces.end());
    promise(cost.max_held <= rules.most + piece, "no more is held than may be awaited");
    size_t last = 0;
    for (const auto& [begin, end] : cost.files) {
      promise(begin >= last && end >= begin + 2 && end <= stream.size(), "files do not overlap");
      promise(stream[begin] == 0xff && stream[begin + 1] == 0xd8, "a file begins with SOI");
      last = end;
    }
    // Pieces are files in a framed stream, and where more is awaited than may be.
    if (!rules.is_framed && stream.size() <= rules.most)
      promise(cost.files == whole.files, "files do not depend on how the stream is cut");
  }
}

// Indices of files with several pictures: what is found is in the file, and a rewritten index leads
// to the places that it names. The input: a file.
void run_mpf(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> file(data, data + size);  // a sanitizer sees reads behind it
  const auto [end, has_end] = first_picture(file);
  promise(end <= size, "a picture ends in its file");
  FilePlaces places;
  if (!find_places(file, end, &places).ok()) return;
  if (!check_places(file, places).ok() || places.count == 0) return;
  promise(places.begin() >= end && places.end() <= size, "pictures lie behind the first");
  if (!has_end) return;

  // The same after a first picture that is larger, by bytes in front of its EOI.
  constexpr size_t kMore = 3;
  std::vector<uint8_t> other(file.begin(), file.begin() + static_cast<ptrdiff_t>(end));
  other.insert(other.end() - 2, kMore, 0);
  const size_t new_end = first_picture(other).size;
  if (new_end != other.size()) return;  // no scan: what was put in ends a segment
  std::vector<FilePlace> others(places.all().begin(), places.all().end());
  for (FilePlace& place : others) place.begin -= end;
  promise(rewrite_mpf(other, others).ok(), "an index that was read is rewritten");
  other.insert(other.end(), file.begin() + static_cast<ptrdiff_t>(end), file.end());
  FilePlaces again;
  promise(find_places(other, new_end, &again).ok() && again.count == places.count,
          "an index that was rewritten is read");
  for (uint32_t i = 0; i < again.count; i++)
    promise(again.place[i] == FilePlace{places.place[i].begin + kMore, places.place[i].size},
            "pictures are where the index says");
}

// The metadata of a file after flips and crops: segments stay segments, attachments stay files that
// follow each other, and nothing grows beyond what is there. The input: a byte of settings, the
// picture's size and the crop (five bytes each), then a file: its segments and, after its first
// picture, the attachments that its index names.

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

void run_metadata(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const uint8_t settings = input.byte();
  PictureFlip flip;
  flip.picture = {1 + input.word() % 512, 1 + input.word() % 512, settings & 1 ? 8 : 16,
                  settings & 2 ? 8 : 16};
  flip.orientation = {(settings & 4) != 0, (settings & 8) != 0, (settings & 16) != 0};
  flip.is_upright = (settings & 32) != 0;
  FlipRequest request = {flip.orientation, input.byte(), input.byte(), input.byte(), input.byte()};
  request.trim = (settings & 64) != 0;
  const std::vector<uint8_t> file(input.data(), input.data() + input.size());
  if (!plan_flip(flip.picture, request, &flip.plan).ok()) return;
  FileMetadata metadata = metadata_of(file);
  const size_t before = metadata.attachments.size();
  const std::string lost = flip_metadata(flip, &metadata);
  promise(metadata.attachments.size() <= before, "no attachment comes from nowhere");
  promise(metadata.attachments.size() == before || !lost.empty(), "what is lost is named");
  check(metadata, flip.orientation != Orientation() && !flip.is_upright);
}

const fuzzing::Targets targets({{"fuzz_jpeg_splitter", run_splitter},
                                {"fuzz_jpeg_file_splitter", run_file_splitter},
                                {"fuzz_jpeg_mpf", run_mpf},
                                {"fuzz_jpeg_metadata", run_metadata}});

}  // namespace
