// Memory that launches of our kernels read and write, and output bytes that depend on the input.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/fakecuda/deferred.h"

namespace fakecuda {

// The operation of a launch: it reads everything that its parameters name, and fills its output
// with bytes that are the same for the same input, and differ for any other. For an unknown kernel
// it does nothing.
Operation launch_of(const std::string& kernel, unsigned ctas, void** parameters);

// Whether the operation of that kernel computes the kernel's real output.
bool computes(const std::string& kernel);
// The operations of the kernels that code JPEG scans, which compute.
Operation jpeg_encode_launch_of(const std::string& kernel, void** parameters);

// The real computation, where there is an emulator (tests/emulator): runs the kernel at once, or
// returns false if it does not know it. Null otherwise.
extern bool (*emulate)(const std::string& kernel, unsigned ctas, unsigned threads,
                       void** parameters);

}  // namespace fakecuda
