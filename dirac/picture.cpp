// A picture of Dirac or VC-2 as a plain job: headers, quantized coefficients, blocks, and the tasks
// that decode them.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "dirac/picture.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace cudatransform {

Status DiracPicture::provide(uint64_t bytes, std::unique_ptr<Memory>* memory) {
  if (*memory != nullptr && (*memory)->size() >= bytes) return {};
  memory->reset();
  return budget_->allocate_on_host(bytes, memory);
}

void DiracPicture::reset(std::shared_ptr<const DiracSequence> sequence) {
  forget();
  sequence_ = std::move(sequence);
  header_ = {};
  prediction_ = {};
  transform_ = {};
  has_residual_ = true;
  defers_slices_ = false;
  used_ = 0;
  grid_ = {};
  for (DiracMotionCode& code : motion_) code = {};
  places_ = nullptr;
  slices_found_ = 0;
  not_found_ = {};
  task_count_ = 0;
  qcoef_tasks_left_ = 0;
  damage_ = nullptr;
  lacks_memory_ = false;
}

void DiracPicture::forget() {
  sequence_.reset();
  owner_.reset();
  owned_ = nullptr;
}

// Keeps the first of the damages, whichever thread finds it.
void DiracPicture::note_damage(const char* what) {
  const char* none = nullptr;
  damage_.compare_exchange_strong(none, what, std::memory_order_relaxed);
}

Status DiracPicture::check_size(size_t size, uint64_t max_bytes) const {
  max_bytes = std::min<uint64_t>(max_bytes, UINT32_MAX);
  if (size <= max_bytes && used_ <= max_bytes - size) return {};
  return Status::error(StatusCode::kUnsupported,
                       "picture exceeds the limit of " + std::to_string(max_bytes) + " bytes");
}

Status DiracPicture::append(std::span<const uint8_t> data, uint64_t max_bytes) {
  CT_RETURN_IF_ERROR(check_size(data.size(), max_bytes));
  if (bytes_ == nullptr || bytes_->size() - used_ < data.size()) {
    std::unique_ptr<Memory> larger;
    CT_RETURN_IF_ERROR(budget_->allocate_on_host(2 * used_ + data.size(), &larger));
    if (used_ > 0) std::memcpy(larger->data(), bytes_->data(), used_);
    bytes_ = std::move(larger);
  }
  if (!data.empty())
    std::memcpy(static_cast<uint8_t*>(bytes_->data()) + used_, data.data(), data.size());
  used_ += data.size();
  return {};
}

Status DiracPicture::begin(std::shared_ptr<const DiracSequence> sequence,
                           const DiracParseInfo& info, std::span<const uint8_t> data,
                           const DiracLimits& limits, DiracQuirks quirks,
                           std::shared_ptr<const void> owner) {
  reset(std::move(sequence));
  if (owner != nullptr) {
    CT_RETURN_IF_ERROR(check_size(data.size(), limits.max_unit_bytes));
    owner_ = std::move(owner);
    owned_ = data.data();
    used_ = data.size();
  } else {
    CT_RETURN_IF_ERROR(append(data, limits.max_unit_bytes));
  }
  DiracBits bits({this->data(), used_});
  CT_RETURN_IF_ERROR(read_picture_header(info, bits, &header_));
  bits.align();
  if (!header_.is_intra()) CT_RETURN_IF_ERROR(read_inter(bits));
  if (!has_residual_) return {};
  CT_RETURN_IF_ERROR(read_transform(*sequence_, header_.coding, bits, &transform_));
  bits.align();
  CT_RETURN_IF_ERROR(qcoefs_.lay_out(*sequence_, header_, transform_, limits.max_coefs()));
  if (!header_.has_slices()) return read_core_bands(bits, quirks);
  CT_RETURN_IF_ERROR(begin_slices(limits.max_coefs()));
  const auto begin = static_cast<uint32_t>(std::min<uint64_t>(bits.position() / 8, used_));
  not_found_ = {0, slice_count(), begin, static_cast<uint32_t>(used_)};
  add_slice_tasks();
  return {};
}

