// The scans of a JPEG file as a plain job: its markers, and its bits without stuffing.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/scans.h"

#include <algorithm>
#include <cstring>

#include "jpeg/bounds.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

constexpr size_t kSubsequenceBytes = kSubsequenceBits / 8;
// Read after the last subsequence, and nothing but zeros.
constexpr size_t kBytesBehind = 256;
static_assert(2 * kUnstuffAtOnce <= kBytesBehind);
// Positions are bit counts in 32 bits, with room.
constexpr size_t kMaxWordBytes = size_t{1} << 28;

constexpr size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

size_t JpegScanReader::measure(std::span<const uint8_t> file) {
  if (!begin(file)) return 0;
  const uint64_t segments = max_segments();
  return segments > kMaxSegments ? 0 : plan_room(segments);
}

// Counts as if each component were a separate scan, with the interval of all.
uint64_t JpegScanReader::max_segments() const {
  uint64_t segments = 0;
  for (int c = 0; c < components_; ++c) {
    const uint64_t blocks = uint64_t{blocks_w_[c]} * blocks_h_[c];
    segments += interval_ != 0 ? blocks / interval_ + 1 : 1;
  }
  return segments;
}

// The room for words, infos and tables for files of this many segments at most.
size_t JpegScanReader::plan_room(uint64_t segments) {
  const size_t words = rounded(size_ - at_, kSubsequenceBytes) + segments * kSubsequenceBytes;
  if (words > kMaxWordBytes) return 0;
  words_at_ = rounded((words / kSubsequenceBytes + 1) * sizeof(uint32_t), kSubsequenceBytes);
  end_ = words_at_ + words;
  return end_ + kBytesBehind + kMaxSets * (sizeof(HuffmanSet) + sizeof(HuffmanRuns)) +
         zero_words(words / kSubsequenceBytes) * sizeof(uint32_t);
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
  // of four there may be another scan with one set and more blocks in an MCU.
  for (int i = 0; i < scans->count && scans->max_sets > 1; ++i)
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
  if (segments > kMaxSegments) return false;
  for (uint32_t segment = 0; segment < segments; ++segment) {
    const uint8_t* marker = nullptr;
    if (!take_segment(segment, &marker)) return false;
    const bool is_last = segment + 1 == segments;
    if (!is_last && (marker == nullptr || marker[0] != kRst0 + segment % 8)) return false;
    // At the FF of the marker after the scan.
    at_ = marker == nullptr ? size_ : static_cast<size_t>(marker - data_) + (is_last ? -1 : 1);
  }
  plan.subsequences = scans_->subsequences - plan.first_subsequence;
  plan.tiles = parts(plan.subsequences, kTileSubsequences);
  scans_->tiles += plan.tiles;
  scans_->segments += segments;
  uint32_t sets = 0;
  for (uint32_t block = 0; block < plan.blocks_in_mcu; ++block) sets |= 1u << plan.set[block];
  scans_->max_sets = std::max(scans_->max_sets, (sets & 1) + (sets >> 1 & 1) + (sets >> 2 & 1));
  scans_->count = scan_ + 1;
  return true;
}

// Copies the bytes up to a marker; `*marker` is its code, null at the end of the data.
bool JpegScanReader::take_segment(uint32_t segment, const uint8_t** marker) {
  const size_t begin = used_;
  const uint8_t* const end = data_ + size_;
  // After end_ there is room for bytes that are copied in excess.
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

// Writes the bytes after the words, and the tables.
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
  scans.zeros_at = scans.runs_at + sets * sizeof(HuffmanRuns);
  const size_t zeros = zero_words(scans.subsequences) * sizeof(uint32_t);
  std::memset(block_ + scans.zeros_at, 0, zeros);
  scans.bytes = scans.zeros_at + zeros;
  for (size_t i = 0; i < sets; ++i) {
    std::memcpy(block_ + scans.sets_at + i * sizeof(HuffmanSet), &sets_[i].codes,
                sizeof(HuffmanSet));
    std::memcpy(block_ + scans.runs_at + i * sizeof(HuffmanRuns), &runs_[sets_[i].slot],
                sizeof(HuffmanRuns));
  }
  scans.tables = unique_tables();
  scans.irregular = irregular_;
}

