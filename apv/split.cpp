// Which chains of a frame a device decodes, and which the CPU's threads at the same time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apv/split.h"

#include <algorithm>
#include <new>
#include <vector>

namespace cudatransform {

namespace {

// Nanoseconds, on an H200 and a core of a Xeon of 2.1 GHz: of a byte and a block of a chain that
// the device decodes, of sending a byte, and of the launch; of a byte that a thread decodes, and of
// sending a coefficient after all others.
constexpr double kDeviceByte = 53, kDeviceBlock = 950, kSendByte = .1, kLaunch = 100000;
constexpr double kHostByte = 16, kSendCoef = .04;

struct Chain {
  uint32_t bytes;
  double device_time;
};

std::vector<Chain> chains_of(const ApvFrame& frame) {
  std::vector<Chain> chains;
  for (size_t i = 0; i < frame.chain_count(); ++i) {
    const ApvTile& tile = frame.tile_of(i);
    const double blocks = static_cast<double>(tile.mbs_across) * tile.mbs_down *
                          ApvFrameInfo::kMbBlocksDown *
                          frame.info().mb_blocks_across(frame.component_of(i));
    const uint32_t bytes = frame.bytes_of(i);
    chains.push_back({bytes, kDeviceByte * bytes + kDeviceBlock * blocks});
  }
  std::sort(chains.begin(), chains.end(),
            [](const Chain& a, const Chain& b) { return a.bytes < b.bytes; });
  return chains;
}

// Of chains whose longest one some thread may begin last.
double host_time(double bytes, double longest, int threads) {
  return kHostByte * std::max(bytes / threads + longest / 2, longest);
}

}  // namespace

uint32_t split_apv_chains(const ApvFrame& frame, int threads) {
  std::vector<Chain> chains;
  try {
    chains = chains_of(frame);
  } catch (const std::bad_alloc&) {
    return kNoApvChains;
  }
  double on_host = 0, on_device = 0, device_time = 0;
  for (const Chain& chain : chains) on_host += chain.bytes;
  const double longest = chains.empty() ? 0 : chains.back().bytes;
  // All by the threads: coefficients are sent at the end.
  double best =
      host_time(on_host, longest, threads) + kSendCoef * static_cast<double>(frame.coef_count());
  uint32_t split = kNoApvChains;
  for (size_t i = 0; i < chains.size(); ++i) {
    on_device += chains[i].bytes;
    on_host -= chains[i].bytes;
    device_time = std::max(device_time, chains[i].device_time);
    const bool is_last = i + 1 == chains.size();
    // Those of equal length stay together.
    if (!is_last && chains[i + 1].bytes == chains[i].bytes) continue;
    const double time = std::max(kLaunch + kSendByte * on_device + device_time,
                                 is_last ? 0 : host_time(on_host, longest, threads));
    if (time >= best) continue;
    best = time;
    split = is_last ? kAllApvChains : chains[i].bytes;
  }
  return split;
}

}  // namespace cudatransform
