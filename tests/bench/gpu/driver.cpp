// The driver's entry points for benchmarks, opened at run time like the engine's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>

// The fat binaries, embedded by the build.
extern "C" {
extern const unsigned char cuda_image_stream[];
extern const unsigned char cuda_image_gpudct[];
extern const unsigned char cuda_image_hong[];
extern const unsigned char cuda_image_whitepaper[];
}

namespace cudatransform::bench {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

// A kernel's name begins with its image's, except those of stream.cu, which is last.
struct Image {
  const char* name;
  const unsigned char* data;
};
constexpr Image kImages[] = {{"gpudct", cuda_image_gpudct},
                             {"hong", cuda_image_hong},
                             {"whitepaper", cuda_image_whitepaper},
                             {"", cuda_image_stream}};

DriverTable load_table() {
  const cuda::Driver* engine = nullptr;
  require(cuda::load_driver(&engine));
  // The engine has opened it already and will not close it.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(std::string("no CUDA driver: ") + dlerror());
  DriverTable table = {*engine};
#define CT_BENCH_RESOLVE(member, function, name, arguments, kind)                 \
  table.member = reinterpret_cast<decltype(table.member)>(dlsym(library, #name)); \
  if (table.member == nullptr)                                                    \
    throw std::runtime_error(std::string("the CUDA driver ") + kLibrary + " lacks " #name);
  CT_CUDA_BENCHMARK_ENTRY_POINTS(CT_BENCH_RESOLVE)
#undef CT_BENCH_RESOLVE
  return table;
}

}  // namespace

Gpu::Gpu(CUstream stream) : driver_(load_table()), stream_(stream) {
  check(driver_.device_get(&device_, 0), "cuDeviceGet");
  check(driver_.primary_ctx_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  check(driver_.ctx_push_current(context_), "cuCtxPushCurrent");
  for (const Image& image : kImages) {
    check(driver_.module_load_data(&modules_.emplace_back(), image.data), "cuModuleLoadData");
  }
}

Gpu::~Gpu() {
  for (CUmodule module : modules_) driver_.module_unload(module);
  CUcontext popped = nullptr;
  driver_.ctx_pop_current(&popped);
  driver_.primary_ctx_release(device_);
}

void Gpu::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (driver_.get_error_name(result, &name) != CUDA_SUCCESS) name = nullptr;
  throw std::runtime_error(
      std::string(what) + ": " +
      (name != nullptr ? name : "CUDA error " + std::to_string(static_cast<int>(result))));
}

int Gpu::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  check(driver_.device_get_attribute(&value, attribute, device_), "cuDeviceGetAttribute");
  return value;
}

std::string Gpu::pci_bus_id() const {
  char id[32] = "";
  check(driver_.device_get_pci_bus_id(id, sizeof id, device_), "cuDeviceGetPCIBusId");
  return id;
}

std::string Gpu::cuda_version() const {
  int version = 0;
  check(driver_.driver_get_version(&version), "cuDriverGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

CUfunction Gpu::kernel(const char* name) const {
  const auto* image = std::find_if(
      std::begin(kImages), std::end(kImages),
      [name](const Image& one) { return std::string_view(name).starts_with(one.name); });
  CUfunction function = nullptr;
  check(driver_.module_get_function(&function, modules_[image - kImages], name), name);
  return function;
}

void Gpu::launch(CUfunction kernel, unsigned ctas, unsigned threads, void** arguments,
                 unsigned ctas_y) const {
  check(
      driver_.launch_kernel(kernel, ctas, ctas_y, 1, threads, 1, 1, 0, stream_, arguments, nullptr),
      "cuLaunchKernel");
}

unsigned Gpu::resident_ctas(CUfunction kernel, unsigned threads) const {
  int ctas = 0;
  check(driver_.ctas_per_sm(&ctas, kernel, static_cast<int>(threads), 0),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<unsigned>(ctas * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

void Gpu::fill(void* address, uint8_t value, size_t bytes) const {
  check(driver_.memset_d8_async(reinterpret_cast<CUdeviceptr>(address), value, bytes, stream_),
        "cuMemsetD8Async");
}

void Gpu::read(void* to, const void* from, size_t bytes) const {
  check(driver_.memcpy_dtoh_async(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream_),
        "cuMemcpyDtoHAsync");
  synchronize();
}

void Gpu::synchronize() const { check(driver_.stream_synchronize(stream_), "cuStreamSynchronize"); }

Graph::Graph(const Gpu& gpu, const std::function<void()>& work) : gpu_(gpu) {
  const DriverTable& driver = gpu.driver();
  gpu.check(driver.stream_begin_capture(gpu.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            "cuStreamBeginCapture");
  CUgraph graph = nullptr;
  try {
    work();
  } catch (...) {
    // A stream that stays in capture mode would refuse all further work.
    driver.stream_end_capture(gpu.stream(), &graph);
    if (graph != nullptr) driver.graph_destroy(graph);
    throw;
  }
  gpu.check(driver.stream_end_capture(gpu.stream(), &graph), "cuStreamEndCapture");
  const CUresult counted = driver.graph_get_nodes(graph, nullptr, &nodes_);
  const CUresult result = driver.graph_instantiate(&exec_, graph, 0);
  driver.graph_destroy(graph);
  gpu.check(counted, "cuGraphGetNodes");
  gpu.check(result, "cuGraphInstantiate");
}

Graph::~Graph() { gpu_.driver().graph_exec_destroy(exec_); }

void Graph::launch() const {
  gpu_.check(gpu_.driver().graph_launch(exec_, gpu_.stream()), "cuGraphLaunch");
}

Stopwatch::Stopwatch(const Gpu& gpu) : gpu_(gpu) {
  gpu.check(gpu.driver().event_create(&begin_, CU_EVENT_DEFAULT), "cuEventCreate");
  gpu.check(gpu.driver().event_create(&end_, CU_EVENT_DEFAULT), "cuEventCreate");
}

Stopwatch::~Stopwatch() {
  gpu_.driver().event_destroy(begin_);
  gpu_.driver().event_destroy(end_);
}

void Stopwatch::begin() const {
  gpu_.check(gpu_.driver().event_record(begin_, gpu_.stream()), "cuEventRecord");
}

void Stopwatch::end() const {
  gpu_.check(gpu_.driver().event_record(end_, gpu_.stream()), "cuEventRecord");
}

double Stopwatch::seconds() const {
  float milliseconds = 0;
  gpu_.check(gpu_.driver().event_elapsed_time(&milliseconds, begin_, end_), "cuEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace cudatransform::bench
