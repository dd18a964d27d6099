// The speed of reading codes: pictures of Dirac and VC-2 from memory to quantized coefficients and
// blocks, on one thread.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// bench_dirac_codes [--turns=N] STREAM.drc...
//
// Prints for each stream, by the fastest of N turns (20): microseconds a picture for quantized
// coefficients and for blocks, and nanoseconds a binary symbol of quantized coefficients. Symbols
// are counted from the quantized coefficients: one for a zero of a codeblock that is not all zero
// or of a band without others, and for another quantized coefficient its stop and data bits and its
// sign; quantizers are left out, as are bands in which everything is zero.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "dirac/decoder.h"
#include "dirac/units.h"

namespace cudatransform {
namespace {

struct Sums {
  int pictures = 0;
  double motion = 0, residual = 0;  // microseconds
  uint64_t symbols = 0, qcoefs = 0, bytes = 0;
};

template <typename Value>
uint64_t symbols_of_row(const DiracBand& band, int32_t y) {
  const auto* qcoef = static_cast<const Value*>(band.qcoefs) + ptrdiff_t{y} * band.width;
  uint64_t symbols = 0;
  for (uint32_t i = 0; i < band.counts[y]; ++i) {
    const auto magnitude = static_cast<uint32_t>(std::abs(int64_t{qcoef[i]}));
    symbols += 2 * static_cast<uint64_t>(std::bit_width(magnitude + 1) - 1) + 1;
  }
  return symbols;
}

bool has_qcoefs(const DiracBand& band, int32_t column, int32_t row) {
  const int32_t end = dirac_part(band.height, row + 1, band.rows);
  for (int32_t y = dirac_part(band.height, row, band.rows); y < end; ++y) {
    const uint64_t* map = band.map_row(y);
    const int32_t x_end = dirac_part(band.width, column + 1, band.columns);
    for (int32_t x = dirac_part(band.width, column, band.columns); x < x_end; ++x) {
      if ((map[x / 64] >> (x % 64) & 1) != 0) return true;
    }
  }
  return false;
}

// One symbol for each coded coefficient, and more for those that are not zero.
void count(const DiracBand& band, bool is_wide, Sums* sums) {
  uint64_t qcoefs = 0, symbols = 0;
  for (int32_t y = 0; y < band.height; ++y) {
    qcoefs += band.counts[y];
    symbols += is_wide ? symbols_of_row<int32_t>(band, y) : symbols_of_row<int16_t>(band, y);
  }
  if (qcoefs == 0) return;
  for (int32_t row = 0; row < band.rows; ++row) {
    for (int32_t column = 0; column < band.columns; ++column) {
      const int64_t wide = dirac_part(band.width, column + 1, band.columns) -
                           dirac_part(band.width, column, band.columns);
      const int64_t high =
          dirac_part(band.height, row + 1, band.rows) - dirac_part(band.height, row, band.rows);
      symbols += static_cast<uint64_t>(has_qcoefs(band, column, row) ? wide * high + 1 : 1);
    }
  }
  sums->qcoefs += qcoefs;
  sums->symbols += symbols;
}

void decode(DiracPicture& picture, Sums* sums) {
  using Clock = std::chrono::steady_clock;
  for (int task = 0; task < picture.task_count(); ++task) {
    const auto begin = Clock::now();
    picture.run_task(task);
    const double took = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    (picture.is_motion_task(task) ? sums->motion : sums->residual) += took;
  }
  ++sums->pictures;
  sums->bytes += picture.coded_bytes();
  if (!picture.has_residual()) return;
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 0; i < picture.qcoefs().band_count(); ++i)
      count(picture.qcoefs().band(c, i), picture.qcoefs().is_wide(), sums);
  }
}

Sums decode(const std::vector<char>& stream) {
  const auto* data = reinterpret_cast<const uint8_t*>(stream.data());
  DiracDecoder decoder;
  Sums sums;
  const auto take_pictures = [&] {
    while (std::unique_ptr<DiracPicture> picture = decoder.next_picture()) {
      decode(*picture, &sums);
      decoder.give_back(std::move(picture));
    }
  };
  for (size_t at = 0; at < stream.size();) {
    const DiracUnitSpan unit =
        find_dirac_unit({data + at, stream.size() - at}, true, true, stream.size());
    if (unit.size == 0) break;
    if (!decoder.take({data + at + unit.skipped, unit.size}).ok()) break;
    at += unit.skipped + unit.size;
    take_pictures();
  }
  decoder.finish();
  take_pictures();
  return sums;
}

bool measure(const char* path, int turns) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> stream = {std::istreambuf_iterator<char>(file), {}};
  Sums best;
  for (int turn = 0; turn < turns; ++turn) {
    const Sums sums = decode(stream);
    if (sums.pictures == 0) return false;
    if (turn == 0 || sums.residual < best.residual) best = sums;
  }
  const double pictures = best.pictures;
  std::printf(
      "%-32s %9.0f %9.0f %9.0f %10.0f %8.2f %9.2f\n", std::filesystem::path(path).stem().c_str(),
      static_cast<double>(best.bytes) / pictures, best.motion / pictures, best.residual / pictures,
      static_cast<double>(best.symbols) / pictures,
      1e3 * best.residual / static_cast<double>(std::max<uint64_t>(best.symbols, 1)),
      static_cast<double>(best.symbols) / static_cast<double>(std::max<uint64_t>(best.qcoefs, 1)));
  return true;
}

}  // namespace
}  // namespace cudatransform

int main(int argc, char** argv) {
  int turns = 20, shown = 0;
  std::printf("%-32s %9s %9s %9s %10s %8s %9s\n", "stream", "bytes", "blocks us", "coefs us",
              "symbols", "ns each", "per coef");
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--turns=")) {
      turns = std::max(1, std::atoi(argv[i] + std::string_view("--turns=").size()));
    } else if (cudatransform::measure(argv[i], turns)) {
      ++shown;
    } else {
      std::fprintf(stderr, "%s has no pictures\n", argv[i]);
      return 1;
    }
  }
  if (shown == 0) std::fprintf(stderr, "bench_dirac_codes: name the streams to decode\n");
  return shown == 0 ? 2 : 0;
}
