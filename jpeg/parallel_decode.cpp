// JPEG scans decoded in parallel steps, sequentially: the definition of the CUDA engine's work.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// 1. Every tile decodes its subsequences from a guess, some of the tile before first. By its own
//    beginning it has mostly synchronized. Blocks and DC differences are counted.
// 2. Tiles whose beginning is not the end of the tile before are decoded again from there, twice.
// 3. Every row is decoded again, at the place from the counts, and written.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "jpeg/parallel_decode.h"

namespace cudatransform {
namespace {

constexpr int kFixes = 2;

struct Tables {
  const HuffmanSet* sets;
  const HuffmanRuns* runs;
};

// Blocks, and DC differences by class, since the last segment or, before any, the tile began.
struct Sums {
  uint32_t blocks = 0;
  bool in_segment = false;  // since a segment began
  uint32_t dc[kMaxMcuBlocks] = {};
};
struct Row {
  uint32_t state = 0;
  Sums before;
};
struct Tile {
  uint32_t begin = 0, end = 0;  // states
  Sums all;
};

class ScanDecoder {
 public:
  ScanDecoder(const JpegScans& scans, const JpegScanPlan& plan, const uint8_t* block,
              const JpegQcoefs* qcoefs)
      : scans_(scans),
        plan_(plan),
        words_{block + scans.words_at + plan.first_subsequence * size_t{kSubsequenceBits / 8}},
        infos_(reinterpret_cast<const uint32_t*>(block + scans.infos_at) + plan.first_subsequence),
        tables_{reinterpret_cast<const HuffmanSet*>(block + scans.sets_at),
                reinterpret_cast<const HuffmanRuns*>(block + scans.runs_at)},
        qcoefs_(qcoefs) {}

  void decode(JpegDecodeResult* result) {
    rows_.reset(new (std::nothrow) Row[size_t{plan_.subsequences} * kRowsInSubsequence]);
    tiles_.reset(new (std::nothrow) Tile[plan_.tiles]);
    if (rows_ == nullptr || tiles_ == nullptr) {
      result->damage |= kJpegNotSynchronized;
      return;
    }
    for (uint32_t tile = 0; tile < plan_.tiles; ++tile) synchronize(tile);
    for (int i = 0; i < kFixes; ++i) fix();
    write(result);
  }

 private:
  // The true end of a subsequence that begins in `state`.
  uint32_t skip(uint32_t subsequence, uint32_t state) const {
    uint32_t blocks = 0;
    const uint32_t begin = subsequence * kSubsequenceBits;
    return walk<true>(words_, tables_, plan_, state, begin, begin + bits_of(infos_[subsequence]),
                      &blocks, NoDifference{});
  }

  void synchronize(uint32_t tile) {
    const uint32_t first = tile * kTileSubsequences;
    uint32_t state = 0;
    for (uint32_t i = first - std::min(first, kWarmUp); i < first; ++i)
      state = skip(i, begins_segment(infos_[i]) ? 0 : state);
    count(tile, state);
  }

  void fix() {
    // On the device all tiles read simultaneously: here none sees another's new result.
    uint32_t end_before = tiles_[0].end;
    for (uint32_t tile = 1; tile < plan_.tiles; ++tile) {
      const uint32_t end = tiles_[tile].end;
      if (!is_resolved(tile, end_before)) count(tile, end_before);
      end_before = end;
    }
  }
  bool is_resolved(uint32_t tile, uint32_t end_before) const {
    return begins_segment(infos_[tile * kTileSubsequences]) || tiles_[tile].begin == end_before;
  }

  void count(uint32_t tile, uint32_t state) {
    const uint32_t first = tile * kTileSubsequences;
    const uint32_t end = std::min(first + kTileSubsequences, plan_.subsequences);
    Sums sums;
    tiles_[tile].begin = begins_segment(infos_[first]) ? 0 : state;
    for (uint32_t i = first; i < end; ++i) {
      if (begins_segment(infos_[i])) {
        state = 0;
        sums = Sums();
        sums.in_segment = true;
      }
      for (uint32_t r = 0; r < kRowsInSubsequence; ++r) {
        rows_[i * kRowsInSubsequence + r] = {state, sums};
        state = count_row(i, r, state, &sums);
      }
    }
    tiles_[tile].end = state;
    tiles_[tile].all = sums;
  }

  struct Add {
    static constexpr bool kWanted = true;
    const JpegScanPlan& plan;
    Sums& sums;
    void operator()(uint32_t window, uint32_t entry, uint32_t phase, uint32_t blocks) const {
      const uint32_t index =
          plan.knows_phases() ? plan.component[phase] : blocks % plan.blocks_in_mcu;
      sums.dc[index] += static_cast<uint32_t>(value_of(window, length_of(entry), size_of(entry)));
    }
  };
  uint32_t count_row(uint32_t i, uint32_t r, uint32_t state, Sums* sums) const {
    const uint32_t bits = row_bits(i, r);
    if (bits == 0) return state;
    const uint32_t begin = i * kSubsequenceBits + r * kRowBits;
    return walk<true>(words_, tables_, plan_, state, begin, begin + bits, &sums->blocks,
                      Add{plan_, *sums});
  }
  uint32_t row_bits(uint32_t i, uint32_t r) const {
    const uint32_t bits = bits_of(infos_[i]);
    return std::min(bits - std::min(bits, r * kRowBits), kRowBits);
  }

  // ---- Writing ----

