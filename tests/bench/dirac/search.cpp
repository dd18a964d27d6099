// Block matching: the vectors and modes of a predicted picture, coarse and simple.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/dirac/group.h"

#include <algorithm>
#include <cstdlib>

namespace cudatransform::test {

namespace {

constexpr int kPreset = 3, kLength = 16, kSeparation = 12;
constexpr int kUnit = 2 * kSeparation;  // samples, of two blocks
constexpr int kPrecision = 2, kQuarters = 4;
constexpr int kStep = 3;    // of samples that are compared
constexpr int kLambda = 2;  // the cost of a quarter sample of difference to the neighbor

struct Vector {
  int x = 0, y = 0;
};

// A reference at quarter samples, by the definition.
class Upsampled {
 public:
  explicit Upsampled(const ObmcReference& reference) {
    for (int i = 0; i < 4; ++i) planes_[i] = &reference.planes[0][i];
  }
  int at(int u, int v) const {
    const int x = u >> 1, y = v >> 1, ru = u & 1, rv = v & 1;
    if (ru == 0 && rv == 0) return half(x, y);
    if (rv == 0) return (half(x, y) + half(x + 1, y) + 1) >> 1;
    if (ru == 0) return (half(x, y) + half(x, y + 1) + 1) >> 1;
    return (half(x, y) + half(x + 1, y) + half(x, y + 1) + half(x + 1, y + 1) + 2) >> 2;
  }

 private:
  int half(int x, int y) const {
    x = std::clamp(x, 0, 2 * planes_[0]->width - 2);
    y = std::clamp(y, 0, 2 * planes_[0]->height - 2);
    const SamplePlane& plane = *planes_[2 * (y & 1) + (x & 1)];
    return static_cast<const uint8_t*>(plane.data)[(y >> 1) * plane.pitch + (x >> 1)];
  }
  const SamplePlane* planes_[4];
};

class Search {
 public:
  Search(const std::vector<BasicPlane<uint8_t>>& source, const ObmcReference* const* references,
         CodedPicture* picture)
      : source_(source), picture_(*picture), count_(picture->header.reference_count) {
    for (int r = 0; r < count_; ++r) references_.emplace_back(*references[r]);
  }

  void run() {
    const int across = picture_.prediction.blocks_across / 2;
    std::vector<Vector> above[kMaxObmcReferences];
    for (int y = 0; y < picture_.prediction.blocks_down / 2; ++y) {
      Vector left[kMaxObmcReferences];
      for (auto& row : above) row.resize(static_cast<size_t>(across) + 1);
      for (int x = 0; x < across; ++x) {
        place(x, y);
        Vector found[kMaxObmcReferences];
        for (int r = 0; r < count_; ++r) {
          auto& row = above[r];
          found[r] =
              match(r, left[r],
                    {left[r], row[static_cast<size_t>(x)], row[static_cast<size_t>(x) + 1], {}});
          left[r] = row[static_cast<size_t>(x)] = found[r];
        }
        choose(x, y, found);
      }
    }
  }

 private:
  void place(int x, int y) {
    x_ = x * kUnit;
    y_ = y * kUnit;
    x_end_ = std::min(x_ + kUnit, source_[0].width);
    y_end_ = std::min(y_ + kUnit, source_[0].rows);
  }

  template <typename Predicted>
  int difference(const Predicted& predicted, int most) const {
    int sum = 0;
    for (int y = y_ + 1; y < y_end_ && sum < most; y += kStep) {
      for (int x = x_ + 1; x < x_end_; x += kStep)
        sum += std::abs(source_[0].at(x, y) - predicted(x, y));
    }
    return sum;
  }
  int cost(int r, Vector v, Vector likely, int most) const {
    const int bits = kLambda * (std::abs(v.x - likely.x) + std::abs(v.y - likely.y)) / kQuarters;
    const Upsampled& reference = references_[static_cast<size_t>(r)];
    return bits +
           difference(
               [&](int x, int y) { return reference.at(kQuarters * x + v.x, kQuarters * y + v.y); },
               most - bits);
  }

