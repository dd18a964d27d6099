// Batches of JPEG files on their way to pixels or quantized coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/cudatransform.h"
#include "core/engine.h"
#include "core/jpeg_item.h"

namespace cudatransform::core {

// The files of one push(), in their order.
struct JpegBatch {
  std::vector<std::unique_ptr<JpegItem>> items;  // the first `count` are used
  size_t count = 0;
  std::atomic<size_t> left = 0;  // chunks under way
  CtBlock* stack = nullptr;      // of pictures that lie in one block
  bool is_done = false;          // guarded by JpegBatches

  std::span<const std::unique_ptr<JpegItem>> used() const { return {items.data(), count}; }
};

// Takes batches in, and gives them back decoded, in order. On the CPU each file is decoded by one
// thread. For a device the threads read headers and pack bits, and
// the engine's lanes decode chunks of pictures. push() and pull(): one thread each.
class JpegBatches {
 public:
  static Status make(CtEngine& engine, const CtDecodeOptions& options,
                     std::unique_ptr<JpegBatches>* made);
  ~JpegBatches();  // waits for batches under way

  // Waits while as many batches as the options allow are under way.
  void push(std::span<const CtSource> sources);
  // Decodes one file in the calling thread.
  void decode_now(const CtSource& source, CtPicture* picture);
  // Waits for the oldest batch, up to `timeout_ms` if that is not negative. False: it is not done.
  // Precondition: there is one.
  bool wait(int32_t timeout_ms);
  // Files of the oldest batch; 0: there is none.
  size_t oldest_count();
  // After wait(): moves its pictures out.
  void take(CtPicture* pictures);

 private:
  JpegBatches(CtEngine& engine, const CtDecodeOptions& options);
  std::unique_ptr<JpegBatch> new_batch(std::span<const CtSource> sources);
  void prepare(JpegItem& item, const CtSource& source) const;
  void go_on(JpegBatch& batch);
  void divide(JpegBatch& batch);
  void decode_on_host(JpegItem& item, CtBlock* block, uint8_t* to) const;
  void decode_stacked(JpegBatch& batch, size_t i) const;
  void share_block(JpegBatch& batch) const;
  Status make_pixels(const JpegItem& item, uint8_t* qcoefs, uint8_t* pixels) const;
  void end(JpegBatch& batch);

  CtEngine& engine_;
  const CtDecodeOptions options_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable done_;
  std::deque<std::unique_ptr<JpegBatch>> under_way_;
  std::vector<std::unique_ptr<JpegBatch>> idle_;
};

}  // namespace cudatransform::core
