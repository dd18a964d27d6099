// The order of blocks and coefficients in JPEG files, for the codec that goes bit by bit.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ITU-T T.81, annex A.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/jpeg/slow_codec.h"

namespace cudatransform::test {

inline int slow_divide_up(int a, int b) { return (a + b - 1) / b; }

// The natural index of the k-th coefficient in the file's order (figure A.6).
inline int natural_of(int k) {
  int place = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int step = 0; step <= diagonal; ++step) {
      const int u = diagonal % 2 == 0 ? step : diagonal - step, v = diagonal - u;
      if (u > 7 || v > 7) continue;
      if (place++ == k) return 8 * v + u;
    }
  }
  return 0;
}

// Calls `with(component, index of the block or -1)` for the blocks of an MCU. One component alone
// has one block in it.
template <typename Function>
void for_mcu(const SlowPicture& picture, const std::vector<int>& scan, int mcu, int mcus_w,
             const Function& with) {
  for (const int c : scan) {
    const SlowComponent& component = picture.components[c];
    const int h = scan.size() > 1 ? component.h : 1, v = scan.size() > 1 ? component.v : 1;
    for (int i = 0; i < h * v; ++i) {
      const int x = mcu % mcus_w * h + i % h, y = mcu / mcus_w * v + i / h;
      const bool is_there = x < component.blocks_w && y < component.blocks_h;
      with(c, is_there ? y * component.blocks_w + x : -1);
    }
  }
}

inline void count_mcus(const SlowPicture& picture, const std::vector<int>& scan, int* mcus_w,
                       int* mcus) {
  int max_h = 1, max_v = 1;
  for (const SlowComponent& component : picture.components) {
    max_h = std::max(max_h, component.h);
    max_v = std::max(max_v, component.v);
  }
  const SlowComponent& only = picture.components[scan[0]];
  *mcus_w = scan.size() > 1 ? slow_divide_up(picture.width, 8 * max_h) : only.blocks_w;
  *mcus = *mcus_w * (scan.size() > 1 ? slow_divide_up(picture.height, 8 * max_v) : only.blocks_h);
}

inline void size_components(SlowPicture* picture) {
  int max_h = 1, max_v = 1;
  for (const SlowComponent& component : picture->components) {
    max_h = std::max(max_h, component.h);
    max_v = std::max(max_v, component.v);
  }
  for (SlowComponent& component : picture->components) {
    component.blocks_w = slow_divide_up(slow_divide_up(picture->width * component.h, max_h), 8);
    component.blocks_h = slow_divide_up(slow_divide_up(picture->height * component.v, max_v), 8);
    component.levels.assign(size_t{64} * component.blocks_w * component.blocks_h, 0);
  }
}

}  // namespace cudatransform::test
