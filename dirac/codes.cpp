// The codes of a picture's quantized coefficients: bands of core pictures, slices of low delay and
// high quality pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "dirac/codes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "dirac/arithmetic.h"
#include "dirac/bits.h"
#include "dirac/qcoefs.h"

namespace cudatransform {
namespace {

// The neighbor whose sign a quantized coefficient is likely to have: in the low-pass direction of
// the band.
enum class SignFrom { kNone, kAbove, kLeft };

struct Contexts {
  DiracContext first[4];      // stop bit, by class
  DiracContext follow[2][6];  // stop bits after it; the first of each is not used
  DiracContext data;
  DiracContext sign[3];  // neighbor zero, positive, negative
  DiracContext block_is_zero;
  DiracContext delta_stop, delta_data, delta_sign;

  Contexts() {
    std::fill_n(first, 4, kDiracEvenContext);
    std::fill_n(&follow[0][0], 12, kDiracEvenContext);
    std::fill_n(sign, 3, kDiracEvenContext);
    data = block_is_zero = kDiracEvenContext;
    delta_stop = delta_data = delta_sign = kDiracEvenContext;
  }
};

struct Block {
  int32_t x, y, x_end, y_end;
};

// Each of the lower 32 bits twice.
uint64_t doubled(uint64_t bits) {
  bits &= 0xffffffff;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  bits = (bits | bits << 1) & 0x5555555555555555;
  return bits | bits << 1;
}

// The surroundings of the 64 coefficients of a word of the map.
struct Surroundings {
  uint64_t above = 0;  // coefficients above that are not zero
  uint64_t above_signs = 0;
  uint64_t above_or_left = 0;  // above or above to the left
  uint64_t parents = 0;
};

Surroundings surroundings_of(const DiracBand& band, const DiracBand* parent, int32_t y,
                             int32_t word) {
  Surroundings around;
  if (y > 0) {
    const uint64_t* above = band.map_row(y - 1);
    around.above = above[word];
    around.above_signs = band.signs[ptrdiff_t{y - 1} * band.map_words + word];
    around.above_or_left = above[word] | above[word] << 1 | (word > 0 ? above[word - 1] >> 63 : 0);
  }
  if (parent != nullptr) {
    around.parents = doubled(parent->map_row(y / 2)[word / 2] >> (word % 2 * 32));
  }
  return around;
}

// The class of a coefficient that has not been decoded: bit 0, whether one above, to the left or
// between is not zero; bit 1, whether its parent is not. kQuiet: neither, nor for the next seven;
// kEnd: it is not one of the block's.
constexpr uint32_t kNearClass = 1, kParentClass = 2, kQuiet = 4, kEnd = 8;

// Eight bits as a byte each.
constexpr std::array<uint64_t, 256> make_bytes_of_bits() {
  std::array<uint64_t, 256> bytes{};
  for (uint64_t i = 0; i < 256; ++i) {
    for (int bit = 0; bit < 8; ++bit) bytes[i] |= (i >> bit & 1) << (8 * bit);
  }
  return bytes;
}
constexpr std::array<uint64_t, 256> kBytesOfBits = make_bytes_of_bits();

constexpr size_t kWord = 64;

// The classes of coefficients `begin` to `end` of a word, as far as they are known before any of
// them has been decoded. (A table instead of shifts: this is done once, a class is read often.)
void classify(const Surroundings& around, size_t begin, size_t end, uint8_t* classes) {
  const uint64_t not_quiet = around.above_or_left | around.parents;
  if (not_quiet == 0) {
    std::memset(classes, kQuiet, kWord);
  } else {
    uint64_t soon = not_quiet | not_quiet >> 1;
    soon |= soon >> 2;
    soon |= soon >> 4;
    for (size_t i = begin & ~size_t{7}; i < end; i += 8) {
      const uint64_t eight = kNearClass * kBytesOfBits[around.above_or_left >> i & 255] +
                             kParentClass * kBytesOfBits[around.parents >> i & 255] +
                             kQuiet * kBytesOfBits[~soon >> i & 255];
      const uint64_t bytes =
          std::endian::native == std::endian::little ? eight : __builtin_bswap64(eight);
      std::memcpy(classes + i, &bytes, sizeof bytes);
    }
  }
  classes[end] = kEnd;
}

// The left neighbor is not zero.
void set_near(uint8_t* of) { *of = static_cast<uint8_t>((*of & ~kQuiet) | kNearClass); }

// How many coefficients from `x` to `end` have only zeros around them.
size_t quiet_from(const Surroundings& around, size_t x, size_t end) {
  const uint64_t ahead = (around.above_or_left | around.parents) >> x;
  return std::min(ahead != 0 ? static_cast<size_t>(std::countr_zero(ahead)) : kWord, end - x);
}

bool has_any(const uint64_t* row, int32_t begin, int32_t end) {
  for (int32_t x = begin; x < end; x = (x / 64 + 1) * 64) {
    const uint64_t bits = row[x / 64] >> (x % 64);
    if ((end - x < 64 ? bits << (64 - (end - x)) : bits) != 0) return true;
  }
  return false;
}

// How many rows of a block from `y` on have only zeros around them, and between them if their
// coefficients are zero.
int32_t quiet_rows(const DiracBand& band, const DiracBand* parent, const Block& block, int32_t y) {
  const int32_t left = std::max(block.x - 1, 0);
  if (y > 0 && has_any(band.map_row(y - 1), left, block.x_end)) return 0;
  int32_t end = y;
  for (; end < block.y_end; ++end) {
    if (has_any(band.map_row(end), left, block.x)) break;
    if (parent == nullptr) continue;
    if (has_any(parent->map_row(end / 2), block.x / 2, (block.x_end + 1) / 2)) break;
  }
  return end - y;
}

struct Place {
  int32_t x, y;
};

// Takes zeros from the beginning of row `y` on, as long as they are in rows with only zeros around
// them, and returns where they end. (Not part of the loop that decodes, which needs all registers.)
[[gnu::noinline]] Place take_quiet_rows(const DiracBand& band, const DiracBand* parent,
                                        const Block& block, int32_t y, DiracArithmetic& arithmetic,
                                        DiracContext& context) {
  const auto rows = static_cast<size_t>(quiet_rows(band, parent, block, y));
  const auto width = static_cast<size_t>(block.x_end - block.x);
  const size_t zeros = arithmetic.ones_ahead(&context, rows * width);
  if (zeros == 0) return {block.x, y};
  return {block.x + static_cast<int32_t>(zeros % width), y + static_cast<int32_t>(zeros / width)};
}

// Looking for quiet rows takes as long in a narrow block as it saves.
constexpr int32_t kWideBlock = 64;

// Decodes the coefficients of a codeblock. Runs of zeros among zeros stay in one context, and the
// decoder's state stays in registers. `magnitudes` gets all bits that any magnitude has.
template <typename Value, SignFrom kSignFrom>
bool decode_block(DiracArithmetic& decoder, Contexts& contexts, const DiracBand* parent,
                  const Block& block, DiracBand& band, uint32_t& magnitudes) {
  DiracArithmetic arithmetic = decoder;
  Contexts c = contexts;
  uint32_t all = 0;
  alignas(uint64_t) uint8_t classes[kWord + 1];
  for (int32_t y = block.y; y < block.y_end; ++y) {
    int32_t first = block.x;
    if (block.x_end - block.x >= kWideBlock) {
      DiracArithmetic ahead = arithmetic;  // copies, as their address is taken
      DiracContext context = c.first[0];
      const Place place = take_quiet_rows(band, parent, block, y, ahead, context);
      arithmetic = ahead;
      c.first[0] = context;
      first = place.x;
      y = place.y;
      if (y == block.y_end) break;
    }
    uint64_t* map = band.map + ptrdiff_t{y} * band.map_words;
    uint64_t* signs = band.signs + ptrdiff_t{y} * band.map_words;
    Value* const row = static_cast<Value*>(band.qcoefs) + ptrdiff_t{y} * band.width;
    Value* next = row + band.counts[y];
    uint64_t left = 0, left_negative = 0;
    if (first > 0) {
      left = map[(first - 1) / 64] >> ((first - 1) % 64) & 1;
      left_negative = signs[(first - 1) / 64] >> ((first - 1) % 64) & 1;
    }
    for (int32_t word = first / 64; word * 64 < block.x_end; ++word) {
      const Surroundings around = surroundings_of(band, parent, y, word);
      const auto end = static_cast<size_t>(std::min(block.x_end - word * 64, 64));
      auto x = static_cast<size_t>(std::max(first - word * 64, 0));
      classify(around, x, end, classes);
      if (left != 0) set_near(&classes[x]);
      left <<= x;
      left_negative <<= x;
      uint64_t found = 0, negative = 0;
      for (;;) {
        size_t index = classes[x];
        if (index >= kQuiet) {
          if (index >= kEnd) break;
          const size_t quiet = quiet_from(around, x, end);
          const size_t zeros = arithmetic.run_of_ones(&c.first[0], quiet);
          x += zeros;
          if (zeros == quiet) continue;
          index = 0;
        } else if (arithmetic.decode_ahead(&c.first[index])) {
          ++x;
          continue;
        }
        uint32_t magnitude = 0;
        if (!arithmetic.decode_rest(c.follow[index / kParentClass], 6, &c.data, &magnitude))
          return false;
        all |= magnitude;
        uint64_t likely = 0;
        if (kSignFrom == SignFrom::kAbove)
          likely = (around.above >> x & 1) + (around.above_signs >> x & 1);
        if (kSignFrom == SignFrom::kLeft)
          likely = ((found << 1 | left) >> x & 1) + ((negative << 1 | left_negative) >> x & 1);
        const uint32_t minus = arithmetic.decode_mask(&c.sign[likely]);
        const auto value = static_cast<Value>((magnitude ^ minus) - minus);
        const uint64_t bit = uint64_t{1} << x;
        ++x;
        if (value == 0) continue;  // a multiple of 2^16
        *next++ = value;
        found |= bit;
        negative |= bit & (uint64_t{0} - (minus & 1));
        set_near(&classes[x]);
      }
      left = found >> (end - 1) & 1;
      left_negative = negative >> (end - 1) & 1;
      map[word] |= found;
      signs[word] |= negative;
    }
    band.counts[y] = static_cast<uint32_t>(next - row);
  }
  decoder = arithmetic;
  contexts = c;
  magnitudes |= all;
  return true;
}

using DecodeBlock = bool (*)(DiracArithmetic&, Contexts&, const DiracBand*, const Block&,
                             DiracBand&, uint32_t&);

template <typename Value>
DecodeBlock block_decoder(int index) {
  if (index == 0) return decode_block<Value, SignFrom::kNone>;
  switch ((index - 1) % 3) {
    case 0:
      return decode_block<Value, SignFrom::kAbove>;
    case 1:
      return decode_block<Value, SignFrom::kLeft>;
    default:
      return decode_block<Value, SignFrom::kNone>;
  }
}

// The arithmetic coder of a band: flags, quantizers and blocks.
class ArithmeticBand {
 public:
  ArithmeticBand(const DiracBandCode& code, DecodeBlock decode, const DiracBand* parent)
      : arithmetic_(code.data, code.size), decode_(decode), parent_(parent) {}
  bool at_end() const { return false; }
  size_t zero_blocks(size_t most) {
    return arithmetic_.run_of_ones(&contexts_.block_is_zero, most);
  }
  bool read_delta(int32_t* delta) {
    return arithmetic_.decode_signed(&contexts_.delta_stop, 1, &contexts_.delta_data,
                                     &contexts_.delta_sign, delta);
  }
  bool read_block(const Block& block, DiracBand& band, uint32_t& magnitudes) {
    return decode_(arithmetic_, contexts_, parent_, block, band, magnitudes);
  }

