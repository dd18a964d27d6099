// The geometry of a flipped picture, the checks that keep kernels inside their buffers, and the CPU
// engine, tiles of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/coeffilter/flip.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "transform/coeffilter/coefs_check.h"
#include "transform/device/host_threads.h"

namespace cudatransform {
namespace {

// One axis of the transformed picture.
struct Axis {
  const char* name;  // of its size
  const char* first_name;
  int32_t size, mcu;
  bool mirrors;
  int32_t first, wanted;  // FlipRequest's

  int32_t whole() const { return size / mcu; }
};

struct AxisPlan {
  int32_t size, first, mirrored;
};

Status plan_axis(const Axis& axis, bool trim, AxisPlan* plan) {
  const auto& [name, first_name, size, mcu, mirrors, first, wanted] = axis;
  if (first < 0 || first >= size)
    return job_error(std::string("crop-") + first_name + " " + text(first) + " is outside the " +
                     name + " of " + text(size));
  if (wanted < 0 || wanted > size - first)
    return job_error(std::string("crop-") + name + " " + text(wanted) + " from " + text(first) +
                     " on exceeds the " + name + " of " + text(size));
  const int32_t end = wanted == 0 ? size : first + wanted;
  *plan = {end - first / mcu * mcu, first / mcu, mirrors ? axis.whole() : 0};
  // A result that ends before the partial MCU has none.
  const int32_t whole = plan->size / mcu;
  if (trim && mirrors && whole > 0 && plan->first + whole == axis.whole()) plan->size = whole * mcu;
  return {};
}

// One axis of a result, in samples of the transformed picture: from `begin` to `end` of `size`, of
// which those before `mirrored` are mirrored among themselves.
struct Shown {
  int64_t begin, end, size;
  bool mirrors;
  int64_t mirrored;

