// Shared by the benchmark programs: options, the machine's description, checked statuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "transform/device/device.h"

namespace benchmark {
class State;
}

namespace cudatransform::bench {

// Whether `argument` begins with `option`, as in "--seconds="; then `*value` is the rest.
bool has_value(std::string_view argument, std::string_view option, std::string* value);
bool has_value(std::string_view argument, std::string_view option, double* value);

// The main() of a Google Benchmark program with its own options, which `take` takes: the others are
// Google Benchmark's. `run` does all the rest. The exit
// status is that of `run`, 1 if it throws, 2 for an unknown argument.
int run_program(const char* name, int argc, char** argv,
                const std::function<bool(std::string_view)>& take, const std::function<int()>& run,
                void (*help)() = nullptr);

// A benchmark of one iteration, whose time `run` sets, shown in microseconds. An exception is its
// error, and sets `*failed`.
void add_benchmark(const std::string& name, const std::function<void(benchmark::State&)>& run,
                   bool* failed = nullptr);

// The text after `key` in the first line of a file that has it; "unknown" without one.
std::string line_of(const char* path, std::string_view key);
std::string cpu_model();
// Adds the processor and its cores to Google Benchmark's context.
void describe_machine();

// Throws std::runtime_error.
inline void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message);
}

inline std::unique_ptr<Memory> memory_on(Device& device, MemoryKind kind, size_t bytes) {
  std::unique_ptr<Memory> memory;
  require(device.allocate(kind, bytes, &memory));
  return memory;
}

// Consecutive bytes.
inline Copy2D copy_of(void* to, const void* from, size_t bytes) {
  const auto pitch = static_cast<ptrdiff_t>(bytes);
  return {to, pitch, from, pitch, bytes, 1};
}

}  // namespace cudatransform::bench
