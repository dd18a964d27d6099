// The kernels that can be emulated, by name.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>

namespace cudatransform::emulator {

// Calls a kernel, once for each thread, with the launch's arguments.
using Call = void (*)(void** parameters);

inline std::map<std::string, Call>& kernels() {
  static std::map<std::string, Call> all;
  return all;
}

template <auto kKernel>
struct Caller;
template <typename... Parameters, void (*kKernel)(Parameters...)>
struct Caller<kKernel> {
  static void call(void** parameters) {
    call(parameters, std::index_sequence_for<Parameters...>());
  }
  template <size_t... kIndex>
  static void call(void** parameters, std::index_sequence<kIndex...>) {
    kKernel(*static_cast<const std::remove_cv_t<Parameters>*>(parameters[kIndex])...);
  }
};

struct Registration {
  Registration(const char* name, Call call) { kernels()[name] = call; }
};

}  // namespace cudatransform::emulator

#define CT_EMULATE(name, ...)                                               \
  static const ::cudatransform::emulator::Registration registration_##name( \
      #name, &::cudatransform::emulator::Caller<&::cudatransform::cuda::name>::call);
