// The weights and tables of jobs in device memory, where they stay for later batches.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/resize/params.h"
#include "transform/resize/axis.h"
#include "transform/resize/plan.h"

namespace cudatransform::cuda {

// Of one batch. Offsets become device addresses when all is sent.
class ResizeTables {
 public:
  explicit ResizeTables(StreamQueue& queue);
  ~ResizeTables();  // without send(), also forgets what it has added

  // Sets `view` to offsets.
  std::shared_ptr<const ResizeAxis> add_axis(ResizeFilter filter, const ResizeSide& side,
                                             ResizeAxisView* view);
  const int32_t* add_positions(const std::vector<int32_t>& positions);
  // Of a job's type.
  const void* add_values(const ResizeJob& job);

  // Of what the device does not have yet.
  size_t bytes() const { return kept_.filled - begin_; }
  // Enqueues the copy of these. Nothing is added after it. Where the device has all of them, it
  // enqueues and waits for nothing, so a graph can capture the job.
  Status send(Device& device);
  // Makes an offset an address; null stays.
  template <typename T>
  void place(const T** offset) const {
    if (*offset == nullptr) return;
    *offset = reinterpret_cast<const T*>(base_ + reinterpret_cast<uintptr_t>(*offset) - kBase);
  }

 private:
  struct AxisPlace {
    std::shared_ptr<const ResizeAxis> axis;
    ResizeAxisView view;  // of offsets
  };
  struct Kept final : StreamQueue::Kept {
    ResizeAxisCache axes{size_t{64} << 20};
    Staging staging;
    std::unique_ptr<Memory> memory;
    size_t filled = 0;
    // What is in it: axes, and other tables by their bytes.
    std::unordered_map<const ResizeAxis*, AxisPlace> places;
    std::unordered_map<std::string, size_t> tables;

    void forget();
  };
  struct Part {
    const void* data;  // which `kept_` has
    size_t bytes, offset;
  };
  static constexpr uintptr_t kBase = 256;               // so that no offset is null
  static constexpr size_t kMaxKept = size_t{32} << 20;  // with more, all is sent again

  template <typename T>
  static const T* at(size_t offset) {
    return reinterpret_cast<const T*>(kBase + offset);
  }
  size_t add_part(const void* data, size_t bytes);
  template <typename T>
  const T* add(const std::vector<T>& table);
  Status grow(Device& device);

  StreamQueue& queue_;
  Kept& kept_;
  size_t begin_;  // of what this batch adds
  std::vector<Part> parts_;
  std::map<std::tuple<const float*, ResizeType, int>, const void*> values_;
  const uint8_t* base_ = nullptr;  // of all, on the device
  bool is_sent_ = false;
};

}  // namespace cudatransform::cuda