// ITU-T T.81, annex B. All that may be damage is a "no" here, so that damage is described in one
// place alone. Irregularities without loss are recorded, and read as libjpeg reads them.

namespace {

bool is_restart(uint32_t code) { return code >= kRst0 && code <= kRst7; }
uint32_t big_endian(const uint8_t* bytes) { return uint32_t{bytes[0]} << 8 | bytes[1]; }

}  // namespace

JpegScanParser::JpegScanParser() {
  for (int i = 0; i < kMaxSets; ++i) sets_[i].slot = i;
}

bool JpegScanParser::begin(std::span<const uint8_t> file) {
  data_ = file.data();
  size_ = file.size();
  at_ = 2;
  components_ = 0;
  interval_ = 0;
  irregular_ = 0;
  ended_ = after_restart_ = false;
  scan_ = 0;
  used_sets_ = 0;
  for (bool(&has)[4] : has_table_) std::fill(std::begin(has), std::end(has), false);
  std::fill(std::begin(has_quantizer_), std::end(has_quantizer_), false);
  if (size_ < 4 || data_[0] != 0xff || data_[1] != kSoi) return false;
  return read_markers(true) && components_ != 0;
}

bool JpegScanParser::read_scans() {
  if (!read_markers(false) || !ended_) return false;
  return std::all_of(component_, component_ + components_,
                     [](const Component& component) { return component.seen; });
}

JpegTables JpegScanParser::unique_tables() const {
  JpegTables unique;
  for (int c = 0; c < components_; ++c)
    unique.add(c, latched_[c], static_cast<int>(component_[c].quant));
  return unique;
}

// ---- Markers ----

// Up to the first scan's, or to the end.
bool JpegScanParser::read_markers(bool up_to_scan) {
  while (!ended_) {
    const size_t before = at_;
    uint32_t code = 0;
    std::span<const uint8_t> segment;
    if (!find_marker()) return false;
    if (at_ == size_) {  // a file may end without EOI, if nothing else is missing
      irregular_ |= kJpegMissingEoi;
      ended_ = true;
      return scan_ != 0;
    }
    if (!next_marker(&code, &segment)) return false;
    if (code == kSos && up_to_scan) {
      at_ = before;
      return true;
    }
    if (!take(code, segment)) return false;
  }
  return true;
}

// Skips to the FF before a marker's code, from at_ on, or to the end of the data.
bool JpegScanParser::find_marker() {
  const size_t before = at_;
  bool is_data = false;
  while (at_ < size_) {
    if (data_[at_] != 0xff) {
      is_data = is_data || data_[at_] != 0;
      ++at_;
    } else if (at_ + 1 == size_ || data_[at_ + 1] == 0xff) {
      ++at_;  // it fills up
    } else if (data_[at_ + 1] == 0) {
      is_data = true;
      at_ += 2;
    } else {
      break;
    }
  }
  if (std::any_of(data_ + before, data_ + at_, [](uint8_t byte) { return byte != 0xff; }))
    irregular_ |= kJpegExtraneousBytes;
  // After a restart it would be an interval more than there are.
  return !(is_data && after_restart_);
}

bool JpegScanParser::next_marker(uint32_t* code, std::span<const uint8_t>* segment) {
  *code = data_[at_ + 1];
  at_ += 2;
  *segment = {};
  after_restart_ = is_restart(*code);
  if (*code == kEoi || *code == kTem || after_restart_) return true;
  if (at_ + 2 > size_) return false;
  const size_t length = big_endian(data_ + at_);
  if (length < 2 || at_ + length > size_) return false;
  *segment = {data_ + at_ + 2, length - 2};
  at_ += length;
  return true;
}

bool JpegScanParser::take(uint32_t code, std::span<const uint8_t> segment) {
  switch (code) {
    case kSof0:
      return take_frame(segment, 8);
    case kSof1:
      return take_frame(segment, kMaxJpegDepth);
    case kDht:
      return take_huffman(segment);
    case kDqt:
      return take_quantizers(segment);
    case kDri:
      if (segment.size() != 2) return false;
      interval_ = big_endian(segment.data());
      return true;
    case kSos:
      return take_scan(segment);
    case kEoi:
      ended_ = true;
      return true;
    default:
      if (code == kApp0 || code == kApp14) return scan_ == 0;  // libjpeg has checked the first ones
      if ((code > kApp0 && code <= kApp15) || code == kCom) return true;
      // Some encoders end a scan with a restart.
      irregular_ |= kJpegUnexpectedMarker;
      return is_restart(code) || code == kTem || code == kDnl;
  }
}

