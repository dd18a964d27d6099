// A CUDA stream as a Queue: what a transform enqueues its kernels on.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/context.h"
#include "transform/device.h"

namespace cudatransform::cuda {

class StreamQueue final : public Queue {
 public:
  StreamQueue(std::shared_ptr<Context> context, CUstream stream)
      : context_(std::move(context)), stream_(stream) {}
  ~StreamQueue() override;  // waits for the stream's work

  Status wait_for(const FencePtr& fence) override;
  Status record(FencePtr* fence) override;
  void* native() override { return stream_; }

  // Device memory for intermediates, at least `bytes`, the same from call to call. Its users are
  // ordered by the stream. Growing waits for the stream's work, which is rare: sizes change seldom.
  Status scratch(size_t bytes, CUdeviceptr* address);
  Status launch(const void* image, const char* kernel, unsigned blocks, unsigned threads,
                void** arguments);
  Status clear(CUdeviceptr address, size_t bytes);
  // `destination` is pinned.
  Status read_back(void* destination, CUdeviceptr source, size_t bytes);
  Status synchronize();

 private:
  std::shared_ptr<Context> context_;
  CUstream stream_;
  CUdeviceptr scratch_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace cudatransform::cuda
