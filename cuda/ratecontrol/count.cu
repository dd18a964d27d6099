// The symbols that a JPEG scan of a frame would have, for several sets of tables together.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One kernel transforms a frame's blocks, a thread each, and lists the coefficients that any
// candidate has a quantized coefficient for. Another one takes these lists, a coefficient a lane,
// quantizes them with each candidate's tables and counts the symbols in shared memory. Quantized
// coefficients are never stored.
#include <utility>

#include "cuda/common/ptx.cuh"
#include "cuda/ratecontrol/items.cuh"
#include "cuda/ratecontrol/kernels.h"
#include "cuda/ratecontrol/list.cuh"
#include "cuda/ratecontrol/params.h"
#include "jpeg/encode_bits.h"

namespace cudatransform::cuda {
namespace {

// Symbols of AC quantized coefficients are counted by their size and whole run: runs of 16 zeros
// are taken off once, in the end. The stride of sizes keeps the usual symbols in different banks.
constexpr unsigned kSizeStride = 73;
constexpr unsigned kSlots = 736;         // number 0: no quantized coefficient
static_assert(kRateThreads == 16 * 16);  // an AC symbol each
static_assert(kSlots % 4 == 0 && kSlots > kJpegAcSizes * kSizeStride);
// The exponents of quantized coefficients of 1 and of the largest plain size.
constexpr int kMinExponent = 127, kMaxExponent = 126 + int(kJpegAcSizes);
// Others: DC symbols, the end of the block, and runs of 16 zeros.
constexpr unsigned kDcSymbols = kJpegSymbols - kJpegDcSymbols;
constexpr unsigned kEnds = kDcSymbols, kLongRuns = kEnds + 1, kOthers = kLongRuns + 1;

// The counts of a candidate's slots, less those of the candidate before it. Their tables are alike,
// so few of its symbols are others.
struct alignas(16) SymbolChanges {
  int32_t of[kRateCandidates][kSlots];

  // The first candidate's slot 0, in bytes of the window of shared memory.
  __device__ __forceinline__ uint32_t base() const {
#ifdef CT_EMULATED
    return 0;
#else
    return uint32_t(__cvta_generic_to_shared(of));
#endif
  }
  // An item that was in `slot_before` for the candidate before is in `slot`, both from base() on.
  template <unsigned kCandidate>
  __device__ __forceinline__ void add(uint32_t slot, uint32_t slot_before) {
    if (slot == slot_before) return;
    add_at<kCandidate, 1>(slot);
    if constexpr (kCandidate > 0) add_at<kCandidate, -1>(slot_before);
  }

 private:
  // The candidate is in the instruction, so that its slot needs no separate address.
  template <unsigned kCandidate, int kTimes>
  __device__ __forceinline__ void add_at(uint32_t slot) {
#ifdef CT_EMULATED
    of[kCandidate][slot / 4] += kTimes;
#else
    asm volatile("red.shared.add.u32 [%0 + %1], %2;"
                 :
                 : "r"(slot), "n"(kCandidate * sizeof of[0]), "n"(kTimes)
                 : "memory");
#endif
  }
};

// What a CTA shares. Candidates are four to a float4, so that lanes with neighboring k use all
// banks.
template <bool kIsDecided>
struct alignas(16) CountShared {
  float4 mul[2][64], least[2][kIsDecided ? 64 : 1];
  SymbolChanges changes;
  uint32_t others[kRateCandidates][kOthers];
  bool is_last;
};

__device__ __forceinline__ float part_of(const float4& four, int i) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

template <typename M, Quantizer kQuantizer>
struct SymbolCounter {
  using Method = RateMethod<M, kQuantizer>;
  using Magnitude = typename Method::Magnitude;
  using Item = typename Method::Item;
  using Shared = CountShared<Method::kIsDecided>;

  const RateCountParams& params;
  Shared& shared;
  const uint32_t component;
  const RatePlane& plane;

