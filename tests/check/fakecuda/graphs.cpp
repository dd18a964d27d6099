// The fake driver's graphs: it counts calls that a stream captures, and launches do nothing.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// While a stream captures, calls that would wait, allocate or load fail; on a real driver they also
// spoil the capture.
#include "tests/check/fakecuda/state.h"

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
