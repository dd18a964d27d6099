// Fuzz targets of streams of Dirac and VC-2: units, headers and entropy decoding hold for any
// bytes, and tasks give the same coefficients and blocks in every order (fuzz_dirac); splitting
// takes time linear in the bytes and holds no more than the largest allowed unit, for any claims
// and any cuts (fuzz_dirac_splitter).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings, for the splitter the sizes of pieces, then a stream.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "dirac/decoder.h"
#include "tests/dirac/split.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace cudatransform;
using fuzzing::promise;

// Small enough for thousands of pictures a second.
constexpr uint64_t kMaxSamples = 1 << 14;
constexpr uint64_t kMaxUnitBytes = 1 << 16;
constexpr int kMaxPictures = 20;  // of an input

void check_unit(const uint8_t* data, size_t size, bool in_step) {
  const DiracUnitSpan last = find_dirac_unit({data, size}, true, in_step, kMaxUnitBytes);
  promise(last.skipped <= size && last.size <= size - last.skipped, "a unit lies in the bytes");
  promise(last.size <= kMaxUnitBytes, "a unit is no larger than it may be");
  promise(last.skipped + last.size > 0, "there is progress at the end of a stream");
  const DiracUnitSpan more = find_dirac_unit({data, size}, false, in_step, kMaxUnitBytes);
  if (more.size != 0) {
    promise(more.skipped == last.skipped && more.size == last.size,
            "what is believed before the end is believed at the end");
  }
}

// A row's quantized coefficients are as many as its map has bits, and none is zero.
template <typename Value>
void check_band(const DiracBand& band) {
  for (int32_t y = 0; y < band.height; ++y) {
    const uint64_t* row = band.map_row(y);
    uint32_t bits = 0;
    for (int32_t word = 0; word < band.map_words; ++word) {
      bits += static_cast<uint32_t>(__builtin_popcountll(row[word]));
      const int32_t beyond = band.width - 64 * word;
      if (beyond < 64) promise(row[word] >> beyond == 0, "the map ends with the row");
    }
    promise(bits == band.counts[y], "the map has a bit for each coefficient");
    const auto* qcoefs = static_cast<const Value*>(band.qcoefs) + ptrdiff_t{y} * band.width;
    for (uint32_t i = 0; i < bits; ++i) promise(qcoefs[i] != 0, "no coefficient is zero");
  }
}

// Everything that a renderer reads, as numbers.
std::vector<int32_t> contents_of(const DiracPicture& picture) {
  std::vector<int32_t> numbers;
  if (picture.has_residual()) {
    const DiracQcoefs& qcoefs = picture.qcoefs();
    for (int c = 0; c < kMaxComponents; ++c) {
      for (int i = 0; i < qcoefs.band_count(); ++i) {
        const DiracBand& band = qcoefs.band(c, i);
        qcoefs.is_wide() ? check_band<int32_t>(band) : check_band<int16_t>(band);
        const size_t begin = numbers.size();
        numbers.resize(begin + static_cast<size_t>(band.width) * static_cast<size_t>(band.height));
        std::vector<int32_t> narrow(numbers.size() - begin);
        DiracBand moved = band;
        moved.x = moved.y = 0;
        const ptrdiff_t pitch = ptrdiff_t{band.width} * (qcoefs.is_wide() ? 4 : 2);
        dequantize_dirac_band(moved, qcoefs.is_wide(), picture.header().is_intra(), narrow.data(),
                              pitch);
        if (i == 0) predict_dirac_dc(moved, qcoefs.is_wide(), narrow.data(), pitch);
        std::copy(narrow.begin(), narrow.end(), numbers.begin() + static_cast<ptrdiff_t>(begin));
      }
    }
  }
  const DiracPrediction& grid = picture.prediction();
  for (int32_t i = 0; picture.blocks() != nullptr && i < grid.blocks_across * grid.blocks_down;
       ++i) {
    const ObmcBlock& block = picture.blocks()[i];
    promise(block.references < 1 << picture.header().reference_count, "references are there");
    numbers.insert(numbers.end(), {block.references, block.dc[0], block.dc[1], block.dc[2]});
    for (const auto& vector : block.vector) {
      promise(std::abs(vector[0]) <= kMaxObmcVector && std::abs(vector[1]) <= kMaxObmcVector,
              "vectors are as motion compensation wants them");
      numbers.insert(numbers.end(), {vector[0], vector[1]});
    }
  }
  return numbers;
}

