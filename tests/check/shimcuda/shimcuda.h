// The shim driver's counters, and the interface by which tests make calls fail.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

extern "C" {

struct ShimcudaCounts {
  // Calls since the start.
  int launches;
  // Waits of the host for a stream, an event or a context: calls that block it, and threads that
  // poll one object, which count once.
  int waits;
  int sleeps;        // of the latter, in which the thread gave up its processor
  int sync_copies;   // that block the host until the copy is done
  int queries;       // of events and streams; of a thread that waits, the first
  int copies;        // asynchronous ones, and fills
  int records;       // of events
  int stream_waits;  // of streams for events
  int allocations;   // of memory, on the device or pinned
  int frees;
  int makes;        // of contexts, streams, events and modules
  int others;       // among them looking up what kind of memory an address is
  int hasty_frees;  // of pinned memory that a copy may still use; each is a mistake
  // Alive now.
  int memory, streams, events, modules, contexts;
  long long device_bytes, pinned_bytes;
};

// How a call named in shimcuda_fail() fails.
enum ShimcudaFailure {
  kShimcudaOnce,    // that call alone
  kShimcudaAlways,  // that call and all later ones of its name
  // That call and every later one that works on a context, until a new context is made: as after an
  // illegal address. Calls that release something do so, but report a failure.
  kShimcudaSticky,
};

// Found with dlsym in the library that the process has loaded as libcuda.so.1.
void shimcuda_get_counts(ShimcudaCounts* counts);
// Lets call number `after` (0: the next one) of the entry point `name` fail with `code`. A
// releasing call still releases. Replaces an earlier request; a null name ends all failing.
void shimcuda_fail(const char* name, int after, int code, ShimcudaFailure how);
// How many calls shimcuda_fail() has let fail since it was last called.
int shimcuda_failed(void);
}
