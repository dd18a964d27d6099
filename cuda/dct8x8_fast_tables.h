// The quantisation tables of the fast kernels, kept from one job to the next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/dct8x8_params.h"
#include "cuda/queue.h"

namespace cudatransform::cuda {

// To make a frame's tables takes as long as half of what else the host does for a launch, and they
// hardly ever change. Used by one thread at a time.
class FastTables final : public StreamQueue::Kept {
 public:
  // For component `c` of a job that the fast kernels take. Valid until the next call for `c`.
  const FastForwardTable& forward(const Dct8x8Job& job, int c);
  // `transposed`: for kernels with eight threads a block.
  const FastInverseTable& inverse(const Dct8x8Job& job, int c, bool transposed);

 private:
  // All that the tables depend on.
  struct Key {
    Method method;
    int depth;
    bool quantized, zigzag, transposed;
    QuantTable table;

    Key(const Dct8x8Job& job, int c, bool transposed);
    bool operator==(const Key& other) const;
  };
  template <typename Table>
  struct Made {
    std::optional<Key> from;
    Table table;
  };

  Made<FastForwardTable> forward_[3];
  Made<FastInverseTable> inverse_[3];
};

}  // namespace cudatransform::cuda
