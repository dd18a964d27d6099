// Block data of inter pictures: how each superblock is split, and each block predicted.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/motion.h"

#include <algorithm>

#include "dirac/arithmetic.h"
#include "dirac/bits.h"

namespace cudatransform {

namespace {

constexpr int kSuperblock = 4;  // blocks on an axis

// Numbers and bits of an element, coded arithmetically. `kStops`: contexts of stop bits.
template <int kStops>
class ArithmeticElement {
 public:
  explicit ArithmeticElement(const DiracMotionCode& code) : arithmetic_(code.data, code.size) {
    std::fill_n(stops_, kStops, kDiracEvenContext);
  }
  bool bit(int context) { return arithmetic_.decode(&stops_[context]); }
  bool read_unsigned(uint32_t* value) {
    return arithmetic_.decode_unsigned(stops_, kStops, &data_, value);
  }
  bool read_signed(int32_t* value) {
    return arithmetic_.decode_signed(stops_, kStops, &data_, &sign_, value);
  }

 private:
  DiracArithmetic arithmetic_;
  DiracContext stops_[kStops];
  DiracContext data_ = kDiracEvenContext;
  DiracContext sign_ = kDiracEvenContext;
};

// The same, with exp-Golomb codes.
class VlcElement {
 public:
  explicit VlcElement(const DiracMotionCode& code) : bits_({code.data, code.size}) {}
  bool bit(int) { return bits_.bit(); }
  bool read_unsigned(uint32_t* value) {
    *value = bits_.unsigned_code();
    return true;
  }
  bool read_signed(int32_t* value) {
    *value = bits_.signed_code();
    return true;
  }

