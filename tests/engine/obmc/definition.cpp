// Motion compensation by the specification, one sample after another: the judge of engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Dirac specification 2.2.3, clause 15.8. Samples are signed, around 0, and exact in 64 bits.
#include "tests/engine/obmc/definition.h"

#include <algorithm>

namespace cudatransform::test {

namespace {

int64_t sample_of(const SamplePlane& plane, int64_t x, int64_t y) {
  const auto* row = static_cast<const uint8_t*>(plane.data) + y * plane.pitch;
  if (plane.type == SampleType::kU8) return row[x];
  if (plane.type == SampleType::kU16) return reinterpret_cast<const uint16_t*>(row)[x];
  return reinterpret_cast<const int16_t*>(row)[x];
}

int64_t half_of(int depth) { return int64_t{1} << (depth - 1); }

Grid signed_samples(const SamplePlane& plane, int depth) {
  Grid grid(plane.width, plane.height);
  for (int64_t y = 0; y < plane.height; ++y) {
    for (int64_t x = 0; x < plane.width; ++x) {
      grid.at(x, y) = sample_of(plane, x, y) - half_of(depth);
    }
  }
  return grid;
}

int64_t clipped(int64_t value, int depth) {
  return std::clamp(value, -half_of(depth), half_of(depth) - 1);
}

Grid upsampled(const Grid& from, int depth) {
  constexpr int64_t kTaps[4] = {21, -7, 3, -1};
  Grid to(2 * from.width - 1, 2 * from.height - 1);
  for (int64_t y = 0; y < to.height; ++y) {
    for (int64_t x = 0; x < from.width; ++x) {
      int64_t sum = 16;
      for (int k = 0; k < 4; ++k) {
        sum += kTaps[k] * (from.clamped(x, y / 2 - k) + from.clamped(x, y / 2 + 1 + k));
      }
      to.at(2 * x, y) = y % 2 == 0 ? from.clamped(x, y / 2) : clipped(sum >> 5, depth);
    }
    for (int64_t x = 1; x < to.width; x += 2) {
      int64_t sum = 16;
      for (int64_t k = 0; k < 4; ++k) {
        const int64_t left = std::max<int64_t>(x - 1 - 2 * k, 0);
        const int64_t right = std::min<int64_t>(x + 1 + 2 * k, to.width - 1);
        sum += kTaps[k] * (to.at(left, y) + to.at(right, y));
      }
      to.at(x, y) = clipped(sum >> 5, depth);
    }
  }
  return to;
}

// The weight of position `t` of block `index`, in eighths.
int64_t window(int64_t length, int64_t separation, int64_t blocks, int64_t index, int64_t t) {
  const int64_t overlap = (length - separation) / 2;
  const auto ramp = [&](int64_t at) {
    if (overlap == 1) return int64_t{at == 0 ? 3 : 5};
    return 1 + (6 * at + overlap - 1) / (2 * overlap - 1);
  };
  if (t < 2 * overlap && index > 0) return ramp(t);
  if (t >= separation && index < blocks - 1) return 8 - ramp(t - separation);
  return 8;
}

class Component {
 public:
  Component(const ObmcJob& job, int component) : job_(job), c_(component) {
    for (int r = 0; r < job.reference_count && job.blocks != nullptr; ++r) {
      references_.push_back(
          signed_samples(job.references[r].planes[component][0], job.depth[component]));
      if (job.precision > 0) references_.back() = upsampled(references_.back(), job.depth[c_]);
    }
  }

  int64_t value(int64_t x, int64_t y) const {
    const SamplePlane& residual = job_.residual[c_];
    const int64_t rest = residual.data != nullptr ? sample_of(residual, x, y) : 0;
    const int64_t predicted = job_.blocks != nullptr ? (weighted_sum(x, y) + 32) >> 6 : 0;
    return clipped(predicted + rest, job_.depth[c_]) + half_of(job_.depth[c_]);
  }

