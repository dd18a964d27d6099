// Decodes one JPEG picture at a time on the device, in parallel with other lanes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "jpeg/parallel_decode.h"
#include "transform/device/device.h"

namespace cudatransform {

// Used by one thread at a time, not always the same.
class JpegDecodeLane {
 public:
  static Status make(Device& device, std::unique_ptr<JpegDecodeLane>* lane);

  // The queue that writes the coefficients.
  Queue& queue() { return *queue_; }
  // The maximum host memory in bytes that submit() uses for this file; 0: not for the device.
  size_t measure(std::span<const uint8_t> file) { return reader_.measure(file); }
  // The bytes to allocate for that many: slowly growing pictures should not allocate every time.
  static size_t room_for(size_t measured) { return measured + measured / 4; }
  // Called after a measure() of the same file that has not returned 0: starts decoding it into
  // `qcoefs`, device addresses. `*submitted`: the work is in flight, and `*tables` are the file's.
  // Otherwise another decoder must try the file.
  Status submit(size_t measured, const JpegQcoefs* qcoefs, JpegTables* tables, bool* submitted);
  // Whether finish() has nothing to wait for. Does not poll the device.
  bool is_ready() const;
  // Waits for the work. `*decoded`: the coefficients are the file's, and `*irregular` has the
  // file's oddities, bits of jpeg/errors.h. Otherwise the coefficients may be anything.
  Status finish(bool* decoded, uint32_t* irregular);
  // Keeps no more than `most` bytes of memory for the next picture.
  void give_back(size_t most);

 private:
  explicit JpegDecodeLane(Device& device) : device_(device) {}
  void await() const;
  Status wait_for_queue();

  Device& device_;
  std::unique_ptr<Queue> queue_;
  JpegScanReader reader_;
  JpegScans scans_;                         // of the picture in flight
  std::unique_ptr<Memory> block_, result_;  // pinned
};

// The idle lanes of an element. Used by one thread at a time.
class JpegDecodeLanes {
 public:
  static constexpr size_t kMax = 32, kMaxKept = size_t{1} << 22;  // bytes of each

  // kNotFound if this build has no kernels for the device: always from then on.
  Status probe(Device& device);
  Status take(Device& device, std::unique_ptr<JpegDecodeLane>* lane);
  void give(std::unique_ptr<JpegDecodeLane> lane);
  // Gives up all, for another device.
  void clear();

 private:
  std::vector<std::unique_ptr<JpegDecodeLane>> idle_;
  Status probed_;
  bool is_probed_ = false;
};

}  // namespace cudatransform