  __device__ __forceinline__ void begin() const {
    for (unsigned i = threadIdx.x; i < 64 * kRateCandidates; i += blockDim.x) {
      const unsigned candidate = i / 64, k = i % 64;
      const int natural = natural_of_zigzag(int(k));
      const typename Method::Divisor divisor = Method::divisor(
          as_memory(params.tables[candidate][component])[natural], natural, params.dead_zone);
      reinterpret_cast<float*>(&shared.mul[candidate / 4][k])[candidate % 4] = divisor.mul;
      if constexpr (Method::kIsDecided)
        reinterpret_cast<float*>(&shared.least[candidate / 4][k])[candidate % 4] = divisor.least;
    }
    for (unsigned i = threadIdx.x; i < kRateCandidates * kSlots / 4; i += blockDim.x)
      reinterpret_cast<uint4*>(shared.changes.of)[i] = make_uint4(0, 0, 0, 0);
    for (unsigned i = threadIdx.x; i < kRateCandidates * kOthers; i += blockDim.x)
      shared.others[i / kOthers][i % kOthers] = blocks_without_qcoefs(i % kOthers);
  }

  // All blocks end before the last quantized coefficient, but those that are found not to. Dummy
  // blocks have no difference of DC quantized coefficients and no AC quantized coefficients.
  __device__ __forceinline__ uint32_t blocks_without_qcoefs(uint32_t other) const {
    if (blockIdx.x != plane.first_cta) return 0;
    const uint32_t dummies = component == 0 ? params.dummies : 0;
    return other == 0 ? dummies : other == kEnds ? dummies + plane.blocks : 0;
  }

  // Counts a unit. All first loads are in flight together, and those of DC while AC is counted.
  __device__ __forceinline__ void count_unit(uint32_t unit) const {
    const unsigned lane = threadIdx.x % 32;
    const uint32_t number = plane.first_unit + unit;
    const Item* const items =
        reinterpret_cast<const Item*>(params.lists.items) + size_t{number} * kUnitItems + lane;
    const uint32_t size = params.lists.sizes[number];
    const Item first = items[0];  // of what there is room for
    const DcPair dc = load_dc(unit);
    count_ac(items, size, first);
    if (dc.is_there) count_dc(dc);
  }

  // DC: four candidates of each block are a lane's.

  struct DcPair {
    bool is_there;
    uint32_t own, before;  // 0, whose quantized coefficient is 0: there is none
  };
  __device__ __forceinline__ DcPair load_dc(uint32_t unit) const {
    const uint32_t first = plane.first_unit * kUnitBlocks;
    const uint32_t index = unit * kUnitBlocks + threadIdx.x % kUnitBlocks;
    if (index >= plane.blocks) return {};
    const uint32_t before = params.lists.before[first + index];
    return {true, params.lists.dc[first + index],
            before != kNoBlock ? params.lists.dc[first + before] : 0};
  }
  static __device__ __forceinline__ int32_t dc_qcoef(uint32_t coefficient, float mul) {
    const auto x = __builtin_bit_cast(typename M::Value, coefficient);
    return clamp_int(Method::OfDc::signed_qcoef(x, mul), -kJpegPlainDc - 1, kJpegPlainDc);
  }
  __device__ __forceinline__ void count_dc(const DcPair& dc) const {
    const unsigned half = threadIdx.x % 32 / kUnitBlocks;
    const float4 mul = shared.mul[half][0];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int32_t difference =
          dc_qcoef(dc.own, part_of(mul, i)) - dc_qcoef(dc.before, part_of(mul, i));
      atomicAdd(&shared.others[4 * half + i][jpeg_bit_width(uint32_t(abs(difference)))], 1u);
    }
  }

  // AC: a lane has an item, for all candidates.

