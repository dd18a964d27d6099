// The bits of a JPEG file's scans, without stuffing, and the block of memory that they lie in.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>

#include "jpeg/scans.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

constexpr uint32_t kRst0 = 0xd0;
constexpr size_t kSubsequenceBytes = kSubsequenceBits / 8;
// Read behind the last subsequence, and nothing but zeros.
constexpr size_t kBytesBehind = 256;
static_assert(2 * kUnstuffAtOnce <= kBytesBehind);
// Positions are bits in 32 bits, with room.
constexpr size_t kMostWordBytes = size_t{1} << 28;

constexpr size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

size_t JpegScanReader::measure(std::span<const uint8_t> file) {
  if (!begin(file)) return 0;
  const uint64_t segments = most_segments();
  return segments > kMostSegments ? 0 : plan_room(segments);
}

// Counts as if each component were a scan of its own, with the interval of all.
uint64_t JpegScanReader::most_segments() const {
  uint64_t segments = 0;
  for (int c = 0; c < components_; ++c) {
    const uint64_t blocks = uint64_t{blocks_w_[c]} * blocks_h_[c];
    segments += interval_ != 0 ? blocks / interval_ + 1 : 1;
  }
  return segments;
}

// The room for words, infos and tables for files of so many segments at most.
size_t JpegScanReader::plan_room(uint64_t segments) {
  const size_t words = rounded(size_ - at_, kSubsequenceBytes) + segments * kSubsequenceBytes;
  if (words > kMostWordBytes) return 0;
  words_at_ = rounded((words / kSubsequenceBytes + 1) * sizeof(uint32_t), kSubsequenceBytes);
  end_ = words_at_ + words;
  return end_ + kBytesBehind + kMostSets * (sizeof(HuffmanSet) + sizeof(HuffmanRuns));
}

bool JpegScanReader::read(uint8_t* block, JpegScans* scans) {
  block_ = block;
  scans_ = scans;
  *scans = JpegScans();
  infos_ = reinterpret_cast<uint32_t*>(block);
  used_ = words_at_;
  scans->words_at = words_at_;
  scans->components = components_;
  std::copy_n(blocks_w_, components_, scans->blocks_w);
  std::copy_n(blocks_h_, components_, scans->blocks_h);
  if (!read_scans()) return false;
  // Where a scan has several sets, kernels have room for as many classes as components. In a file
  // of four there may be another scan beside it that has one set and more blocks in an MCU.
  for (int i = 0; i < scans->count && scans->most_sets > 1; ++i)
    if (scans->scans[i].classes > kJpegMaxComponents) return false;
  finish();
  return true;
}

bool JpegScanReader::take_bits(const JpegScanPlan& from) {
  JpegScanPlan& plan = scans_->scans[scan_];
  plan = from;
  plan.first_subsequence = scans_->subsequences;
  plan.first_tile = scans_->tiles;
  const uint32_t segments = parts(plan.mcus, plan.interval);
  if (segments > kMostSegments) return false;
  for (uint32_t segment = 0; segment < segments; ++segment) {
    const uint8_t* marker = nullptr;
    if (!take_segment(segment, &marker)) return false;
    const bool is_last = segment + 1 == segments;
    if (!is_last && (marker == nullptr || marker[0] != kRst0 + segment % 8)) return false;
    // At the FF of the marker behind the scan.
    at_ = marker == nullptr ? size_ : static_cast<size_t>(marker - data_) + (is_last ? -1 : 1);
  }
  plan.subsequences = scans_->subsequences - plan.first_subsequence;
  plan.tiles = parts(plan.subsequences, kTileSubsequences);
  scans_->tiles += plan.tiles;
  scans_->segments += segments;
  uint32_t sets = 0;
  for (uint32_t block = 0; block < plan.blocks_in_mcu; ++block) sets |= 1u << plan.set[block];
  scans_->most_sets = std::max(scans_->most_sets, (sets & 1) + (sets >> 1 & 1) + (sets >> 2 & 1));
  scans_->count = scan_ + 1;
  return true;
}

// Copies the bytes up to a marker; `*marker` is its code, null at the end of the data.
bool JpegScanReader::take_segment(uint32_t segment, const uint8_t** marker) {
  const size_t begin = used_;
  const uint8_t* const end = data_ + size_;
  // Behind end_ there is room for bytes that are copied in excess.
  const Unstuffed taken = unstuff(data_ + at_, end, block_ + used_, block_ + end_ + 1);
  used_ = static_cast<size_t>(taken.to - block_);
  *marker = marker_code(taken.from, end);
  if (used_ > end_ || (*marker == nullptr && !ends_without_marker(taken.from, end))) return false;
  const size_t bytes = used_ - begin,
               padded = rounded(std::max<size_t>(bytes, 1), kSubsequenceBytes);
  if (begin + padded > end_) return false;
  std::memset(block_ + used_, 0, padded - bytes);
  used_ = begin + padded;
  for (size_t at = 0; at < padded; at += kSubsequenceBytes) {
    const size_t left = std::min(bytes - std::min(bytes, at), kSubsequenceBytes);
    infos_[scans_->subsequences++] =
        subsequence_info(static_cast<uint32_t>(8 * left), segment, at == 0);
  }
  return true;
}

// Writes the bytes behind the words, and the tables.
void JpegScanReader::finish() {
  JpegScans& scans = *scans_;
  infos_[scans.subsequences] = subsequence_info(0, 0, true);
  // Every byte that crosses the bus is set.
  const size_t infos_end = (scans.subsequences + size_t{1}) * sizeof(uint32_t);
  std::memset(block_ + infos_end, 0, words_at_ - infos_end);
  std::memset(block_ + used_, 0, kBytesBehind);
  scans.sets = used_sets_;
  scans.sets_at = used_ + kBytesBehind;
  const auto sets = static_cast<size_t>(used_sets_);
  scans.runs_at = scans.sets_at + sets * sizeof(HuffmanSet);
  scans.bytes = scans.runs_at + sets * sizeof(HuffmanRuns);
  for (size_t i = 0; i < sets; ++i) {
    std::memcpy(block_ + scans.sets_at + i * sizeof(HuffmanSet), &sets_[i].codes,
                sizeof(HuffmanSet));
    std::memcpy(block_ + scans.runs_at + i * sizeof(HuffmanRuns), &runs_[sets_[i].slot],
                sizeof(HuffmanRuns));
  }
  scans.tables = unique_tables();
  scans.irregular = irregular_;
}

}  // namespace cudatransform
