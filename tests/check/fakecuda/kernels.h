// What launches of our kernels read and write, and bytes that depend on what they have read.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/check/fakecuda/deferred.h"

namespace fakecuda {

// The operation of a launch: what its parameters name is read, and all that it writes is filled
// with bytes that are the same for the same input, and others for any other. Of a kernel that is
// not known, nothing is known.
Operation launch_of(const std::string& kernel, unsigned ctas, void** parameters);

// Whether the operation of that kernel computes what the kernel does.
bool computes(const std::string& kernel);
// The operations of the kernels that code JPEG scans, which compute.
Operation jpeg_encode_launch_of(const std::string& kernel, void** parameters);

// What really computes, where there is an emulator (tests/emulator): runs the kernel at once, or
// returns false where it does not know it. Null otherwise.
extern bool (*emulate)(const std::string& kernel, unsigned ctas, unsigned threads,
                       void** parameters);

}  // namespace fakecuda
