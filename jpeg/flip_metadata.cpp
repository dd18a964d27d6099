// The metadata of a JPEG file after its picture was rotated, mirrored or cropped.
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
#include "jpeg/mpf.h"
#include "jpeg/stuffing.h"
#include "jpeg/tiff.h"
#include "jpeg/xmp.h"

namespace cudatransform {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr std::string_view kIso21496("urn:iso:std:iso:ts:21496:-1\0", 28);
constexpr std::string_view kJfxx("JFXX\0", 5), kIcc("ICC_PROFILE\0", 12);
constexpr std::string_view kGainMapSpace = "http://ns.adobe.com/hdr-gain-map/1.0/";
constexpr std::string_view kTiffSpace = "http://ns.adobe.com/tiff/1.0/";
constexpr std::string_view kExifSpace = "http://ns.adobe.com/exif/1.0/";
constexpr std::string_view kXmpNoteSpace = "http://ns.adobe.com/xmp/note/";

// Properties of XMP that are about places in the picture, or show it.
constexpr struct {
  std::string_view space;
  const char* name;
  const char* what;
} kPlaces[] = {
    {"http://www.metadataworkinggroup.com/schemas/regions/", "Regions", "XMP regions"},
    {"http://ns.microsoft.com/photo/1.2/", "RegionInfo", "XMP regions"},
    {"http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "ImageRegion", "XMP regions"},
    {"http://ns.adobe.com/xap/1.0/", "Thumbnails", "XMP thumbnails"},
    {"http://ns.google.com/photos/1.0/panorama/", "ProjectionType", "XMP panorama data"},
    {"http://ns.google.com/photos/1.0/panorama/", "UsePanoramaViewer", "XMP panorama data"},
};
// Namespaces of pictures and depth maps in extended packets.
constexpr std::string_view kExtendedImages[] = {
    "http://ns.google.com/photos/1.0/depthmap/", "http://ns.google.com/photos/1.0/image/",
    "http://ns.google.com/photos/dd/1.0/", "http://ns.adobe.com/xap/1.0/g/img/"};

bool begins_with(const JpegSegment& segment, std::string_view head) {
  return segment.begins_with(head.data(), head.size());
}

bool has_extended_images(Bytes segments) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);) {
    std::optional<std::string_view> xmp = xmp_packet(segment);
    if (!xmp) xmp = extended_xmp(segment);
    for (const std::string_view space : kExtendedImages)
      if (xmp && xmp->find(space) != std::string_view::npos) return true;
  }
  return false;
}

// ---- Photoshop's image resources (APP13) ----

// Each is "8BIM", an identifier (2 bytes), a name (its length in a byte first), the size of its
// data (4) and these; name and data are padded to an even number of bytes. Numbers are big-endian
// (Adobe Photoshop File Formats Specification, "Image Resource Blocks").
constexpr std::string_view kPhotoshop("Photoshop 3.0\0", 14), kSignature = "8BIM";
constexpr uint32_t kThumbnail = 1036, kOldThumbnail = 1033;

bool is_photoshop(const JpegSegment& segment) {
  return segment.code == kApp13 && segment.begins_with(kPhotoshop.data(), kPhotoshop.size());
}

// Removes thumbnails from the data of such a segment, which are empty if nothing else is in them.
// Whether there were any.
bool remove_photoshop_thumbnails(std::vector<uint8_t>* data) {
  constexpr size_t kIdentifier = 4, kName = 6;
  std::vector<uint8_t> left(data->begin(), data->begin() + kPhotoshop.size());
  bool had_any = false;
  for (size_t at = kPhotoshop.size(); at < data->size();) {
    const uint8_t* resource = data->data() + at;
    const size_t room = data->size() - at;
    size_t size = room;  // what is no resource stays
    uint32_t identifier = 0;
    if (room > kName && std::equal(kSignature.begin(), kSignature.end(), resource)) {
      identifier = read_number(resource + kIdentifier, 2, true);
      const size_t size_at = kName + (resource[kName] + size_t{2}) / 2 * 2;
      // One that continues in another segment ends this one.
      if (room >= size_at + 4)
        size = std::min(
            room, size_at + 4 + (size_t{read_number(resource + size_at, 4, true)} + 1) / 2 * 2);
    }
    const bool shows = identifier == kThumbnail || identifier == kOldThumbnail;
    if (!shows) left.insert(left.end(), resource, resource + size);
    had_any |= shows;
    at += size;
  }
  if (left.size() == kPhotoshop.size()) left.clear();
  if (had_any) *data = left;
  return had_any;
}

