// A picture for the encoder, and the codes of its coefficients and of its motion.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/dirac/encoder/picture.h"

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

int32_t divided_up(int32_t size, int32_t divisor) { return (size + divisor - 1) / divisor; }

int32_t chroma_side(uint32_t side, bool is_halved) {
  return divided_up(static_cast<int32_t>(side), is_halved ? 2 : 1);
}

}  // namespace

void lay_out_bands(const DiracSequence& sequence, CodedPicture* picture) {
  const DiracTransform& t = picture->transform;
  const int both = t.levels.both, across = both + t.levels.horizontal;
  const bool has_slices = picture->header.has_slices();
  for (int c = 0; c < kMaxComponents; ++c) {
    const int32_t width =
        chroma_side(sequence.width, c > 0 && sequence.chroma != DiracChroma::k444);
    const int32_t height =
        chroma_side(sequence.field_coding ? sequence.height / 2 : sequence.height,
                    c > 0 && sequence.chroma == DiracChroma::k420);
    std::vector<CodedBand>& bands = picture->bands[c];
    bands.clear();
    const auto add = [&](int level, int orientation) {
      CodedBand band;
      band.level = level;
      band.orientation = orientation;
      // Halvings that remain below this level.
      const int right = across - std::max(level - 1, 0);
      const int down = level <= t.levels.horizontal ? both : across - (level - 1);
      band.width = divided_up(width, 1 << across) << (across - right);
      band.height = divided_up(height, 1 << both) << (both - down);
      band.x = (orientation & 1) != 0 ? band.width : 0;
      band.y = (orientation & 2) != 0 ? band.height : 0;
      band.columns = t.columns[has_slices ? 0 : level];
      band.rows = t.rows[has_slices ? 0 : level];
      band.qcoefs.assign(static_cast<size_t>(band.width) * static_cast<size_t>(band.height), 0);
      const auto blocks = static_cast<size_t>(band.columns) * static_cast<size_t>(band.rows);
      if (!has_slices) {
        band.quantizers.assign(blocks, 0);
        band.skips_zeros.assign(blocks, true);
      }
      bands.push_back(std::move(band));
    };
    add(0, 0);
    for (int level = 1; level <= t.levels.horizontal; ++level) add(level, 1);
    for (int level = t.levels.horizontal + 1; level <= across; ++level) {
      for (const int orientation : {1, 2, 3}) add(level, orientation);
    }
  }
}

int32_t part_of(int32_t at, int32_t size, int32_t count) {
  int32_t part = static_cast<int32_t>(static_cast<int64_t>(at) * count / size);
  while (part_begin(size, part + 1, count) <= at) ++part;
  return part;
}

int quantizer_at(const CodedPicture& picture, int component, int band, int32_t x, int32_t y) {
  const CodedBand& b = picture.bands[component][static_cast<size_t>(band)];
  const int32_t at = part_of(y, b.height, b.rows) * b.columns + part_of(x, b.width, b.columns);
  if (picture.header.has_slices()) {
    const int index = picture.slice_quantizers[static_cast<size_t>(at)];
    return std::max(index - picture.transform.matrix[band], 0);
  }
  return picture.transform.codeblock_quantizers ? b.quantizers[static_cast<size_t>(at)]
                                                : b.quantizer;
}

