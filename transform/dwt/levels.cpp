// The steps of each row of each level in flight between samples and coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/levels.h"

#include <algorithm>
#include <cstring>

namespace cudatransform {

namespace {

template <typename Coef>
uint64_t count_zeros(const void* coefs, int32_t count) {
  uint64_t zeros = 0;
  for (int32_t i = 0; i < count; ++i) zeros += static_cast<const Coef*>(coefs)[i] == 0;
  return zeros;
}

uint64_t count_zeros(const void* coefs, DwtCoefType type, int32_t count) {
  return type == DwtCoefType::kS16 ? count_zeros<int16_t>(coefs, count)
                                   : count_zeros<int32_t>(coefs, count);
}

// A row of a plane without gaps, and back. `Word`: as wide as a sample.
template <typename Word>
void gather(const uint8_t* from, ptrdiff_t stride, Word* to, int32_t count) {
  if (stride == sizeof(Word)) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Word));
    return;
  }
  for (int32_t x = 0; x < count; ++x) std::memcpy(to + x, from + x * stride, sizeof(Word));
}

template <typename Word>
void scatter(const Word* from, uint8_t* to, ptrdiff_t stride, int32_t count) {
  if (stride == sizeof(Word)) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Word));
    return;
  }
  for (int32_t x = 0; x < count; ++x) std::memcpy(to + x * stride, from + x, sizeof(Word));
}

// `row` as the kernels write it, without a shift.
template <typename Word>
uint64_t squared_error(const Word* row, const SamplePlane& source, int32_t y, int32_t peak) {
  uint64_t sum = 0;
  for (int32_t x = 0; x < source.width; ++x) {
    const int64_t difference =
        int64_t{row[x]} - load_sample(sample_address(source, x, y), source, peak);
    sum += static_cast<uint64_t>(difference * difference);
  }
  return sum;
}

}  // namespace

template <typename T>
struct ComponentLevels<T>::Work {
  RowSize size;
  RowMemory<T> row;             // for levels without vertical steps
  RowMemory<uint16_t> samples;  // a row of them, padded

  explicit Work(int32_t width)
      : size(width), row(size.total()), samples(static_cast<size_t>(width) + 2 * kRowSlack) {}
};

template <typename T>
ComponentLevels<T>::ComponentLevels(const DwtJob& job, int component, const RowKernels<T>& kernels)
    : job_(job),
      samples_(job.samples[component]),
      plane_(job.coefs[component]),
      quant_index_(job.quant_index[component]),
      reference_(job.direction == Direction::kForward ? job.samples[component]
                                                      : job.reference[component]),
      kernels_(kernels),
      width_(dwt_padded_width(samples_.width, job.levels)),
      height_(dwt_padded_height(samples_.rows(), job.levels)),
      shift_(lifting(job.wavelet_ho).shift_between_levels) {}

template <typename T>
size_t ComponentLevels<T>::low_values() const {
  size_t values = 0;
  for (int f = 1; f < count(); ++f) values += low_size(f);
  return values;
}

template <typename T>
void ComponentLevels<T>::set_low(T* memory) {
  for (int f = 1; f < count(); ++f) {
    low_[f] = memory;
    memory += low_size(f);
  }
}

template <typename T>
uint8_t* ComponentLevels<T>::coefs(const DwtBand& band, int32_t y) const {
  const ptrdiff_t bytes = job_.type == DwtCoefType::kS16 ? 2 : 4;
  return static_cast<uint8_t*>(plane_.data) + (band.y + y) * plane_.pitch + band.x * bytes;
}

template <typename T>
int ComponentLevels<T>::band_index(int fineness, int kind) const {
  if (!is_both(fineness)) return count() - fineness;
  return 1 + job_.levels.horizontal + 3 * (job_.levels.both - 1 - fineness) + kind;
}

template <typename T>
void ComponentLevels<T>::read_band(int index, int32_t y, T* to, StripeSums* sums) const {
  const DwtBand band = dwt_band(job_.levels, width_, height_, index);
  const uint8_t* from = coefs(band, y);
  kernels_.dequantize(from, job_.type, DwtQuantizer(quant_index_[index]), to,
                      static_cast<size_t>(band.width));
  if (sums != nullptr) sums->zeros += count_zeros(from, job_.type, band.width);
}