// ---- All segments ----

class SegmentFlipper {
 public:
  SegmentFlipper(const PictureFlip& flip, const FlippedTrailing& trailing, uint64_t* pixels)
      : flip_(flip), trailing_(trailing), pixels_(pixels) {}

  FlippedSegments flip(Bytes segments) {
    drops_extensions_ = has_extended_images(segments);
    JpegSegments all(segments);
    for (JpegSegment segment; all.next(&segment);) {
      std::vector<uint8_t> data(segment.data.begin(), segment.data.end());
      if (flip_data(segment, &data)) append(segment.code, data);
    }
    return std::move(made_);
  }

 private:
  using Data = std::vector<uint8_t>;

  // Changes the data of a segment. False: it is removed.
  bool flip_data(const JpegSegment& segment, Data* data);
  bool flip_exif_data(Data* data);
  bool flip_xmp(std::string xmp, Data* data);
  bool flip_index(Bytes tiff, Data* data);
  bool flip_jfif(Data* data);
  EmbeddedImage flip_embedded(Bytes file, Data* made);

  void append(uint8_t code, const Data& data);
  bool lose(const char* what) {
    std::vector<std::string>& lost = made_.lost;
    if (std::find(lost.begin(), lost.end(), what) == lost.end()) lost.emplace_back(what);
    return false;
  }
  bool lost_gain_map() const { return trailing_.has_lost && !trailing_.has_gain_map; }

  const PictureFlip& flip_;
  const FlippedTrailing& trailing_;
  uint64_t* pixels_;
  JpegFileFlipper file_;
  bool drops_extensions_ = false;
  FlippedSegments made_;
};

void SegmentFlipper::append(uint8_t code, const Data& data) {
  if (data.size() > JpegSegment::kMaxData) {
    lose("segments that have become too large");
    return;
  }
  const size_t length = data.size() + 2;
  const uint8_t head[] = {0xff, code, static_cast<uint8_t>(length >> 8),
                          static_cast<uint8_t>(length)};
  made_.segments.insert(made_.segments.end(), std::begin(head), std::end(head));
  made_.segments.insert(made_.segments.end(), data.begin(), data.end());
}

bool SegmentFlipper::flip_data(const JpegSegment& segment, Data* data) {
  if (segment.is_exif()) return flip_exif_data(data);
  if (segment.is_mpf()) return flip_index(segment.data.subspan(kMpfHead), data);
  if (segment.is_jfif()) return flip_jfif(data);
  if (const auto xmp = xmp_packet(segment)) return flip_xmp(std::string(*xmp), data);
  if (extended_xmp(segment))
    return !drops_extensions_ || lose("extended XMP with a depth map or image");
  if (is_photoshop(segment))
    return !remove_photoshop_thumbnails(data) || (lose("Photoshop thumbnail"), !data->empty());
  if (segment.code == kApp0 && begins_with(segment, kJfxx)) return lose("JFIF thumbnail");
  // Content credentials and the like, which are bound to the pixels that they were made for.
  if (segment.code == kApp11 && segment.begins_with("JP", 2)) return lose("JUMBF boxes");
  if (segment.code == kApp2 && begins_with(segment, kIso21496)) return !lost_gain_map();
  if (segment.code == kCom || begins_with(segment, kIcc)) return true;
  return !has_image(segment.data, &file_) || lose("preview in an APPn segment");
}

// ---- Kinds of segments ----

