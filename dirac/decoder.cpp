// From the units of a stream to its pictures, in the order in which they are coded.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/decoder.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cudatransform {

namespace {

bool is_old_schroedinger(std::string_view name) {
  constexpr std::string_view kFamily = "Schroedinger 1.0.";
  if (name.substr(0, kFamily.size()) != kFamily) return false;
  const std::string_view rest = name.substr(kFamily.size());
  const bool one_digit = rest.size() == 1 || (rest.size() > 1 && (rest[1] < '0' || rest[1] > '9'));
  return one_digit && rest[0] >= '0' && rest[0] <= '7';
}

}  // namespace

Status DiracDecoder::take(std::span<const uint8_t> unit, std::shared_ptr<const void> owner) {
  DiracParseInfo info;
  if (!read_parse_info(unit, &info)) {
    return Status::error(StatusCode::kInvalidArgument, "missing parse info");
  }
  const std::span<const uint8_t> data = unit.subspan(kDiracParseInfoBytes);
  if (info.is_sequence_header()) return take_sequence(data);
  if (info.is_end()) {
    end_sequence();
    return {};
  }
  if (info.is_auxiliary()) take_auxiliary(data);
  if (sequence_ == nullptr || !info.is_picture()) return {};
  if (info.may_be_fragment() && sequence_->major_version >= 3) {
    return take_fragment(info, data);
  }
  return take_picture(info, data, std::move(owner));
}

void DiracDecoder::finish() { end_sequence(); }

Status DiracDecoder::take_sequence(std::span<const uint8_t> data) {
  DiracSequence sequence;
  if (const Status status = read_sequence(data, limits_, &sequence); !status.ok()) {
    // One that is only damaged may repeat the one in force.
    if (status.code == StatusCode::kUnsupported) end_sequence();
    return status;
  }
  if (sequence_ != nullptr && *sequence_ == sequence) return {};
  end_sequence();
  sequence_ = std::make_shared<const DiracSequence>(sequence);
  ++sequence_count_;
  return {};
}

Status DiracDecoder::take_picture(const DiracParseInfo& info, std::span<const uint8_t> data,
                                  std::shared_ptr<const void> owner) {
  end_fragments();
  std::unique_ptr<DiracPicture> picture = new_picture();
  const Status status = picture->begin(sequence_, info, data, limits_, quirks_, std::move(owner));
  if (!status.ok()) {
    give_up(std::move(picture), status);
    return status;
  }
  put(std::move(picture));
  return {};
}

Status DiracDecoder::take_fragment(const DiracParseInfo& info, std::span<const uint8_t> data) {
  constexpr size_t kCountAt = 6;  // after the picture's number and the data's length
  const bool begins = data.size() >= kCountAt + 2 && data[kCountAt] == 0 && data[kCountAt + 1] == 0;
  if (begins) {
    end_fragments();
    fragments_ = new_picture();
    const Status status = fragments_->begin_fragments(sequence_, info, data, limits_);
    if (!status.ok()) give_up(std::move(fragments_), status);
    return status;
  }
  if (fragments_ == nullptr) {
    return Status::error(StatusCode::kInvalidArgument, "fragment without picture header");
  }
  CT_RETURN_IF_ERROR(fragments_->add_fragment(data, limits_));
  if (fragments_->has_all_slices()) end_fragments();
  return {};
}

void DiracDecoder::take_auxiliary(std::span<const uint8_t> data) {
  if (data.empty() || data[0] != kDiracEncoderName) return;
  constexpr size_t kLongestName = 64;
  quirks_.no_delta_of_single_codeblocks = is_old_schroedinger(
      {reinterpret_cast<const char*>(data.data()) + 1, std::min(data.size() - 1, kLongestName)});
}

void DiracDecoder::end_fragments() {
  if (fragments_ == nullptr) return;
  fragments_->end_fragments();
  put(std::move(fragments_));
}

void DiracDecoder::end_sequence() {
  end_fragments();
  sequence_.reset();
  quirks_ = {};
}

std::unique_ptr<DiracPicture> DiracDecoder::new_picture() {
  if (spares_.empty()) return std::make_unique<DiracPicture>(budget_);
  std::unique_ptr<DiracPicture> spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

void DiracDecoder::put(std::unique_ptr<DiracPicture> picture) {
  // Only a caller that never takes pictures has no room here.
  if (waiting_count_ == kMaxWaiting) give_back(next_picture());
  waiting_[waiting_count_++] = std::move(picture);
}

std::unique_ptr<DiracPicture> DiracDecoder::next_picture() {
  if (waiting_count_ == 0) return nullptr;
  std::unique_ptr<DiracPicture> first = std::move(waiting_[0]);
  std::move(waiting_ + 1, waiting_ + waiting_count_, waiting_);
  --waiting_count_;
  return first;
}

// A picture that found too little memory keeps none.
void DiracDecoder::give_up(std::unique_ptr<DiracPicture> picture, const Status& status) {
  if (status.code != StatusCode::kOutOfMemory) give_back(std::move(picture));
}

bool DiracDecoder::drop_spares() { return !std::exchange(spares_, {}).empty(); }

void DiracDecoder::give_back(std::unique_ptr<DiracPicture> picture) {
  if (picture == nullptr) return;
  picture->forget();
  if (spares_.size() < max_spares_) spares_.push_back(std::move(picture));
}

}  // namespace cudatransform
