// Sequential decoding of Huffman-coded JPEG scans on the CPU, faster than libjpeg-turbo's.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/scan_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "jpeg/reader.h"
#include "jpeg/stuffing.h"

namespace cudatransform {

void make_lookup(const HuffmanSet& codes, HuffmanLookup* lookup) {
  constexpr uint32_t kDcBits = HuffmanLookup::kDcBits, kAcBits = HuffmanLookup::kAcBits;
  const auto is_known = [](uint32_t entry, uint32_t bits) {
    return advance_of(entry) != kNoCode && length_of(entry) <= bits;
  };
  for (uint32_t bits = 0; bits < 1u << kDcBits; ++bits) {
    const uint32_t entry = find_entry(codes.codes[0], bits << (32 - kDcBits));
    const bool known = is_known(entry, kDcBits);
    lookup->dc[bits] = known ? HuffmanLookupEntry::code(length_of(entry), size_of(entry), 0)
                             : HuffmanLookupEntry();
  }
  for (uint32_t bits = 0; bits < 1u << kAcBits; ++bits) {
    const uint32_t window = bits << (32 - kAcBits), entry = find_entry(codes.codes[1], window);
    const uint32_t length = length_of(entry), size = size_of(entry), advance = advance_of(entry);
    HuffmanLookupEntry& found = lookup->ac[bits];
    found = {};
    if (!is_known(entry, kAcBits)) continue;
    found = length + size <= kAcBits
                ? HuffmanLookupEntry::whole(length + size, advance, value_of(window, length, size))
                : HuffmanLookupEntry::code(length, size, advance);
  }
  lookup->codes = codes;
}

// Three things make it fast. Bits are loaded by whole words, without checking their bytes,
// since stuffing and markers are removed before. One lookup finds a code, the quantized coefficient
// after it, and the zeros before that. And all rare cases end the loop over a block's codes by the
// same comparison: the end of the block, codes that are longer than a lookup, and damage.

// The next bits of a segment, on top of a word.
struct JpegScanDecoder::Bits {
  const uint8_t* at;   // the byte that is loaded next
  uint64_t word = 0;   // below `count` bits there may be some more of the stream, or zeros
  uint32_t count = 0;  // 63 at most

