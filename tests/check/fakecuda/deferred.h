// The fake driver's asynchronous work, done as late as a driver may, and checks of its order.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// With FAKECUDA_DEFERRED=1 the driver only notes a copy, a fill or a kernel when it is enqueued. It
// does the work when the host learns that it is done: by waiting, by asking an event that has
// happened, or where the driver waits by itself. Missing order that the driver's user must provide
// is a violation (fakecuda.h), for any bytes:
//
//   - two operations touch the same bytes, one of them writes, and neither comes after the other by
//     their stream, by events or because the host knew that the first was done;
//   - the host writes to memory that an operation is going to read or to write;
//   - pinned memory is freed while an operation is going to use it;
//   - an event is used that has been destroyed.
//
// Enqueueing a copy to host memory overwrites that memory, so that an early reader gets other
// bytes. Kernels write bytes that depend on all their input (launches.cpp), so that wrong order
// shows in them as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fakecuda {

struct Context;
struct Event;
struct Stream;

// Rows of bytes that an operation reads or writes: `unit` bytes at every `step`, up to `width`.
struct Area {
  uintptr_t first;
  size_t pitch, width, rows;
  bool written;
  bool on_host;
  size_t unit = 1, step = 1;
};

struct Operation {
  std::string what;
  std::vector<Area> areas;
  std::function<void()> make;
  bool spoils = false;  // its host memory may be overwritten before
};

bool is_deferred();
// Also where FAKECUDA_DEFERRED is 0: kernels write, and all work is done immediately, in order.
bool kernels_write();

// The caller of the following holds the state's lock. In other modes the driver does the work
// immediately, and waits return.

void enqueue(Stream* stream, Operation operation);
void note_stream(Stream* stream, unsigned flags);
void note_stream_destroyed(Stream* stream);
void note_context_destroyed(Context* context);
void note_event(const Event* event);
void note_event_destroyed(const Event* event);
// False for a destroyed event.
bool is_event(const Event* event);
void note_record(const Event* event, Stream* stream);
// The stream's later operations come after the event. False if this wait is the one to ignore.
bool note_stream_wait(Stream* stream, const Event* event);
// The host knows that the event has happened, or all of a stream's work. False if this wait is the
// one to ignore: then the host believes it, and nothing has been done.
bool note_host_wait(const Event* event);
bool note_host_wait(Stream* stream);
// The driver itself waits for all of a stream's work.
void finish(Stream* stream);
// Memory is freed: a driver waits before it frees device memory.
void note_free(uintptr_t first, size_t bytes, bool on_host);

// The operation of a launch: it reads everything that its parameters name, and fills its output
// with bytes that are the same for the same input, and differ for any other. For an unknown kernel
// it does nothing.
Operation launch_of(const std::string& kernel, unsigned ctas, void** parameters);
// Whether the operation of that kernel computes the kernel's real output.
bool computes(const std::string& kernel);

// Kernels that encode APV (apv_kernels.cpp): whether it is one of them, and what a launch with
// these parameters does.
bool is_apv_encoder_kernel(const std::string& kernel);
std::function<void()> apv_computation_of(const std::string& kernel, unsigned ctas,
                                         const void* params);

// The real computation, where there is an emulator (tests/emulator): runs the kernel immediately,
// or returns false if it does not know it. Null otherwise.
extern bool (*emulate)(const std::string& kernel, unsigned ctas, unsigned jobs, unsigned threads,
                       void** parameters);

}  // namespace fakecuda