namespace {

using Bytes = std::vector<uint8_t>;

// Contexts of a band.
constexpr int kFirst = 0;   // + 2 if the parent is not zero, + 1 if the neighborhood is not
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
    int quantizer = band_.quantizer;
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
        if (picture_.transform.codeblock_quantizers &&
            !(is_single && picture_.omits_single_deltas)) {
          put_delta(band_.quantizers[number] - quantizer);
          quantizer = band_.quantizers[number];
        }
        for (int32_t y = part.y; y < part.y_end; ++y) {
          for (int32_t x = part.x; x < part.x_end; ++x) put_qcoef(x, y);
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

  void put_qcoef(int32_t x, int32_t y) {
    const int32_t qcoef = band_.at(x, y);
    const int parent = parent_ != nullptr && parent_->at(x / 2, y / 2) != 0 ? 1 : 0;
    const int32_t left = beside(x - 1, y), above = beside(x, y - 1);
    const int around = (left | above | beside(x - 1, y - 1)) != 0 ? 1 : 0;
    const auto stop = [&](int k) {
      return k == 1 ? kFirst + 2 * parent + around : kFollow + 5 * parent + std::min(k, 6) - 2;
    };
    put_unsigned(sink_, stop, kData,
                 qcoef < 0 ? 0 - static_cast<uint32_t>(qcoef) : static_cast<uint32_t>(qcoef));
    if (qcoef == 0) return;
    const int32_t likely = band_.orientation == 1 ? above : band_.orientation == 2 ? left : 0;
    sink_.bit(kSign + (likely > 0 ? 1 : likely < 0 ? 2 : 0), qcoef < 0);
  }

  const CodedPicture& picture_;
  const CodedBand& band_;
  const CodedBand* parent_;
  Sink sink_;
};

// The codes of slices, component after component or of both chroma components alternately.
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
  w.number(picture.slice_quantizers[number + static_cast<size_t>(column)], 7);
  w.number(luma, length_bits(bytes));
  copy_bits(codes.luma, luma, &w);
  copy_bits(codes.chroma, room - luma, &w);
  return w.bytes();
}

