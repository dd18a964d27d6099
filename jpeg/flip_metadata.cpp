// What a JPEG file has besides its picture, after the picture was rotated, mirrored or cropped.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/flip_metadata.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "jpeg/exif.h"
#include "jpeg/flip_file.h"
#include "jpeg/metadata.h"

namespace cudatransform {
namespace {

using Bytes = std::span<const uint8_t>;

// Images that belong to a picture have no more pixels together than some times its own, unless that
// is small: what a file can make us decode is bounded.
constexpr uint64_t kLeastPixels = uint64_t{1} << 24, kMaxPictures = 4;

// Filler between files, which shows nothing.
bool is_padding(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [&](uint8_t byte) { return byte == bytes[0]; });
}

// ISO 14496-12: the first box is `ftyp`, behind its size.
bool is_film(Bytes bytes) {
  constexpr std::string_view kFtyp = "ftyp";
  return bytes.size() >= 8 && std::equal(kFtyp.begin(), kFtyp.end(), bytes.begin() + 4);
}

std::vector<uint8_t> segments_of(Bytes file, bool is_cmyk) {
  const JpegKept kept = {.index = false, .adobe = is_cmyk};
  std::vector<uint8_t> segments(jpeg_metadata_size(file, kept));
  if (!segments.empty()) copy_jpeg_metadata(file, kept, segments.data());
  return segments;
}

class Flipper {
 public:
  explicit Flipper(const PictureFlip& flip)
      : flip_(flip),
        pixels_(std::max(kLeastPixels,
                         kMaxPictures * uint64_t(flip.picture.width) * flip.picture.height)) {}

  std::string flip(FileMetadata* metadata) {
    flip_trailing(*metadata);
    metadata->trailing = std::move(made_);
    metadata->attachments.clear();
    for (const uint32_t number : done_.kept) metadata->attachments.push_back(places_[number]);
    FlippedSegments made = flip_segments(flip_, done_, metadata->segments, &pixels_);
    metadata->segments = std::move(made.segments);
    lose(made.lost);
    std::string text;
    for (const std::string& what : lost_) text += (text.empty() ? "" : ", ") + what;
    return text;
  }

 private:
  void lose(const std::vector<std::string>& all) {
    for (const std::string& what : all)
      if (std::find(lost_.begin(), lost_.end(), what) == lost_.end()) lost_.push_back(what);
  }
  bool is_whole() const { return shows_all(flip_, flip_.picture); }
  bool plan_attachment(const FlipPicture& image, int orientation, PictureFlip* own,
                       FlipRequest* request) const;
  bool flip_attachment(Bytes file, std::vector<uint8_t>* made);
  void add_attachment(Bytes trailing, size_t number, size_t count, const FilePlace& was);
  void add_others(Bytes trailing, const FilePlace& was);
  void flip_trailing(const FileMetadata& metadata);

  const PictureFlip& flip_;
  uint64_t pixels_;  // that may still be decoded
  JpegFileFlipper file_;
  std::vector<uint8_t> made_;      // the bytes behind the result
  std::vector<FilePlace> places_;  // in there, by the attachments' old numbers; empty: lost
  FlippedTrailing done_;
  std::vector<std::string> lost_;
};

// What the flip of an attachment is, which may have an orientation of its own.
bool Flipper::plan_attachment(const FlipPicture& image, int orientation, PictureFlip* own,
                              FlipRequest* request) const {
  *own = {image, flip_.turn, {}, flip_.is_upright};
  const Turn upright = upright_turn(orientation);
  if (flip_.is_upright && orientation != 0 && upright != flip_.turn) {
    if (!is_whole()) return false;
    own->turn = upright;
    *request = {.turn = upright, .perfect = true};
  } else if (!flip_along(flip_, image, request)) {
    return false;
  }
  return plan_flip(image, *request, &own->plan).ok();
}

bool Flipper::flip_attachment(Bytes file, std::vector<uint8_t>* made) {
  FlipPicture image;
  if (!file_.open(file, &pixels_, &image).ok()) return false;
  const std::vector<uint8_t> segments = segments_of(file, file_.is_cmyk());
  PictureFlip own;
  FlipRequest request;
  if (!plan_attachment(image, exif_orientation(segments), &own, &request)) return false;
  if (own.turn == Turn() && own.plan.width == image.width && own.plan.height == image.height) {
    made->assign(file.begin(), file.end());
  } else {
    const FlippedSegments its = flip_segments(own, {}, segments, &pixels_);
    JpegBytes bytes;
    if (!file_.flip(request, its.segments, &bytes).ok()) return false;
    made->assign(bytes.data(), bytes.data() + bytes.size());
    lose(its.lost);
  }
  done_.has_gain_map |= are_of_gain_map(segments);
  return true;
}

void Flipper::add_attachment(Bytes trailing, size_t number, size_t count, const FilePlace& was) {
  const Bytes file = trailing.subspan(was.begin, was.size);
  std::vector<uint8_t> flipped;
  if (!flip_attachment(file, &flipped)) {
    flipped.clear();
    done_.has_lost = true;
    const std::string what =
        "attachment " + std::to_string(number + 1) + " of " + std::to_string(count);
    lost_.push_back(are_of_gain_map(segments_of(file, false)) ? what + " (a gain map)" : what);
  }
  places_[number] = {made_.size(), flipped.size()};
  done_.moved.push_back({was, flipped.size()});
  made_.insert(made_.end(), flipped.begin(), flipped.end());
}

// Bytes between attachments and behind them: padding, films, data of a camera's maker.
void Flipper::add_others(Bytes trailing, const FilePlace& was) {
  const Bytes bytes = trailing.subspan(was.begin, was.size);
  const bool stay = is_padding(bytes) || (flip_.is_upright && is_whole() &&
                                          (is_film(bytes) || !has_image(bytes, &file_)));
  done_.has_lost |= !stay;
  if (!stay) lost_.push_back("trailing data of " + std::to_string(was.size) + " bytes");
  done_.moved.push_back({was, stay ? was.size : 0});
  if (stay) made_.insert(made_.end(), bytes.begin(), bytes.end());
}

void Flipper::flip_trailing(const FileMetadata& metadata) {
  const std::vector<FilePlace>& all = metadata.attachments;
  std::vector<uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return all[a].begin < all[b].begin; });
  places_.resize(all.size());
  const uint64_t size = metadata.trailing.size();
  uint64_t at = 0;
  for (const uint32_t number : order) {
    const FilePlace& place = all[number];
    // What lies over another, or outside, is nothing that could be kept.
    if (place.begin < at || place.begin > size || place.size > size - place.begin) {
      lost_.push_back("attachment " + std::to_string(number + 1) +
                      ", which is not where it should be");
      done_.has_lost = true;
      continue;
    }
    if (place.begin > at) add_others(metadata.trailing, {at, place.begin - at});
    add_attachment(metadata.trailing, number, all.size(), place);
    at = place.end();
  }
  if (size > 0) add_others(metadata.trailing, {at, size - at});
  for (uint32_t i = 0; i < places_.size(); i++)
    if (places_[i].size > 0) done_.kept.push_back(i);
}

}  // namespace

std::string flip_metadata(const PictureFlip& flip, FileMetadata* metadata) {
  return Flipper(flip).flip(metadata);
}

}  // namespace cudatransform