EmbeddedImage SegmentFlipper::flip_embedded(Bytes file, Data* made) {
  FlipPicture image;
  const Status opened = file_.open(file, pixels_, &image);
  if (opened.code == StatusCode::kInvalidArgument) return EmbeddedImage::kNoImage;
  FlipRequest request;
  if (!opened.ok() || !shows_all(flip_, image) || !flip_along(flip_, image, &request))
    return EmbeddedImage::kLost;
  JpegBytes bytes;
  // No reader searches that for metadata.
  if (!file_.flip(request, {}, &bytes).ok()) return EmbeddedImage::kLost;
  made->assign(bytes.data(), bytes.data() + bytes.size());
  return EmbeddedImage::kMade;
}

bool SegmentFlipper::flip_exif_data(Data* data) {
  if (data->size() < kExifHead) return true;
  TiffEditor tiff({data->begin() + kExifHead, data->end()});
  ExifFlip how;
  how.is_upright = flip_.is_upright;
  how.transposes = flip_.orientation.transposes;
  how.width = static_cast<uint32_t>(flip_.plan.width);
  how.height = static_cast<uint32_t>(flip_.plan.height);
  how.image = [this](Bytes image, Data* made) { return flip_embedded(image, made); };
  how.point = [this](int32_t* x, int32_t* y) { return flip_point(flip_, x, y); };
  const ExifLost lost = flip_exif(how, &tiff);
  if (lost.thumbnail) lose("Exif thumbnail");
  if (lost.preview) lose("preview in Exif data");
  data->resize(kExifHead);
  data->insert(data->end(), tiff.bytes().begin(), tiff.bytes().end());
  return true;
}

bool SegmentFlipper::flip_xmp(std::string xmp, Data* data) {
  const size_t head = data->size() - xmp.size();
  const auto set = [&](std::string_view space, const char* name, int32_t value) {
    if (const std::string prefix = xmp_prefix(xmp, space); !prefix.empty())
      set_xmp_value(prefix + name, std::to_string(value), &xmp);
  };
  const auto remove = [&](std::string_view space, const char* name) {
    const std::string prefix = xmp_prefix(xmp, space);
    return !prefix.empty() && remove_xmp_property(prefix + name, &xmp);
  };
  if (flip_.is_upright) set(kTiffSpace, "Orientation", 1);
  set(kTiffSpace, "ImageWidth", flip_.plan.width);
  set(kTiffSpace, "ImageLength", flip_.plan.height);
  set(kExifSpace, "PixelXDimension", flip_.plan.width);
  set(kExifSpace, "PixelYDimension", flip_.plan.height);
  for (const auto& place : kPlaces)
    if (remove(place.space, place.name)) lose(place.what);
  if (drops_extensions_) remove(kXmpNoteSpace, "HasExtendedXMP");
  if (lost_gain_map()) remove(kGainMapSpace, "Version");
  if (!trailing_.moved.empty()) update_container(trailing_.moved, &xmp);
  data->resize(head);
  data->insert(data->end(), xmp.begin(), xmp.end());
  return true;
}

bool SegmentFlipper::flip_index(Bytes tiff, Data* data) {
  if (!trailing_.has_lost) return true;  // sizes are written with the file
  if (!trailing_.kept.empty()) *data = shorter_mpf(tiff, trailing_.kept);
  return !trailing_.kept.empty() && !data->empty();
}

// The header is units, densities of columns and rows, and the width and height of a thumbnail whose
// pixels follow (JFIF 1.02).
bool SegmentFlipper::flip_jfif(Data* data) {
  constexpr size_t kDensities = 8, kThumbnail = 12, kWithout = 14;
  if (flip_.orientation.transposes)
    std::swap_ranges(&(*data)[kDensities], &(*data)[kDensities + 2], &(*data)[kDensities + 2]);
  const bool has_thumbnail = (*data)[kThumbnail] != 0 && (*data)[kThumbnail + 1] != 0;
  (*data)[kThumbnail] = (*data)[kThumbnail + 1] = 0;
  data->resize(kWithout);
  if (has_thumbnail) lose("JFIF thumbnail");
  return true;
}

}  // namespace

