// The CPU engine's flips: tiles of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transform/dct8x8/quant_table.h"
#include "transform/device/host_threads.h"
#include "transform/verbs/flip.h"

namespace cudatransform {

namespace {

// Blocks of a tile's side: of turned planes a line of the cache has a row of several blocks.
constexpr int32_t kTile = 8;

// What makes the negative of a coefficient: (bits ^ flip) + add, which is two's complement or a
// sign bit, and nothing with zeros.
template <typename Word>
struct Signs {
  Word flip[64], add[64];

  Signs() = default;
  Signs(const FlipJob& job, bool x, bool y) {
    const uint64_t negated = flip_negated(x, y);
    const bool is_float = is_floating(job.number);
    for (int i = 0; i < 64; ++i) {
      const int natural =
          job.arrangement == CoefArrangement::kZigzagBlock ? kNaturalOfZigzag[i] : i;
      const bool is_negated = (negated >> natural & 1) != 0;
      const Word all = is_float ? Word(Word{1} << (8 * sizeof(Word) - 1)) : Word(~Word{0});
      flip[i] = is_negated ? all : Word{0};
      add[i] = is_negated && !is_float ? 1 : 0;
    }
  }
};

// A block's rows of eight coefficients in memory, `step` apart.
template <typename Word>
struct BlockRows {
  Word* data;
  ptrdiff_t step;
};

template <typename Word>
void copy_block(const BlockRows<const Word>& from, const Signs<Word>& signs,
                const BlockRows<Word>& to) {
  for (ptrdiff_t v = 0; v < 8; ++v)
    for (ptrdiff_t u = 0; u < 8; ++u)
      to.data[v * to.step + u] =
          Word(Word(from.data[v * from.step + u] ^ signs.flip[8 * v + u]) + signs.add[8 * v + u]);
}

// The lower or the upper halves of two vectors, lane by lane: g++ and clang++ make one instruction
// of it. Highway's vectors would need run-time dispatch, and memory is what limits.
template <typename Word>
using Vector [[gnu::vector_size(16)]] = Word;

template <bool kUpper>
Vector<uint16_t> zip(Vector<uint16_t> a, Vector<uint16_t> b) {
  constexpr int k = kUpper ? 4 : 0;
  return __builtin_shufflevector(a, b, k, k + 8, k + 1, k + 9, k + 2, k + 10, k + 3, k + 11);
}
template <bool kUpper>
Vector<uint32_t> zip(Vector<uint32_t> a, Vector<uint32_t> b) {
  constexpr int k = kUpper ? 2 : 0;
  return __builtin_shufflevector(a, b, k, k + 4, k + 1, k + 5);
}

template <typename Word>
Vector<Word> load(const Word* from) {
  Vector<Word> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// A square of as many rows as a vector has lanes, transposed: each zip of row i and row i + n / 2
// rotates the bits of an index, and log2 n of them exchange rows and columns.
template <typename Word>
void transpose_square(const BlockRows<const Word>& from, const Signs<Word>& signs,
                      const BlockRows<Word>& to, ptrdiff_t v0, ptrdiff_t u0) {
  constexpr size_t kSide = 16 / sizeof(Word);
  Vector<Word> rows[kSide], zipped[kSide];
  for (size_t i = 0; i < kSide; ++i)
    rows[i] = load(from.data + (u0 + ptrdiff_t(i)) * from.step + v0);
  for (size_t stage = 1; stage < kSide; stage *= 2) {
    for (size_t i = 0; i < kSide / 2; ++i) {
      zipped[2 * i] = zip<false>(rows[i], rows[i + kSide / 2]);
      zipped[2 * i + 1] = zip<true>(rows[i], rows[i + kSide / 2]);
    }
    std::copy_n(zipped, kSide, rows);
  }
  for (size_t i = 0; i < kSide; ++i) {
    const ptrdiff_t v = v0 + ptrdiff_t(i), sign = 8 * v + u0;
    const Vector<Word> made = (rows[i] ^ load(signs.flip + sign)) + load(signs.add + sign);
    std::memcpy(to.data + v * to.step + u0, &made, sizeof made);
  }
}

template <typename Word>
void transpose_block(const BlockRows<const Word>& from, const Signs<Word>& signs,
                     const BlockRows<Word>& to) {
  constexpr ptrdiff_t kSide = 16 / sizeof(Word);
  for (ptrdiff_t v = 0; v < 8; v += kSide)
    for (ptrdiff_t u = 0; u < 8; u += kSide) transpose_square(from, signs, to, v, u);
}

// Of blocks in zigzag order, whose rows follow each other.
template <typename Word>
void transpose_zigzag(const BlockRows<const Word>& from, const Signs<Word>& signs,
                      const BlockRows<Word>& to, const uint8_t* places) {
  for (int i = 0; i < 64; ++i)
    to.data[i] = Word(Word(from.data[places[i]] ^ signs.flip[i]) + signs.add[i]);
}

template <typename Word>
class Flipper {
 public:
  explicit Flipper(const FlipJob& job) : job_(job) {
    for (const bool x : {false, true})
      for (const bool y : {false, true}) signs_[x][y] = Signs<Word>(job, x, y);
    for (int i = 0; i < 64; ++i) {
      const int natural = kNaturalOfZigzag[i];
      places_[i] = kZigzagOfNatural[natural % 8 * 8 + natural / 8];
    }
  }

  // The tile of component `c` whose first block is at (x0, y0).
  void flip(int c, int32_t x0, int32_t y0) const {
    const FlipPlace& place = job_.places[c];
    const bool turned = job_.turn.transposes;
    const int32_t x1 = std::min(x0 + kTile, job_.to[c].blocks_w);
    const int32_t y1 = std::min(y0 + kTile, job_.to[c].blocks_h);
    for (int32_t y = y0; y < y1; ++y) {
      const FlipSource row = flip_source(y, place.top, job_.turn.mirrors_y, place.mirrored_h);
      for (int32_t x = x0; x < x1; ++x) {
        const FlipSource column = flip_source(x, place.left, job_.turn.mirrors_x, place.mirrored_w);
        flip_block(rows_of<const Word>(job_.from[c], turned ? row.at : column.at,
                                       turned ? column.at : row.at),
                   signs_[column.mirrored][row.mirrored], rows_of<Word>(job_.to[c], x, y));
      }
    }
  }

 private:
  template <typename Any>
  BlockRows<Any> rows_of(const CoefArray& array, int32_t x, int32_t y) const {
    auto* data = static_cast<Any*>(array.data);
    const ptrdiff_t words = array.pitch / ptrdiff_t{sizeof(Word)};
    if (job_.arrangement == CoefArrangement::kPlane) return {data + 8 * (y * words + x), words};
    return {data + y * words + ptrdiff_t{x} * 64, 8};
  }

  void flip_block(const BlockRows<const Word>& from, const Signs<Word>& signs,
                  const BlockRows<Word>& to) const {
    if (!job_.turn.transposes)
      copy_block(from, signs, to);
    else if (job_.arrangement == CoefArrangement::kZigzagBlock)
      transpose_zigzag(from, signs, to, places_);
    else
      transpose_block(from, signs, to);
  }

  const FlipJob& job_;
  Signs<Word> signs_[2][2];
  uint8_t places_[64];  // of transposed coefficients in zigzag order
};

template <typename Word>
void flip_planes(const FlipJob& job, HostThreads& threads) {
  const Flipper<Word> flipper(job);
  for (int c = 0; c < job.components; ++c) {
    const CoefArray& to = job.to[c];
    threads.for_each((to.blocks_h + kTile - 1) / kTile, [&](int32_t row) {
      for (int32_t x = 0; x < to.blocks_w; x += kTile) flipper.flip(c, x, row * kTile);
    });
  }
}

Status submit(Device& device, Queue& queue, const FlipJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory", [&](HostThreads& threads) -> Status {
    if (bytes_of(job.number) == 2)
      flip_planes<uint16_t>(job, threads);
    else
      flip_planes<uint32_t>(job, threads);
    return {};
  }));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

const FlipOps& host_flip_ops() {
  static constexpr FlipOps kOps = {"cpu", submit};
  return kOps;
}

}  // namespace cudatransform