 private:
  DiracArithmetic arithmetic_;
  Contexts contexts_;
  DecodeBlock decode_;
  const DiracBand* parent_;
};

template <typename Value>
class VlcBand {
 public:
  explicit VlcBand(const DiracBandCode& code) : bits_({code.data, code.size}) {}
  // Only zeros follow.
  bool at_end() const { return bits_.at_end(); }
  size_t zero_blocks(size_t most) {
    size_t zeros = 0;
    while (zeros < most && bits_.bit()) ++zeros;
    return zeros;
  }
  bool read_delta(int32_t* delta) {
    *delta = bits_.signed_code();
    return true;
  }
  bool read_block(const Block& block, DiracBand& band, uint32_t& magnitudes) {
    for (int32_t y = block.y; y < block.y_end && !bits_.at_end(); ++y) {
      DiracRowWriter<Value> writer(band, y);
      bits_.signed_codes(block.x_end - block.x, [&](int32_t i, int32_t qcoef) {
        const auto bits = static_cast<uint32_t>(qcoef);
        magnitudes |= qcoef < 0 ? 0 - bits : bits;
        writer.put(block.x + i, qcoef);
      });
    }
    return true;
  }

 private:
  DiracBits bits_;
};

template <typename Coder>
bool decode_blocks(Coder&& coder, const DiracBandCode& code, DiracBand& band) {
  const auto count = static_cast<size_t>(band.columns) * static_cast<size_t>(band.rows);
  const bool has_flags = count > 1;
  int64_t quantizer = code.quantizer;
  for (size_t at = 0; at < count && !coder.at_end(); ++at) {
    if (has_flags) at += coder.zero_blocks(count - at);
    if (at == count) break;
    if (code.has_quantizer_deltas) {
      int32_t delta = 0;
      if (!coder.read_delta(&delta)) return false;
      quantizer += delta;
      if (quantizer < 0 || quantizer > kMaxQuantIndex) return false;
    }
    band.quantizers[at] = static_cast<uint8_t>(quantizer);
    const auto columns = static_cast<size_t>(band.columns);
    const auto i = static_cast<int32_t>(at % columns), j = static_cast<int32_t>(at / columns);
    const Block block = {
        dirac_part(band.width, i, band.columns), dirac_part(band.height, j, band.rows),
        dirac_part(band.width, i + 1, band.columns), dirac_part(band.height, j + 1, band.rows)};
    uint32_t magnitudes = 0;
    const bool sound = coder.read_block(block, band, magnitudes);
    band.largest = std::max(band.largest, dirac_largest(magnitudes, static_cast<int>(quantizer)));
    if (!sound) return false;
  }
  return true;
}

template <typename Value>
bool decode_band(const DiracBandCode& code, bool is_arithmetic, int index, const DiracBand* parent,
                 DiracBand& band) {
  if (!is_arithmetic) return decode_blocks(VlcBand<Value>(code), code, band);
  return decode_blocks(ArithmeticBand(code, block_decoder<Value>(index), parent), code, band);
}

}  // namespace

bool decode_dirac_band(const DiracBandCode& code, bool is_arithmetic, bool is_wide, int index,
                       const DiracBand* parent, DiracBand& band) {
  if (!code.is_coded) return true;
  if (code.quantizer > kMaxQuantIndex) return false;
  return is_wide ? decode_band<int32_t>(code, is_arithmetic, index, parent, band)
                 : decode_band<int16_t>(code, is_arithmetic, index, parent, band);
}

namespace {

// Bytes of low delay slices before number `index`: their sizes differ by one at most.
uint64_t low_delay_bytes(const DiracTransform& transform, int64_t index) {
  const auto product = static_cast<unsigned __int128>(index) * transform.slice_numerator;
  return static_cast<uint64_t>(product / transform.slice_denominator);
}

// The end of the high quality slice at `at`, or more than `end`.
uint64_t high_quality_end(const DiracTransform& transform, const uint8_t* data, uint64_t at,
                          uint64_t end) {
  at += uint64_t{transform.prefix_bytes} + 1;
  for (int c = 0; c < kMaxComponents; ++c) {
    if (at >= end) return end + 1;
    at += 1 + uint64_t{data[at]} * transform.size_scaler;
  }
  return at;
}

struct Part {
  int32_t x, y, x_end, y_end;
};
Part part_of(const DiracBand& band, int32_t column, int32_t row) {
  return {dirac_part(band.width, column, band.columns), dirac_part(band.height, row, band.rows),
          dirac_part(band.width, column + 1, band.columns),
          dirac_part(band.height, row + 1, band.rows)};
}

// The bounds of coefficients' magnitudes, for all bands of some slices. They are not needed for
// coefficients of 32 bits.
struct Largest {
  uint64_t of[kMaxComponents][kMaxDwtBands] = {};