void run_tasks(DiracPicture& picture, bool last_first) {
  const int count = picture.task_count();
  for (int task = 0; task < count && !last_first; ++task) picture.run_task(task);
  for (const bool depend : {false, true}) {
    for (int task = count - 1; task >= 0 && last_first; --task) {
      promise(picture.task_after(task) < task, "a task follows one of a lower number");
      if ((picture.task_after(task) >= 0) == depend) picture.run_task(task);
    }
  }
}

using Contents = std::vector<std::vector<int32_t>>;

Contents decode(const uint8_t* data, size_t size, bool last_first, bool in_step) {
  DiracLimits limits;
  limits.max_width = limits.max_height = 1024;
  limits.max_samples = kMaxSamples;
  limits.max_unit_bytes = kMaxUnitBytes;
  DiracDecoder decoder(limits);
  Contents contents;
  const auto drain = [&] {
    while (std::unique_ptr<DiracPicture> picture = decoder.next_picture()) {
      run_tasks(*picture, last_first);
      contents.push_back(contents_of(*picture));
      decoder.give_back(std::move(picture));
    }
  };
  for (size_t at = 0; at < size && contents.size() < kMaxPictures;) {
    check_unit(data + at, size - at, in_step);
    const DiracUnitSpan span =
        find_dirac_unit({data + at, size - at}, true, in_step, kMaxUnitBytes);
    at += span.skipped;
    if (span.size == 0) continue;
    // Separate memory, so that a read outside of the unit is seen.
    const std::vector<uint8_t> unit(data + at, data + at + span.size);
    const Status status = decoder.take({unit.data(), unit.size()});
    promise(status.ok() || !status.message.empty(), "a failure says what was wrong");
    drain();
    at += span.size;
  }
  decoder.finish();
  drain();
  return contents;
}

void run_dirac(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const bool in_step = input.byte() % 2 != 0;
  const Contents contents = decode(input.data(), input.size(), false, in_step);
  promise(decode(input.data(), input.size(), true, in_step) == contents,
          "tasks may run in any order");
}

void run_splitter(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const bool in_step = input.byte() % 2 != 0;
  const std::vector<size_t> sizes = fuzzing::sizes_of_pieces(&input);
  const std::vector<uint8_t> stream(input.data(), input.data() + input.size());
  constexpr DiracUnitLimits kLimits = {1000, 300};
  for (const std::vector<size_t>& pieces : {sizes, {1}, {stream.size() + 1}}) {
    const test::DiracSplitCost cost = test::split_dirac(stream, pieces, in_step, kLimits);
    promise(cost.end == stream.size(), "all of the stream is split");
    promise(cost.examined <= DiracSplitter::max_examined(stream.size(), cost.calls),
            "time is linear");
    promise(cost.calls <= 2 * stream.size() + 2, "there is progress");
    const size_t piece = *std::max_element(pieces.begin(), pieces.end());
    if (piece <= 256) {
      promise(cost.max_held <= 2 * (kLimits.picture + kDiracParseInfoBytes) + piece,
              "no more is held than a unit and the next");
    }
    size_t last = 0;
    for (size_t i = 0; i < cost.units.size(); i += 2) {
      const size_t begin = cost.units[i], end = cost.units[i + 1];
      promise(begin >= last && end > begin, "units do not overlap");
      promise(end - begin <= kLimits.picture, "a unit is no larger than it may be");
      last = end;
    }
  }
}

const fuzzing::Targets targets({{"fuzz_dirac", run_dirac}, {"fuzz_dirac_splitter", run_splitter}});

}  // namespace
