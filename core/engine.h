// An engine of the library: the CPU's threads and perhaps one CUDA device.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "core/blocks.h"
#include "core/cudatransform.h"
#include "core/lanes.h"
#include "core/threads.h"
#include "transform/device/device.h"

namespace cudatransform::core {
class JpegItems;
}

struct CtEngine {
  CtEngine();
  ~CtEngine();

  pid_t process = 0;                              // that has made it
  std::shared_ptr<cudatransform::Device> host;    // of one thread: batches share threads otherwise
  std::shared_ptr<cudatransform::Device> device;  // of results: the CUDA device, or `host`
  void* stream = nullptr;                         // of CtEngineOptions; null: the legacy default
  std::shared_ptr<cudatransform::core::Blocks> blocks;  // of results on the device
  std::shared_ptr<cudatransform::core::Blocks> files;   // pinned
  std::unique_ptr<cudatransform::core::Threads> threads;
  std::unique_ptr<cudatransform::core::Lanes> lanes;  // of a CUDA device
  const std::unique_ptr<cudatransform::core::JpegItems> items;
  std::mutex downloads, filters;  // of the device's queues, of which each has one user at a time

  bool is_cuda() const { return !device->is_host(); }
};

namespace cudatransform::core {

// Copies rows of the device's memory, and waits.
Status copy_to_host(CtEngine& engine, void* to, int64_t to_pitch, const void* from,
                    int64_t from_pitch, size_t row_bytes, size_t rows);

// Reports to a caller of the library.
CtCode report(CtCode code, const std::string& text, CtError* error);
CtCode report(const Status& status, CtError* error);
CtCode code_of(StatusCode code);
void set_text(CtError* error, CtCode code, const std::string& text);

bool is_forked(const CtEngine& engine);
CtCode report_forked(CtError* error);
// CT_OK, or why the engine cannot be used, or the options.
CtCode check(const CtEngine* engine, CtError* error);
CtCode check(const CtDecodeOptions& options, CtError* error);

// The number of an enumeration's value, which a program in C may have set to anything.
template <typename Enum>
int number_in(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

inline Status no_memory() { return Status::error(StatusCode::kOutOfMemory, "out of memory"); }

// Calls work() and turns exceptions into codes: none crosses the library's interface.
template <typename Work>
CtCode guarded(CtError* error, const Work& work) {
  if (error != nullptr) set_text(error, CT_OK, {});
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return report(no_memory(), error);
  } catch (const std::exception& exception) {
    return report(CT_FAILED, exception.what(), error);
  }
}

// An older program's structure has fewer members: the others are 0.
template <typename Options>
CtCode copy_options(const Options* from, Options* to, CtError* error) {
  *to = {};
  if (from == nullptr) return CT_OK;
  if (from->struct_size < sizeof(size_t) || from->struct_size > 4096)
    return report(CT_INVALID_ARGUMENT,
                  "struct_size is the size of the structure of options, not " +
                      std::to_string(from->struct_size),
                  error);
  std::memcpy(to, from, std::min(from->struct_size, sizeof *to));
  return CT_OK;
}

// The operations on a device, by their name in the functions host_NAME_ops() and cuda_NAME_ops().
#if CT_HAVE_CUDA
#define CT_OPS(device, name) ((device).is_host() ? host_##name##_ops() : cuda_##name##_ops())
#else
#define CT_OPS(device, name) host_##name##_ops()
#endif

// Waits for the queue's work, also after an error in enqueuing it: what was enqueued before that
// still uses its memory. The first error is the result.
Status finish(Queue& queue, const Status& status);

// Later work of a queue of the device's starts after all that the caller's stream has been given so
// far: what writes its input, and what reads the released blocks that become its output. All queues
// are blocking streams, which the driver itself orders after the legacy default stream.
inline Status wait_for_caller(const CtEngine& engine, Queue& queue) {
  return engine.stream != nullptr ? queue.wait_for_stream(engine.stream) : Status();
}

// Calls submit(device, queue), and waits for what that enqueues.
template <typename Submit>
Status run_and_wait(CtEngine& engine, const Submit& submit) {
  Device& device = *engine.device;
  Queue& queue = device.queue(QueueKind::kCompute);
  if (device.is_host()) return submit(device, queue);  // any number of threads
  const std::lock_guard lock(engine.filters);
  CT_RETURN_IF_ERROR(wait_for_caller(engine, queue));
  return finish(queue, submit(device, queue));
}

}  // namespace cudatransform::core