Status DiracPicture::read_inter(DiracBits& bits) {
  // The difference of two samples of 16 bits has no place in a residual.
  if (sequence_->depth(0) > 15 || sequence_->depth(1) > 15) {
    return Status::error(StatusCode::kUnsupported, "inter picture of 16 bits, expected at most 15");
  }
  CT_RETURN_IF_ERROR(read_prediction(*sequence_, header_.reference_count, bits, &prediction_));
  bits.align();
  CT_RETURN_IF_ERROR(read_motion(bits));
  bits.align();
  has_residual_ = !bits.bit();
  return {};
}

Status DiracPicture::read_motion(DiracBits& bits) {
  const uint64_t blocks = static_cast<uint64_t>(prediction_.blocks_across) *
                          static_cast<uint64_t>(prediction_.blocks_down);
  CT_RETURN_IF_ERROR(provide(blocks * sizeof(ObmcBlock) + blocks / 16, &motion_memory_));
  grid_.blocks_across = prediction_.blocks_across;
  grid_.blocks_down = prediction_.blocks_down;
  grid_.blocks = static_cast<ObmcBlock*>(motion_memory_->data());
  grid_.splits = reinterpret_cast<uint8_t*>(grid_.blocks + blocks);
  std::uninitialized_value_construct_n(grid_.blocks, blocks);
  std::memset(grid_.splits, 0, blocks / 16);
  for (int i = 0; i < kDiracMotionStreams; ++i) {
    const bool is_vector = i >= kDiracVectorStream && i < kDiracDcStream;
    if (is_vector && (i - kDiracVectorStream) / 2 >= header_.reference_count) continue;
    const uint64_t bytes = bits.unsigned_code();
    bits.align();
    motion_[i] = {bits.bytes_here(), std::min<uint64_t>(bytes, bits.bytes_left())};
    if (bytes > bits.bytes_left()) note_damage("truncated block data");
    bits.skip_bytes(bytes);
  }
  add_task(TaskKind::kModes, 0, 0, -1);
  for (int i = 0; i < 2 * header_.reference_count; ++i)
    add_task(TaskKind::kVectors, i / 2, i % 2, 0);
  for (int c = 0; c < kMaxComponents; ++c) add_task(TaskKind::kDc, c, 0, 0);
  return {};
}

Status DiracPicture::read_core_bands(DiracBits& bits, DiracQuirks quirks) {
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < qcoefs_.band_count(); ++i) {
      DiracBandCode& code = bands_[c][i];
      const DiracBand& band = qcoefs_.band(c, i);
      code = {};
      if (bits.at_end()) {
        note_damage("missing subbands");
        continue;
      }
      bits.align();
      const uint64_t bytes = bits.unsigned_code();
      if (bytes == 0) {
        bits.align();
        continue;
      }
      const uint32_t quantizer = bits.unsigned_code();
      bits.align();
      const bool is_single = int64_t{band.columns} * band.rows == 1;
      code.data = bits.bytes_here();
      code.size = std::min<uint64_t>(bytes, bits.bytes_left());
      code.quantizer = static_cast<int>(std::min<uint32_t>(quantizer, kMaxQuantIndex + 1));
      code.is_coded = true;
      code.has_quantizer_deltas =
          transform_.codeblock_quantizers && !(is_single && quirks.no_delta_of_single_codeblocks);
      if (bytes > bits.bytes_left()) note_damage("truncated subband");
      bits.skip_bytes(bytes);
    }
  }
  add_band_tasks();
  return {};
}

Status DiracPicture::begin_slices(uint64_t max_coefs) {
  const auto slices = static_cast<uint64_t>(slice_count());
  if (slices > max_coefs) {
    return Status::error(
        StatusCode::kUnsupported,
        std::to_string(slices) + " slices exceed the limit of " + std::to_string(max_coefs));
  }
  CT_RETURN_IF_ERROR(provide(slices * sizeof(DiracSlicePlace), &places_memory_));
  places_ = static_cast<DiracSlicePlace*>(places_memory_->data());
  std::uninitialized_value_construct_n(places_, slices);
  return {};
}

void DiracPicture::find_slices(const DiracSliceRun& run) {
  uint32_t end = run.end;
  slices_found_ = run.first + run.count;
  if (!find_dirac_slices(header_.coding, transform_, data(), run, places_, &end)) {
    note_damage("truncated slice data");
  }
}