 private:
  DiracBits bits_;
};

// Calls `see(index)` for the neighbors left of, above, and above to the left of a place: the first
// row has the left one alone, the first column the one above alone.
template <typename See>
void see_neighbors(int32_t x, int32_t y, int32_t across, const See& see) {
  const int32_t at = y * across + x;
  if (x > 0) see(at - 1);
  if (y > 0) see(at - across);
  if (x > 0 && y > 0) see(at - across - 1);
}

// The values of some of them.
struct Values {
  int count = 0;
  int64_t value[3] = {};
  void add_if(bool counts, int64_t v) {  // no branch: which ones count cannot be predicted
    value[count] = v;
    count += static_cast<int>(counts);
  }
  int64_t mean() const {
    switch (count) {
      case 0:
        return 0;
      case 1:
        return value[0];
      case 2:
        return (value[0] + value[1] + 1) >> 1;
      default:
        const int64_t sum = value[0] + value[1] + value[2] + 1;
        return (sum - (sum < 0 ? 2 : 0)) / 3;
    }
  }
  int64_t median() const {
    if (count < 3) return mean();
    return std::max(std::min(value[0], value[1]), std::min(std::max(value[0], value[1]), value[2]));
  }
};

// A superblock's split, and which kinds of blocks it has: bit r, from reference r; kDcKind,
// neither.
constexpr int kSplitBits = 2;
constexpr unsigned kDcKind = 4;
int split_of(uint8_t superblock) { return superblock & ((1 << kSplitBits) - 1); }
unsigned kinds_of(uint8_t superblock) { return superblock >> kSplitBits; }

template <typename Element>
bool decode_splits(Element&& element, const DiracMotionGrid& grid) {
  const int32_t across = grid.blocks_across / kSuperblock, down = grid.blocks_down / kSuperblock;
  for (int32_t y = 0; y < down; ++y) {
    for (int32_t x = 0; x < across; ++x) {
      Values values;
      see_neighbors(x, y, across, [&](int32_t i) { values.add_if(true, grid.splits[i]); });
      uint32_t value;
      if (!element.read_unsigned(&value)) return false;
      const uint64_t sum = static_cast<uint64_t>(values.mean()) + value;
      grid.splits[y * across + x] = static_cast<uint8_t>(sum % 3);
    }
  }
  return true;
}

// Calls `decode(x, y, size)` for each unit, `size` blocks on a side at block (x, y), until it
// returns false. Superblocks with none of `kinds` are left out; 0: none is.
template <typename Decode>
bool for_units(const DiracMotionGrid& grid, unsigned kinds, const Decode& decode) {
  const int32_t across = grid.blocks_across / kSuperblock, down = grid.blocks_down / kSuperblock;
  for (int32_t j = 0; j < down; ++j) {
    for (int32_t i = 0; i < across; ++i) {
      const uint8_t superblock = grid.splits[j * across + i];
      if (kinds != 0 && (kinds_of(superblock) & kinds) == 0) continue;
      const int32_t size = kSuperblock >> split_of(superblock);
      for (int32_t y = 0; y < kSuperblock; y += size) {
        for (int32_t x = 0; x < kSuperblock; x += size) {
          if (!decode(i * kSuperblock + x, j * kSuperblock + y, size)) return false;
        }
      }
    }
  }
  return true;
}

template <typename Set>
void for_blocks(const DiracMotionGrid& grid, int32_t x, int32_t y, int32_t size, const Set& set) {
  for (int32_t j = y; j < y + size; ++j) {
    for (int32_t i = x; i < x + size; ++i) set(grid.blocks[ptrdiff_t{j} * grid.blocks_across + i]);
  }
}

unsigned predicted_mode(const DiracMotionGrid& grid, int32_t x, int32_t y) {
  unsigned modes[3] = {};
  int count = 0;
  see_neighbors(x, y, grid.blocks_across,
                [&](int32_t i) { modes[count++] = grid.blocks[i].references; });
  if (count < 3) return modes[0];
  return (modes[0] & modes[1]) | (modes[1] & modes[2]) | (modes[0] & modes[2]);
}

template <typename Element>
bool decode_modes(Element&& element, int reference_count, const DiracMotionGrid& grid) {
  return for_units(grid, 0, [&](int32_t x, int32_t y, int32_t size) {
    unsigned mode = predicted_mode(grid, x, y);
    for (int i = 0; i < reference_count; ++i) mode ^= static_cast<unsigned>(element.bit(i)) << i;
    for_blocks(grid, x, y, size,
               [&](ObmcBlock& block) { block.references = static_cast<uint8_t>(mode); });
    return true;
  });
}

void note_kinds(const DiracMotionGrid& grid) {
  const int32_t across = grid.blocks_across / kSuperblock, down = grid.blocks_down / kSuperblock;
  for (int32_t j = 0; j < down; ++j) {
    for (int32_t i = 0; i < across; ++i) {
      unsigned kinds = 0;
      for_blocks(grid, i * kSuperblock, j * kSuperblock, kSuperblock, [&](const ObmcBlock& block) {
        kinds |= block.references != 0 ? block.references : kDcKind;
      });
      uint8_t& superblock = grid.splits[j * across + i];
      superblock = static_cast<uint8_t>(superblock | kinds << kSplitBits);
    }
  }
}

template <typename Element>
bool decode_vectors(Element&& element, int reference, int axis, const DiracMotionGrid& grid) {
  const unsigned bit = 1u << reference;
  return for_units(grid, bit, [&](int32_t x, int32_t y, int32_t size) {
    if ((grid.blocks[ptrdiff_t{y} * grid.blocks_across + x].references & bit) == 0) return true;
    Values values;
    see_neighbors(x, y, grid.blocks_across, [&](int32_t i) {
      const ObmcBlock& block = grid.blocks[i];
      values.add_if((block.references & bit) != 0, block.vector[reference][axis]);
    });
    int32_t value;
    if (!element.read_signed(&value)) return false;
    // Farther out, every picture repeats its edge.
    const auto part = static_cast<int32_t>(
        std::clamp<int64_t>(values.median() + value, -kMaxObmcVector, kMaxObmcVector));
    for_blocks(grid, x, y, size, [&](ObmcBlock& block) { block.vector[reference][axis] = part; });
    return true;
  });
}

template <typename Element>
bool decode_dc(Element&& element, int component, const DiracMotionGrid& grid) {
  return for_units(grid, kDcKind, [&](int32_t x, int32_t y, int32_t size) {
    if (grid.blocks[ptrdiff_t{y} * grid.blocks_across + x].references != 0) return true;
    Values values;
    see_neighbors(x, y, grid.blocks_across, [&](int32_t i) {
      const ObmcBlock& block = grid.blocks[i];
      values.add_if(block.references == 0, block.dc[component]);
    });
    int32_t value;
    if (!element.read_signed(&value)) return false;
    const auto dc = static_cast<int16_t>(values.mean() + value);
    for_blocks(grid, x, y, size, [&](ObmcBlock& block) { block.dc[component] = dc; });
    return true;
  });
}

}  // namespace

bool decode_dirac_modes(const DiracMotionCode& splits, const DiracMotionCode& modes,
                        bool is_arithmetic, int reference_count, const DiracMotionGrid& grid) {
  const bool sound = is_arithmetic
                         ? decode_splits(ArithmeticElement<2>(splits), grid) &&
                               decode_modes(ArithmeticElement<2>(modes), reference_count, grid)
                         : decode_splits(VlcElement(splits), grid) &&
                               decode_modes(VlcElement(modes), reference_count, grid);
  note_kinds(grid);
  return sound;
}

bool decode_dirac_vectors(const DiracMotionCode& code, bool is_arithmetic, int reference, int axis,
                          const DiracMotionGrid& grid) {
  return is_arithmetic ? decode_vectors(ArithmeticElement<5>(code), reference, axis, grid)
                       : decode_vectors(VlcElement(code), reference, axis, grid);
}

bool decode_dirac_dc(const DiracMotionCode& code, bool is_arithmetic, int component,
                     const DiracMotionGrid& grid) {
  return is_arithmetic ? decode_dc(ArithmeticElement<2>(code), component, grid)
                       : decode_dc(VlcElement(code), component, grid);
}

}  // namespace cudatransform
