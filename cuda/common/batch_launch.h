// Collects jobs that share launches, and launches them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cuda/common/batch.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/staging.h"

namespace cudatransform::cuda {

// For the jobs of one call, one after the other: add() all, send() once, launch() once or more.
template <typename Params>
class Batch {
 public:
  void add(uint32_t kernel, uint32_t ctas, const Params& params, uint32_t shared = 0) {
    jobs_.push_back({kernel, shared, {params, ctas}});
  }
  bool is_empty() const { return jobs_.empty(); }

  // Enqueues the copy of the parameters.
  Status send(Device& device, StreamQueue& queue) {
    // A launch has as many CTAs side by side as its largest job. Jobs of half the size and
    // less get another one, so that at most half of the CTAs are idle.
    std::sort(jobs_.begin(), jobs_.end(),
              [](const Entry& a, const Entry& b) { return a.group() < b.group(); });
    const size_t bytes = jobs_.size() * sizeof(BatchJob<Params>);
    void* host = nullptr;
    Staging& staging = queue.kept<Kept>().staging;
    CT_RETURN_IF_ERROR(staging.begin(device, bytes, &host));
    auto* to = static_cast<BatchJob<Params>*>(host);
    for (const Entry& entry : jobs_) std::memcpy(to++, &entry.job, sizeof entry.job);
    const void* address = nullptr;
    CT_RETURN_IF_ERROR(staging.end(device, queue, &address));
    sent_ = static_cast<const BatchJob<Params>*>(address);
    return {};
  }

  // One launch for each kernel and size. `number_of` maps the number given to add() to a kernel's
  // number; `parts` CTAs share the work of one.
  template <typename NumberOf>
  Status launch(StreamQueue& queue, const KernelFamily& family, uint32_t threads, uint32_t step,
                uint32_t parts, const NumberOf& number_of) {
    for (size_t begin = 0, end = 0; begin < jobs_.size(); begin = end) {
      uint32_t ctas = 0, shared = 0;
      for (; end < jobs_.size() && jobs_[end].group() == jobs_[begin].group(); ++end) {
        ctas = std::max(ctas, jobs_[end].job.ctas);
        shared = std::max(shared, jobs_[end].shared);
      }
      BatchParams<Params> params = {sent_ + begin, step};
      CT_RETURN_IF_ERROR(queue.launch({family, number_of(jobs_[begin].kernel)}, parts * ctas,
                                      threads, params, false, static_cast<unsigned>(end - begin),
                                      shared));
    }
    return {};
  }

 private:
  struct Kept final : StreamQueue::Kept {
    Staging staging;
  };
  struct Entry {
    uint32_t kernel, shared;
    BatchJob<Params> job;
    uint64_t group() const {
      return uint64_t{kernel} << 32 | static_cast<uint32_t>(std::bit_width(job.ctas));
    }
  };

  std::vector<Entry> jobs_;
  const BatchJob<Params>* sent_ = nullptr;
};

}  // namespace cudatransform::cuda
