// Slices of low delay and high quality pictures: where each lies in the data, and its levels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/slices.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "dirac/bits.h"
#include "dirac/level_writer.h"

namespace cudatransform {

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
  void note(int component, int band, uint32_t magnitudes, int quantiser) {
    if constexpr (sizeof(Value) < sizeof(int32_t)) {
      uint64_t& largest = of[component][band];
      largest = std::max(largest, dirac_largest(magnitudes, quantiser));
    }
  }
};

uint32_t magnitude_of(int32_t level) {
  const auto bits = static_cast<uint32_t>(level);
  return level < 0 ? 0 - bits : bits;
}

// Whether levels of a band with this quantiser can be dequantised.
bool can_hold(const DiracBand& band, int32_t column, int32_t row) {
  return band.quantiser(column, row) <= kMaxQuantIndex;
}

// The levels of one component, band after band.
template <typename Value>
bool read_component(DiracBits bits, int component, int32_t column, int32_t row, DiracLevels& levels,
                    Largest& largest) {
  bool sound = true;
  for (int i = 0; i < levels.band_count() && !bits.at_end(); ++i) {
    const DiracBand& band = levels.band(component, i);
    const Part part = part_of(band, column, row);
    const bool holds = can_hold(band, column, row);
    uint32_t magnitudes = 0;
    for (int32_t y = part.y; y < part.y_end && !bits.at_end(); ++y) {
      DiracRowWriter<Value> writer(band, y);
      bits.signed_codes(part.x_end - part.x, [&](int32_t i, int32_t level) {
        sound &= holds;
        magnitudes |= magnitude_of(level);
        if (holds) writer.put(part.x + i, level);
      });
    }
    if (holds) largest.note<Value>(component, i, magnitudes, band.quantiser(column, row));
  }
  return sound;
}

// The levels of both chroma components by turns.
template <typename Value>
bool read_chroma(DiracBits bits, int32_t column, int32_t row, DiracLevels& levels,
                 Largest& largest) {
  bool sound = true;
  for (int i = 0; i < levels.band_count() && !bits.at_end(); ++i) {
    const DiracBand& first = levels.band(1, i);
    const Part part = part_of(first, column, row);
    const bool holds = can_hold(first, column, row);
    uint32_t magnitudes = 0;  // of both
    for (int32_t y = part.y; y < part.y_end && !bits.at_end(); ++y) {
      DiracRowWriter<Value> writers[2] = {{first, y}, {levels.band(2, i), y}};
      bits.signed_codes(2 * (part.x_end - part.x), [&](int32_t i, int32_t level) {
        sound &= holds;
        magnitudes |= magnitude_of(level);
        if (holds) writers[i % 2].put(part.x + i / 2, level);
      });
    }
    for (int c = 1; c < kMaxComponents && holds; ++c)
      largest.note<Value>(c, i, magnitudes, first.quantiser(column, row));
  }
  return sound;
}

uint8_t& slice_quantiser(DiracLevels& levels, int32_t column, int32_t row) {
  const DiracBand& band = levels.band(0, 0);
  return band.quantisers[ptrdiff_t{row} * band.columns + column];
}

// The head of a low delay slice.
struct LowDelayHead {
  uint8_t quantiser;
  uint64_t luma_bits;
  bool fits;  // luma, into the slice

  LowDelayHead(DiracBits& bits, size_t size) {
    quantiser = static_cast<uint8_t>(bits.number(7));
    luma_bits = bits.number(static_cast<int>(std::bit_width(8 * uint64_t{size} - 8)));
    fits = luma_bits <= bits.end() - std::min(bits.position(), bits.end());
  }
};

template <typename Value>
bool read_low_delay(const uint8_t* data, size_t size, int32_t column, int32_t row,
                    DiracLevels& levels, Largest& largest) {
  DiracBits bits({data, size});
  const LowDelayHead head(bits, size);
  slice_quantiser(levels, column, row) = head.quantiser;
  const bool fits = head.fits;
  const bool luma =
      read_component<Value>(bits.block(head.luma_bits), 0, column, row, levels, largest);
  return read_chroma<Value>(bits.block(bits.end()), column, row, levels, largest) && luma && fits;
}

template <typename Value>
bool read_high_quality(const DiracTransform& transform, const uint8_t* data, size_t size,
                       int32_t column, int32_t row, DiracLevels& levels, Largest& largest) {
  if (size <= transform.prefix_bytes) return false;
  DiracBits bits({data, size});
  bits.skip_bytes(transform.prefix_bytes);
  slice_quantiser(levels, column, row) = static_cast<uint8_t>(bits.number(8));
  bool sound = true;
  for (int c = 0; c < kMaxComponents && !bits.at_end(); ++c) {
    const uint64_t bytes = uint64_t{bits.number(8)} * transform.size_scaler;
    sound &= read_component<Value>(bits.block(8 * bytes), c, column, row, levels, largest);
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
                const DiracSlicePlace* places, int32_t row, DiracLevels& levels) {
  bool sound = true;
  Largest largest;
  for (int32_t column = 0; column < transform.columns[0]; ++column) {
    const DiracSlicePlace place = places[ptrdiff_t{row} * transform.columns[0] + column];
    if (place.begin == place.end) continue;
    const uint8_t* slice = data + place.begin;
    const size_t size = place.end - place.begin;
    sound &= coding == DiracCoding::kLowDelay
                 ? read_low_delay<Value>(slice, size, column, row, levels, largest)
                 : read_high_quality<Value>(transform, slice, size, column, row, levels, largest);
  }
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < levels.band_count(); ++i)
      raise(levels.band(c, i).largest, largest.of[c][i]);
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
                          const DiracSlicePlace& place, int most_quantiser) {
  if (coding == DiracCoding::kHighQuality) {
    const uint64_t at = uint64_t{place.begin} + transform.prefix_bytes;
    return at < place.end && data[at] <= most_quantiser;
  }
  if (place.begin == place.end) return true;
  const size_t size = place.end - place.begin;
  DiracBits bits({data + place.begin, size});
  const LowDelayHead head(bits, size);
  return head.fits && head.quantiser <= most_quantiser;
}

bool decode_dirac_slices(DiracCoding coding, const DiracTransform& transform, const uint8_t* data,
                         const DiracSlicePlace* places, int32_t row, DiracLevels& levels) {
  return levels.is_wide() ? decode_row<int32_t>(coding, transform, data, places, row, levels)
                          : decode_row<int16_t>(coding, transform, data, places, row, levels);
}

}  // namespace cudatransform