bool JpegScanParser::take_frame(std::span<const uint8_t> segment, uint32_t max_depth) {
  if (components_ != 0 || segment.size() < 6) return false;
  depth_ = segment[0];
  if (!is_jpeg_depth(depth_) || depth_ > max_depth) return false;
  height_ = big_endian(&segment[1]);
  width_ = big_endian(&segment[3]);
  const size_t count = segment[5];
  if (width_ == 0 || height_ == 0 || (count != 1 && count != 3 && count != 4) ||
      segment.size() != 6 + 3 * count)
    return false;
  max_h_ = max_v_ = 1;
  for (size_t c = 0; c < count; ++c) {
    const uint8_t* const from = &segment[6 + 3 * c];
    Component& component = component_[c];
    component = {from[0], uint32_t{from[1]} >> 4, from[1] & 15u, from[2]};
    if (component.h - 1 > 3 || component.v - 1 > 3 || component.quant > 3) return false;
    for (size_t other = 0; other < c; ++other)
      if (component_[other].id == component.id) return false;
    max_h_ = std::max(max_h_, component.h);
    max_v_ = std::max(max_v_, component.v);
  }
  components_ = static_cast<int>(count);
  for (int c = 0; c < components_; ++c) {
    blocks_w_[c] = parts(uint64_t{width_} * component_[c].h, 8 * max_h_);
    blocks_h_[c] = parts(uint64_t{height_} * component_[c].v, 8 * max_v_);
  }
  return true;
}

bool JpegScanParser::take_huffman(std::span<const uint8_t> segment) {
  while (!segment.empty()) {
    if (segment.size() < 17) return false;
    const uint32_t is_ac = segment[0] >> 4, number = segment[0] & 15;
    if (is_ac > 1 || number > 3) return false;
    JpegHuffmanTable& to = tables_[is_ac][number];
    to = {};
    size_t symbols = 0;
    for (size_t length = 1; length <= 16; ++length) {
      to.counts[length] = segment[length];
      symbols += segment[length];
    }
    segment = segment.subspan(17);
    if (symbols > 256 || symbols > segment.size()) return false;
    std::copy_n(segment.begin(), symbols, to.symbols);
    has_table_[is_ac][number] = true;
    segment = segment.subspan(symbols);
  }
  return true;
}

bool JpegScanParser::take_quantizers(std::span<const uint8_t> segment) {
  while (!segment.empty()) {
    const size_t entry = (segment[0] >> 4) + size_t{1};
    const uint32_t number = segment[0] & 15;
    if (entry > 2 || number > 3 || segment.size() < 1 + 64 * entry) return false;
    for (size_t i = 0; i < 64; ++i) {
      const uint8_t* const from = &segment[1 + i * entry];
      const uint32_t value = entry == 2 ? big_endian(from) : from[0];
      quantizers_[number].q[kNaturalOfZigzag[i]] = static_cast<uint16_t>(value);
    }
    has_quantizer_[number] = true;
    segment = segment.subspan(1 + 64 * entry);
  }
  return true;
}

// ---- Scans ----

bool JpegScanParser::take_scan(std::span<const uint8_t> segment) {
  if (components_ == 0 || scan_ == kMaxScans || segment.empty()) return false;
  const size_t count = segment[0];
  if (count < 1 || count > static_cast<size_t>(components_) || segment.size() != 4 + 2 * count)
    return false;
  if (segment[1 + 2 * count] != 0 || segment[2 + 2 * count] != 63 || segment[3 + 2 * count] != 0)
    irregular_ |= kJpegScanParameters;
  int chosen[kJpegMaxComponents];
  for (size_t i = 0; i < count; ++i) {
    int c = 0;
    while (c < components_ && component_[c].id != segment[1 + 2 * i]) ++c;
    if (c == components_ || component_[c].seen) return false;
    component_[c].seen = true;
    chosen[i] = c;
    if (!use_tables(&component_[c], segment[2 + 2 * i]) || !latch_quantizer(c)) return false;
  }
  JpegScanPlan plan;
  if (!plan_scan(chosen, static_cast<int>(count), &plan) || !take_bits(plan)) return false;
  ++scan_;
  return true;
}