  void write(JpegDecodeResult* result) {
    for (uint32_t tile = 0; tile < plan_.tiles; ++tile) {
      if (tile > 0 && !is_resolved(tile, tiles_[tile - 1].end))
        result->damage |= kJpegNotSynchronized;
      const uint32_t first = tile * kTileSubsequences;
      const uint32_t end = std::min(first + kTileSubsequences, plan_.subsequences);
      for (uint32_t i = first; i < end; ++i) {
        for (uint32_t r = 0; r < kRowsInSubsequence; ++r)
          result->damage |= write_one(i, r, &result->segments);
      }
      add(tile);
    }
  }

  // The number of blocks, and the components' quantized coefficients, at the end of `sums`, as far
  // as known.
  void qcoefs_at(const Sums& sums, uint32_t* block, int32_t* dc) const {
    const uint32_t base = sums.in_segment ? 0 : blocks_before_;
    *block = base + sums.blocks;
    uint32_t total[kJpegMaxComponents] = {};
    if (!sums.in_segment) std::copy_n(dc_before_, kJpegMaxComponents, total);
    for (uint32_t k = 0; k < plan_.classes; ++k)
      total[plan_.component_of_class(k, base)] += sums.dc[k];
    for (int c = 0; c < kJpegMaxComponents; ++c) dc[c] = static_cast<int32_t>(total[c]);
  }
  void add(uint32_t tile) {
    uint32_t block = 0;
    int32_t dc[kJpegMaxComponents];
    qcoefs_at(tiles_[tile].all, &block, dc);
    blocks_before_ = block;
    for (int c = 0; c < kJpegMaxComponents; ++c) dc_before_[c] = static_cast<uint32_t>(dc[c]);
  }

  uint32_t write_one(uint32_t i, uint32_t r, uint32_t* segments) const {
    JpegRow row;
    const Row& at = rows_[i * kRowsInSubsequence + r];
    row.bits = row_bits(i, r);
    if (row.bits == 0) return 0;
    row.state = at.state;
    row.segment = segment_of(infos_[i]);
    row.segment_bits = bits_of(infos_[i]) - r * kRowBits;
    if (!begins_segment(infos_[i + 1])) row.segment_bits += bits_of(infos_[i + 1]);
    qcoefs_at(at.before, &row.block, row.dc);
    const auto target = [&](uint32_t c, uint32_t x, uint32_t y, uint32_t) -> int16_t* {
      if (x >= scans_.blocks_w[c] || y >= scans_.blocks_h[c]) return nullptr;
      return qcoefs_[c].row(y) + size_t{64} * x;
    };
    JpegRowEnd row_end;
    const auto natural = [](uint32_t index) { return kNaturalOfZigzag[index]; };
    return write_row(words_, tables_, plan_, row, i * kSubsequenceBits + r * kRowBits, target,
                     natural, segments, &row_end);
  }

  const JpegScans& scans_;
  const JpegScanPlan& plan_;
  const ByteWords words_;
  const uint32_t* infos_;
  const Tables tables_;
  const JpegQcoefs* qcoefs_;
  std::unique_ptr<Row[]> rows_;
  std::unique_ptr<Tile[]> tiles_;
  uint32_t blocks_before_ = 0, dc_before_[kJpegMaxComponents] = {};
};

Status submit(Device& device, Queue& queue, const JpegDecodeJob& job, FencePtr* done) {
  CT_RETURN_IF_ERROR(validate(job));
  if (!device.is_host()) return Status::error(StatusCode::kInvalidArgument, "host device expected");
  const JpegScans& scans = *job.scans;
  for (int c = 0; c < scans.components; ++c) {
    for (uint32_t y = 0; y < scans.blocks_h[c]; ++y)
      std::memset(job.qcoefs[c].row(y), 0, size_t{scans.blocks_w[c]} * 64 * sizeof(int16_t));
  }
  *job.result = JpegDecodeResult();
  for (int i = 0; i < scans.count; ++i)
    ScanDecoder(scans, scans.scans[i], job.block, job.qcoefs).decode(job.result);
  return queue.record(done);
}

}  // namespace

Status validate(const JpegDecodeJob& job) {
  const auto invalid = [](const char* what) {
    return Status::error(StatusCode::kInvalidArgument, what);
  };
  if (job.scans == nullptr || job.block == nullptr || job.result == nullptr)
    return invalid("null scans, block or result");
  const auto is_aligned = [](auto value) { return static_cast<uintptr_t>(value) % 16 == 0; };
  if (!is_aligned(reinterpret_cast<uintptr_t>(job.block)))
    return invalid("block not aligned to 16 bytes");
  const JpegScans& scans = *job.scans;
  for (int c = 0; c < scans.components; ++c) {
    const JpegQcoefs& qcoefs = job.qcoefs[c];
    if (qcoefs.data == nullptr || !is_aligned(reinterpret_cast<uintptr_t>(qcoefs.data)) ||
        !is_aligned(qcoefs.stride))
      return invalid("coefficients not aligned to 16 bytes");
    if (qcoefs.blocks_w != scans.blocks_w[c] || qcoefs.blocks_h != scans.blocks_h[c])
      return invalid("size differs from the scans");
    const auto row_bytes = static_cast<ptrdiff_t>(qcoefs.blocks_w * 64 * sizeof(int16_t));
    if (qcoefs.stride < row_bytes) return invalid("overlapping rows of coefficients");
  }
  return {};
}

const JpegDecodeOps& portable_jpeg_decode_ops() {
  static constexpr JpegDecodeOps kOps = {"portable", submit};
  return kOps;
}

}  // namespace cudatransform
