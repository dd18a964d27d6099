// The result of a fallible call: a code that callers branch on and a sentence that users read.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <utility>

namespace cudatransform {

enum class StatusCode {
  kOk,
  kInvalidArgument,  // the caller's job or option is wrong
  kInvalidSetting,   // a property of an element is wrong
  kUnsupported,      // well formed, but this engine cannot do it
  kNotFound,         // no driver, no device, no such symbol
  kOutOfMemory,      // host or device memory
  kDeviceLost,       // a sticky error: the context is unusable until recreated
  kCancelled,        // not an error: the pipeline is flushing or shutting down
  kFailed,           // any other failure of the driver or the system
};

// Ok by default. The message of a failure names what was wrong and, where it applies, what was
// expected and the driver's own name for the error ("CUDA_ERROR_OUT_OF_MEMORY"). No exception
// crosses an interface of this project; this type does.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::kOk;
  std::string message;

  bool ok() const { return code == StatusCode::kOk; }
  static Status error(StatusCode code, std::string message) { return {code, std::move(message)}; }
};

}  // namespace cudatransform

// Returns from the enclosing function when `expression` yields a failed Status.
#define CT_RETURN_IF_ERROR(expression)                                                 \
  do {                                                                                 \
    if (::cudatransform::Status status_ = (expression); !status_.ok()) return status_; \
  } while (0)
