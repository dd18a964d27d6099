// Parameters of the fast kernels, kept from one job to the next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "cuda/dct8x8/fast_params.h"
#include "cuda/device/queue.h"

namespace cudatransform::cuda {

// From frame to frame the addresses change, the quantisation tables hardly ever. Making the tables
// takes half as long as all else that the host does for a launch; even copying and clearing them is
// measurable. Used by one thread at a time.
class FastParamsCache final : public StreamQueue::Kept {
 public:
  // The parameters for each kind of kernel, with the tables of `job`, which the fast kernels take;
  // everything else is as it was left. Valid as long as this object.
  FastForwardParams& forward(const Dct8x8Job& job);
  FastMeasureParams& measure(const Dct8x8Job& job);
  FastDecidedParams& decided(const Dct8x8Job& job);
  // Kernels that need no limits with a minus take no more than the FastInverseParams at the
  // beginning.
  FastPlaneInverseParams& inverse(const Dct8x8Job& job);
  FastCompareParams& compare(const Dct8x8Job& job);

 private:
  // All that a component's table depends on.
  struct Kind {
    Method method;
    int depth;
    bool quantized, zigzag;
    Quantizer quantizer;
    int dead_zone;  // 0 without one

    bool operator==(const Kind&) const = default;
  };
  struct Origin {
    Kind kind;
    QuantTable table;  // that counts where there is quantisation
  };
  template <typename Params>
  struct Made {
    Params params = {};
    std::optional<Origin> origins[kMaxComponents];  // of each component's tables; none as yet
  };

  static Kind kind_of(const Dct8x8Job& job);
  // Calls make(component, table or null) where the tables at hand were made from something else.
  template <typename Make>
  static void renew(const Dct8x8Job& job, const Kind& kind, std::optional<Origin>* origins,
                    Make&& make);
  static FastInverseTable make_inverse(const Kind& kind, const QuantTable* table);
  static void renew_inverse(const Dct8x8Job& job, std::optional<Origin>* origins,
                            FastPlaneInverseParams* params);

  Made<FastForwardParams> forward_;
  Made<FastMeasureParams> measure_;
  Made<FastDecidedParams> decided_;
  Made<FastPlaneInverseParams> inverse_;
  Made<FastCompareParams> compare_;
};

}  // namespace cudatransform::cuda