template <typename T>
void ComponentLevels<T>::write_band(int index, int32_t y, const T* from, StripeSums* sums) const {
  const DwtBand band = dwt_band(job_.levels, width_, height_, index);
  uint8_t* to = coefs(band, y);
  kernels_.quantize(from, to, job_.type, DwtQuantizer(quant_index_[index]),
                    static_cast<size_t>(band.width));
  if (sums != nullptr) sums->zeros += count_zeros(to, job_.type, band.width);
}

template <typename T>
void ComponentLevels<T>::read_low(int fineness, int32_t y, T* to, StripeSums* sums) const {
  if (fineness + 1 == count()) {
    read_band(0, y, to, sums);
  } else {
    std::copy_n(low_row(fineness + 1, y), width(fineness + 1), to);
  }
}

template <typename T>
void ComponentLevels<T>::write_low(int fineness, int32_t y, const T* from, StripeSums* sums) const {
  if (fineness + 1 == count()) {
    write_band(0, y, from, sums);
  } else {
    std::copy_n(from, width(fineness + 1), low_row(fineness + 1, y));
  }
}

// ---- Forward ----

template <typename T>
void ComponentLevels<T>::load_samples(int32_t y, SplitRow<T> row, const Work& work) const {
  const int32_t visible = samples_.width;
  const uint8_t* from = sample_address(samples_, 0, std::min(y, samples_.rows() - 1));
  const SampleForm form = {samples_.type, job_.depth, samples_.shift};
  if (form.type == SampleType::kU8) {
    auto* bytes = reinterpret_cast<uint8_t*>(work.samples.data());
    gather(from, samples_.stride, bytes, visible);
    std::fill(bytes + visible, bytes + width_, bytes[visible - 1]);
  } else {
    uint16_t* words = work.samples.data();
    gather(from, samples_.stride, words, visible);
    std::fill(words + visible, words + width_, words[visible - 1]);
  }
  kernels_.split_samples(work.samples.data(), form, row.low, row.high, work.size.pairs, shift_,
                         job_.type == DwtCoefType::kS16);
}

template <typename T>
void ComponentLevels<T>::load_row(int fineness, int32_t y, SplitRow<T> row,
                                  const Work& work) const {
  if (fineness == 0) {
    load_samples(y, row, work);
  } else {
    kernels_.split(low_row(fineness, y), row.low, row.high, work.size.pairs, shift_,
                   job_.type == DwtCoefType::kS16);
  }
}

template <typename T>
StripeSums ComponentLevels<T>::analyze(int fineness, int32_t first, int32_t end) const {
  const RowFilter<T> across = filter(job_.wavelet_ho, Direction::kForward);
  const RowFilter<T> down = filter(job_.wavelet, Direction::kForward);
  const bool rows_last = across.lifting->rows_first;
  const Work work(width(fineness));
  StripeSums sums;
  StripeSums* counted = (job_.measure & kMeasureZeros) != 0 ? &sums : nullptr;
  const auto emit_low_and = [&](int kind, int32_t y, SplitRow<T> row) {
    write_low(fineness, y, row.low, counted);
    write_band(band_index(fineness, kind), y, row.high, counted);
  };
  if (!is_both(fineness)) {
    const SplitRow<T> row = work.size.row(work.row.data());
    for (int32_t y = first; y < end; ++y) {
      load_row(fineness, y, row, work);
      lift_row(across, work.size, row);
      emit_low_and(0, y, row);
    }
    return sums;
  }
  VerticalWindow<T> window(down, work.size, height(fineness) / 2);
  window.run(
      first, end,
      [&](int32_t n, SplitRow<T> even, SplitRow<T> odd) {
        load_row(fineness, 2 * n, even, work);
        load_row(fineness, 2 * n + 1, odd, work);
        if (rows_last) return;
        lift_row(across, work.size, even);
        lift_row(across, work.size, odd);
      },
      [&](int32_t n, SplitRow<T> even, SplitRow<T> odd) {
        if (rows_last) {
          lift_row(across, work.size, even);
          lift_row(across, work.size, odd);
        }
        emit_low_and(0, n, even);
        write_band(band_index(fineness, 1), n, odd.low, counted);
        write_band(band_index(fineness, 2), n, odd.high, counted);
      });
  return sums;
}