  template <typename Value>
  void note(int component, int band, uint32_t magnitudes, int quantizer) {
    if constexpr (sizeof(Value) < sizeof(int32_t)) {
      uint64_t& largest = of[component][band];
      largest = std::max(largest, dirac_largest(magnitudes, quantizer));
    }
  }
};

uint32_t magnitude_of(int32_t qcoef) {
  const auto bits = static_cast<uint32_t>(qcoef);
  return qcoef < 0 ? 0 - bits : bits;
}

// Whether quantized coefficients of a band with this quantizer can be dequantized.
bool can_hold(const DiracBand& band, int32_t column, int32_t row) {
  return band.quantizer(column, row) <= kMaxQuantIndex;
}

// The quantized coefficients of one component, band after band.
template <typename Value>
bool read_component(DiracBits bits, int component, int32_t column, int32_t row, DiracQcoefs& qcoefs,
                    Largest& largest) {
  bool sound = true;
  for (int i = 0; i < qcoefs.band_count() && !bits.at_end(); ++i) {
    const DiracBand& band = qcoefs.band(component, i);
    const Part part = part_of(band, column, row);
    const bool holds = can_hold(band, column, row);
    uint32_t magnitudes = 0;
    for (int32_t y = part.y; y < part.y_end && !bits.at_end(); ++y) {
      DiracRowWriter<Value> writer(band, y);
      bits.signed_codes(part.x_end - part.x, [&](int32_t i, int32_t qcoef) {
        sound &= holds;
        magnitudes |= magnitude_of(qcoef);
        if (holds) writer.put(part.x + i, qcoef);
      });
    }
    if (holds) largest.note<Value>(component, i, magnitudes, band.quantizer(column, row));
  }
  return sound;
}

// The interleaved quantized coefficients of both chroma components.
template <typename Value>
bool read_chroma(DiracBits bits, int32_t column, int32_t row, DiracQcoefs& qcoefs,
                 Largest& largest) {
  bool sound = true;
  for (int i = 0; i < qcoefs.band_count() && !bits.at_end(); ++i) {
    const DiracBand& first = qcoefs.band(1, i);
    const Part part = part_of(first, column, row);
    const bool holds = can_hold(first, column, row);
    uint32_t magnitudes = 0;  // of both
    for (int32_t y = part.y; y < part.y_end && !bits.at_end(); ++y) {
      DiracRowWriter<Value> writers[2] = {{first, y}, {qcoefs.band(2, i), y}};
      bits.signed_codes(2 * (part.x_end - part.x), [&](int32_t i, int32_t qcoef) {
        sound &= holds;
        magnitudes |= magnitude_of(qcoef);
        if (holds) writers[i % 2].put(part.x + i / 2, qcoef);
      });
    }
    for (int c = 1; c < kMaxComponents && holds; ++c)
      largest.note<Value>(c, i, magnitudes, first.quantizer(column, row));
  }
  return sound;
}

uint8_t& slice_quantizer(DiracQcoefs& qcoefs, int32_t column, int32_t row) {
  const DiracBand& band = qcoefs.band(0, 0);
  return band.quantizers[ptrdiff_t{row} * band.columns + column];
}

// The head of a low delay slice.
struct LowDelayHead {
  uint8_t quantizer;
  uint64_t luma_bits;
  bool fits;  // luma, into the slice

