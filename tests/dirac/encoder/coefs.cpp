// Writes coefficients: bands of core pictures, slices of low delay and high quality pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/coefs.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/dirac/bit_writer.h"
#include "tests/dirac/encoder/arithmetic_encoder.h"

namespace cudatransform::test {

namespace {

using Bytes = std::vector<uint8_t>;

// Contexts of a band.
constexpr int kFirst = 0;   // + 2 if the parent is not zero, + 1 if the neighbourhood is not
constexpr int kFollow = 4;  // + 5 if the parent is not zero, + stop bit 2 to 6 less 2
constexpr int kData = 14;
constexpr int kSign = 15;  // + 1 if a positive sign is likely, + 2 if a negative one
constexpr int kZeroBlock = 18;
constexpr int kDeltaStop = 19, kDeltaData = 20, kDeltaSign = 21;

struct Part {
  int32_t x, y, x_end, y_end;
};
Part part_of_band(const CodedBand& band, int32_t column, int32_t row) {
  return {part_begin(band.width, column, band.columns), part_begin(band.height, row, band.rows),
          part_begin(band.width, column + 1, band.columns),
          part_begin(band.height, row + 1, band.rows)};
}

template <typename Sink>
class BandWriter {
 public:
  BandWriter(const CodedPicture& picture, const CodedBand& band, const CodedBand* parent, Sink sink)
      : picture_(picture), band_(band), parent_(parent), sink_(std::move(sink)) {}

  Bytes write() {
    int quantiser = band_.quantiser;
    for (int32_t j = 0; j < band_.rows; ++j) {
      for (int32_t i = 0; i < band_.columns; ++i) {
        const auto number =
            static_cast<size_t>(j) * static_cast<size_t>(band_.columns) + static_cast<size_t>(i);
        const Part part = part_of_band(band_, i, j);
        const bool skips = band_.skips_zeros[number] && is_zero(part);
        if (band_.columns * band_.rows > 1) {
          sink_.bit(kZeroBlock, skips);
          if (skips) continue;
        }
        const bool is_single = band_.columns * band_.rows == 1;
        if (picture_.transform.codeblock_quantisers &&
            !(is_single && picture_.omits_single_deltas)) {
          put_delta(band_.quantisers[number] - quantiser);
          quantiser = band_.quantisers[number];
        }
        for (int32_t y = part.y; y < part.y_end; ++y) {
          for (int32_t x = part.x; x < part.x_end; ++x) put_level(x, y);
        }
      }
    }
    Bytes bytes = sink_.finish();
    if (bytes.empty()) bytes.push_back(0xff);  // a length of 0 says that the band is not coded
    return bytes;
  }

 private:
  bool is_zero(const Part& part) const {
    for (int32_t y = part.y; y < part.y_end; ++y) {
      for (int32_t x = part.x; x < part.x_end; ++x) {
        if (band_.at(x, y) != 0) return false;
      }
    }
    return true;
  }
  void put_delta(int delta) {
    put_unsigned(
        sink_, [](int) { return kDeltaStop; }, kDeltaData, static_cast<uint32_t>(std::abs(delta)));
    if (delta != 0) sink_.bit(kDeltaSign, delta < 0);
  }
  int32_t beside(int32_t x, int32_t y) const { return x < 0 || y < 0 ? 0 : band_.at(x, y); }

  void put_level(int32_t x, int32_t y) {
    const int32_t level = band_.at(x, y);
    const int parent = parent_ != nullptr && parent_->at(x / 2, y / 2) != 0 ? 1 : 0;
    const int32_t left = beside(x - 1, y), above = beside(x, y - 1);
    const int around = (left | above | beside(x - 1, y - 1)) != 0 ? 1 : 0;
    const auto stop = [&](int k) {
      return k == 1 ? kFirst + 2 * parent + around : kFollow + 5 * parent + std::min(k, 6) - 2;
    };
    put_unsigned(sink_, stop, kData,
                 level < 0 ? 0 - static_cast<uint32_t>(level) : static_cast<uint32_t>(level));
    if (level == 0) return;
    const int32_t likely = band_.orientation == 1 ? above : band_.orientation == 2 ? left : 0;
    sink_.bit(kSign + (likely > 0 ? 1 : likely < 0 ? 2 : 0), level < 0);
  }