  bool has_edge() const { return mirrors && end > mirrored; }  // that is not mirrored
};

Shown shown_along(const PictureFlip& flip, bool along_y) {
  const auto& [picture, orientation, plan, is_upright] = flip;
  // Columns of the transformed picture are rows of the picture if it is transposed.
  const bool source_y = along_y != orientation.transposes;
  const int64_t size = source_y ? picture.height : picture.width;
  const int64_t mcu = source_y ? picture.mcu_height : picture.mcu_width;
  const int64_t begin = (along_y ? plan.top : plan.left) * mcu;
  const int32_t mirrored = along_y ? plan.mirrored_h : plan.mirrored_w;
  return {begin, begin + (along_y ? plan.height : plan.width), size,
          along_y ? orientation.mirrors_y : orientation.mirrors_x, mirrored * mcu};
}

// `at` of `size` samples in an image of `other` samples: exactly, or at an edge that is less than
// half a sample away; -1: between two samples.
int64_t sample_at(int64_t at, int64_t size, int64_t other) {
  if (at * other % size == 0) return at * other / size;
  const int64_t nearest = (2 * at * other + size) / (2 * size);
  return nearest == 0 || nearest == other ? nearest : -1;
}

// An axis of another image: its first sample, their number, and whether that is all of them.
struct Along {
  int32_t first, size;
  bool is_whole;
};

// A range of the transformed image, which must begin at an MCU.
bool crop_along(int64_t begin, int64_t end, int32_t size, int32_t mcu, Along* along) {
  if (begin < 0 || end <= begin || begin % mcu != 0) return false;
  *along = {static_cast<int32_t>(begin), static_cast<int32_t>(end - begin),
            begin == 0 && end == size};
  return true;
}

bool flip_axis_along(const Shown& shown, int32_t size, int32_t mcu, Along* along) {
  const auto at = [&](int64_t sample) { return sample_at(sample, shown.size, size); };
  if (!shown.mirrors) return crop_along(at(shown.begin), at(shown.end), size, mcu, along);
  const int64_t whole = size / mcu * mcu, mirrored = at(shown.mirrored);
  // An edge that is not mirrored has to be the same here, unless it is too small to be seen.
  if (shown.has_edge() && mirrored != size)
    return mirrored == whole && crop_along(at(shown.begin), at(shown.end), size, mcu, along);
  const int64_t center = shown.has_edge() ? shown.size : shown.mirrored;
  const int64_t begin = at(center - shown.end), end = at(center - shown.begin);
  // What is mirrored must end at a whole MCU, because that becomes the first.
  if (begin < 0 || !crop_along(whole - end, whole - begin, size, mcu, along)) return false;
  along->is_whole = begin == 0 && end == size;
  return true;
}

// Whether they have the same aspect ratio, except for the rounding of a size.
bool same_aspect(const FlipPicture& a, const FlipPicture& b) {
  const int64_t across = int64_t{a.width} * b.height, down = int64_t{a.height} * b.width;
  return std::abs(across - down) <= std::max(a.width, a.height);
}

Status check_places(const FlipJob& job, int c) {
  const CoefArray &from = job.from[c], &to = job.to[c];
  const FlipPlace& place = job.places[c];
  const auto check_side = [&](const char* what, int32_t from_blocks, int32_t to_blocks,
                              int32_t first, int32_t mirrored) -> Status {
    if (first >= 0 && first < from_blocks && to_blocks <= from_blocks - first && mirrored >= 0 &&
        mirrored <= from_blocks)
      return {};
    return Where{what, c}.error(text(to_blocks) + " blocks from " + text(first) + " on, " +
                                text(mirrored) + " mirrored, exceed " + text(from_blocks));
  };
  const bool turned = job.orientation.transposes;
  CT_RETURN_IF_ERROR(check_side("columns", turned ? from.blocks_h : from.blocks_w, to.blocks_w,
                                place.left, place.mirrored_w));
  return check_side("rows", turned ? from.blocks_w : from.blocks_h, to.blocks_h, place.top,
                    place.mirrored_h);
}

}  // namespace

Status plan_flip(const FlipPicture& picture, const FlipRequest& request, FlipPlan* plan) {
  FlipPicture turned = picture;
  if (request.orientation.transposes) {
    std::swap(turned.width, turned.height);
    std::swap(turned.mcu_width, turned.mcu_height);
  }
  const Axis x = {
      "width",      "left",       turned.width, turned.mcu_width, request.orientation.mirrors_x,
      request.left, request.width};
  const Axis y = {
      "height",    "top",         turned.height, turned.mcu_height, request.orientation.mirrors_y,
      request.top, request.height};
  for (const Axis* axis : {&x, &y})
    if (request.perfect && axis->mirrors && axis->size % axis->mcu != 0)
      return Status::error(StatusCode::kInvalidSetting, std::string("perfect: transformed ") +
                                                            axis->name + " of " + text(axis->size) +
                                                            " is not a multiple of the MCU " +
                                                            axis->name + " of " + text(axis->mcu));
  AxisPlan columns, rows;
  CT_RETURN_IF_ERROR(plan_axis(x, request.trim, &columns));
  CT_RETURN_IF_ERROR(plan_axis(y, request.trim, &rows));
  *plan = {columns.size, rows.size, columns.first, rows.first, columns.mirrored, rows.mirrored};
  return {};
}

std::string unmirrored_edges(const PictureFlip& flip) {
  const bool x = shown_along(flip, false).has_edge(), y = shown_along(flip, true).has_edge();
  if (x && y) return "right and bottom edges";
  return x ? "right edge" : y ? "bottom edge" : "";
}

FlipPlace flip_place(const FlipPlan& plan, int32_t across, int32_t down) {
  return {plan.left * across, plan.top * down, plan.mirrored_w * across, plan.mirrored_h * down};
}

QuantTable transposed(const QuantTable& table) {
  QuantTable made;
  for (int i = 0; i < 64; ++i) made.q[i] = table.q[i % 8 * 8 + i / 8];
  return made;
}

bool shows_all(const PictureFlip& flip, const FlipPicture& size) {
  for (const bool along_y : {false, true}) {
    const Shown shown = shown_along(flip, along_y);
    const int32_t samples = along_y != flip.orientation.transposes ? size.height : size.width;
    // Where all of it is mirrored, what is not shown was after it.
    const bool is_mirrored = shown.mirrors && !shown.has_edge();
    const int64_t begin = is_mirrored ? shown.mirrored - shown.end : shown.begin;
    const int64_t end = is_mirrored ? shown.mirrored - shown.begin : shown.end;
    if (sample_at(begin, shown.size, samples) != 0 ||
        sample_at(end, shown.size, samples) != samples)
      return false;
  }
  return true;
}

bool flip_point(const PictureFlip& flip, int32_t* x, int32_t* y) {
  if (flip.orientation.transposes) std::swap(*x, *y);
  for (const bool along_y : {false, true}) {
    const Shown shown = shown_along(flip, along_y);
    int32_t& at = along_y ? *y : *x;
    const int64_t turned = at < shown.mirrored ? shown.mirrored - 1 - at : at;
    if (turned < shown.begin || turned >= shown.end) return false;
    at = static_cast<int32_t>(turned - shown.begin);
  }
  return true;
}

bool flip_along(const PictureFlip& flip, const FlipPicture& other, FlipRequest* request) {
  Along x, y;
  const auto along = [&](bool along_y, Along* axis) {
    const bool source_y = along_y != flip.orientation.transposes;
    return flip_axis_along(shown_along(flip, along_y), source_y ? other.height : other.width,
                           source_y ? other.mcu_height : other.mcu_width, axis);
  };
  if (!along(false, &x) || !along(true, &y)) return false;
  if (!(x.is_whole && y.is_whole) && !same_aspect(flip.picture, other)) return false;
  *request = {flip.orientation, x.first, y.first, x.size, y.size};
  return true;
}

Status validate(const FlipJob& job) {
  if (!within(job.number, CoefNumber::kF16) || !within(job.arrangement, CoefArrangement::kPlane))
    return job_error("band layout, expected block or plane");
  CT_RETURN_IF_ERROR(check_components(job.components));
  for (int c = 0; c < job.components; ++c) {
    CT_RETURN_IF_ERROR(check_coefs({"input", c}, job.from[c], job.number, job.arrangement));
    CT_RETURN_IF_ERROR(check_coefs({"output", c}, job.to[c], job.number, job.arrangement));
    CT_RETURN_IF_ERROR(check_places(job, c));
  }
  return {};
}

namespace {

// Blocks of a tile's side: of transposed planes a cache line has a row of several blocks.
constexpr int32_t kTile = 8;

// Negates a coefficient: (bits ^ flip) + add, which is two's complement or a sign bit, and the
// identity with zeros.
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
    const bool turned = job_.orientation.transposes;
    const int32_t x1 = std::min(x0 + kTile, job_.to[c].blocks_w);
    const int32_t y1 = std::min(y0 + kTile, job_.to[c].blocks_h);
    for (int32_t y = y0; y < y1; ++y) {
      const FlipSource row =
          flip_source(y, place.top, job_.orientation.mirrors_y, place.mirrored_h);
      for (int32_t x = x0; x < x1; ++x) {
        const FlipSource column =
            flip_source(x, place.left, job_.orientation.mirrors_x, place.mirrored_w);
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
    if (!job_.orientation.transposes)
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
