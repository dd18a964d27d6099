// Fuzz target: the parallel decoder of JPEG scans is right wherever it reports nothing, and
// JpegReader's results do not depend on JpegScanDecoder.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The portable engine takes the CUDA engine's steps, one after another; libjpeg judges.
#include <cstdlib>
#include <memory>

#include "tests/fuzz/fuzzing.h"
#include "tests/jpeg/scans_judge.h"
#include "transform/device/host_device.h"

namespace {

using namespace cudatransform;

constexpr size_t kMostLevels = size_t{1} << 21;
constexpr size_t kMostFileBytes = size_t{1} << 20;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<Device> device = make_host_device(1);
  static fuzzing::GuardedMemory file(kMostFileBytes);
  if (size > kMostFileBytes) return 0;
  test::ScansDecoder decoder(*device, portable_jpeg_decode_ops());
  const test::ScansOutcome outcome =
      test::judge_scans(file.copy(data, size), size, decoder, kMostLevels);
  fuzzing::promise(outcome.wrong.empty(), outcome.wrong.c_str());
  return 0;
}
