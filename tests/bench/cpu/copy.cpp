// The streaming copy, in the widest vectors of this CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu/cases.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/cpu/copy.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cudatransform::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<int16_t>;
using Half = hn::Rebind<uint8_t, Wide>;

// `count` is a multiple of two vectors of 16-bit lanes; outputs are aligned to a vector.
template <Stores kStores>
void widen(const uint8_t* from, int16_t* to, size_t count) {
  const Wide wide;
  for (size_t i = 0; i < count; i += hn::Lanes(wide)) {
    const auto samples = hn::PromoteTo(wide, hn::LoadU(Half(), from + i));
    if constexpr (kStores == Stores::kStreamed) {
      hn::Stream(samples, wide, to + i);
    } else {
      hn::Store(samples, wide, to + i);
    }
  }
}

// Handles half a vector at a time where vectors have no halves to combine.
template <Stores kStores>
void narrow(const int16_t* from, uint8_t* to, size_t count) {
  const Wide wide;
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < count; ++i) {
    hn::Store(hn::DemoteTo(Half(), hn::Load(wide, from + i)), Half(), to + i);
  }
#else
  const hn::Twice<Half> full;
  const size_t lanes = hn::Lanes(wide);
  for (size_t i = 0; i < count; i += 2 * lanes) {
    const auto low = hn::DemoteTo(Half(), hn::Load(wide, from + i));
    const auto high = hn::DemoteTo(Half(), hn::Load(wide, from + i + lanes));
    const auto both = hn::Combine(full, high, low);
    if constexpr (kStores == Stores::kStreamed) {
      hn::Stream(both, full, to + i);
    } else {
      hn::Store(both, full, to + i);
    }
  }
#endif
}

template <Stores kStores>
void copy_rows(Direction direction, Frame& frame, size_t first, size_t count) {
  if (direction == Direction::kForward) {
    widen<kStores>(frame.in.get() + first, reinterpret_cast<int16_t*>(frame.out.get()) + first,
                   count);
  } else {
    narrow<kStores>(reinterpret_cast<const int16_t*>(frame.in.get()) + first,
                    frame.out.get() + first, count);
  }
}

void copy_cached(Direction direction, Frame& frame, size_t first, size_t count) {
  copy_rows<Stores::kCached>(direction, frame, first, count);
}
void copy_streamed(Direction direction, Frame& frame, size_t first, size_t count) {
  copy_rows<Stores::kStreamed>(direction, frame, first, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace cudatransform::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cudatransform::bench {

HWY_EXPORT(copy_cached);
HWY_EXPORT(copy_streamed);

void run_copy(Threads threads, Stores stores, const FrameSize& size, Direction direction,
              Frame& frame) {
  const auto copy = stores == Stores::kStreamed ? HWY_DYNAMIC_DISPATCH(copy_streamed)
                                                : HWY_DYNAMIC_DISPATCH(copy_cached);
  const size_t row = 8 * size_t(size.width);  // samples of a row of blocks
  for_block_rows(threads, size.blocks_h(), [&](int by) {
    copy(direction, frame, row * size_t(by), row);
    // Streamed stores are not ordered with the ones that publish that this row is done.
    if (stores == Stores::kStreamed) hwy::FlushStream();
  });
}

}  // namespace cudatransform::bench

#endif  // HWY_ONCE
