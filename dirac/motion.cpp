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

int64_t floor_of(int64_t value, int64_t divisor) {
  return (value - (value < 0 ? divisor - 1 : 0)) / divisor;
}

// The neighbours left of, above, and above to the left of a place: the first row has the left one
// alone, the first column the one above alone.
struct Neighbours {
  int count = 0;
  int32_t index[3] = {};
};
Neighbours neighbours_of(int32_t x, int32_t y, int32_t across) {
  Neighbours found;
  const int32_t at = y * across + x;
  if (x > 0) found.index[found.count++] = at - 1;
  if (y > 0) found.index[found.count++] = at - across;
  if (x > 0 && y > 0) found.index[found.count++] = at - across - 1;
  return found;
}

// The values of some of them.
struct Values {
  int count = 0;
  int64_t value[3] = {};
  void add(int64_t v) { value[count++] = v; }
  int64_t mean() const {
    if (count == 0) return 0;
    int64_t sum = count / 2;
    for (int i = 0; i < count; ++i) sum += value[i];
    return floor_of(sum, count);
  }
  int64_t median() const {
    if (count < 3) return mean();
    return std::max(std::min(value[0], value[1]), std::min(std::max(value[0], value[1]), value[2]));
  }
};

template <typename Element>
bool decode_splits(Element&& element, const DiracMotionGrid& grid) {
  const int32_t across = grid.blocks_across / kSuperblock, down = grid.blocks_down / kSuperblock;
  for (int32_t y = 0; y < down; ++y) {
    for (int32_t x = 0; x < across; ++x) {
      Values values;
      const Neighbours around = neighbours_of(x, y, across);
      for (int i = 0; i < around.count; ++i) values.add(grid.splits[around.index[i]]);
      uint32_t value;
      if (!element.read_unsigned(&value)) return false;
      const uint64_t sum = static_cast<uint64_t>(values.mean()) + value;
      grid.splits[y * across + x] = static_cast<uint8_t>(sum % 3);
    }
  }
  return true;
}

// Calls `decode(x, y, size)` for each unit, `size` blocks on a side at block (x, y), until it
// returns false.
template <typename Decode>
bool for_units(const DiracMotionGrid& grid, const Decode& decode) {
  const int32_t across = grid.blocks_across / kSuperblock, down = grid.blocks_down / kSuperblock;
  for (int32_t j = 0; j < down; ++j) {
    for (int32_t i = 0; i < across; ++i) {
      const int32_t size = kSuperblock >> grid.splits[j * across + i];
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

unsigned predicted_mode(const Neighbours& around, const ObmcBlock* blocks) {
  if (around.count == 0) return 0;
  const unsigned a = blocks[around.index[0]].references;
  if (around.count == 1) return a;
  const unsigned b = blocks[around.index[1]].references, c = blocks[around.index[2]].references;
  return (a & b) | (b & c) | (a & c);
}

template <typename Element>
bool decode_modes(Element&& element, int reference_count, const DiracMotionGrid& grid) {
  return for_units(grid, [&](int32_t x, int32_t y, int32_t size) {
    const Neighbours around = neighbours_of(x, y, grid.blocks_across);
    unsigned mode = predicted_mode(around, grid.blocks);
    for (int i = 0; i < reference_count; ++i) mode ^= static_cast<unsigned>(element.bit(i)) << i;
    for_blocks(grid, x, y, size,
               [&](ObmcBlock& block) { block.references = static_cast<uint8_t>(mode); });
    return true;
  });
}

template <typename Element>
bool decode_vectors(Element&& element, int reference, int axis, const DiracMotionGrid& grid) {
  const unsigned bit = 1u << reference;
  return for_units(grid, [&](int32_t x, int32_t y, int32_t size) {
    if ((grid.blocks[ptrdiff_t{y} * grid.blocks_across + x].references & bit) == 0) return true;
    Values values;
    const Neighbours around = neighbours_of(x, y, grid.blocks_across);
    for (int i = 0; i < around.count; ++i) {
      const ObmcBlock& block = grid.blocks[around.index[i]];
      if ((block.references & bit) != 0) values.add(block.vector[reference][axis]);
    }
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
  return for_units(grid, [&](int32_t x, int32_t y, int32_t size) {
    if (grid.blocks[ptrdiff_t{y} * grid.blocks_across + x].references != 0) return true;
    Values values;
    const Neighbours around = neighbours_of(x, y, grid.blocks_across);
    for (int i = 0; i < around.count; ++i) {
      const ObmcBlock& block = grid.blocks[around.index[i]];
      if (block.references == 0) values.add(block.dc[component]);
    }
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
  if (is_arithmetic) {
    return decode_splits(ArithmeticElement<2>(splits), grid) &&
           decode_modes(ArithmeticElement<2>(modes), reference_count, grid);
  }
  return decode_splits(VlcElement(splits), grid) &&
         decode_modes(VlcElement(modes), reference_count, grid);
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
