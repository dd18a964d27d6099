// One JPEG file of a batch: its bytes, its parsed header, and its quantized coefficients by the
// CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/jpeg_item.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <string>

#include "core/file.h"
#include "core/picture.h"
#include "jpeg/exif.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"

namespace cudatransform::core {
namespace {

constexpr uint64_t kMaxPixels = uint64_t{1} << 27;  // a camera of 100 megapixels passes

Status damaged(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, what);
}

std::string size_of(const JpegHeader& header) {
  return std::to_string(header.width) + "x" + std::to_string(header.height);
}

}  // namespace

void JpegItem::fail(CtCode code, const std::string& why) {
  is_sound_ = false;
  ct_picture_clear(&picture_);
  set_text(&picture_.error, code, why);
}

void JpegItem::fail(const Status& why) {
  fail(why.code == StatusCode::kInvalidArgument ? CT_DAMAGED : code_of(why.code), why.message);
}

void JpegItem::open(const CtSource& source, const CtDecodeOptions& options, bool dense) {
  picture_ = {};
  irregular_ = 0;
  is_sound_ = false;
  trailing_size_ = 0;
  places_.clear();
  if (const Status status = take_bytes(source); !status.ok())
    return fail(status.code == StatusCode::kFailed ? CT_UNREADABLE : code_of(status.code),
                status.message);
  crop_ = source.crop;
  const Status status = open_picture(options, dense);
  if (!status.ok()) return fail(status);
  is_sound_ = picture_.error.code == CT_OK;
}

Status JpegItem::take_bytes(const CtSource& source) {
  if (source.path != nullptr) return read_file(source.path);
  whole_ = {static_cast<const uint8_t*>(source.data), source.data != nullptr ? source.size : 0};
  if (whole_.empty()) return unreadable("it has 0 bytes");
  if (whole_.size() > kMaxFileBytes)
    return unreadable("it has " + std::to_string(whole_.size()) + " bytes, more than " +
                      std::to_string(kMaxFileBytes));
  return {};
}

Status JpegItem::read_file(const char* path) {
  File file(path);
  size_t size = 0;
  CT_RETURN_IF_ERROR(file.size(&size));
  if (size > kMaxFileBytes)
    return unreadable("it has " + std::to_string(size) + " bytes, more than " +
                      std::to_string(kMaxFileBytes));
  if (own_bytes_ < size) {
    own_bytes_ = 0;
    own_.reset(new uint8_t[size + size / 4]);
    own_bytes_ = size + size / 4;
  }
  CT_RETURN_IF_ERROR(file.read(own_.get(), size));
  whole_ = {own_.get(), size};
  return {};
}

// Finds where the first picture ends and others begin.
Status JpegItem::parse_trailing(const CtDecodeOptions& options) {
  file_ = whole_;
  const bool keeps = options.output == CT_OUTPUT_COEFFICIENTS && options.keep_metadata != 0;
  if (!keeps && find_mpf(whole_).empty()) return {};
  const FirstPicture first = first_picture(whole_);
  const size_t trailing = whole_.size() - first.size;
  FilePlaces others;
  Status status = find_places(whole_, first.size, &others);
  bool has_others = false;
  if (status.ok() && others.count > 0) has_others = check_places(whole_, others).ok();
  if (has_others) file_ = whole_.first(first.size);
  // Without an end and an index, the bytes after damage may be the rest of the picture.
  if (keeps && (first.has_end || has_others)) trailing_size_ = trailing;
  if (keeps && has_others)
    for (const FilePlace& place : others.all())
      places_.push_back({place.begin - first.size, place.size});
  if (has_others || !ends_with_another(whole_.first(first.size), others)) return {};
  return damaged("truncated marker segment, followed by another MPF picture");
}

Status JpegItem::open_picture(const CtDecodeOptions& options, bool dense) {
  CT_RETURN_IF_ERROR(parse_trailing(options));
  JpegHeader header;
  CT_RETURN_IF_ERROR(reader_.read_header(file_, &header));
  const uint64_t pixels = uint64_t{header.width} * header.height;
  const uint64_t most = options.max_pixels != 0 ? options.max_pixels : kMaxPixels;
  if (pixels > most) {
    fail(CT_LIMIT, size_of(header) + " picture exceeds max_pixels=" + std::to_string(most));
    return {};
  }
  if (options.conceal == 0 && file_.size() < header.min_bytes)
    return damaged("truncated: " + std::to_string(file_.size()) + " bytes, expected at least " +
                   std::to_string(header.min_bytes) + " for " + size_of(header));
  const int orientation = options.upright != 0 ? exif_orientation(file_.subspan(kSoiBytes)) : 0;
  CT_RETURN_IF_ERROR(plan_pixels(header, options, orientation, crop_, dense, &plan_));
  if (const uint64_t bytes = plan_.bytes() + trailing_size_;
      options.max_memory != 0 && bytes > options.max_memory) {
    fail(CT_LIMIT, size_of(header) + " picture needs " + std::to_string(bytes) +
                       " bytes, exceeds max_memory=" + std::to_string(options.max_memory));
    return {};
  }
  irregular_ = header.irregular;
  return {};
}

