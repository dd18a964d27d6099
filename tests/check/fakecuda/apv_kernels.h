// Kernels that encode APV, run on the host: the fake driver computes their output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <string>

namespace fakecuda {

// Whether it is one of them.
bool is_apv_encoder_kernel(const std::string& kernel);
// What a launch with these parameters does.
std::function<void()> apv_computation_of(const std::string& kernel, unsigned ctas,
                                         const void* params);

}  // namespace fakecuda
