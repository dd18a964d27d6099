// Shared by the benchmark programs: options of their own, and the machine's description.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/common.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <thread>

namespace cudatransform::bench {

bool has_value(std::string_view argument, std::string_view option, std::string* value) {
  if (!argument.starts_with(option)) return false;
  *value = argument.substr(option.size());
  return true;
}

bool has_value(std::string_view argument, std::string_view option, double* value) {
  std::string text;
  if (!has_value(argument, option, &text)) return false;
  *value = std::atof(text.c_str());
  return true;
}

int run_program(const char* name, int argc, char** argv,
                const std::function<bool(std::string_view)>& take, const std::function<int()>& run,
                void (*help)()) {
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, take) - argv);
  if (help != nullptr)
    benchmark::Initialize(&argc, argv, help);
  else
    benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  int status = 1;
  try {
    status = run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
  }
  benchmark::Shutdown();
  return status;
}

void add_benchmark(const std::string& name, const std::function<void(benchmark::State&)>& run,
                   bool* failed) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run, failed](benchmark::State& state) {
                                 try {
                                   run(state);
                                 } catch (const std::exception& error) {
                                   if (failed) *failed = true;
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMicrosecond);
}

std::string line_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const size_t at = line.find(key); at != std::string::npos)
      return line.substr(at + key.size());
  return "unknown";
}

std::string cpu_model() { return line_of("/proc/cpuinfo", "model name\t: "); }

void describe_machine() {
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("cores", std::to_string(std::thread::hardware_concurrency()));
}

}  // namespace cudatransform::bench
