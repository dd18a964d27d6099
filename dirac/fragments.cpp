// Pictures that come in fragments: a unit with the parameters, then units with some slices each.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clause 14.
#include <string>
#include <utility>

#include "dirac/picture.h"

namespace cudatransform {

namespace {

struct FragmentHeader {
  uint32_t picture = 0;
  uint32_t slices = 0;
  uint32_t column = 0, row = 0;  // of the first
};

Status damaged(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, "fragment: " + what);
}

Status read_fragment_header(DiracBits& bits, FragmentHeader* header) {
  header->picture = bits.aligned_number(4);
  bits.aligned_number(2);  // the length of the data, which is not relied on
  header->slices = bits.aligned_number(2);
  if (header->slices != 0) {
    header->column = bits.aligned_number(2);
    header->row = bits.aligned_number(2);
  }
  return bits.overran() ? damaged("its header ends too early") : Status{};
}

}  // namespace

Status DiracPicture::begin_fragments(std::shared_ptr<const DiracSequence> sequence,
                                     const DiracParseInfo& info, std::span<const uint8_t> data,
                                     const DiracLimits& limits) {
  reset(std::move(sequence));
  DiracBits bits(data);
  FragmentHeader fragment;
  CT_RETURN_IF_ERROR(read_fragment_header(bits, &fragment));
  if (fragment.slices != 0) return damaged("slices of a picture that has not begun");
  header_.number = fragment.picture;
  header_.coding = info.is_high_quality() ? DiracCoding::kHighQuality : DiracCoding::kLowDelay;
  CT_RETURN_IF_ERROR(read_transform(*sequence_, header_.coding, bits, &transform_));
  CT_RETURN_IF_ERROR(levels_.lay_out(*sequence_, header_, transform_, limits.max_coefs()));
  return begin_slices(limits.max_coefs());
}

Status DiracPicture::add_fragment(std::span<const uint8_t> data, const DiracLimits& limits) {
  DiracBits bits(data);
  FragmentHeader fragment;
  CT_RETURN_IF_ERROR(read_fragment_header(bits, &fragment));
  if (fragment.picture != header_.number) return damaged("it belongs to another picture");
  const int64_t first = int64_t{fragment.row} * transform_.columns[0] + fragment.column;
  if (fragment.column >= static_cast<uint32_t>(transform_.columns[0]) ||
      first + fragment.slices > slice_count() || first < slices_found_) {
    return damaged(std::to_string(fragment.slices) + " slices from number " +
                   std::to_string(first) + " on, expected number " + std::to_string(slices_found_));
  }
  if (first > slices_found_) note_damage("fragments are missing");
  const auto begin = static_cast<uint32_t>(used_);
  CT_RETURN_IF_ERROR(append({bits.bytes_here(), bits.bytes_left()}, limits.max_unit_bytes));
  find_slices({first, fragment.slices, begin, static_cast<uint32_t>(used_)});
  return {};
}

void DiracPicture::end_fragments() {
  if (!has_all_slices()) note_damage("fragments are missing");
  add_slice_tasks();
}

}  // namespace cudatransform