 private:
  int shift_x() const { return c_ > 0 ? job_.chroma_shift_x : 0; }
  int shift_y() const { return c_ > 0 ? job_.chroma_shift_y : 0; }

  int64_t weighted_sum(int64_t x, int64_t y) const {
    const int64_t length_x = job_.length_x >> shift_x(), length_y = job_.length_y >> shift_y();
    const int64_t apart_x = job_.separation_x >> shift_x();
    const int64_t apart_y = job_.separation_y >> shift_y();
    int64_t sum = 0;
    for (int64_t j = 0; j < job_.blocks_down; ++j) {
      const int64_t ty = y - j * apart_y + (length_y - apart_y) / 2;
      if (ty < 0 || ty >= length_y) continue;
      for (int64_t i = 0; i < job_.blocks_across; ++i) {
        const int64_t tx = x - i * apart_x + (length_x - apart_x) / 2;
        if (tx < 0 || tx >= length_x) continue;
        sum += window(length_x, apart_x, job_.blocks_across, i, tx) *
               window(length_y, apart_y, job_.blocks_down, j, ty) *
               predicted(job_.blocks[j * job_.blocks_across + i], x, y);
      }
    }
    return sum;
  }

  int64_t predicted(const ObmcBlock& block, int64_t x, int64_t y) const {
    const int64_t rounding = job_.weight_bits > 0 ? int64_t{1} << (job_.weight_bits - 1) : 0;
    const int64_t w1 = job_.weights[0], w2 = job_.weights[1];
    switch (block.references) {
      case 0:
        return block.dc[c_];
      case 3:
        return (w1 * fetched(0, block, x, y) + w2 * fetched(1, block, x, y) + rounding) >>
               job_.weight_bits;
      default:
        return ((w1 + w2) * fetched(block.references - 1, block, x, y) + rounding) >>
               job_.weight_bits;
    }
  }

  int64_t fetched(int r, const ObmcBlock& block, int64_t x, int64_t y) const {
    const Grid& reference = references_[static_cast<size_t>(r)];
    const int p = job_.precision;
    const int64_t u = (x << p) + (block.vector[r][0] >> shift_x());
    const int64_t v = (y << p) + (block.vector[r][1] >> shift_y());
    if (p == 0) return reference.clamped(u, v);
    const int s = p - 1;
    const int64_t hu = u >> s, hv = v >> s, ru = u - (hu << s), rv = v - (hv << s);
    const int64_t k = int64_t{1} << s;
    const int64_t sum = (k - rv) * (k - ru) * reference.clamped(hu, hv) +
                        (k - rv) * ru * reference.clamped(hu + 1, hv) +
                        rv * (k - ru) * reference.clamped(hu, hv + 1) +
                        rv * ru * reference.clamped(hu + 1, hv + 1);
    return p == 1 ? sum : (sum + (int64_t{1} << (2 * p - 3))) >> (2 * p - 2);
  }

  const ObmcJob& job_;
  int c_;
  std::vector<Grid> references_;
};

}  // namespace

int64_t Grid::clamped(int64_t x, int64_t y) const {
  x = std::clamp<int64_t>(x, 0, width - 1);
  y = std::clamp<int64_t>(y, 0, height - 1);
  return values[static_cast<size_t>(y * width + x)];
}

Grid define_upsampled(const SamplePlane& plane, int depth) {
  Grid grid = upsampled(signed_samples(plane, depth), depth);
  for (int64_t& value : grid.values) value += half_of(depth);
  return grid;
}

Grid define_compensated(const ObmcJob& job, int component) {
  const SamplePlane& plane = job.samples[component];
  const Component defined(job, component);
  Grid grid(plane.width, plane.height);
  for (int64_t y = 0; y < grid.height; ++y) {
    for (int64_t x = 0; x < grid.width; ++x) grid.at(x, y) = defined.value(x, y);
  }
  return grid;
}

}  // namespace cudatransform::test