bool JpegItem::decode(const CtDecodeOptions& options, uint8_t* qcoefs) {
  JpegQcoefs planes[kJpegMaxComponents];
  for (int c = 0; c < plan_.header.components; ++c) planes[c] = plan_.qcoefs(c, qcoefs);
  JpegFindings found;
  const bool conceals = options.conceal != 0;
  JpegBlockRows rows;
  for (size_t c = 0; c < static_cast<size_t>(plan_.components); ++c) {
    const BlockRange& blocks = plan_.blocks[c];
    rows.first[c] = static_cast<uint32_t>(blocks.y);
    rows.end[c] = static_cast<uint32_t>(blocks.y + blocks.height);
  }
  const Status status = reader_.read_coefficients(
      planes, &tables_, &found, {.past_damage = conceals, .rows = plan_.is_part ? &rows : nullptr});
  irregular_ = found.irregular;
  if (!status.ok() && (!conceals || status.code != StatusCode::kInvalidArgument)) {
    fail(status);
    return false;
  }
  const std::string& damage = status.ok() ? found.damage : status.message;
  if (!damage.empty() && !conceals) {
    fail(damaged(damage));
    return false;
  }
  set_text(&picture_.error, CT_OK, damage);
  return true;
}

bool JpegItem::pack(uint8_t* block) { return scan_reader_.read(block, &scans_); }

bool JpegItem::settle(const JpegDecodeResult& result) {
  if (!is_decoded(scans_, result)) return false;
  irregular_ |= irregularities(scans_, result);
  tables_ = scans_.tables;
  picture_.by_device = 1;
  return true;
}

// Copies the segments and what follows the picture, because the file's memory is its owner's.
Status JpegItem::read_rest(const CtDecodeOptions& options) {
  const bool keeps = options.keep_metadata != 0;
  JpegKept kept{.staying = keeps,
                .index = keeps && !places_.empty(),
                .adobe = plan_.header.color == JpegColor::kCmyk};
  size_t markers = jpeg_metadata_size(file_, kept);
  if (markers == 0 && kept.adobe) {
    kept.staying = kept.index = false;
    markers = jpeg_metadata_size(file_, kept);
  }
  RestMemory rest;
  CT_RETURN_IF_ERROR(make_rest(places_.size(), markers, trailing_size_, &picture_, &rest));
  std::copy(places_.begin(), places_.end(), rest.places);
  if (markers > 0) copy_jpeg_metadata(file_, kept, rest.markers);
  if (trailing_size_ > 0)
    std::memcpy(rest.trailing, whole_.last(trailing_size_).data(), trailing_size_);
  return {};
}

void JpegItem::describe_qcoefs(uint8_t* data) {
  static constexpr char kRgbIds[] = "RGB", kCmykIds[] = "CMYK";
  const JpegHeader& header = plan_.header;
  picture_.components = header.components;
  picture_.n_tables = tables_.count;
  for (int t = 0; t < tables_.count; ++t) std::copy_n(tables_.tables[t].q, 64, picture_.tables[t]);
  for (int c = 0; c < header.components; ++c) {
    const JpegQcoefs qcoefs = plan_.qcoefs(c, data);
    CtComponent& to = picture_.component[c];
    to.id = header.color == JpegColor::kRgb    ? kRgbIds[c]
            : header.color == JpegColor::kCmyk ? kCmykIds[c]
                                               : c + 1;
    to.h_samp = static_cast<int32_t>(header.sampling.h[c]);
    to.v_samp = static_cast<int32_t>(header.sampling.v[c]);
    to.width = static_cast<int32_t>(header.sampling.width(header.width, c));
    to.height = static_cast<int32_t>(header.sampling.height(header.height, c));
    to.blocks_w = static_cast<int32_t>(qcoefs.blocks_w);
    to.blocks_h = static_cast<int32_t>(qcoefs.blocks_h);
    to.table = tables_.table_of[c];
    to.data = qcoefs.data;
    to.pitch = qcoefs.stride;
  }
}

void JpegItem::finish(const CtDecodeOptions& options, CtBlock* block, uint8_t* data) {
  picture_.block = block;
  picture_.depth = static_cast<int32_t>(plan_.header.depth);
  picture_.color = color_of(plan_.header.color);
  picture_.irregular = irregular_;
  picture_.width = plan_.width;
  picture_.height = plan_.height;
  if (options.output == CT_OUTPUT_COEFFICIENTS) {
    describe_qcoefs(data);
    if (const Status status = read_rest(options); !status.ok()) fail(status);
    return;
  }
  picture_.width = plan_.output_width();
  picture_.height = plan_.output_height();
  picture_.channels = plan_.channels;
  picture_.data = data + plan_.output_at();
  picture_.pitch = static_cast<int64_t>(plan_.output_pitch);
}

std::unique_ptr<JpegItem> JpegItems::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<JpegItem> item = std::move(idle_.back());
      idle_.pop_back();
      return item;
    }
  }
  return std::make_unique<JpegItem>();
}

void JpegItems::give(std::unique_ptr<JpegItem> item) {
  item->picture() = {};
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMax) idle_.push_back(std::move(item));
}

}  // namespace cudatransform::core
