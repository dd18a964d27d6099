// CUDA driver functions that only benchmarks need: graphs, attributes, timed events.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A failing call throws std::runtime_error with the call and the driver's own name for the error.
#pragma once

#include <cuda.h>

#include <functional>
#include <string>
#include <vector>

#include "cuda/device/driver.h"
#include "tests/bench/common.h"

namespace cudatransform::bench {

// The engine's driver, and the entry points of graphs and the like.
struct DriverTable : cuda::Driver {
#define CT_BENCH_MEMBER(member, function, name, arguments, kind) \
  decltype(&::function) member = nullptr;
  CT_CUDA_BENCHMARK_ENTRY_POINTS(CT_BENCH_MEMBER)
#undef CT_BENCH_MEMBER
};

// Device 0 and its primary context, which the engine uses as well: current for the creating thread
// as long as the object lives. Not for several threads.
class Gpu {
 public:
  // `stream`: the engine's compute stream, on which everything here happens.
  explicit Gpu(CUstream stream);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const DriverTable& driver() const { return driver_; }
  CUstream stream() const { return stream_; }
  void check(CUresult result, const char* what) const;
  int attribute(CUdevice_attribute attribute) const;
  std::string pci_bus_id() const;
  std::string cuda_version() const;  // the newest that the driver supports, as "13.0"

  // A kernel of stream.cu or of a paper's .cu.
  CUfunction kernel(const char* name) const;
  void launch(CUfunction kernel, unsigned ctas, unsigned threads, void** arguments,
              unsigned ctas_y = 1) const;
  // The number of CTAs that the device holds simultaneously.
  unsigned resident_ctas(CUfunction kernel, unsigned threads) const;
  void fill(void* address, uint8_t value, size_t bytes) const;
  // `bytes` of device memory to any host memory; waits.
  void read(void* to, const void* from, size_t bytes) const;
  void synchronize() const;

 private:
  DriverTable driver_;
  CUstream stream_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::vector<CUmodule> modules_;
};

// The work that `work` enqueues on the stream, for launching as a graph. It may not allocate or
// load anything, so run it once before.
class Graph {
 public:
  Graph(const Gpu& gpu, const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() const;
  size_t nodes() const { return nodes_; }

 private:
  const Gpu& gpu_;
  CUgraphExec exec_ = nullptr;
  size_t nodes_ = 0;
};

// The time between two points of the stream.
class Stopwatch {
 public:
  explicit Stopwatch(const Gpu& gpu);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void begin() const;
  void end() const;
  double seconds() const;  // after synchronize()

 private:
  const Gpu& gpu_;
  CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace cudatransform::bench