void DiracPicture::find_slices_once() {
  std::lock_guard lock(finding_);
  if (not_found_.count == 0) return;
  find_slices(not_found_);
  not_found_ = {};
}

bool DiracPicture::defer_slices() {
  const DwtLevels& levels = transform_.levels;
  find_slices_once();
  if (!header_.has_slices() || places_ == nullptr || damage() != nullptr ||
      levels.both + levels.horizontal == 0) {
    return false;
  }
  const int least = *std::min_element(transform_.matrix, transform_.matrix + qcoefs_.band_count());
  for (int64_t i = 0; i < slice_count(); ++i) {
    if (!is_sound_dirac_slice(header_.coding, transform_, data(), places_[i],
                              kMaxQuantIndex + least))
      return false;
  }
  // Their quantized coefficients are not read before they are rendered.
  if (!qcoefs_.is_wide() && !lay_out_wide()) return false;
  defers_slices_ = true;
  return true;
}

DiracSlices DiracPicture::deferred_slices() const {
  if (!defers_slices_) return {};
  return {data(),
          used_,
          places_,
          transform_.columns[0],
          transform_.rows[0],
          header_.coding == DiracCoding::kLowDelay,
          transform_.prefix_bytes,
          transform_.size_scaler};
}

void DiracPicture::add_task(TaskKind kind, int first, int second, int after) {
  tasks_[task_count_++] = {kind, first, second, after};
}

// Arithmetically coded bands read the one below them in the same orientation, so that these are
// a task from the coarsest on.
void DiracPicture::add_band_tasks() {
  const bool is_chain = header_.coding == DiracCoding::kArithmetic;
  for (int i = qcoefs_.band_count() - 1; i >= 0; --i) {
    if (is_chain && i > 3) continue;
    for (int c = 0; c < kMaxComponents; ++c) add_task(TaskKind::kBands, c, i, -1);
    qcoef_tasks_left_ += kMaxComponents;
  }
}

void DiracPicture::add_slice_tasks() {
  const int32_t rows = transform_.rows[0];
  const int count = std::min<int32_t>(rows, kMaxSliceTasks);
  for (int i = 0; i < count; ++i) {
    add_task(TaskKind::kSliceRows, dirac_part(rows, i, count), dirac_part(rows, i + 1, count), -1);
  }
  qcoef_tasks_left_ = count;
}

void DiracPicture::decode_bands(int component, int first) {
  const bool is_arithmetic = header_.coding == DiracCoding::kArithmetic;
  const int step = is_arithmetic && first > 0 ? 3 : kMaxDwtBands;
  const DiracBand* parent = nullptr;
  for (int i = first; i < qcoefs_.band_count(); i += step) {
    DiracBand& band = qcoefs_.band(component, i);
    clear_dirac_rows(band, 0, band.height);
    std::fill_n(band.quantizers, ptrdiff_t{band.columns} * band.rows, uint8_t{0});
    if (!decode_dirac_band(bands_[component][i], is_arithmetic, qcoefs_.is_wide(), i, parent,
                           band)) {
      note_damage("invalid entropy-coded data in subband");
    }
    parent = &band;
  }
}

bool DiracPicture::decode_slice_rows(int32_t first, int32_t end) {
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < qcoefs_.band_count(); ++i) {
      const DiracBand& band = qcoefs_.band(c, i);
      clear_dirac_rows(band, dirac_part(band.height, first, band.rows),
                       dirac_part(band.height, end, band.rows));
    }
  }
  const DiracBand& band = qcoefs_.band(0, 0);  // whose quantizers are those of all
  std::fill_n(band.quantizers + ptrdiff_t{first} * band.columns,
              ptrdiff_t{end - first} * band.columns, uint8_t{0});
  bool sound = true;
  for (int32_t row = first; row < end; ++row)
    sound &= decode_dirac_slices(header_.coding, transform_, data(), places_, row, qcoefs_);
  return sound;
}

// False: the bands have no memory now.
bool DiracPicture::lay_out_wide() {
  if (qcoefs_.lay_out(*sequence_, header_, transform_, UINT64_MAX, true).ok()) return true;
  lacks_memory_ = true;
  has_residual_ = false;
  return false;
}

