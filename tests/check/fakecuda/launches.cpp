// Launches of our kernels: the memory that they read and write, as the kernels' descriptions have
// it, and output bytes that depend on the input.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>

#include "cuda/apv/kernels.h"
#include "cuda/coeffilter/accesses.h"
#include "cuda/dct8x8/accesses.h"
#include "cuda/dirac/accesses.h"
#include "cuda/dwt/accesses.h"
#include "cuda/jpeg/accesses.h"
#include "cuda/obmc/accesses.h"
#include "cuda/range/kernels.h"
#include "cuda/ratecontrol/accesses.h"
#include "cuda/resize/accesses.h"
#include "cuda/rgb/accesses.h"
#include "cuda/transpose/kernels.h"
#include "tests/check/fakecuda/deferred.h"
#include "tests/tiny/tiny.h"

namespace fakecuda {
namespace {

using namespace cudatransform;
using namespace cudatransform::cuda;

void tiny_accesses(const test::TinyParams& params, AccessList* list) {
  list->add(params.from, params.from_pitch, params.width, params.height, false);
  list->add(params.to, params.to_pitch, params.width, params.height, true);
}
constexpr KernelAccesses kTinyAccesses[] = {CT_ACCESSES(tiny_xor, test::TinyParams, tiny_accesses)};

const KernelAccesses* accesses_of(const std::string& kernel) {
  static const auto all = [] {
    std::unordered_map<std::string, const KernelAccesses*> by_name;
    for (const std::span<const KernelAccesses> room :
         {std::span<const KernelAccesses>(kDct8x8Accesses),
          {kApvAccesses},
          {kDiracAccesses},
          {kDwtAccesses},
          {kJpegEncodeAccesses},
          {kObmcAccesses},
          {kRangeAccesses},
          {kRateAccesses},
          {kResizeAccesses},
          {kRgbAccesses},
          {kCoefFilterAccesses},
          {kTransposeAccesses},
          {kTinyAccesses}})
      for (const KernelAccesses& each : room) by_name.emplace(each.kernel, &each);
    return by_name;
  }();
  const auto found = all.find(kernel);
  return found == all.end() ? nullptr : found->second;
}

std::vector<Area> areas_of(const std::vector<Access>& accesses) {
  std::vector<Area> areas;
  for (const Access& access : accesses)
    areas.push_back({reinterpret_cast<uintptr_t>(access.first), static_cast<size_t>(access.pitch),
                     static_cast<size_t>(access.width), static_cast<size_t>(access.rows),
                     access.is_written, access.on_host, static_cast<size_t>(access.unit),
                     static_cast<size_t>(access.step)});
  return areas;
}

// ---- Bytes ----

uint64_t mix(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

template <typename Visit>
void visit_bytes(const Area& area, Visit&& visit) {
  for (size_t row = 0; row < area.rows; row++) {
    auto* bytes = reinterpret_cast<unsigned char*>(area.first + row * area.pitch);
    for (size_t at = 0; at < area.width; at += area.step)
      for (size_t i = 0; i < area.unit; i++) visit(&bytes[at + i]);
  }
}

// Every second byte is 0: 16-bit numbers are quantized coefficients that a JPEG file can hold.
void fill(const Area& area, uint64_t seed) {
  size_t index = 0;
  visit_bytes(area, [&](unsigned char* byte) {
    *byte = index % 2 == 0
                ? static_cast<unsigned char>(mix(seed + index / 16) >> 7 * (index / 2 % 8) & 0x7f)
                : 0;
    index++;
  });
}

// They grow, as times do.
void fill_numbers(const Area& area, uint64_t seed) {
  for (size_t i = 0; i < area.width / sizeof(uint64_t); i++) {
    const uint64_t number = seed % 97 + 1 + 1000 * i;
    std::memcpy(reinterpret_cast<void*>(area.first + i * sizeof number), &number, sizeof number);
  }
}

void make_output(const std::vector<Area>& data, const std::vector<Area>& numbers) {
  uint64_t seed = 0xcbf29ce484222325;
  for (const Area& area : data)
    if (!area.written)
      visit_bytes(area, [&](const unsigned char* byte) { seed = (seed ^ *byte) * 0x100000001b3; });
  seed = mix(seed);
  for (size_t i = 0; i < data.size(); i++)
    if (data[i].written) fill(data[i], seed + i);
  for (const Area& area : numbers) fill_numbers(area, seed);
}

// Frames that share a launch do not depend on each other.
void make_apv_frames(const ApvEntropyParams& params) {
  for (uint32_t i = 0; i < params.frame_count; i++) {
    ApvEntropyParams one = {};
    one.frames[0] = params.frames[i];
    one.frame_count = 1;
    AccessList list;
    apv_entropy_accesses(one, &list);
    make_output(areas_of(list.data()), {});
  }
}

// ---- Kernels that code JPEG scans: they run the host's code ----

JpegEncodeJob job_of(const EncodeParams& params) {
  JpegEncodeJob job;
  job.layout = params.layout;
  std::copy_n(params.qcoefs, kJpegMaxComponents, job.qcoefs);
  job.codes = params.codes;
  job.output = params.output;
  job.capacity = params.capacity;
  job.result = params.result;
  job.counts = params.counts;
  return job;
}

// The first kernel has no visible output; the second does all the work.
std::function<void()> computation_of(const std::string& kernel, const EncodeParams& params) {
  if (kernel == "jpeg_encode_count_symbols")
    return [params] { count_jpeg_symbols(job_of(params)); };
  if (kernel == "jpeg_encode_write_tiles")
    return [params] { (void)encode_jpeg_scan(job_of(params)); };
  return [] {};
}

}  // namespace

bool computes(const std::string& kernel) {
  return kernel.starts_with("jpeg_encode_") || is_apv_encoder_kernel(kernel);
}

Operation launch_of(const std::string& kernel, unsigned ctas, void** parameters) {
  Operation made;
  made.what = kernel;
  const KernelAccesses* const known = accesses_of(kernel);
  AccessList list;
  if (known != nullptr) known->find(parameters[0], ctas, &list);
  const std::vector<Area> data = areas_of(list.data()), numbers = areas_of(list.numbers());
  made.areas = data;
  made.areas.insert(made.areas.end(), numbers.begin(), numbers.end());
  if (is_apv_encoder_kernel(kernel))
    made.make = apv_computation_of(kernel, ctas, parameters[0]);
  else if (computes(kernel))
    made.make = computation_of(kernel, *static_cast<const EncodeParams*>(parameters[0]));
  else if (kernel == "apv_entropy")
    made.make = [params = *static_cast<const ApvEntropyParams*>(parameters[0])] {
      make_apv_frames(params);
    };
  else
    made.make = [data, numbers] { make_output(data, numbers); };
  return made;
}

}  // namespace fakecuda
