// Identifies a run on a GPU: the device, versions, clocks and what throttles them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/bench/gpu/driver.h"

namespace cudatransform::bench {

// Queries the driver and, where libnvidia-ml.so.1 exists, the management library, which is opened
// at run time and of which a few functions are used.
class Telemetry {
 public:
  explicit Telemetry(const Gpu& gpu);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // Records clocks and what throttles them; call it while the device is busy.
  void sample();
  // For the context of the results. sm_count, sm_clock_mhz and memory_clock_mhz, plain numbers, are
  // the device's specified values; "..._seen" the clocks of the samples.
  std::vector<std::pair<std::string, std::string>> context(const std::string& device_name) const;

 private:
  struct Range {
    unsigned least = ~0u, most = 0;
    void add(unsigned value);
    std::string text() const;  // "" of nothing
  };
  struct Nvml;

  const Gpu& gpu_;
  Nvml* nvml_ = nullptr;
  Range sm_clock_, memory_clock_, power_;
  unsigned long long reasons_ = 0;
};

}  // namespace cudatransform::bench
