// From a job to its kernel and to that kernel's parameters; blocks and alignment of a job.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/dct8x8/engine.h"
#include "cuda/dct8x8/params.h"
#include "cuda/device/kernel_family.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::cuda {

class StreamQueue;

// ---- Blocks and alignment ----

inline uint32_t plane_blocks(const CoefPlane& plane) {
  return static_cast<uint32_t>(plane.blocks_w) * static_cast<uint32_t>(plane.blocks_h);
}
// The blocks of all planes.
inline uint32_t total_blocks(const Dct8x8Job& job) {
  uint32_t blocks = 0;
  for (int c = 0; c < job.components; ++c) blocks += plane_blocks(job.coefs[c]);
  return blocks;
}

// Whether rows `pitch` bytes apart from `data` on are all aligned.
inline bool is_aligned(const void* data, ptrdiff_t pitch, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0 &&
         static_cast<uintptr_t>(pitch) % alignment == 0;
}

// Vector loads and stores of coefficients are this wide.
inline constexpr uintptr_t kCoefAlignment = 16;
// kInvalidArgument where those of component `c` are not aligned to it.
Status check_coef_alignment(const Dct8x8Job& job, int c);

// ---- General and teaching kernels ----

const KernelFamily& general_kernels();

// All parameters of a job that validate() has passed. kInvalidArgument where the coefficients are
// not aligned as the CUDA engine needs them. `sums` is device memory. Jobs that round take no more
// than params->forward.
Status make_general_params(const Dct8x8Job& job, PictureSums* sums, DecidedParams* params);

// The launch of the kernel that takes any job of the job's method and quantizer.
struct GeneralLaunch {
  uint32_t kernel;  // of general_kernels()
  uint32_t ctas, threads;
};
GeneralLaunch general_launch(const Dct8x8Job& job);

// ---- Scaled inverse ----

// Enqueues an inverse job with scale 2, 4 or 8 that validate() has passed: one launch for all
// planes, and another where zeros are counted. kInvalidArgument where the coefficients are not
// aligned as the CUDA engine needs them.
Status submit_scaled(StreamQueue& queue, const Dct8x8Job& job);

// ---- Fast kernels ----

// The parameters of the fast kernels, kept from one job to the next. From frame to frame the
// addresses change, the quantization tables rarely. Making the tables takes half as long as all
// else that the host does for a launch; even copying and clearing them is measurable. Used by one
// thread at a time.
class FastParamsCache final {
 public:
  // The parameters for each kind of kernel, with the tables of `job`, which the fast kernels take;
  // everything else is unchanged. Valid as long as this object.
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
    QuantTable table;  // that counts where there is quantization
  };
  template <typename Params>
  struct Made {
    Params params = {};
    std::optional<Origin> origins[kMaxComponents];  // of each component's tables; none as yet
  };

  static Kind kind_of(const Dct8x8Job& job);
  // Calls make(component, table or null) where the current tables were made from others.
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

const KernelFamily& fast_kernels();
// The number of one whose image is the smallest: a device that runs it runs all, which are compiled
// for the same devices.
uint32_t smallest_fast_kernel();

struct FastLaunch {
  uint32_t kernel;  // its number among fast_kernels()
  uint32_t ctas;
  uint32_t threads;    // in a CTA
  bool pairs;          // two components share a plane
  bool measures_time;  // writes Dct8x8Job::times: the timer is not needed
  void* argument;      // the kernel's parameters, passed by value; belong to the cache
};

bool has_fast_kernels(Method method);

// The launch for a job that validate() has passed and whose method has fast kernels, or nothing
// where only the general one fits. `progress` is device memory, zero before the kernel and after
// it; null where nothing is measured or timed. `params` are kept from job to job.
std::optional<FastLaunch> fast_launch(const Dct8x8Job& job, SumsInProgress* progress,
                                      FastParamsCache& params,
                                      KernelChoice choice = KernelChoice::kAuto);

}  // namespace cudatransform::cuda
