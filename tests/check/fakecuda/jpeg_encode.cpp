// The kernels that code JPEG scans, on the fake driver: they run the host's code.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/jpeg/encode_params.h"
#include "tests/check/fakecuda/kernels.h"

namespace fakecuda {
namespace {

using namespace cudatransform;
using namespace cudatransform::cuda;

JpegEncodeJob job_of(const EncodeParams& params) {
  JpegEncodeJob job;
  job.layout = params.layout;
  std::copy_n(params.levels, kJpegMaxComponents, job.levels);
  job.codes = params.codes;
  job.output = params.output;
  job.capacity = params.capacity;
  job.result = params.result;
  job.counts = params.counts;
  return job;
}

Area area_of(const void* first, size_t bytes, bool written, bool on_host) {
  return {reinterpret_cast<uintptr_t>(first), bytes, bytes, 1, written, on_host};
}

}  // namespace

// The first kernel has no visible input or output; the second does all the work.
Operation jpeg_encode_launch_of(const std::string& kernel, void** parameters) {
  const EncodeParams params = *static_cast<const EncodeParams*>(parameters[0]);
  const JpegScanLayout& scan = params.layout;
  Operation made;
  made.what = kernel;
  for (uint32_t c = 0; c < scan.components; ++c)
    made.areas.push_back({reinterpret_cast<uintptr_t>(params.levels[c].data),
                          static_cast<size_t>(params.levels[c].stride),
                          size_t{scan.blocks_w[c]} * 64 * sizeof(int16_t), scan.blocks_h[c], false,
                          false});
  made.make = [] {};
  if (kernel == "jpeg_encode_count_symbols") {
    made.areas.push_back(area_of(params.counts, sizeof(JpegSymbolCounts), true, false));
    made.make = [params] { count_jpeg_symbols(job_of(params)); };
  } else if (kernel == "jpeg_encode_write_tiles") {
    made.areas.push_back(area_of(params.codes, sizeof(JpegCodes), false, false));
    made.areas.push_back(area_of(params.output, params.capacity, true, false));
    made.areas.push_back(area_of(params.result, sizeof(JpegEncodeResult), true, true));
    made.make = [params] { (void)encode_jpeg_scan(job_of(params)); };
  }
  return made;
}

}  // namespace fakecuda
