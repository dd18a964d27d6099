// The weights and tables of a batch: made once for jobs that share them, and sent together.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/resize/params.h"
#include "transform/resize/axis.h"
#include "transform/resize/plan.h"

namespace cudatransform::cuda {

// Offsets become device addresses when all is sent.
class ResizeTables {
 public:
  explicit ResizeTables(StreamQueue& queue) : queue_(queue) {}

  // Sets `view` to offsets.
  std::shared_ptr<const ResizeAxis> add_axis(ResizeFilter filter, const ResizeSide& side,
                                             ResizeAxisView* view);
  const int32_t* add_positions(std::vector<int32_t> positions);
  // Of a job's type.
  const void* add_values(const ResizeJob& job);

  // Of all that was added.
  size_t bytes() const { return bytes_; }
  // Enqueues the copy, if the last batch had others. Nothing is added after it.
  Status send(Device& device);
  // Makes an offset an address; null stays.
  template <typename T>
  void place(const T** offset) const {
    if (*offset == nullptr) return;
    *offset = reinterpret_cast<const T*>(sent_ + reinterpret_cast<uintptr_t>(*offset) - kBase);
  }

 private:
  // One of a batch's tables, which its owner never changes.
  struct Part {
    std::shared_ptr<const void> owner;
    const void* data;
    size_t bytes, offset;

    bool operator==(const Part& other) const;
  };
  struct Kept final : StreamQueue::Kept {
    Staging staging;
    // The last batch's, which stay on the device until others are sent. Those of frames of one size
    // are all the same; and a graph can capture the second of them, which waits for nothing.
    std::vector<Part> sent;
    const void* address = nullptr;
    ResizeAxisCache axes{size_t{64} << 20};
  };
  static constexpr uintptr_t kBase = 256;  // so that no offset is null

  template <typename Owner, typename T>
  const T* add(const std::shared_ptr<const Owner>& owner, std::span<const T> table);
  template <typename T>
  const T* add(std::vector<T> table);

  StreamQueue& queue_;
  std::vector<Part> parts_;
  size_t bytes_ = 0;  // of all parts
  std::map<const ResizeAxis*, ResizeAxisView> views_;
  std::map<std::tuple<const float*, ResizeType, int>, const void*> values_;
  const uint8_t* sent_ = nullptr;
};

}  // namespace cudatransform::cuda