  // From now on there are 56 at least.
  void load() {
    uint64_t next = 0;
    std::memcpy(&next, at, 8);
    if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
    word |= next >> count;
    at += (63 - count) >> 3;
    count |= 56;
  }
  uint32_t top(uint32_t bits) const { return static_cast<uint32_t>(word >> (64 - bits)); }
  void skip(uint32_t bits) {
    word <<= bits;
    count -= bits;
  }
};

namespace {

constexpr uint32_t kLastIndex = 63;

// The longest block: its DC difference, and 63 quantized coefficients.
constexpr uint32_t kMaxBlockBits =
    16 + jpeg_dc_bits(kMaxJpegDepth) + 63 * (16 + jpeg_ac_bits(kMaxJpegDepth));
static_assert(kMaxMcuBlocks * ((kMaxBlockBits + 7) / 8) + 64 <= ScanWindow::kMaxAhead);

// A memset() here would take as long as ten codes.
inline void clear(int16_t* qcoefs) {
  using Vector = uint64_t __attribute__((vector_size(16)));
  constexpr Vector kZero = {};
#pragma GCC unroll 8
  for (int i = 0; i < 64; i += 8) std::memcpy(qcoefs + i, &kZero, sizeof kZero);
}

// The value of `size` bits after `length` others (T.81, figure F.12), without a branch.
inline int32_t value_in(uint64_t word, uint32_t length, uint32_t size) {
  const uint64_t behind = word << length;
  // If the first bit is 0, the value is negative, and the bits are its complement.
  const auto flip = ~static_cast<uint64_t>(static_cast<int64_t>(behind) >> 63);
  return static_cast<int32_t>((((behind ^ flip) >> 1 >> (63 - size)) ^ flip) - flip);
}

// A code that one lookup does not decode, and the bits after it. False: there is no such code, or
// samples of the depth cannot have this many bits.
template <typename Bits>
inline bool take_code(const HuffmanCodes& codes, HuffmanLookupEntry found, uint32_t max_size,
                      Bits* bits, uint32_t* advance, int32_t* value) {
  uint32_t length = found.length(), size = found.size();
  *advance = found.advance();
  if (found.fields == 0) {
    const uint32_t entry = find_entry(codes, bits->top(32));
    if (advance_of(entry) == kNoCode) return false;
    length = length_of(entry);
    size = size_of(entry);
    *advance = advance_of(entry);
  }
  if (size > max_size) return false;
  *value = value_in(bits->word, length, size);
  bits->skip(length + size);
  return true;
}

template <typename Bits>
inline bool take_dc(const HuffmanLookup& lookup, uint32_t depth, Bits* bits, int32_t* dc) {
  bits->load();
  const HuffmanLookupEntry found = lookup.dc[bits->top(HuffmanLookup::kDcBits)];
  uint32_t advance = 0;
  int32_t difference = 0;
  if (!take_code(lookup.codes.codes[0], found, jpeg_dc_bits(depth), bits, &advance, &difference))
    return false;
  *dc += difference;
  return is_plain_dc(*dc, depth);
}

enum class BlockEnd { kRight, kBeyond, kNoCode };

template <typename Bits>
inline BlockEnd take_ac(const HuffmanLookup& lookup, uint32_t depth, Bits* bits, int16_t* qcoefs) {
  // Values that one lookup decodes are small enough for every depth.
  static_assert(HuffmanLookup::kAcBits - 1 <= jpeg_ac_bits(8));
  // This many take no more bits than there are after a load().
  constexpr uint32_t kEntries = 56 / HuffmanLookup::kAcBits;
  uint32_t index = 0;
  int32_t value = 0;
  while (index < kLastIndex) {
    bits->load();
    for (uint32_t i = 0; i < kEntries; ++i) {
      const HuffmanLookupEntry found = lookup.ac[bits->top(HuffmanLookup::kAcBits)];
      if (found.bits() == 0) {
        uint32_t advance = 0;
        bits->load();
        if (!take_code(lookup.codes.codes[1], found, jpeg_ac_bits(depth), bits, &advance, &value))
          return BlockEnd::kNoCode;
        index += advance;
        if (index < kLastIndex) qcoefs[kNaturalOfZigzag[index]] = static_cast<int16_t>(value);
        break;
      }
      index += found.advance();
      value = found.value();
      bits->skip(found.bits());
      if (index >= kLastIndex) break;
      qcoefs[kNaturalOfZigzag[index]] = static_cast<int16_t>(value);
    }
  }
  // Zeros may extend beyond the end of a block, as in libjpeg, values may not.
  if (index > kLastIndex) return value == 0 ? BlockEnd::kRight : BlockEnd::kBeyond;
  qcoefs[kLastIndex] = static_cast<int16_t>(value);
  return BlockEnd::kRight;
}

// The place after this many restart markers, which must be in order. False: they are not.
bool skip_segments(const uint8_t* from, const uint8_t* end, uint32_t count, const uint8_t** to) {
  for (uint32_t i = 0; i < count; ++i) {
    from += bytes_before_marker(from, static_cast<size_t>(end - from));
    const uint8_t* const code = marker_code(from, end);
    if (code == nullptr || *code != kRst0 + i % 8) return false;
    from = code + 1;
  }
  *to = from;
  return true;
}

// The codes of sets, as the steps of huffman_write.h take them.
template <typename Set>
struct CodesOfSets {
  struct {
    const Set* first;
    const HuffmanSet& operator[](uint32_t set) const { return first[set].codes; }
  } sets;
};

}  // namespace

bool JpegScanDecoder::decode(std::span<const uint8_t> file, const JpegQcoefs* qcoefs,
                             int components, const JpegBlockRows* rows,
                             const std::atomic<unsigned>* interrupt, JpegTables* tables) {
  qcoefs_ = qcoefs;
  rows_ = rows;
  interrupt_ = interrupt;
  goes_beyond_block_ = false;
  if (!begin(file) || components_ != components) return false;
  for (int c = 0; c < components; ++c) {
    if (blocks_w_[c] != qcoefs[c].blocks_w || blocks_h_[c] != qcoefs[c].blocks_h) return false;
  }
  if (!read_scans()) return false;
  *tables = unique_tables();
  return true;
}

bool JpegScanDecoder::check(std::span<const uint8_t> file, const std::atomic<unsigned>* interrupt) {
  qcoefs_ = nullptr;
  rows_ = nullptr;
  interrupt_ = interrupt;
  goes_beyond_block_ = false;
  return begin(file) && read_scans();
}

bool JpegScanDecoder::take_bits(const JpegScanPlan& plan) {
  uint64_t all_blocks = 0;
  for (int c = 0; c < components_; ++c) all_blocks += uint64_t{blocks_w_[c]} * blocks_h_[c];
  if ((scan_ + 1) * all_blocks > JpegReader::kMaxScannedBlocks) return false;
  const McuRows rows = wanted_rows(plan);
  Restarts restarts = {plan.interval, 0};
  const uint8_t* from = data_ + at_;
  if (!skip_segments(from, data_ + size_, rows.first * plan.mcus_w / plan.interval, &from))
    return false;
  restarts.count = rows.first * plan.mcus_w / plan.interval;
  Bits bits;
  if (!begin_segment(from, &bits)) return false;
  const uint32_t first = restarts.count * plan.interval;
  for (uint32_t mcu_y = first / plan.mcus_w; mcu_y < rows.end; ++mcu_y) {
    if (is_interrupted()) return false;
    const uint32_t mcu_x = mcu_y == first / plan.mcus_w ? first % plan.mcus_w : 0;
    aim(plan, mcu_x, mcu_y);
    if (!take_row(plan, mcu_x, &restarts, &bits)) return false;
  }
  if (rows.end < plan.mcus / plan.mcus_w) return ended_ = true;
  if (!end_segment(plan, bits)) return false;
  at_ = window_.marker() == nullptr ? size_ : static_cast<size_t>(window_.marker() - data_) - 1;
  return true;
}

// All rows, unless the scan is the only one.
JpegScanDecoder::McuRows JpegScanDecoder::wanted_rows(const JpegScanPlan& plan) const {
  McuRows rows = {0, plan.mcus / plan.mcus_w};
  bool has_all = rows_ != nullptr;
  for (int c = 0; c < components_; ++c) has_all = has_all && plan.mcu_h[c] > 0;
  if (!has_all) return rows;
  McuRows wanted = {rows.end, 0};
  for (int c = 0; c < components_; ++c) {
    // Of components that are not wanted there are none.
    if (rows_->end[c] == 0) continue;
    wanted.first = std::min(wanted.first, rows_->first[c] / plan.mcu_h[c]);
    wanted.end = std::max(wanted.end, parts(rows_->end[c], plan.mcu_h[c]));
  }
  return {std::min(wanted.first, rows.end), std::min(wanted.end, rows.end)};
}

// From a column of MCUs on.
bool JpegScanDecoder::take_row(const JpegScanPlan& plan, uint32_t mcu_x, Restarts* restarts,
                               Bits* bits) {
  while (mcu_x < plan.mcus_w) {
    if (restarts->remaining == 0) {
      if (!end_segment(plan, *bits)) return false;
      if (window_.marker() == nullptr || *window_.marker() != kRst0 + restarts->count++ % 8)
        return false;
      if (!begin_segment(window_.marker() + 1, bits)) return false;
      restarts->remaining = plan.interval;
    }
    const uint32_t last = plan.mcus_w - 1;
    if (mcu_x == last) aim_at_last(plan, mcu_x);
    const uint32_t count = std::min(mcu_x == last ? 1 : last - mcu_x, restarts->remaining);
    if (!decode_mcus(count, plan.blocks_in_mcu, bits)) return false;
    mcu_x += count;
    restarts->remaining -= count;
  }
  return true;
}

bool JpegScanDecoder::begin_segment(const uint8_t* from, Bits* bits) {
  std::fill(std::begin(dc_), std::end(dc_), 0);
  *bits = {window_.first()};
  return window_.begin(from, data_ + size_);
}

// All of its bits were read. A remainder of less than a byte fills the last one.
bool JpegScanDecoder::end_segment(const JpegScanPlan& plan, const Bits& bits) {
  if (window_.end() != nullptr) {
    const ptrdiff_t left = 8 * (window_.end() - bits.at) + static_cast<ptrdiff_t>(bits.count);
    if (left < 8) return left >= 0;
  }
  irregular_ |= kJpegTrailingBytes;
  return skip_trailing_bytes(plan, bits);
}

// Up to the end of the segment. False: more MCUs follow.
bool JpegScanDecoder::skip_trailing_bytes(const JpegScanPlan& plan, const Bits& bits) {
  const CodesOfSets<Set> tables{{sets_}};
  const uint8_t* from = bits.at - (bits.count + 7) / 8;
  JpegLeftOver left{(8 - bits.count % 8) % 8, 0, 0};
  for (uint64_t all = 0; !is_interrupted();) {
    const bool is_last = window_.end() != nullptr;
    const uint8_t* const end = is_last ? window_.end() : std::max(window_.last(), from);
    const auto end_bit = static_cast<uint32_t>(8 * (end - from));
    all += end_bit - std::min(end_bit, left.position);
    walk_left_over(ByteWords{from}, tables, plan, 0, end_bit, &left);
    if (is_last) return all < kFewLeftOverBits || !left.are_mcus || !left.is_valid;
    left.are_mcus = false;
    from += left.position / 8;
    left.position %= 8;
    if (!window_.move(&from)) return false;
  }
  return false;
}

// At an MCU of a row.
void JpegScanDecoder::aim(const JpegScanPlan& plan, uint32_t mcu_x, uint32_t mcu_y) {
  for (uint32_t block = 0; block < plan.blocks_in_mcu; ++block) {
    const uint32_t c = plan.component[block], y = mcu_y * plan.mcu_h[c] + plan.y[block];
    Target& target = targets_[block];
    target.lookup = &lookups_[sets_[plan.set[block]].slot];
    target.component = c;
    const bool is_there = qcoefs_ != nullptr && y < blocks_h_[c] &&
                          (rows_ == nullptr || (y >= rows_->first[c] && y < rows_->end[c]));
    target.step = is_there ? ptrdiff_t{64} * plan.mcu_w[c] : 0;
    target.qcoefs = is_there ? qcoefs_[c].row(y) + ptrdiff_t{64} * plan.x[block] : dummy_;
    target.qcoefs += target.step * mcu_x;
  }
}

// At the last MCU of the row, some of whose blocks may be beyond the picture.
void JpegScanDecoder::aim_at_last(const JpegScanPlan& plan, uint32_t mcu_x) {
  for (uint32_t block = 0; block < plan.blocks_in_mcu; ++block) {
    const uint32_t c = plan.component[block];
    if (mcu_x * plan.mcu_w[c] + plan.x[block] >= blocks_w_[c]) targets_[block].qcoefs = dummy_;
    targets_[block].step = 0;
  }
}

bool JpegScanDecoder::decode_mcus(uint32_t count, uint32_t blocks, Bits* from) {
  Bits bits = *from;
  const uint32_t depth = depth_;
  for (uint32_t mcu = 0; mcu < count; ++mcu) {
    if (!window_.may_read(bits.at)) {
      // A copy, so that the others stay in registers.
      const uint8_t* at = bits.at;
      if (!window_.move(&at)) return false;
      bits.at = at;
    }
    for (uint32_t block = 0; block < blocks; ++block) {
      Target& target = targets_[block];
      int16_t* const qcoefs = target.qcoefs;
      target.qcoefs += target.step;
      clear(qcoefs);
      int32_t& dc = dc_[target.component];
      if (!take_dc(*target.lookup, depth, &bits, &dc)) return false;
      qcoefs[0] = static_cast<int16_t>(dc);
      const BlockEnd end = take_ac(*target.lookup, depth, &bits, qcoefs);
      if (end == BlockEnd::kRight) continue;
      goes_beyond_block_ = end == BlockEnd::kBeyond;
      return false;
    }
  }
  *from = bits;
  return true;
}

}  // namespace cudatransform
