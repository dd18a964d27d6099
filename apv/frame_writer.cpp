// An access unit of APV around the chains of a frame: headers, sizes, metadata; and what follows
// from the kind of a frame: profile and level.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/frame_writer.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "apv/access_unit.h"

namespace cudatransform {

namespace {

struct Profile {
  uint8_t idc;
  const char* name;
  ApvChroma chroma;  // the largest
  int depth;
};
constexpr Profile kProfiles[] = {
    {33, "422-10", ApvChroma::k422, 10},   {44, "422-12", ApvChroma::k422, 12},
    {55, "444-10", ApvChroma::k444, 10},   {66, "444-12", ApvChroma::k444, 12},
    {77, "4444-10", ApvChroma::k4444, 10}, {88, "4444-12", ApvChroma::k4444, 12},
    {99, "400-10", ApvChroma::k400, 10},
};

// Limits of a level: luma samples a second, and Mbit/s by band.
struct Level {
  uint8_t idc;  // 30 times the level
  double luma;
  double megabits[kApvBands];
};
constexpr Level kLevels[] = {
    {30, 3041280, {8, 11, 15, 23}},
    {33, 6082560, {16, 21, 30, 45}},
    {60, 15667200, {39, 54, 76, 114}},
    {63, 31334400, {78, 108, 152, 227}},
    {90, 66846720, {114, 159, 222, 333}},
    {93, 133693440, {227, 317, 444, 666}},
    {120, 265420800, {455, 637, 892, 1338}},
    {123, 530841600, {910, 1274, 1784, 2675}},
    {150, 1061683200, {1820, 2548, 3567, 5350}},
    {153, 2123366400, {3639, 5095, 7133, 10699}},
    {180, 4777574400, {7278, 10189, 14265, 21397}},
    {183, 8493465600, {14556, 20378, 28529, 42793}},
    {210, 16986931200, {29111, 40756, 57058, 85586}},
    {213, 33973862400, {58222, 81511, 114115, 171172}},
};

constexpr uint8_t kFlat = 16;
constexpr uint16_t kGroup = 1;
constexpr size_t kSizeBytes = 4, kUnitHeaderBytes = 4;
// Of au_size, "aPv1", pbu_size and the header of the frame's PBU.
constexpr size_t kPbuSizeAt = 8;

void write_unit_header(ApvUnitType type, ApvBytes* to) {
  ApvFieldWriter fields(to);
  fields.number(static_cast<uint32_t>(type), 8);
  fields.number(kGroup, 16);
  fields.number(0, 8);
}

void write_info(const ApvFrameInfo& info, ApvFieldWriter& fields) {
  fields.number(info.profile, 8);
  fields.number(info.level, 8);
  fields.number(info.band, 3);
  fields.number(0, 5);
  fields.number(info.width, 24);
  fields.number(info.height, 24);
  fields.number(static_cast<uint32_t>(info.chroma), 4);
  fields.number(static_cast<uint32_t>(info.depth - 8), 4);
  fields.number(0, 8);  // capture_time_distance
  fields.number(0, 8);
}

bool has_matrices(const ApvFrameHeader& header) {
  for (int c = 0; c < header.info.components(); ++c)
    for (const uint8_t weight : header.matrix[c])
      if (weight != kFlat) return true;
  return false;
}

void write_header(const ApvFrameHeader& header, ApvBytes* to) {
  ApvFieldWriter fields(to);
  write_info(header.info, fields);
  fields.number(0, 8);
  const bool has_color = header.color != ApvColor();
  fields.number(has_color, 1);
  if (has_color) {
    fields.number(header.color.primaries, 8);
    fields.number(header.color.transfer, 8);
    fields.number(header.color.matrix, 8);
    fields.number(header.color.full_range, 1);
  }
  fields.number(has_matrices(header), 1);
  if (has_matrices(header)) {
    for (int c = 0; c < header.info.components(); ++c)
      for (const uint8_t weight : header.matrix[c]) fields.number(weight, 8);
  }
  fields.number(header.tile_mbs_across, 20);
  fields.number(header.tile_mbs_down, 20);
  fields.number(0, 1);  // no sizes of tiles here
  fields.number(0, 8);
  fields.align();
}

// Type and size of a payload: sums of bytes, in which 255 continues.
void write_sum(size_t value, ApvBytes* to) {
  for (; value >= 255; value -= 255) to->push_back(255);
  to->push_back(static_cast<uint8_t>(value));
}

void write_payload(ApvPayloadType type, std::span<const uint8_t> payload, ApvBytes* to) {
  write_sum(static_cast<size_t>(type), to);
  write_sum(payload.size(), to);
  to->insert(to->end(), payload.begin(), payload.end());
}

ApvBytes mastering_payload(const ApvMasteringDisplay& display) {
  ApvBytes bytes;
  ApvFieldWriter fields(&bytes);
  for (const auto& primary : display.primaries)
    for (const uint16_t coordinate : primary) fields.number(coordinate, 16);
  for (const uint16_t coordinate : display.white) fields.number(coordinate, 16);
  fields.number(display.max_luminance, 32);
  fields.number(display.min_luminance, 32);
  return bytes;
}

}  // namespace

Status choose_apv_profile(ApvChroma chroma, int depth, uint8_t* profile) {
  for (const Profile& row : kProfiles) {
    if (row.chroma != chroma || row.depth < depth) continue;
    *profile = row.idc;
    return {};
  }
  return Status::error(StatusCode::kUnsupported,
                       "no APV profile for " + std::to_string(depth) + " bits" +
                           (chroma == ApvChroma::k400 ? " of 4:0:0" : ""));
}

const char* apv_profile_name(uint8_t profile) {
  const auto* row = std::find_if(std::begin(kProfiles), std::end(kProfiles),
                                 [&](const Profile& one) { return one.idc == profile; });
  return row != std::end(kProfiles) ? row->name : "unknown";
}

uint8_t choose_apv_level(double luma, double bits_per_second, int band) {
  for (const Level& level : kLevels)
    if (luma <= level.luma && bits_per_second <= 1e6 * level.megabits[band]) return level.idc;
  return std::rbegin(kLevels)->idc;
}

uint32_t apv_tile_mbs(uint32_t wanted, uint32_t mbs) {
  constexpr uint32_t kMbSide = 16, kMax = (1 << 20) - 1;
  return std::min(
      std::max(wanted / kMbSide + (wanted % kMbSide != 0), (mbs + kMaxApvTiles - 1) / kMaxApvTiles),
      kMax);
}

void ApvUnitWriter::begin(const ApvFrameFormat& format, std::span<const uint8_t> metadata) {
  format_ = format;
  metadata_.assign(metadata.begin(), metadata.end());
  begin_.assign({0, 0, 0, 0, 'a', 'P', 'v', '1', 0, 0, 0, 0});
  write_unit_header(ApvUnitType::kPrimaryFrame, &begin_);
  write_header(format.header, &begin_);
}

uint64_t ApvUnitWriter::frame_bytes(std::span<const uint32_t> chain_bytes) const {
  uint64_t bytes = begin_.size();
  bytes += uint64_t{format_.tile_header_bytes()} * static_cast<uint64_t>(format_.header.tiles());
  for (const uint32_t chain : chain_bytes) bytes += chain;
  return bytes;
}

Status ApvUnitWriter::measure(std::span<const uint32_t> chain_bytes, size_t* bytes) const {
  const uint64_t all = frame_bytes(chain_bytes) + metadata_.size();
  if (all > UINT32_MAX) {
    return Status::error(StatusCode::kUnsupported, "access unit of " + std::to_string(all) +
                                                       " bytes, expected less than 4 GiB");
  }
  *bytes = static_cast<size_t>(all);
  return {};
}

size_t ApvUnitWriter::write_begin(std::span<const uint32_t> chain_bytes, uint8_t* to) const {
  const uint64_t frame = frame_bytes(chain_bytes);
  std::copy(begin_.begin(), begin_.end(), to);
  write_be32(static_cast<uint32_t>(frame + metadata_.size() - kSizeBytes), to);
  write_be32(static_cast<uint32_t>(frame - kPbuSizeAt - kSizeBytes), to + kPbuSizeAt);
  return begin_.size();
}

void ApvUnitWriter::write_tile_header(size_t tile, std::span<const uint32_t> chain_bytes,
                                      uint8_t* to) const {
  const size_t bytes = format_.tile_header_bytes();
  uint64_t all = bytes - kSizeBytes;
  for (const uint32_t chain : chain_bytes) all += chain;
  write_be32(static_cast<uint32_t>(all), to);
  write_be32(static_cast<uint32_t>((bytes - kSizeBytes) << 16 | tile), to + kSizeBytes);
  to += 2 * kSizeBytes;
  for (const uint32_t chain : chain_bytes) {
    write_be32(chain, to);
    to += kSizeBytes;
  }
  for (size_t c = 0; c < chain_bytes.size(); ++c) *to++ = format_.qp[c];
  *to = 0;
}

void ApvUnitWriter::write_end(uint8_t* to) const {
  std::copy(metadata_.begin(), metadata_.end(), to);
}

ApvBytes make_apv_metadata(const ApvMetadata& metadata, std::span<const uint8_t> hash) {
  ApvBytes payloads;
  if (metadata.mastering)
    write_payload(ApvPayloadType::kMastering, mastering_payload(*metadata.mastering), &payloads);
  if (metadata.light) {
    ApvBytes light;
    ApvFieldWriter fields(&light);
    fields.number(metadata.light->max_content, 16);
    fields.number(metadata.light->max_average, 16);
    write_payload(ApvPayloadType::kLight, light, &payloads);
  }
  for (const ApvPayload& payload : metadata.payloads())
    write_payload(payload.type, payload.bytes, &payloads);
  if (!hash.empty()) {
    ApvBytes user(std::begin(kApvHashUuid), std::end(kApvHashUuid));
    user.insert(user.end(), hash.begin(), hash.end());
    write_payload(ApvPayloadType::kUser, user, &payloads);
  }
  if (payloads.empty()) return {};
  ApvBytes unit(kSizeBytes);
  write_unit_header(ApvUnitType::kMetadata, &unit);
  unit.resize(unit.size() + kSizeBytes);
  write_be32(static_cast<uint32_t>(payloads.size()), &unit[kSizeBytes + kUnitHeaderBytes]);
  unit.insert(unit.end(), payloads.begin(), payloads.end());
  write_be32(static_cast<uint32_t>(unit.size() - kSizeBytes), unit.data());
  return unit;
}

}  // namespace cudatransform