// The last task reports whether quantized coefficients need more than 16 bits, which suffice for
// those of encoders. If they do, all are decoded again.
void DiracPicture::widen_if_needed() {
  if (qcoefs_.is_wide() || dirac_fits_16_bits(qcoefs_, transform_, header_.predicts_dc())) return;
  if (!lay_out_wide()) return;
  for (int task = 0; task < task_count_; ++task) {
    if (tasks_[task].kind == TaskKind::kBands)
      decode_bands(tasks_[task].first, tasks_[task].second);
    else if (tasks_[task].kind == TaskKind::kSliceRows)
      decode_slice_rows(tasks_[task].first, tasks_[task].second);
  }
}

void DiracPicture::run_task(int number) {
  const Task& task = tasks_[number];
  const bool is_arithmetic = header_.coding == DiracCoding::kArithmetic;
  bool sound = true;
  switch (task.kind) {
    case TaskKind::kModes:
      sound = decode_dirac_modes(motion_[kDiracSplitStream], motion_[kDiracModeStream],
                                 is_arithmetic, header_.reference_count, grid_);
      break;
    case TaskKind::kVectors:
      sound = decode_dirac_vectors(motion_[kDiracVectorStream + 2 * task.first + task.second],
                                   is_arithmetic, task.first, task.second, grid_);
      break;
    case TaskKind::kDc:
      sound =
          decode_dirac_dc(motion_[kDiracDcStream + task.first], is_arithmetic, task.first, grid_);
      break;
    case TaskKind::kBands:
      decode_bands(task.first, task.second);
      if (--qcoef_tasks_left_ == 0) widen_if_needed();
      return;
    case TaskKind::kSliceRows:
      if (defers_slices_) return;
      find_slices_once();
      sound = decode_slice_rows(task.first, task.second);
      if (!sound) note_damage("invalid entropy-coded data in slice");
      if (--qcoef_tasks_left_ == 0) widen_if_needed();
      return;
  }
  if (!sound) note_damage("invalid entropy-coded block data");
}

// SMPTE ST 2042-1, clause 14.

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
  return bits.overran() ? damaged("truncated header") : Status{};
}

}  // namespace

Status DiracPicture::begin_fragments(std::shared_ptr<const DiracSequence> sequence,
                                     const DiracParseInfo& info, std::span<const uint8_t> data,
                                     const DiracLimits& limits) {
  reset(std::move(sequence));
  DiracBits bits(data);
  FragmentHeader fragment;
  CT_RETURN_IF_ERROR(read_fragment_header(bits, &fragment));
  if (fragment.slices != 0)
    return Status::error(StatusCode::kInvalidArgument, "fragment without picture header");
  header_.number = fragment.picture;
  header_.coding = info.is_high_quality() ? DiracCoding::kHighQuality : DiracCoding::kLowDelay;
  CT_RETURN_IF_ERROR(read_transform(*sequence_, header_.coding, bits, &transform_));
  CT_RETURN_IF_ERROR(qcoefs_.lay_out(*sequence_, header_, transform_, limits.max_coefs()));
  return begin_slices(limits.max_coefs());
}

Status DiracPicture::add_fragment(std::span<const uint8_t> data, const DiracLimits& limits) {
  DiracBits bits(data);
  FragmentHeader fragment;
  CT_RETURN_IF_ERROR(read_fragment_header(bits, &fragment));
  if (fragment.picture != header_.number)
    return damaged("picture " + std::to_string(fragment.picture) + ", expected " +
                   std::to_string(header_.number));
  const int64_t first = int64_t{fragment.row} * transform_.columns[0] + fragment.column;
  if (fragment.column >= static_cast<uint32_t>(transform_.columns[0]) ||
      first + fragment.slices > slice_count() || first < slices_found_) {
    return damaged(std::to_string(fragment.slices) + " slices starting at " +
                   std::to_string(first) + ", expected " + std::to_string(slices_found_));
  }
  if (first > slices_found_) note_damage("missing fragments");
  const auto begin = static_cast<uint32_t>(used_);
  CT_RETURN_IF_ERROR(append({bits.bytes_here(), bits.bytes_left()}, limits.max_unit_bytes));
  find_slices({first, fragment.slices, begin, static_cast<uint32_t>(used_)});
  return {};
}

void DiracPicture::end_fragments() {
  if (!has_all_slices()) note_damage("missing fragments");
  add_slice_tasks();
}

}  // namespace cudatransform
