// The jobs of APV's kernels that are timed: both transforms of a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/kernel_jobs.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "tests/engine/kernel_jobs_making.h"

namespace cudatransform::test {
namespace {

// 4:2:2 in tiles of 256x256, or larger where a frame may not have so many.
ApvInverseJob apv_frame(int32_t width, int32_t height, int depth, const void* from, void* to) {
  constexpr int32_t kTileBlocks = 32;
  const int32_t most = kTileBlocks * kMaxApvTiles;
  const int32_t tile = kTileBlocks * (1 + (std::max(width, height) / 8 - 1) / most);
  constexpr uint8_t kWeight = 16, kQp = 24;
  ApvInverseJob job;
  job.depth = depth;
  job.components = 3;
  const auto* coefs = static_cast<const int16_t*>(from);
  auto* samples = static_cast<uint16_t*>(to);
  for (int c = 0; c < job.components; ++c) {
    ApvPlane& plane = job.plane[c];
    const int32_t part = c == 0 ? 1 : 2;
    plane.coefs = coefs;
    plane.samples = samples;
    plane.width = width / part;
    plane.height = height;
    plane.pitch = ptrdiff_t{2} * plane.width;
    plane.blocks_across = plane.width / 8;
    plane.blocks_down = height / 8;
    plane.tile_across = tile / part;
    plane.tile_down = tile;
    std::fill(std::begin(plane.matrix), std::end(plane.matrix), kWeight);
    std::fill(std::begin(plane.qp), std::end(plane.qp), kQp);
    coefs += area(plane.width, height);
    samples += area(plane.width, height);
  }
  job.tile_columns = (job.plane[0].blocks_across + tile - 1) / tile;
  job.tile_rows = (job.plane[0].blocks_down + tile - 1) / tile;
  return job;
}

ApvForwardJob apv_forward_frame(int32_t width, int32_t height, int depth, const void* from,
                                void* to) {
  ApvForwardJob job;
  job.depth = depth;
  job.is_quantized = false;
  job.components = 3;
  const auto* samples = static_cast<const uint16_t*>(from);
  auto* coefs = static_cast<int16_t*>(to);
  for (int c = 0; c < job.components; ++c) {
    ApvForwardPlane& plane = job.plane[c];
    plane.samples = samples;
    plane.coefs = coefs;
    plane.width = width / (c == 0 ? 1 : 2);
    plane.height = height;
    plane.pitch = ptrdiff_t{2} * plane.width;
    plane.blocks_across = plane.width / 8;
    plane.blocks_down = height / 8;
    samples += area(plane.width, height);
    coefs += area(plane.width, height);
  }
  return job;
}

}  // namespace

std::vector<KernelJob> apv_jobs(const KernelSize& size) {
  const auto width = static_cast<int32_t>(size.width / 16 * 16), height = size.height / 16 * 16;
  if (width == 0 || height == 0) return {};
  std::vector<KernelJob> all;
  for (const int depth : {10, 12}) {
    KernelJob& job = all.emplace_back();
    job.kind = "apv";
    job.keys = "depth:" + std::to_string(depth);
    job.samples = 2 * area(width, height);
    job.number = OutputNumber::kU16;
    set_sizes(2 * job.samples, 2 * job.samples, &job);
    job.input = [bytes = job.in_size] { return some_qcoefs(bytes); };
    run_by(
        &Engine::apv_ops,
        [=](const KernelMemory& memory) {
          return apv_frame(width, height, depth, memory.in, memory.out);
        },
        &job);
  }
  KernelJob& job = all.emplace_back();
  job.kind = "apv-forward";
  job.keys = "depth:10";
  job.samples = 2 * area(width, height);
  job.number = OutputNumber::kS16;
  set_sizes(2 * job.samples, 2 * job.samples, &job);
  job.input = [width, bytes = job.in_size] { return picture_bytes(2 * width, bytes); };
  run_by(
      &Engine::apv_forward_ops,
      [=](const KernelMemory& memory) {
        return apv_forward_frame(width, height, 10, memory.in, memory.out);
      },
      &job);
  return all;
}

}  // namespace cudatransform::test
