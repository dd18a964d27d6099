// Bands of core pictures: codeblocks of levels, coded arithmetically or with exp-Golomb codes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/bands.h"

#include <algorithm>
#include <bit>

#include "dirac/arithmetic.h"
#include "dirac/level_writer.h"

namespace cudatransform {

namespace {

// Where the sign of a level is likely that of a neighbour: low-pass direction of the band.
enum class SignFrom { kNone, kAbove, kLeft };

struct Contexts {
  DiracContext first[2][2];   // stop bit: whether the parent, the neighbourhood is not zero
  DiracContext follow[2][6];  // stop bits behind it; the first of each is not used
  DiracContext data;
  DiracContext sign[3];  // neighbour zero, positive, negative
  DiracContext block_is_zero;
  DiracContext delta_stop, delta_data, delta_sign;

  Contexts() {
    std::fill_n(&first[0][0], 4, kDiracEvenContext);
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

// What the 64 coefficients of a word of the map see around them.
struct Surroundings {
  uint64_t above = 0;  // coefficients above that are not zero
  uint64_t above_signs = 0;
  uint64_t above_or_left = 0;  // above or above to the left
  uint64_t parents = 0;
};

Surroundings look_around(const DiracBand& band, const DiracBand* parent, int32_t y, int32_t word) {
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

// Decodes the coefficients of a codeblock. Runs of zeros among zeros stay in one context, and the
// decoder's state stays in registers. `magnitudes`: has all bits that any of them has.
template <typename Value, SignFrom kSignFrom>
bool decode_block(DiracArithmetic& decoder, Contexts& contexts, const DiracBand* parent,
                  const Block& block, DiracBand& band, uint32_t& magnitudes) {
  DiracArithmetic arithmetic = decoder;
  Contexts c = contexts;
  for (int32_t y = block.y; y < block.y_end; ++y) {
    uint64_t* map = band.map + ptrdiff_t{y} * band.map_words;
    uint64_t* signs = band.signs + ptrdiff_t{y} * band.map_words;
    Value* const row = static_cast<Value*>(band.levels) + ptrdiff_t{y} * band.width;
    Value* next = row + band.counts[y];
    bool left = false, left_negative = false;
    if (block.x > 0) {
      left = (map[(block.x - 1) / 64] >> ((block.x - 1) % 64) & 1) != 0;
      left_negative = (signs[(block.x - 1) / 64] >> ((block.x - 1) % 64) & 1) != 0;
    }
    for (int32_t word = block.x / 64; word * 64 < block.x_end; ++word) {
      const Surroundings around = look_around(band, parent, y, word);
      const uint64_t not_quiet = around.above_or_left | around.parents;
      const int end = std::min(block.x_end - word * 64, 64);
      uint64_t found = 0, negative = 0;
      for (int x = std::max(block.x - word * 64, 0); x < end;) {
        const uint64_t ahead = not_quiet >> x;
        bool has_parent = false;
        if (!left && (ahead & 1) == 0) {
          const int quiet = std::min(ahead != 0 ? std::countr_zero(ahead) : 64, end - x);
          const int zeros = arithmetic.run_of_ones(&c.first[0][0], quiet);
          x += zeros;
          if (zeros == quiet) continue;
        } else {
          has_parent = (around.parents >> x & 1) != 0;
          const bool has_neighbour = left || (around.above_or_left >> x & 1) != 0;
          if (arithmetic.decode_ahead(&c.first[has_parent][has_neighbour])) {
            left = false;
            ++x;
            continue;
          }
        }
        uint32_t magnitude = 0;
        if (!arithmetic.decode_rest(c.follow[has_parent], 6, &c.data, &magnitude)) return false;
        magnitudes |= magnitude;
        int likely = 0;
        if (kSignFrom == SignFrom::kAbove && (around.above >> x & 1) != 0) {
          likely = (around.above_signs >> x & 1) != 0 ? 2 : 1;
        }
        if (kSignFrom == SignFrom::kLeft && left) likely = left_negative ? 2 : 1;
        left_negative = arithmetic.decode(&c.sign[likely]);
        const auto value = static_cast<Value>(left_negative ? 0 - magnitude : magnitude);
        left = value != 0;
        if (left) {
          *next++ = value;
          found |= uint64_t{1} << x;
          negative |= static_cast<uint64_t>(left_negative) << x;
        }
        ++x;
      }
      map[word] |= found;
      signs[word] |= negative;
      band.counts[y] = static_cast<uint32_t>(next - row);
    }
  }
  decoder = arithmetic;
  contexts = c;
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

// The arithmetic coder of a band: flags, quantisers and blocks.
class ArithmeticBand {
 public:
  ArithmeticBand(const DiracBandCode& code, DecodeBlock decode, const DiracBand* parent)
      : arithmetic_(code.data, code.size), decode_(decode), parent_(parent) {}
  bool at_end() const { return false; }
  bool block_is_zero() { return arithmetic_.decode(&contexts_.block_is_zero); }
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
  explicit VlcBand(const DiracBandCode& code) : bits_(code.data, code.size) {}
  // Nothing but zeros follows.
  bool at_end() const { return bits_.at_end(); }
  bool block_is_zero() { return bits_.bit(); }
  bool read_delta(int32_t* delta) {
    *delta = bits_.signed_code();
    return true;
  }
  bool read_block(const Block& block, DiracBand& band, uint32_t& magnitudes) {
    for (int32_t y = block.y; y < block.y_end && !bits_.at_end(); ++y) {
      DiracRowWriter<Value> writer(band, y);
      bits_.signed_codes(block.x_end - block.x, [&](int32_t i, int32_t level) {
        const auto bits = static_cast<uint32_t>(level);
        magnitudes |= level < 0 ? 0 - bits : bits;
        writer.put(block.x + i, level);
      });
    }
    return true;
  }

 private:
  DiracBits bits_;
};

template <typename Coder>
bool decode_blocks(Coder&& coder, const DiracBandCode& code, DiracBand& band) {
  const bool has_flags = int64_t{band.columns} * band.rows > 1;
  int64_t quantiser = code.quantiser;
  for (int32_t j = 0; j < band.rows; ++j) {
    for (int32_t i = 0; i < band.columns && !coder.at_end(); ++i) {
      if (has_flags && coder.block_is_zero()) continue;
      if (code.has_quantiser_deltas) {
        int32_t delta = 0;
        if (!coder.read_delta(&delta)) return false;
        quantiser += delta;
        if (quantiser < 0 || quantiser > kMaxQuantIndex) return false;
      }
      band.quantisers[ptrdiff_t{j} * band.columns + i] = static_cast<uint8_t>(quantiser);
      const Block block = {
          dirac_part(band.width, i, band.columns), dirac_part(band.height, j, band.rows),
          dirac_part(band.width, i + 1, band.columns), dirac_part(band.height, j + 1, band.rows)};
      uint32_t magnitudes = 0;
      const bool sound = coder.read_block(block, band, magnitudes);
      band.largest = std::max(band.largest, dirac_largest(magnitudes, static_cast<int>(quantiser)));
      if (!sound) return false;
    }
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
  if (code.quantiser > kMaxQuantIndex) return false;
  return is_wide ? decode_band<int32_t>(code, is_arithmetic, index, parent, band)
                 : decode_band<int16_t>(code, is_arithmetic, index, parent, band);
}

}  // namespace cudatransform