  LowDelayHead(DiracBits& bits, size_t size) {
    quantizer = static_cast<uint8_t>(bits.number(7));
    luma_bits = bits.number(static_cast<int>(std::bit_width(8 * uint64_t{size} - 8)));
    fits = luma_bits <= bits.end() - std::min(bits.position(), bits.end());
  }
};

template <typename Value>
bool read_low_delay(const uint8_t* data, size_t size, int32_t column, int32_t row,
                    DiracQcoefs& qcoefs, Largest& largest) {
  DiracBits bits({data, size});
  const LowDelayHead head(bits, size);
  slice_quantizer(qcoefs, column, row) = head.quantizer;
  const bool fits = head.fits;
  const bool luma =
      read_component<Value>(bits.block(head.luma_bits), 0, column, row, qcoefs, largest);
  return read_chroma<Value>(bits.block(bits.end()), column, row, qcoefs, largest) && luma && fits;
}

template <typename Value>
bool read_high_quality(const DiracTransform& transform, const uint8_t* data, size_t size,
                       int32_t column, int32_t row, DiracQcoefs& qcoefs, Largest& largest) {
  if (size <= transform.prefix_bytes) return false;
  DiracBits bits({data, size});
  bits.skip_bytes(transform.prefix_bytes);
  slice_quantizer(qcoefs, column, row) = static_cast<uint8_t>(bits.number(8));
  bool sound = true;
  for (int c = 0; c < kMaxComponents && !bits.at_end(); ++c) {
    const uint64_t bytes = uint64_t{bits.number(8)} * transform.size_scaler;
    sound &= read_component<Value>(bits.block(8 * bytes), c, column, row, qcoefs, largest);
  }
  return sound;
}

// Other threads do the same with other rows.
void raise(uint64_t& value, uint64_t to) {
  const std::atomic_ref shared(value);
  uint64_t known = shared.load(std::memory_order_relaxed);
  while (known < to && !shared.compare_exchange_weak(known, to, std::memory_order_relaxed)) {
  }
}

template <typename Value>
bool decode_row(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                const DiracSlicePlace* places, int32_t row, DiracQcoefs& qcoefs) {
  bool sound = true;
  Largest largest;
  for (int32_t column = 0; column < transform.columns[0]; ++column) {
    const DiracSlicePlace place = places[ptrdiff_t{row} * transform.columns[0] + column];
    if (place.begin == place.end) continue;
    const uint8_t* slice = data + place.begin;
    const size_t size = place.end - place.begin;
    sound &= coding == DiracCoding::kLowDelay
                 ? read_low_delay<Value>(slice, size, column, row, qcoefs, largest)
                 : read_high_quality<Value>(transform, slice, size, column, row, qcoefs, largest);
  }
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < qcoefs.band_count(); ++i)
      raise(qcoefs.band(c, i).largest, largest.of[c][i]);
  }
  return sound;
}

}  // namespace

