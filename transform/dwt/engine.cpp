// The CPU engine: stripes of all components over oneTBB, level by level, rows in vectors.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/dwt.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "transform/dwt/levels.h"
#include "transform/dwt/run.h"

namespace cudatransform {

namespace {

// Fewer values than this are not worth a task and its extra rows around a stripe.
constexpr int64_t kMinStripe = 1 << 15;

struct Stripe {
  int component;
  int32_t first, end;
};

struct AtomicSums {
  std::atomic<uint64_t> sse[kMaxComponents] = {};
  std::atomic<uint64_t> zeros[kMaxComponents] = {};
};

// Memory for the low bands, which the calling thread keeps until it ends. Getting it from the
// system for each picture, page by page, takes half as long as the transform.
std::byte* low_memory(size_t bytes) {
  thread_local std::unique_ptr<RowMemory<std::byte>> memory;
  thread_local size_t size = 0;
  if (bytes > size) {
    size = 0;
    memory.reset();
    memory = std::make_unique<RowMemory<std::byte>>(bytes);
    size = bytes;
  }
  return memory != nullptr ? memory->data() : nullptr;
}

template <typename T>
class Transform {
 public:
  Transform(const DwtJob& job, const RowKernels<T>& kernels, HostThreads& threads)
      : job_(job), threads_(threads) {
    for (int c = 0; c < job.components; ++c) {
      components_.push_back(std::make_unique<ComponentLevels<T>>(job, c, kernels));
    }
    size_t values = 0;
    for (const auto& component : components_) values += component->low_values();
    auto* low = reinterpret_cast<T*>(low_memory(values * sizeof(T)));
    for (const auto& component : components_) {
      component->set_low(low);
      low += component->low_values();
    }
  }

  void run(PictureSums* sums) {
    const int levels = job_.levels.both + job_.levels.horizontal;
    const bool forward = job_.direction == Direction::kForward;
    if (forward) {
      for (int f = 0; f < levels; ++f) {
        for_each_stripe(f, [f](const ComponentLevels<T>& component, const Stripe& stripe) {
          return component.analyze(f, stripe.first, stripe.end);
        });
      }
    }
    if (!forward || (job_.measure & kMeasureSse) != 0) {
      for (int f = levels - 1; f >= 0; --f) {
        for_each_stripe(f, [f, forward](const ComponentLevels<T>& component, const Stripe& stripe) {
          return component.synthesize(f, stripe.first, stripe.end, forward);
        });
      }
    }
    for (int c = 0; c < kMaxComponents; ++c) {
      sums->sse[c] = sums_.sse[c].load(std::memory_order_relaxed);
      sums->zeros[c] = sums_.zeros[c].load(std::memory_order_relaxed);
    }
  }

 private:
  std::vector<Stripe> stripes_of(int fineness, int threads) const {
    std::vector<Stripe> stripes;
    for (int c = 0; c < job_.components; ++c) {
      const int32_t units = components_[c]->units(fineness);
      const int64_t values = int64_t{units} * 2 * components_[c]->width(fineness);
      const int64_t wanted = threads == 1 ? 1 : std::min<int64_t>(4 * threads, values / kMinStripe);
      const auto count = static_cast<int32_t>(std::clamp<int64_t>(wanted, 1, units));
      for (int32_t i = 0; i < count; ++i) {
        stripes.push_back({c, static_cast<int32_t>(int64_t{units} * i / count),
                           static_cast<int32_t>(int64_t{units} * (i + 1) / count)});
      }
    }
    return stripes;
  }

  template <typename Function>
  void for_each_stripe(int fineness, Function function) {
    const std::vector<Stripe> stripes = stripes_of(fineness, threads_.used());
    threads_.for_each(stripes.size(), [&](size_t i) {
      const Stripe& stripe = stripes[i];
      const StripeSums row = function(*components_[stripe.component], stripe);
      sums_.sse[stripe.component].fetch_add(row.sse, std::memory_order_relaxed);
      sums_.zeros[stripe.component].fetch_add(row.zeros, std::memory_order_relaxed);
    });
  }

  const DwtJob& job_;
  HostThreads& threads_;
  std::vector<std::unique_ptr<ComponentLevels<T>>> components_;
  AtomicSums sums_;
};

template <typename T>
bool run_in_vectors(const DwtJob& job, HostThreads& threads, PictureSums* sums) {
  const RowKernels<T>* kernels = row_kernels<T>();
  if (kernels == nullptr) return false;
  Transform<T>(job, *kernels, threads).run(sums);
  return true;
}

// Whether 16-bit rows hold the results of steps.
bool fits_short_rows(const DwtJob& job) {
  return job.type == DwtCoefType::kS16 && !lifting(job.wavelet).wraps_at_end &&
         !lifting(job.wavelet_ho).wraps_at_end;
}

void work_in_vectors(const DwtJob& job, HostThreads& threads, PictureSums* sums) {
  const bool done = fits_short_rows(job) ? run_in_vectors<int16_t>(job, threads, sums)
                                         : run_in_vectors<int32_t>(job, threads, sums);
  if (!done) work_portably(job, threads, sums);
}

Status submit_best(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return run_dwt(device, queue, job, work_in_vectors, fence);
}

}  // namespace

const DwtOps& host_dwt_ops() {
  static constexpr DwtOps kOps = {"cpu", submit_best};
  return kOps;
}

}  // namespace cudatransform
