// Entropy decoding of core pictures as the specification writes it, bit by bit: the judge of the
// fast decoders.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/definition.h"

#include <map>
#include <string>

#include "dirac/arithmetic.h"

namespace cudatransform::test {

namespace {

// Either coder. A context is known by its name.
class Coder {
 public:
  Coder(const DiracBandCode& code, bool is_arithmetic)
      : is_arithmetic_(is_arithmetic),
        arithmetic_(code.data, code.size),
        data_(code.data),
        bits_(8 * code.size) {}

  bool bit(const std::string& context) {
    if (!is_arithmetic_) {
      const bool one = at_ >= bits_ || (data_[at_ / 8] >> (7 - at_ % 8) & 1) != 0;
      ++at_;
      return one;
    }
    return arithmetic_.decode(&contexts_.try_emplace(context, uint16_t{0x8000}).first->second);
  }
  // The first stop bit in `first`, others in `stops` + "2" to `last`. False: more than 30 bits.
  bool number(const std::string& first, const std::string& stops, int last, const std::string& data,
              int64_t* value) {
    int64_t v = 1;
    for (int k = 1; !bit(k == 1 ? first : stops + std::to_string(std::min(k, last))); ++k) {
      v = 2 * v + static_cast<int64_t>(bit(data));
      if (is_arithmetic_ && v >> 30 != 0) return false;
      if (!is_arithmetic_) v = static_cast<uint32_t>(v);
    }
    *value = v - 1;
    return true;
  }

 private:
  bool is_arithmetic_;
  SlowArithmetic arithmetic_;
  std::map<std::string, uint16_t> contexts_;
  const uint8_t* data_;
  size_t bits_;
  size_t at_ = 0;
};

int sign_of(int64_t value) { return value == 0 ? 0 : value < 0 ? -1 : 1; }

int64_t predicted_sign(int index, const SlowBand& band, int32_t x, int32_t y) {
  if (index == 0 || index % 3 == 0) return 0;
  return sign_of(index % 3 == 1 ? band.at(x, y - 1) : band.at(x - 1, y));
}

bool decode_coefficient(Coder& coder, int index, const SlowBand* parent, SlowBand* band, int32_t x,
                        int32_t y) {
  const bool has_parent = parent != nullptr && parent->at(x / 2, y / 2) != 0;
  const bool has_neighbor =
      band->at(x - 1, y) != 0 || band->at(x, y - 1) != 0 || band->at(x - 1, y - 1) != 0;
  const std::string family = has_parent ? "NP" : "ZP";
  int64_t value = 0;
  if (!coder.number(family + (has_neighbor ? "NN" : "ZN"), family, 6, "data", &value)) {
    return false;
  }
  if (value != 0) {
    const int64_t sign = predicted_sign(index, *band, x, y);
    if (coder.bit(sign == 0 ? "S0" : sign > 0 ? "S+" : "S-")) value = -value;
  }
  band->qcoefs[static_cast<size_t>(y) * static_cast<size_t>(band->width) + static_cast<size_t>(x)] =
      value;
  return true;
}

}  // namespace

SlowArithmetic::SlowArithmetic(const uint8_t* data, size_t size) : data_(data), bits_(8 * size) {
  for (int i = 0; i < 16; ++i) code_ = code_ << 1 | static_cast<uint32_t>(next_bit());
}

bool SlowArithmetic::next_bit() {
  const bool one = at_ >= bits_ || (data_[at_ / 8] >> (7 - at_ % 8) & 1) != 0;
  ++at_;
  return one;
}

bool SlowArithmetic::decode(uint16_t* context) {
  const uint32_t split = range_ * *context >> 16;
  const bool one = code_ >= split;
  if (one) {
    code_ -= split;
    range_ -= split;
  } else {
    range_ = split;
  }
  *context = static_cast<uint16_t>(*context + kDiracContextSteps[(*context >> 8) * 2u + one]);
  while (range_ <= 0x4000) {
    range_ *= 2;
    // Only data that no encoder writes leaves more than 16 bits.
    code_ = (code_ << 1 | static_cast<uint32_t>(next_bit())) & 0xffff;
  }
  return one;
}

void define_band(const DiracBandCode& code, bool is_arithmetic, int index, const SlowBand* parent,
                 SlowBand* band) {
  band->qcoefs.assign(static_cast<size_t>(band->width) * static_cast<size_t>(band->height), 0);
  band->quantizers.assign(static_cast<size_t>(band->columns) * static_cast<size_t>(band->rows), 0);
  Coder coder(code, is_arithmetic);
  int64_t quantizer = code.quantizer;
  for (int32_t j = 0; j < band->rows; ++j) {
    for (int32_t i = 0; i < band->columns; ++i) {
      if (band->columns * band->rows > 1 && coder.bit("ZB")) continue;
      if (code.has_quantizer_deltas) {
        int64_t delta = 0;
        if (!coder.number("QF0", "QF", 0, "QD", &delta)) band->is_sound = false;
        if (delta != 0 && band->is_sound && coder.bit("QS")) delta = -delta;
        quantizer += static_cast<int32_t>(delta);
        if (quantizer < 0 || quantizer > kMaxQuantIndex) band->is_sound = false;
        if (!band->is_sound) return;
      }
      band->quantizers[static_cast<size_t>(j * band->columns + i)] = static_cast<int>(quantizer);
      for (int32_t y = band->height * j / band->rows; y < band->height * (j + 1) / band->rows;
           ++y) {
        for (int32_t x = band->width * i / band->columns; x < band->width * (i + 1) / band->columns;
             ++x) {
          if (!decode_coefficient(coder, index, parent, band, x, y)) {
            band->is_sound = false;
            return;
          }
        }
      }
    }
  }
}

}  // namespace cudatransform::test
