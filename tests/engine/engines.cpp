// Finds the engines of this machine and build.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/engine/engines.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "transform/coeffilter/convert.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_device.h"
#include "transform/device/simd_targets.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"
#include "transform/range/range.h"
#include "transform/resize/resize.h"
#include "transform/rgb/rgb.h"
#include "transform/transpose/transpose.h"
#ifdef CT_HAVE_CUDA
#include "cuda/apv/engine.h"
#include "cuda/coeffilter/engine.h"
#include "cuda/dct8x8/engine.h"
#include "cuda/dct8x8/plan.h"
#include "cuda/device/cuda_device.h"
#include "cuda/dwt/engine.h"
#include "cuda/dwt/plan.h"
#include "cuda/obmc/engine.h"
#include "cuda/range/engine.h"
#include "cuda/resize/engine.h"
#include "cuda/rgb/engine.h"
#include "cuda/transpose/engine.h"
#endif

namespace cudatransform::test {
namespace {

constexpr int kSkip = 77;

std::vector<Engine>& chosen() {
  static std::vector<Engine> list;
  return list;
}

bool set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

void add_host_engines(std::vector<Engine>* list) {
  list->push_back(portable_engine());
  // More threads than one, also on a single core, so that block rows really run side by side.
  Engine host = host_engine(make_host_device(3));
  list->push_back(host);
  host.flip_ops = nullptr;
  host.requant_ops = nullptr;
  host.transpose_ops = nullptr;
  for (const auto& [name, target] : host_simd_targets()) {
    host.name = "host/" + name;
    host.highway_target = target;
    list->push_back(host);
  }
}

Status add_cuda_engine([[maybe_unused]] std::vector<Engine>* list) {
#ifdef CT_HAVE_CUDA
  std::unique_ptr<Device> device;
  CT_RETURN_IF_ERROR(make_primary_cuda_device(0, &device));
  const std::shared_ptr<Device> shared = std::move(device);
  using Dct = cuda::KernelChoice;
  using Dwt = cuda::DwtKernelChoice;
  const std::tuple<const char*, Dct, Dwt> choices[] = {
      {"cuda", Dct::kAuto, Dwt::kAuto},
      {"cuda/whole", Dct::kWhole, Dwt::kFourPairs},
      {"cuda/edged", Dct::kEdged, Dwt::kTwoPairs},
      {"cuda/split", Dct::kSplit, Dwt::kOnePair},
      {"cuda/general", Dct::kGeneral, Dwt::kSeparable}};
  for (const auto& [name, dct, dwt] : choices) {
    Engine& engine = list->emplace_back(cuda_engine(shared));
    engine.name = name;
    engine.ops = &cuda_dct8x8_ops(dct);
    engine.dwt_ops = &cuda_dwt_ops(dwt);
    engine.kernel_choice = static_cast<int>(dct);
    if (dct == Dct::kAuto) continue;
    engine.range_ops = nullptr;
    engine.flip_ops = nullptr;
    engine.requant_ops = nullptr;
    engine.convert_ops = nullptr;
    engine.apv_ops = nullptr;
    engine.apv_forward_ops = nullptr;
    engine.transpose_ops = nullptr;
    if (dct == Dct::kGeneral) {
      engine.obmc_ops = &cuda_obmc_ops(cuda::ObmcKernelChoice::kGeneral);
      engine.rgb_ops = &cuda_rgb_ops(cuda::RgbKernelChoice::kGeneral);
      engine.resize_ops = &cuda_resize_ops(cuda::ResizeKernelChoice::kPasses);
    } else {
      engine.obmc_ops = nullptr;
      engine.rgb_ops = nullptr;
      engine.resize_ops = dct == Dct::kWhole ? &cuda_resize_ops(cuda::ResizeKernelChoice::kMany)
                          : dct == Dct::kEdged
                              ? &cuda_resize_ops(cuda::ResizeKernelChoice::kManyLarge)
                              : nullptr;
    }
  }
  return {};
#else
  return Status::error(StatusCode::kNotFound, "built without the CUDA engine");
#endif
}

}  // namespace

void Engine::activate() const {
  if (!is_cuda) set_host_simd_targets(highway_target);
}

bool Engine::covers(Method method) const {
  if (kernel_choice != 0) return method == Method::kIslow || method == Method::kFloat;
  return highway_target == 0 || method == Method::kIslow || method == Method::kIfast ||
         method == Method::kFloat;
}

Engine host_engine(std::shared_ptr<Device> device) {
  Engine host = {"host", std::move(device), &host_dct8x8_ops()};
  host.dwt_ops = &host_dwt_ops();
  host.obmc_ops = &host_obmc_ops();
  host.range_ops = &host_range_ops();
  host.resize_ops = &host_resize_ops();
  host.rgb_ops = &host_rgb_ops();
  host.flip_ops = &host_flip_ops();
  host.requant_ops = &host_requant_ops();
  host.convert_ops = &host_convert_ops();
  host.apv_ops = &host_apv_inverse_ops();
  host.apv_forward_ops = &host_apv_forward_ops();
  host.transpose_ops = &host_transpose_ops();
  return host;
}

#ifdef CT_HAVE_CUDA
Engine cuda_engine(std::shared_ptr<Device> device) {
  Engine cuda = {"cuda", std::move(device), &cuda_dct8x8_ops(), 0, true};
  cuda.dwt_ops = &cuda_dwt_ops();
  cuda.obmc_ops = &cuda_obmc_ops();
  cuda.rgb_ops = &cuda_rgb_ops();
  cuda.range_ops = &cuda_range_ops();
  cuda.resize_ops = &cuda_resize_ops();
  cuda.flip_ops = &cuda_flip_ops();
  cuda.requant_ops = &cuda_requant_ops();
  cuda.convert_ops = &cuda_convert_ops();
  cuda.apv_ops = &cuda_apv_inverse_ops();
  cuda.apv_forward_ops = &cuda_apv_forward_ops();
  cuda.transpose_ops = &cuda_transpose_ops();
  return cuda;
}
#endif

const std::vector<Engine>& engines() { return chosen(); }

std::vector<const Engine*> engine_of_each_kind() {
  std::vector<const Engine*> all;
  bool seen[2] = {};
  for (const Engine& engine : engines()) {
    if (seen[engine.is_cuda ? 1 : 0]) continue;
    seen[engine.is_cuda ? 1 : 0] = true;
    all.push_back(&engine);
  }
  return all;
}

const Engine& portable_engine() {
  static const Engine engine = [] {
    Engine portable = {"portable", make_host_device(1), &portable_dct8x8_ops()};
    portable.dwt_ops = &portable_dwt_ops();
    portable.obmc_ops = &portable_obmc_ops();
    portable.range_ops = &portable_range_ops();
    portable.resize_ops = &portable_resize_ops();
    portable.rgb_ops = &portable_rgb_ops();
    portable.apv_ops = &portable_apv_inverse_ops();
    portable.apv_forward_ops = &portable_apv_forward_ops();
    return portable;
  }();
  return engine;
}

bool quick() {
  return set("CUDATRANSFORM_TEST_QUICK") || set("CUDATRANSFORM_VALGRIND") || sanitized();
}

bool sanitized() { return set("CUDATRANSFORM_SANITIZED"); }

size_t case_step() {
  if (!quick()) return 1;
  if (!sanitized()) return 24;
  return set("CUDATRANSFORM_TEST_QUICK") ? 5 : 1;
}

bool choose_engines(int* argc, char** argv, int* exit_code) {
  std::string_view which = "all";
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--engine="))
      which = argument.substr(std::strlen("--engine="));
    else
      argv[kept++] = argv[i];
  }
  *argc = kept;
  if (which != "host" && which != "cuda" && which != "all") {
    std::fprintf(stderr, "--engine= takes host, cuda or all\n");
    *exit_code = 2;
    return false;
  }

  if (which != "cuda") add_host_engines(&chosen());
  if (which != "host") {
    const Status status = add_cuda_engine(&chosen());
    if (!status.ok()) {
      std::printf("no CUDA engine: %s\n", status.message.c_str());
      if (set("CUDATRANSFORM_REQUIRE_GPU") || chosen().empty()) {
        *exit_code = set("CUDATRANSFORM_REQUIRE_GPU") ? 1 : kSkip;
        return false;
      }
    }
  }
  for (const Engine& engine : chosen())
    std::printf("engine %s on %s\n", engine.name.c_str(), engine.device->name());
  return true;
}

}  // namespace cudatransform::test