// The set of the tables that a scan selects for a component, made if it is new.
bool JpegScanParser::use_tables(Component* component, uint32_t selectors) {
  const JpegHuffmanTable* chosen[2];
  for (int is_ac = 0; is_ac < 2; ++is_ac) {
    const uint32_t number = is_ac != 0 ? selectors & 15 : selectors >> 4;
    if (number > 3) return false;
    JpegHuffmanTable& table = tables_[is_ac][number];
    // As libjpeg does, which fills in missing tables before the first scan.
    if (!has_table_[is_ac][number]) {
      const JpegHuffmanTables* standard = nullptr;
      if (number > 1 || scan_ > 0 || !standard_jpeg_tables(&standard).ok()) return false;
      table = is_ac != 0 ? standard->ac[number] : standard->dc[number];
      has_table_[is_ac][number] = true;
    }
    chosen[is_ac] = &table;
  }
  int set = 0;
  const auto is_same = [&](const Set& one) {
    return one.made && one.dc == *chosen[0] && one.ac == *chosen[1];
  };
  while (set < kMaxSets && !is_same(sets_[set])) ++set;
  if (set < used_sets_) {
    component->set = set;
    return true;
  }
  if (used_sets_ == kMaxSets) return false;
  Set& place = sets_[used_sets_];
  if (set < kMaxSets) {
    std::swap(place, sets_[set]);
  } else {
    place.made = false;
    place.dc = *chosen[0];
    place.ac = *chosen[1];
    if (!make_codes(place.dc, false, &place.codes.codes[0]) ||
        !make_codes(place.ac, true, &place.codes.codes[1]))
      return false;
    make_set(place);
    place.made = true;
  }
  component->set = used_sets_++;
  return true;
}

bool JpegScanParser::latch_quantizer(int c) {
  const uint32_t number = component_[c].quant;
  if (!has_quantizer_[number]) return false;
  latched_[c] = quantizers_[number];
  return !latched_[c].is_blank();
}

bool JpegScanParser::plan_scan(const int* chosen, int count, JpegScanPlan* plan) const {
  *plan = {};
  plan->depth = depth_;
  const bool alone = count == 1;  // then an MCU is a block
  for (int i = 0; i < count; ++i) {
    const Component& component = component_[chosen[i]];
    const auto c = static_cast<uint32_t>(chosen[i]);
    plan->mcu_w[c] = alone ? 1 : component.h;
    plan->mcu_h[c] = alone ? 1 : component.v;
    for (uint32_t y = 0; y < plan->mcu_h[c]; ++y) {
      for (uint32_t x = 0; x < plan->mcu_w[c]; ++x) {
        const uint32_t at = 2 * plan->blocks_in_mcu++;
        if (plan->blocks_in_mcu > kMaxMcuBlocks) return false;
        plan->set.bits |= static_cast<uint32_t>(component.set) << at;
        plan->component.bits |= c << at;
        plan->x.bits |= x << at;
        plan->y.bits |= y << at;
      }
    }
  }
  const auto only = static_cast<size_t>(chosen[0]);
  plan->mcus_w = alone ? blocks_w_[only] : parts(width_, 8 * max_h_);
  const uint32_t mcus_h = alone ? blocks_h_[only] : parts(height_, 8 * max_v_);
  plan->mcus = plan->mcus_w * mcus_h;
  plan->interval = interval_ != 0 ? interval_ : plan->mcus;
  // Sets follow components, which follow each other: they repeat only where all are the same.
  bool is_one_set = true;
  for (uint32_t block = 1; block < plan->blocks_in_mcu; ++block)
    is_one_set = is_one_set && plan->set[block] == plan->set[0];
  plan->period = is_one_set ? 1 : plan->blocks_in_mcu;
  plan->classes = plan->knows_phases() ? static_cast<uint32_t>(components_) : plan->blocks_in_mcu;
  return true;
}

}  // namespace cudatransform