  // Starts from the best of `starts`, with ever smaller steps.
  Vector match(int r, Vector likely, std::initializer_list<Vector> starts) const {
    Vector best;
    int least = 1 << 28;
    const auto consider = [&](Vector v) {
      const int found = cost(r, v, likely, least);
      if (found >= least) return false;
      least = found;
      best = v;
      return true;
    };
    for (const Vector& start : starts) consider(start);
    for (const int step : {32, 16, 8, 4, 2, 1}) {
      bool moved = true;
      for (int turn = 0; turn < 3 && moved; ++turn) {
        const Vector from = best;
        moved = consider({from.x - step, from.y});
        moved |= consider({from.x + step, from.y});
        moved |= consider({from.x, from.y - step});
        moved |= consider({from.x, from.y + step});
      }
    }
    return best;
  }

  int mean(int component) const {
    const int shift = component > 0 ? 1 : 0;
    const auto& plane = source_[static_cast<size_t>(component)];
    int sum = 0, count = 0;
    for (int y = y_ >> shift; y < y_end_ >> shift; ++y) {
      for (int x = x_ >> shift; x < x_end_ >> shift; ++x, ++count) sum += plane.at(x, y);
    }
    return count > 0 ? sum / count : 128;
  }

  void choose(int x, int y, const Vector* found) {
    ObmcBlock block;
    if (x_ >= x_end_ || y_ >= y_end_) {
      block.references = 1;  // without effect
    } else {
      int least = 1 << 28;
      const auto consider = [&](int mode, int penalty, const auto& predicted) {
        const int sum = penalty + difference(predicted, least);
        if (sum >= least) return;
        least = sum;
        block.references = static_cast<uint8_t>(mode);
      };
      const auto fetched = [&](int r, int i, int j) {
        return references_[static_cast<size_t>(r)].at(kQuarters * i + found[r].x,
                                                      kQuarters * j + found[r].y);
      };
      if (count_ == 2)
        consider(3, 8,
                 [&](int i, int j) { return (fetched(0, i, j) + fetched(1, i, j) + 1) >> 1; });
      for (int r = 0; r < count_; ++r)
        consider(1 << r, 0, [&](int i, int j) { return fetched(r, i, j); });
      const int gray = mean(0);
      consider(0, 64, [&](int, int) { return gray; });
    }
    for (int r = 0; r < count_; ++r) {
      if ((block.references >> r & 1) == 0) continue;
      block.vector[r][0] = found[r].x;
      block.vector[r][1] = found[r].y;
    }
    for (int c = 0; c < kMaxComponents && block.references == 0; ++c)
      block.dc[c] = static_cast<int16_t>(mean(c) - 128);
    for (int n = 0; n < 4; ++n) {
      picture_.blocks[static_cast<size_t>((2 * y + n / 2) * picture_.prediction.blocks_across +
                                          2 * x + n % 2)] = block;
    }
  }

  const std::vector<BasicPlane<uint8_t>>& source_;
  CodedPicture& picture_;
  int count_;
  std::vector<Upsampled> references_;
  int x_ = 0, y_ = 0, x_end_ = 0, y_end_ = 0;
};

int32_t blocks_over(int size) { return (size + 4 * kSeparation - 1) / (4 * kSeparation) * 4; }

}  // namespace

void search_motion(const std::vector<BasicPlane<uint8_t>>& source,
                   const ObmcReference* const* references, CodedPicture* picture) {
  picture->block_preset = kPreset;
  DiracPrediction& p = picture->prediction;
  p.length_x = p.length_y = kLength;
  p.separation_x = p.separation_y = kSeparation;
  p.precision = kPrecision;
  p.blocks_across = blocks_over(source[0].width);
  p.blocks_down = blocks_over(source[0].rows);
  const auto blocks = static_cast<size_t>(p.blocks_across) * static_cast<size_t>(p.blocks_down);
  picture->splits.assign(blocks / 16, 1);
  picture->blocks.assign(blocks, {});
  Search(source, references, picture).run();
}

}  // namespace cudatransform::test
