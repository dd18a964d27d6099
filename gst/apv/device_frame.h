// A frame of cudaapvenc that the engine's device encodes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "apv/frame_encoder.h"
#include "gst/engine/engine.h"
#include "gst/engine/file_memory.h"

namespace cudatransform {

// Shared by the frames of a stream. Guarded by the stream lock.
struct ApvDeviceCoder {
  // kNotFound if the engine has no device.
  Status open(Engine& of);
  void close();
  bool is_open() const { return ops != nullptr; }

  Engine* engine = nullptr;
  const ApvEncodeOps* ops = nullptr;
  std::shared_ptr<FileMemory> files;
  size_t last_size = 0;  // of a unit, 0: there was none
};

// Used for one frame after another, with the stream lock; keeps its memory.
class ApvDeviceFrame {
 public:
  ApvDeviceFrame() = default;
  ~ApvDeviceFrame() { clear(); }
  ApvDeviceFrame(const ApvDeviceFrame&) = delete;
  ApvDeviceFrame& operator=(const ApvDeviceFrame&) = delete;

  // Enqueues the transform of samples in device memory; `*read` is done when they have been read.
  // After an error no work is in flight, and the CPU may encode the frame.
  Status begin(ApvDeviceCoder& coder, const ApvFrameFormat& format, const ApvSource& source,
               FencePtr* read);
  // Then: the bytes of all chains with each of `qps`. Waits.
  Status measure(std::span<const ApvQps> qps, uint64_t* bytes);
  // Then enqueues the rest, with the quantization parameters of `format`.
  Status encode(const ApvFrameFormat& format, std::span<const uint8_t> metadata);

  bool is_begun() const { return coder_ != nullptr; }
  // Whether finish() has little or nothing to wait for. Never blocks.
  bool is_ready() { return !downloaded_ || downloaded_->done(); }
  // Waits, and completes the unit.
  Status finish(GstBuffer** unit);
  // Waits for the work in flight.
  void clear();

 private:
  const ApvEncodeResult& result() const {
    return *static_cast<const ApvEncodeResult*>(result_->data());
  }
  uint8_t* staged() const { return static_cast<uint8_t*>(staging_->data()); }
  Status code(size_t room);
  Status fetch(size_t from, size_t end);
  Status make_unit(GstBuffer** unit);

  ApvDeviceCoder* coder_ = nullptr;  // of the frame in flight
  ApvFrameFormat format_;
  ApvUnitWriter unit_;
  size_t metadata_bytes_ = 0;
  FencePtr transformed_, coded_, downloaded_;
  size_t fetched_ = 0;  // bytes in staging_ once downloaded_ is done
  std::unique_ptr<Memory> coefs_, output_, result_, measured_, staging_;
};

}  // namespace cudatransform