  // `items` are from the lane's first on, which is `next`.
  __device__ __forceinline__ void count_ac(const Item* items, uint32_t size, Item next) const {
    const unsigned lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
    Carried carried = {};
    if (lane >= size) next = Item{};
    for (uint32_t i = 0; i < size; i += 32) {
      const Item item = next;
      next = i + 32 + lane < size ? items[i + 32] : Item{};
      const uint32_t firsts = __ballot_sync(kAllLanes, Magnitude::is_first(item));
      const uint32_t begins = firsts & (below << 1 | 1);
      // The lanes before this one that have items of the same block.
      const uint32_t others =
          begins == 0 ? below : below & ~((1u << (31 - __clz(int(begins)))) - 1);
      count_items(item, others, begins == 0, &carried);
    }
  }

  // Of each candidate, the k of the last quantized coefficient before the next item in its block, 0
  // if there is none: a byte each.
  struct Carried {
    uint32_t k[2];
  };

  // `goes_on`: the block has earlier items than those of `others`. All numbers k are times 4 here,
  // as counters are words. Lanes are together up to the last sum, and no branch divides them: a
  // compiler that has to bring them together again lets candidates wait for each other.
  __device__ __forceinline__ void count_items(Item item, uint32_t others, bool goes_on,
                                              Carried* carried) const {
    const float term = Magnitude::term(item);
    const int k = Magnitude::k(item);
    const uint32_t at_k = 4 * uint32_t(k);
    const uint32_t base = shared.changes.base();
    uint32_t slots[kRateCandidates];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float4 mul = shared.mul[half][k];
      float4 least = {};
      if constexpr (Method::kIsDecided) least = shared.least[half][k];
      const uint32_t earlier = goes_on ? carried->k[half] : 0;
      uint32_t later = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float qcoef = Method::qcoef(term, {part_of(mul, i), part_of(least, i)});
        const bool is_qcoef = qcoef >= 1.0f;
        const uint32_t qcoefs = __ballot_sync(kAllLanes, is_qcoef) & others;
        uint32_t last = __shfl_sync(kAllLanes, at_k, uint32_t(31 - __clz(int(qcoefs))));
        if (qcoefs == 0) last = __byte_perm(earlier, 0, 0x4440u | uint32_t(i));
        const auto exponent = uint32_t(min(__float_as_int(qcoef) >> 23, kMaxExponent));
        const uint32_t slot =
            exponent * (4 * kSizeStride) + (at_k - last) + (base - kMinExponent * 4 * kSizeStride);
        slots[4 * half + i] = is_qcoef ? slot : base;
        constexpr uint32_t kInto[4] = {0x3214, 0x3240, 0x3410, 0x4210};
        later = __byte_perm(later, is_qcoef ? at_k : last, kInto[i]);
      }
      carried->k[half] = __shfl_sync(kAllLanes, later, 31);
    }
    const bool has_full = __any_sync(kAllLanes, k == 63);
    shared.changes.template add<0>(slots[0], base);
    count_changes(slots, std::make_index_sequence<kRateCandidates - 1>());
    if (has_full) count_full(term, k);
  }
  template <size_t... kIndex>
  __device__ __forceinline__ void count_changes(const uint32_t* slots,
                                                std::index_sequence<kIndex...>) const {
    (shared.changes.template add<kIndex + 1>(slots[kIndex + 1], slots[kIndex]), ...);
  }
  // A block whose last quantized coefficient is not zero has no end.
  __device__ __forceinline__ void count_full(float term, int k) const {
#pragma unroll 1
    for (unsigned c = 0; c < kRateCandidates; ++c) {
      typename Method::Divisor divisor = {part_of(shared.mul[c / 4][63], int(c % 4)), 0.0f};
      if constexpr (Method::kIsDecided)
        divisor.least = part_of(shared.least[c / 4][63], int(c % 4));
      if (k == 63 && Method::qcoef(term, divisor) >= 1.0f) atomicAdd(&shared.others[c][kEnds], ~0u);
    }
  }

  // The end.

  __device__ __forceinline__ void add(unsigned candidate, uint32_t symbol, uint32_t count) const {
    if (count == 0) return;
    atomicAdd(&params.counts[candidate].of[plane.pair][symbol], count);
  }
  // The CTA's counts to those of all. Threads that follow each other have symbols that do.
  __device__ __forceinline__ void end() const {
    const unsigned run = threadIdx.x / 16, size = threadIdx.x % 16;  // less 1
    int32_t times[4] = {};                                           // by runs of 16 zeros
    for (unsigned candidate = 0; candidate < params.candidates && size < kJpegAcSizes;
         ++candidate) {
#pragma unroll
      for (unsigned longs = 0; longs < 4; ++longs)
        if (run + 16 * longs < 63)
          times[longs] += shared.changes.of[candidate][1 + size * kSizeStride + run + 16 * longs];
      add(candidate, run << 4 | (size + 1), uint32_t(times[0] + times[1] + times[2] + times[3]));
      const auto long_runs = uint32_t(times[1] + 2 * times[2] + 3 * times[3]);
      if (long_runs != 0) atomicAdd(&shared.others[candidate][kLongRuns], long_runs);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < params.candidates * kOthers; i += blockDim.x) {
      const unsigned other = i % kOthers;
      add(i / kOthers,
          other == kEnds       ? kJpegEndOfBlock
          : other == kLongRuns ? kJpegLongRun
                               : kJpegDcSymbols + other,
          shared.others[i / kOthers][other]);
    }
  }
  // The last CTA passes the counts to the host, and clears them: so neither needs a call of the
  // driver.
  __device__ __forceinline__ void report() const {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) shared.is_last = atomicAdd(params.finished, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!shared.is_last) return;
    __threadfence();
    auto* const counts = reinterpret_cast<uint4*>(params.counts);
    auto* const host = reinterpret_cast<uint4*>(params.host_counts);
    constexpr unsigned kOfCandidate = sizeof(JpegSymbolCounts) / sizeof(uint4);
