// NVML, opened at run time, and the driver's attributes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/telemetry.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

namespace cudatransform::bench {
namespace {

// nvml.h is not part of every toolkit; these are the functions in use. All of them return 0 for
// success.
constexpr unsigned kClockSm = 1, kClockMemory = 2;

struct Reason {
  unsigned long long bit;
  const char* name;
};
// nvmlClocksEventReasons*. Idle (1) is not a fault of a busy device.
constexpr Reason kReasons[] = {
    {0x2, "clocks set by the application"},
    {0x4, "power"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "temperature"},
    {0x40, "temperature (hardware)"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

// The first word like 580.1.2 of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1.2  ...",
// where NVML is missing.
std::string driver_of_proc() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  }
  return "";
}

std::string megahertz(int kilohertz) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", kilohertz / 1000.0);
  return text;
}

}  // namespace

struct Telemetry::Nvml {
  using Handle = void*;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle_by_bus)(const char*, Handle*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*clock_info)(Handle, unsigned, unsigned*) = nullptr;
  int (*power_usage)(Handle, unsigned*) = nullptr;
  int (*event_reasons)(Handle, unsigned long long*) = nullptr;
  void* library = nullptr;
  Handle device = nullptr;

  template <typename Function>
  bool find(Function* function, const char* name) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }

  bool open(const std::string& bus_id) {
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    return find(&init, "nvmlInit_v2") && find(&shutdown, "nvmlShutdown") &&
           find(&handle_by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
           find(&driver_version, "nvmlSystemGetDriverVersion") &&
           find(&clock_info, "nvmlDeviceGetClockInfo") &&
           find(&power_usage, "nvmlDeviceGetPowerUsage") &&
           // Renamed in driver 535; the old name still works.
           (find(&event_reasons, "nvmlDeviceGetCurrentClocksEventReasons") ||
            find(&event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons")) &&
           init() == 0 && handle_by_bus(bus_id.c_str(), &device) == 0;
  }
};

void Telemetry::Range::add(unsigned value) {
  least = std::min(least, value);
  most = std::max(most, value);
}

std::string Telemetry::Range::text() const {
  if (most < least) return "";
  return least == most ? std::to_string(most) : std::to_string(least) + "-" + std::to_string(most);
}

Telemetry::Telemetry(const Gpu& gpu) : gpu_(gpu) {
  auto nvml = std::make_unique<Nvml>();
  if (nvml->open(gpu.pci_bus_id())) nvml_ = nvml.release();
}

Telemetry::~Telemetry() {
  if (nvml_ != nullptr) nvml_->shutdown();
  delete nvml_;
}

void Telemetry::sample() {
  if (nvml_ == nullptr) return;
  unsigned value = 0;
  if (nvml_->clock_info(nvml_->device, kClockSm, &value) == 0) sm_clock_.add(value);
  if (nvml_->clock_info(nvml_->device, kClockMemory, &value) == 0) memory_clock_.add(value);
  if (nvml_->power_usage(nvml_->device, &value) == 0) power_.add(value / 1000);
  unsigned long long reasons = 0;
  if (nvml_->event_reasons(nvml_->device, &reasons) == 0) reasons_ |= reasons;
}

std::vector<std::pair<std::string, std::string>> Telemetry::context(
    const std::string& device_name) const {
  char version[96] = "";
  if (nvml_ == nullptr || nvml_->driver_version(version, sizeof version) != 0) version[0] = '\0';
  std::vector<std::pair<std::string, std::string>> context = {
      {"device", device_name},
      {"driver", version[0] != '\0' ? version : driver_of_proc()},
      {"cuda", gpu_.cuda_version()},
      {"sm_count", std::to_string(gpu_.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))},
      {"sm_clock_mhz", megahertz(gpu_.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE))},
      {"memory_clock_mhz", megahertz(gpu_.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE))},
      {"compiled_for", CT_BENCH_COMPILED_FOR}};
  if (sm_clock_.text().empty()) return context;
  std::string reasons;
  for (const Reason& reason : kReasons)
    if ((reasons_ & reason.bit) != 0)
      reasons += (reasons.empty() ? "" : ", ") + std::string(reason.name);
  context.emplace_back("sm_clock_mhz_seen", sm_clock_.text());
  context.emplace_back("memory_clock_mhz_seen", memory_clock_.text());
  context.emplace_back("power_watts_seen", power_.text());
  context.emplace_back("throttle_reasons", reasons);
  return context;
}

}  // namespace cudatransform::bench
