// One JPEG picture at a time decoded on the device, beside those of other lanes.
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

// Used by one thread at a time, which need not be the same.
class JpegDecodeLane {
 public:
  static Status make(Device& device, std::unique_ptr<JpegDecodeLane>* lane);

  // What writes the coefficients.
  Queue& queue() { return *queue_; }
  // Bytes of host memory that decode() takes for this file at most; 0: it is not for the device.
  size_t measure(std::span<const uint8_t> file) { return reader_.measure(file); }
  // What is taken for so many, so that pictures that grow slowly do not allocate every time.
  static size_t room_for(size_t measured) { return measured + measured / 4; }
  // Behind a measure() of the same file, which has not given 0: has it decoded into `levels`,
  // device addresses. `*submitted`: that is on its way, and `*tables` are the file's. Otherwise
  // somebody else has to look at the file.
  Status submit(size_t measured, const JpegLevels* levels, JpegTables* tables, bool* submitted);
  // Whether finish() has nothing to wait for. Asks nobody.
  bool is_ready() const;
  // Waits for the work. `*decoded`: the coefficients are the file's, and what is odd about it are
  // `*irregular`, bits of jpeg/irregular.h. Otherwise they may be anything.
  Status finish(bool* decoded, uint32_t* irregular);
  // Memory that is kept for the next picture: no more than `most` bytes from now on.
  void give_back(size_t most);

 private:
  explicit JpegDecodeLane(Device& device) : device_(device) {}
  void await() const;
  Status wait_for_queue();

  Device& device_;
  std::unique_ptr<Queue> queue_;
  JpegScanReader reader_;
  JpegScans scans_;                         // of the picture on its way
  std::unique_ptr<Memory> block_, result_;  // page-locked
};

// The lanes of an element that are not in use. Used by one thread at a time.
class JpegDecodeLanes {
 public:
  static constexpr size_t kMost = 32, kMostKept = size_t{1} << 22;  // bytes of each

  // kNotFound where this build has no kernels for the device: always from then on.
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