#pragma unroll
    for (unsigned first = 0; first < kRateCandidates * kOfCandidate; first += kRateThreads) {
      const unsigned i = first + threadIdx.x;
      if (i >= params.candidates * kOfCandidate) break;
      host[i] = counts[i];
      counts[i] = make_uint4(0, 0, 0, 0);
    }
    if (threadIdx.x == 0) *params.finished = 0;
  }
};

template <typename M, Quantizer kQuantizer>
__device__ __forceinline__ void count_candidates(const RateCountParams& params) {
  using Counter = SymbolCounter<M, kQuantizer>;
  __shared__ typename Counter::Shared shared;
  const uint32_t component = plane_of_cta(params.planes);
  const RatePlane& plane = params.planes[component];
  const Counter counter = {params, shared, component, plane};
  counter.begin();
  __syncthreads();
  wait_for_predecessor();
  // Consecutive units, which are similar, go to different SMs.
  const unsigned warp = threadIdx.x / 32, warps = kRateThreads / 32;
  for (uint32_t unit = warp * plane.ctas + blockIdx.x - plane.first_cta; unit < plane.units;
       unit += warps * plane.ctas)
    counter.count_unit(unit);
  __syncthreads();
  counter.end();
  counter.report();
}

}  // namespace

#define CT_TRANSFORM(name, method, quantizer)                               \
  extern "C" __global__ void __launch_bounds__(kFusedThreads, kGeneralCtas) \
      name(const __grid_constant__ RateTransformParams params) {            \
    list_coefficients<Decided##method, Quantizer::k##quantizer>(params);    \
  }
#define CT_COUNT(name, method, quantizer)                               \
  extern "C" __global__ void __launch_bounds__(kRateThreads, kRateCtas) \
      name(const __grid_constant__ RateCountParams params) {            \
    count_candidates<Decided##method, Quantizer::k##quantizer>(params); \
  }
CT_RATE_TRANSFORM_KERNELS(CT_TRANSFORM)
CT_RATE_COUNT_KERNELS(CT_COUNT)

}  // namespace cudatransform::cuda
