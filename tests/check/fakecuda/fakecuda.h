// What the fake driver tells about its users.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

extern "C" {

struct FakecudaCounts {
  // Alive now.
  int memory, streams, events, modules, contexts;
  // Since the start.
  int calls, allocations, launches;
  int calls_without_context;  // each is a mistake
  int bad_copies;             // beyond an allocation or of another context; each is a mistake
  int peer_copies;            // from one context to another
  int waits;                  // calls that make a host thread wait
};

// Found with dlsym in the library that the process has loaded as libcuda.so.1.
void fakecuda_get_counts(FakecudaCounts* counts);

// What cuStreamWaitEvent has done to one stream since it was made.
struct FakecudaWaits {
  int waits;       // calls that made it wait for another stream
  int waited_for;  // calls that made another stream wait for it
};

void fakecuda_get_waits(void* stream, FakecudaWaits* waits);
}