// ---- Inverse ----

template <typename T>
void ComponentLevels<T>::store_samples(int32_t y, SplitRow<T> row, bool compares, const Work& work,
                                       StripeSums* sums) const {
  if (y >= samples_.rows()) return;
  SampleForm form = {samples_.type, job_.depth, samples_.shift};
  if (!compares) {
    kernels_.join_samples(row.low, row.high, work.samples.data(), form, work.size.pairs, shift_);
    const int32_t end = std::min((y + 1) * samples_.row_repeat, samples_.height);
    for (int32_t line = y * samples_.row_repeat; line < end; ++line) {
      uint8_t* to = sample_address(samples_, 0, line);
      if (form.type == SampleType::kU8) {
        scatter(reinterpret_cast<const uint8_t*>(work.samples.data()), to, samples_.stride,
                samples_.width);
      } else {
        scatter(work.samples.data(), to, samples_.stride, samples_.width);
      }
    }
  }
  if ((job_.measure & kMeasureSse) == 0) return;
  form.shift = 0;
  kernels_.join_samples(row.low, row.high, work.samples.data(), form, work.size.pairs, shift_);
  const int32_t peak = (1 << job_.depth) - 1;
  sums->sse += form.type == SampleType::kU8
                   ? squared_error(reinterpret_cast<const uint8_t*>(work.samples.data()),
                                   reference_, y, peak)
                   : squared_error(work.samples.data(), reference_, y, peak);
}

template <typename T>
void ComponentLevels<T>::store_row(int fineness, int32_t y, SplitRow<T> row, bool compares,
                                   const Work& work, StripeSums* sums) const {
  if (fineness == 0) {
    store_samples(y, row, compares, work, sums);
  } else {
    kernels_.join(row.low, row.high, low_row(fineness, y), work.size.pairs, shift_);
  }
}

template <typename T>
StripeSums ComponentLevels<T>::synthesize(int fineness, int32_t first, int32_t end,
                                          bool compares) const {
  const RowFilter<T> across = filter(job_.wavelet_ho, Direction::kInverse);
  const RowFilter<T> down = filter(job_.wavelet, Direction::kInverse);
  const bool rows_first = across.lifting->rows_first;
  const Work work(width(fineness));
  StripeSums sums;
  const bool counts = (job_.measure & kMeasureZeros) != 0 && !compares;
  if (!is_both(fineness)) {
    const SplitRow<T> row = work.size.row(work.row.data());
    for (int32_t y = first; y < end; ++y) {
      read_low(fineness, y, row.low, counts ? &sums : nullptr);
      read_band(band_index(fineness, 0), y, row.high, counts ? &sums : nullptr);
      lift_row(across, work.size, row);
      store_row(fineness, y, row, compares, work, &sums);
    }
    return sums;
  }
  VerticalWindow<T> window(down, work.size, height(fineness) / 2);
  window.run(
      first, end,
      [&](int32_t n, SplitRow<T> even, SplitRow<T> odd) {
        // Rows around the stripe are another's to count.
        StripeSums* counted = counts && n >= first && n < end ? &sums : nullptr;
        read_low(fineness, n, even.low, counted);
        read_band(band_index(fineness, 0), n, even.high, counted);
        read_band(band_index(fineness, 1), n, odd.low, counted);
        read_band(band_index(fineness, 2), n, odd.high, counted);
        if (!rows_first) return;
        lift_row(across, work.size, even);
        lift_row(across, work.size, odd);
      },
      [&](int32_t n, SplitRow<T> even, SplitRow<T> odd) {
        if (!rows_first) {
          lift_row(across, work.size, even);
          lift_row(across, work.size, odd);
        }
        store_row(fineness, 2 * n, even, compares, work, &sums);
        store_row(fineness, 2 * n + 1, odd, compares, work, &sums);
      });
  return sums;
}

template class ComponentLevels<int16_t>;
template class ComponentLevels<int32_t>;

}  // namespace cudatransform
