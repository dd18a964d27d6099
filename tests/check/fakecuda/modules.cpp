// The fake driver's modules, kernels and graphs, most of which do nothing but in the deferred mode.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cstdlib>
#include <cstring>

#include "tests/check/fakecuda/deferred.h"
#include "tests/check/fakecuda/state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace fakecuda;  // the whole file belongs to it

bool (*fakecuda::emulate)(const std::string&, unsigned, unsigned, unsigned, void**) = nullptr;

EXPORT int cuModuleLoadData(void** module, const void* image) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  if (mode_is("no-module")) return kNoBinaryForGpu;
  constexpr uint32_t kFatBinary = 0xba55ed50;  // the first word of nvcc -fatbin's output
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof(magic));
  if (magic != kFatBinary) return kInvalidValue;
  *module = std::malloc(1);
  std::lock_guard lock(state().mutex);
  state().live_handles.insert(*module);
  state().counts.modules++;
  return kSuccess;
}

EXPORT int cuModuleUnload(void* module) {
  check_gives_back("cuModuleUnload");
  std::lock_guard lock(state().mutex);
  state().live_handles.erase(module);
  std::erase_if(state().functions, [=](const auto& pair) { return pair.first.first == module; });
  state().counts.modules--;
  std::free(module);
  return kSuccess;
}

EXPORT int cuModuleGetFunction(Function** function, void* module, const char* name) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  *function = &state().functions.try_emplace({module, name}, Function{name}).first->second;
  return kSuccess;
}

EXPORT int cuFuncSetAttribute(Function* function, int attribute, int value) {
  if (int result = check_context()) return result;
  constexpr int kMaxDynamicShared = 8;
  if (attribute != kMaxDynamicShared || value < 0 || value > kMaxShared) return kInvalidValue;
  std::lock_guard lock(state().mutex);
  function->max_shared = value;
  return kSuccess;
}

EXPORT int cuLaunchKernel(const Function* function, unsigned gx, unsigned gy, unsigned gz,
                          unsigned bx, unsigned by, unsigned bz, unsigned shared, Stream* stream,
                          void** parameters, void**) {
  if (int result = check_context()) return result;
  if (gx == 0 || gy == 0 || gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024)
    return kInvalidValue;
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (shared > static_cast<unsigned>(function->max_shared)) return kInvalidValue;
  const bool strikes = s.counts.launches >= number("FAKECUDA_AFTER", 0);
  if (strikes && mode_is("launch-fails")) return kLaunchOutOfResources;
  if (strikes && mode_is("lost")) s.lost = true;  // the next call reports it, as on a GPU
  s.counts.launches++;
  s.launches[function->name]++;
  capture(stream);
  note_work(stream);
  // No host's code after it, which would hide a kernel's faults behind its own results.
  if (emulate != nullptr)
    return emulate(function->name, gx, gy, bx, parameters) ? kSuccess : kNotFound;
  if (kernels_write() || computes(function->name))
    enqueue(stream, launch_of(function->name, gx, parameters));
  return kSuccess;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void*, int, size_t) {
  *ctas = 1;
  return kSuccess;
}

// While a stream captures, calls that would wait, allocate or load fail; on a real driver they also
// spoil the capture.

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace fakecuda;  // the whole file belongs to it

EXPORT int cuStreamBeginCapture_v2(Stream* stream, int) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  std::lock_guard lock(state().mutex);
  if (state().live_streams.count(stream) == 0) return kInvalidHandle;
  stream->capturing = true;
  stream->captured = 0;
  return kSuccess;
}

EXPORT int cuStreamEndCapture(Stream* stream, Graph** graph) {
  if (int result = check_context()) return result;
  std::lock_guard lock(state().mutex);
  if (state().live_streams.count(stream) == 0 || !stream->capturing) return kInvalidValue;
  stream->capturing = false;
  *graph = new Graph{stream->captured};
  return kSuccess;
}

EXPORT int cuGraphGetNodes(Graph* graph, void*, size_t* count) {
  *count = graph->nodes;
  return kSuccess;
}

EXPORT int cuGraphInstantiateWithFlags(Graph** instance, Graph* graph, unsigned long long) {
  if (int result = check_context()) return result;
  *instance = new Graph(*graph);
  return kSuccess;
}

EXPORT int cuGraphDestroy(Graph* graph) {
  delete graph;
  return kSuccess;
}

EXPORT int cuGraphExecDestroy(Graph* instance) {
  delete instance;
  return kSuccess;
}

EXPORT int cuGraphLaunch(Graph*, Stream* stream) {
  if (int result = check_context()) return result;
  if (int result = check_no_capture()) return result;
  std::lock_guard lock(state().mutex);
  return state().live_streams.count(stream) != 0 ? kSuccess : kInvalidHandle;
}