bool find_dirac_slices(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                       const DiracSliceRun& run, DiracSlicePlace* places, uint32_t* end) {
  uint64_t at = run.begin;
  const bool low_delay = coding == DiracCoding::kLowDelay;
  const uint64_t before = low_delay ? low_delay_bytes(transform, run.first) : 0;
  for (int64_t i = run.first; i < run.first + run.count; ++i) {
    if (at >= run.end) return false;
    const uint64_t next = low_delay ? run.begin + low_delay_bytes(transform, i + 1) - before
                                    : high_quality_end(transform, data, at, run.end);
    // A slice that is cut off keeps the part that is there.
    places[i] = {static_cast<uint32_t>(at),
                 static_cast<uint32_t>(std::min<uint64_t>(next, run.end))};
    if (next > run.end) return false;
    at = next;
  }
  *end = static_cast<uint32_t>(at);
  return true;
}

bool is_sound_dirac_slice(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                          const DiracSlicePlace& place, int max_quantizer) {
  if (coding == DiracCoding::kHighQuality) {
    const uint64_t at = uint64_t{place.begin} + transform.prefix_bytes;
    return at < place.end && data[at] <= max_quantizer;
  }
  if (place.begin == place.end) return true;
  const size_t size = place.end - place.begin;
  DiracBits bits({data + place.begin, size});
  const LowDelayHead head(bits, size);
  return head.fits && head.quantizer <= max_quantizer;
}

bool decode_dirac_slices(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                         const DiracSlicePlace* places, int32_t row, DiracQcoefs& qcoefs) {
  return qcoefs.is_wide() ? decode_row<int32_t>(coding, transform, data, places, row, qcoefs)
                          : decode_row<int16_t>(coding, transform, data, places, row, qcoefs);
}

}  // namespace cudatransform