  const CodedPicture& picture_;
  const CodedBand& band_;
  const CodedBand* parent_;
  Sink sink_;
};

// The codes of slices, component after component or of both chroma components by turns.
void put_slice(const CodedPicture& picture, int32_t column, int32_t row, int first, int last,
               BitWriter* writer) {
  for (size_t i = 0; i < picture.bands[0].size(); ++i) {
    const Part part = part_of_band(picture.bands[first][i], column, row);
    for (int32_t y = part.y; y < part.y_end; ++y) {
      for (int32_t x = part.x; x < part.x_end; ++x) {
        for (int c = first; c <= last; ++c) writer->signed_code(picture.bands[c][i].at(x, y));
      }
    }
  }
}

// Bits up to the last that differs from those that a reader finds after the end.
size_t needed_bits(const BitWriter& writer, bool trims) {
  size_t count = writer.count();
  while (trims && count > 0 && (writer.bytes()[(count - 1) / 8] >> (7 - (count - 1) % 8) & 1) != 0)
    --count;
  return count;
}

void copy_bits(const BitWriter& from, size_t count, BitWriter* to) {
  for (size_t i = 0; i < count; ++i)
    to->bit(i >= from.count() || (from.bytes()[i / 8] >> (7 - i % 8) & 1) != 0);
}

int length_bits(uint64_t bytes) { return static_cast<int>(std::bit_width(8 * bytes - 8)); }

struct LowDelayCodes {
  BitWriter luma, chroma;
  size_t luma_bits, chroma_bits;  // at least
  LowDelayCodes(const CodedPicture& picture, int32_t column, int32_t row) {
    put_slice(picture, column, row, 0, 0, &luma);
    put_slice(picture, column, row, 1, 2, &chroma);
    luma_bits = needed_bits(luma, picture.trims);
    chroma_bits = needed_bits(chroma, picture.trims);
  }
};

Bytes write_low_delay(const CodedPicture& picture, int32_t column, int32_t row, uint64_t bytes) {
  const LowDelayCodes codes(picture, column, row);
  const size_t head = 7 + static_cast<size_t>(length_bits(bytes));
  const size_t room = 8 * bytes - std::min<size_t>(8 * bytes, head);
  if (codes.luma_bits + codes.chroma_bits > room)
    throw std::runtime_error("a low delay slice of " + std::to_string(bytes) + " bytes, and " +
                             std::to_string(codes.luma_bits + codes.chroma_bits) +
                             " bits of codes");
  const size_t spare = room - codes.luma_bits - codes.chroma_bits;
  const size_t luma = codes.luma_bits + picture.padding % (spare + 1);
  BitWriter w;
  const size_t number =
      static_cast<size_t>(row) * static_cast<size_t>(picture.transform.columns[0]);
  w.number(picture.slice_quantisers[number + static_cast<size_t>(column)], 7);
  w.number(luma, length_bits(bytes));
  copy_bits(codes.luma, luma, &w);
  copy_bits(codes.chroma, room - luma, &w);
  return w.bytes();
}

Bytes write_high_quality(const CodedPicture& picture, int32_t column, int32_t row) {
  const DiracTransform& t = picture.transform;
  Bytes slice(t.prefix_bytes, static_cast<uint8_t>(picture.padding));
  const size_t number = static_cast<size_t>(row) * static_cast<size_t>(t.columns[0]);
  slice.push_back(picture.slice_quantisers[number + static_cast<size_t>(column)]);
  for (int c = 0; c < kMaxComponents; ++c) {
    BitWriter w;
    put_slice(picture, column, row, c, c, &w);
    Bytes codes = closed_block(w, picture.trims);
    const size_t units = (codes.size() + t.size_scaler - 1) / t.size_scaler;
    if (units > 255) throw std::runtime_error("a high quality slice of too many bytes");
    codes.resize(units * t.size_scaler, 0xff);
    slice.push_back(static_cast<uint8_t>(units));
    slice.insert(slice.end(), codes.begin(), codes.end());
  }
  return slice;
}

template <typename Function>
void for_slices(const CodedPicture& picture, const Function& function) {
  for (int32_t row = 0; row < picture.transform.rows[0]; ++row) {
    for (int32_t column = 0; column < picture.transform.columns[0]; ++column) function(column, row);
  }
}

}  // namespace

Bytes write_band(const CodedPicture& picture, int component, int index) {
  const std::vector<CodedBand>& bands = picture.bands[component];
  const CodedBand& band = bands[static_cast<size_t>(index)];
  const CodedBand* parent = index > 3 ? &bands[static_cast<size_t>(index) - 3] : nullptr;
  if (picture.header.coding == DiracCoding::kArithmetic)
    return BandWriter(picture, band, parent, ArithmeticSink()).write();
  return BandWriter(picture, band, parent, VlcSink(picture.trims)).write();
}

std::vector<Bytes> write_slices(const CodedPicture& picture) {
  const DiracTransform& t = picture.transform;
  std::vector<Bytes> slices;
  for_slices(picture, [&](int32_t column, int32_t row) {
    if (picture.header.coding == DiracCoding::kHighQuality) {
      slices.push_back(write_high_quality(picture, column, row));
      return;
    }
    const uint64_t number = slices.size();
    const uint64_t bytes = (number + 1) * t.slice_numerator / t.slice_denominator -
                           number * t.slice_numerator / t.slice_denominator;
    slices.push_back(write_low_delay(picture, column, row, bytes));
  });
  return slices;
}

uint32_t least_slice_bytes(const CodedPicture& picture) {
  uint32_t least = 1;
  for_slices(picture, [&](int32_t column, int32_t row) {
    const LowDelayCodes codes(picture, column, row);
    const size_t bits = 7 + codes.luma_bits + codes.chroma_bits;
    while (8 * uint64_t{least} < bits + static_cast<size_t>(length_bits(least))) ++least;
  });
  return least;
}

uint32_t least_size_scaler(const CodedPicture& picture) {
  size_t most = 0;
  for_slices(picture, [&](int32_t column, int32_t row) {
    for (int c = 0; c < kMaxComponents; ++c) {
      BitWriter w;
      put_slice(picture, column, row, c, c, &w);
      most = std::max(most, (w.count() + 7) / 8);
    }
  });
  return static_cast<uint32_t>(std::max<size_t>((most + 254) / 255, 1));
}

}  // namespace cudatransform::test