FlippedSegments flip_segments(const PictureFlip& flip, const FlippedTrailing& trailing,
                              Bytes segments, uint64_t* pixels) {
  return SegmentFlipper(flip, trailing, pixels).flip(segments);
}

bool are_of_gain_map(Bytes segments) {
  JpegSegments all(segments);
  for (JpegSegment segment; all.next(&segment);) {
    if (segment.code == kApp2 && begins_with(segment, kIso21496)) return true;
    const auto xmp = xmp_packet(segment);
    if (xmp && xmp->find(kGainMapSpace) != std::string_view::npos) return true;
  }
  return false;
}

namespace {

// Images that belong to a picture have no more pixels together than some times its own, unless that
// is small: what a file can make us decode is bounded.
constexpr uint64_t kMinPixels = uint64_t{1} << 24, kMaxPictures = 4;

// Filler between files, without pictures.
bool is_padding(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [&](uint8_t byte) { return byte == bytes[0]; });
}

// ISO 14496-12: the first box is `ftyp`, after its size.
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

class MetadataFlipper {
 public:
  explicit MetadataFlipper(const PictureFlip& flip)
      : flip_(flip),
        pixels_(std::max(kMinPixels,
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
  std::vector<uint8_t> made_;      // the bytes after the result
  std::vector<FilePlace> places_;  // in there, by the attachments' old numbers; empty: lost
  FlippedTrailing done_;
  std::vector<std::string> lost_;
};

// The flip of an attachment, which may have its own orientation.
bool MetadataFlipper::plan_attachment(const FlipPicture& image, int orientation, PictureFlip* own,
                                      FlipRequest* request) const {
  *own = {image, flip_.orientation, {}, flip_.is_upright};
  const Orientation upright = upright_orientation(orientation);
  if (flip_.is_upright && orientation != 0 && upright != flip_.orientation) {
    if (!is_whole()) return false;
    own->orientation = upright;
    *request = {.orientation = upright, .perfect = true};
  } else if (!flip_along(flip_, image, request)) {
    return false;
  }
  return plan_flip(image, *request, &own->plan).ok();
}

bool MetadataFlipper::flip_attachment(Bytes file, std::vector<uint8_t>* made) {
  FlipPicture image;
  if (!file_.open(file, &pixels_, &image).ok()) return false;
  const std::vector<uint8_t> segments = segments_of(file, file_.is_cmyk());
  PictureFlip own;
  FlipRequest request;
  if (!plan_attachment(image, exif_orientation(segments), &own, &request)) return false;
  if (own.orientation == Orientation() && own.plan.width == image.width &&
      own.plan.height == image.height) {
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

void MetadataFlipper::add_attachment(Bytes trailing, size_t number, size_t count,
                                     const FilePlace& was) {
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

// Bytes between attachments and after them: padding, films, data of a camera's maker.
void MetadataFlipper::add_others(Bytes trailing, const FilePlace& was) {
  const Bytes bytes = trailing.subspan(was.begin, was.size);
  const bool stay = is_padding(bytes) || (flip_.is_upright && is_whole() &&
                                          (is_film(bytes) || !has_image(bytes, &file_)));
  done_.has_lost |= !stay;
  if (!stay) lost_.push_back("trailing data of " + std::to_string(was.size) + " bytes");
  done_.moved.push_back({was, stay ? was.size : 0});
  if (stay) made_.insert(made_.end(), bytes.begin(), bytes.end());
}

void MetadataFlipper::flip_trailing(const FileMetadata& metadata) {
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
    // What overlaps another, or is outside, cannot be kept.
    if (place.begin < at || place.begin > size || place.size > size - place.begin) {
      lost_.push_back("attachment " + std::to_string(number + 1) + ", whose place is invalid");
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
  return MetadataFlipper(flip).flip(metadata);
}

}  // namespace cudatransform
