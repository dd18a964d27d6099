// Writes block data: the splits of superblocks, and the prediction of blocks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/motion.h"

#include <algorithm>
#include <cstdlib>

#include "tests/dirac/encoder/arithmetic_encoder.h"

namespace cudatransform::test {

namespace {

// Contexts of an element; stop bits have those below.
constexpr int kData = 10, kSign = 11;

template <typename Sink>
void put_signed(Sink& sink, int stops, int32_t value) {
  put_unsigned(
      sink, [&](int k) { return std::min(k, stops) - 1; }, kData,
      static_cast<uint32_t>(std::abs(value)));
  if (value != 0) sink.bit(kSign, value < 0);
}

// The neighbours left, above and above to the left of (x, y) that `has` accepts.
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
            sink, [](int k) { return std::min(k, 2) - 1; }, kData, value);
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