Bytes write_high_quality(const CodedPicture& picture, int32_t column, int32_t row) {
  const DiracTransform& t = picture.transform;
  Bytes slice(t.prefix_bytes, static_cast<uint8_t>(picture.padding));
  const size_t number = static_cast<size_t>(row) * static_cast<size_t>(t.columns[0]);
  slice.push_back(picture.slice_quantizers[number + static_cast<size_t>(column)]);
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

uint32_t min_slice_bytes(const CodedPicture& picture) {
  uint32_t least = 1;
  for_slices(picture, [&](int32_t column, int32_t row) {
    const LowDelayCodes codes(picture, column, row);
    const size_t bits = 7 + codes.luma_bits + codes.chroma_bits;
    while (8 * uint64_t{least} < bits + static_cast<size_t>(length_bits(least))) ++least;
  });
  return least;
}

uint32_t min_size_scaler(const CodedPicture& picture) {
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

namespace {

// Contexts of an element; stop bits have those below.
constexpr int kVectorData = 10, kVectorSign = 11;

template <typename Sink>
void put_signed(Sink& sink, int stops, int32_t value) {
  put_unsigned(
      sink, [&](int k) { return std::min(k, stops) - 1; }, kVectorData,
      static_cast<uint32_t>(std::abs(value)));
  if (value != 0) sink.bit(kVectorSign, value < 0);
}

// The neighbors left, above and above to the left of (x, y) that `has` accepts.
template <typename Has, typename Value>
std::vector<int64_t> values_around(int32_t x, int32_t y, const Has& has, const Value& value) {
  std::vector<int64_t> found;
  constexpr int32_t kAway[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  for (const auto& [left, up] : kAway) {
    if (x < left || y < up || !has(x - left, y - up)) continue;
    found.push_back(value(x - left, y - up));
  }
  return found;
}

int64_t floor_mean(const std::vector<int64_t>& values) {
  if (values.empty()) return 0;
  const auto count = static_cast<int64_t>(values.size());
  int64_t sum = count / 2;
  for (const int64_t value : values) sum += value;
  return sum >= 0 ? sum / count : -((-sum + count - 1) / count);
}

int64_t median_or_mean(std::vector<int64_t> values) {
  if (values.size() < 3) return floor_mean(values);
  std::sort(values.begin(), values.end());
  return values[1];
}

class MotionWriter {
 public:
  explicit MotionWriter(const CodedPicture& picture) : p_(picture) {}

  template <typename Sink>
  void put_splits(Sink& sink) const {
    const int32_t across = p_.superblocks_across();
    const auto split = [&](int32_t x, int32_t y) -> int64_t {
      return p_.splits[static_cast<size_t>(y * across + x)];
    };
    const auto always = [](int32_t, int32_t) { return true; };
    for (int32_t y = 0; y < p_.superblocks_down(); ++y) {
      for (int32_t x = 0; x < across; ++x) {
        const int64_t likely = floor_mean(values_around(x, y, always, split));
        const auto value = static_cast<uint32_t>((split(x, y) - likely + 3) % 3);
        put_unsigned(
            sink, [](int k) { return std::min(k, 2) - 1; }, kVectorData, value);
      }
    }
  }

  template <typename Sink>
  void put_modes(Sink& sink) const {
    for_units([&](int32_t x, int32_t y) {
      for (int bit = 0; bit < p_.header.reference_count; ++bit) {
        const auto mode = [&](int32_t i, int32_t j) -> int64_t {
          return at(i, j).references >> bit & 1;
        };
        const std::vector<int64_t> around = values_around(
            x, y, [](int32_t, int32_t) { return true; }, mode);
        // A majority of three, or the only one that there is.
        int64_t likely = 0;
        for (const int64_t one : around) likely += one;
        const bool expected = around.size() == 3 ? likely >= 2 : likely != 0;
        sink.bit(bit, expected != (mode(x, y) != 0));
      }
    });
  }

  template <typename Sink>
  void put_vectors(Sink& sink, int reference, int axis) const {
    const auto uses = [&](int32_t x, int32_t y) {
      return (at(x, y).references >> reference & 1) != 0;
    };
    const auto part = [&](int32_t x, int32_t y) -> int64_t {
      return at(x, y).vector[reference][axis];
    };
    for_units([&](int32_t x, int32_t y) {
      if (!uses(x, y)) return;
      const int64_t likely = median_or_mean(values_around(x, y, uses, part));
      put_signed(sink, 5, static_cast<int32_t>(part(x, y) - likely));
    });
  }

  template <typename Sink>
  void put_dc(Sink& sink, int component) const {
    const auto has = [&](int32_t x, int32_t y) { return at(x, y).references == 0; };
    const auto dc = [&](int32_t x, int32_t y) -> int64_t { return at(x, y).dc[component]; };
    for_units([&](int32_t x, int32_t y) {
      if (!has(x, y)) return;
      put_signed(sink, 2,
                 static_cast<int32_t>(dc(x, y) - floor_mean(values_around(x, y, has, dc))));
    });
  }

 private:
  const ObmcBlock& at(int32_t x, int32_t y) const {
    return p_.blocks[static_cast<size_t>(y) * static_cast<size_t>(p_.prediction.blocks_across) +
                     static_cast<size_t>(x)];
  }
  // The upper left block of each unit.
  template <typename Function>
  void for_units(const Function& function) const {
    for (int32_t j = 0; j < p_.superblocks_down(); ++j) {
      for (int32_t i = 0; i < p_.superblocks_across(); ++i) {
        const int32_t units = 1 << p_.splits[static_cast<size_t>(j * p_.superblocks_across() + i)];
        for (int32_t n = 0; n < units * units; ++n)
          function(4 * i + n % units * (4 / units), 4 * j + n / units * (4 / units));
      }
    }
  }

  const CodedPicture& p_;
};

template <typename Make>
std::vector<std::vector<uint8_t>> write_streams(const CodedPicture& picture, const Make& make) {
  const MotionWriter writer(picture);
  std::vector<std::vector<uint8_t>> streams;
  const auto add = [&](const auto& put) {
    auto sink = make();
    put(sink);
    streams.push_back(sink.finish());
  };
  add([&](auto& sink) { writer.put_splits(sink); });
  add([&](auto& sink) { writer.put_modes(sink); });
  for (int i = 0; i < 2 * picture.header.reference_count; ++i)
    add([&](auto& sink) { writer.put_vectors(sink, i / 2, i % 2); });
  for (int c = 0; c < kMaxComponents; ++c) add([&](auto& sink) { writer.put_dc(sink, c); });
  return streams;
}

}  // namespace

std::vector<std::vector<uint8_t>> write_motion(const CodedPicture& picture) {
  if (picture.header.coding == DiracCoding::kArithmetic)
    return write_streams(picture, [] { return ArithmeticSink(); });
  return write_streams(picture, [&] { return VlcSink(picture.trims); });
}

}  // namespace cudatransform::test
