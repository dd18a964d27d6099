// The variants of the streaming kernel, and the division of bytes into tiles.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/streams.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace cudatransform::bench {
namespace {

constexpr StreamVariant kVariants[] = {
    {"cta256x1", "cta", 1, 256},   {"cta256x2", "cta", 2, 256},   {"cta256x4", "cta", 4, 256},
    {"warp128x2", "warp", 2, 128}, {"warp256x1", "warp", 1, 256}, {"warp256x2", "warp", 2, 256},
    {"warp256x4", "warp", 4, 256}, {"warp512x2", "warp", 2, 512}, {"loop256x2", "loop", 2, 256},
};

// Units read and written by a thread of the kernels that there are.
struct Shape {
  int in, out;
};
constexpr Shape kShapes[] = {{1, 2}, {2, 1}, {1, 1}, {1, 4}, {4, 1}};

Shape nearest_shape(double in_bytes, double out_bytes) {
  Shape best = kShapes[0];
  double distance = std::numeric_limits<double>::max();
  for (const Shape& shape : kShapes) {
    const double here = std::fabs(std::log2(in_bytes / out_bytes) -
                                  std::log2(static_cast<double>(shape.in) / shape.out));
    if (here < distance) {
      distance = here;
      best = shape;
    }
  }
  return best;
}

uint32_t divide_up(size_t n, size_t by) { return static_cast<uint32_t>((n + by - 1) / by); }

// Equal parts of at least 128 bytes, a cache line, which none shares with its neighbour.
uint32_t part(uint32_t units, uint32_t tiles) { return divide_up(divide_up(units, tiles), 8) * 8; }

}  // namespace

std::span<const StreamVariant> stream_variants() { return kVariants; }

Stream::Stream(const Gpu& gpu, const StreamVariant& variant, size_t in_bytes, size_t out_bytes)
    : gpu_(gpu), threads_(variant.threads) {
  constexpr size_t kMostBytes = size_t{16} * std::numeric_limits<int32_t>::max();
  if (in_bytes == 0 || out_bytes == 0 || in_bytes > kMostBytes || out_bytes > kMostBytes)
    throw std::runtime_error("no streaming kernel for so many bytes");
  Shape shape = nearest_shape(static_cast<double>(in_bytes), static_cast<double>(out_bytes));
  shape.in *= variant.multiple;
  shape.out *= variant.multiple;
  kernel_ = gpu.kernel((std::string("stream_") + variant.how + "_" + std::to_string(shape.in) +
                        "_" + std::to_string(shape.out))
                           .c_str());
  const bool by_warps = std::string_view(variant.how) == "warp";
  const uint32_t lanes = by_warps ? 32 : threads_;
  params_.in_units = divide_up(in_bytes, 16);
  params_.out_units = divide_up(out_bytes, 16);
  params_.tiles = std::max(divide_up(params_.in_units, lanes * static_cast<uint32_t>(shape.in)),
                           divide_up(params_.out_units, lanes * static_cast<uint32_t>(shape.out)));
  // On the side with less traffic than the shape would move, each tile gets its share; on the other
  // a whole tile, so that kernels need not check every access if both sides are whole.
  const auto tile = [&](uint32_t units, int per_lane) {
    const uint32_t whole = lanes * static_cast<uint32_t>(per_lane);
    return divide_up(units, whole) == params_.tiles ? whole : part(units, params_.tiles);
  };
  params_.in_tile = tile(params_.in_units, shape.in);
  params_.out_tile = tile(params_.out_units, shape.out);
  ctas_ = by_warps ? divide_up(params_.tiles, threads_ / 32) : params_.tiles;
  if (std::string_view(variant.how) == "loop")
    ctas_ = std::min(ctas_, std::max(1u, gpu.resident_ctas(kernel_, threads_)));
}

void Stream::enqueue(const void* in, void* out) const {
  StreamParams params = params_;
  params.in = in;
  params.out = out;
  void* arguments[] = {&params};
  gpu_.launch(kernel_, ctas_, threads_, arguments);
}

}  // namespace cudatransform::bench
