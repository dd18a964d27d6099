// The tiny transform's checks, and its engine on the CPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/tiny/tiny.h"

namespace cudatransform::test {
namespace {

bool is_plane(const SamplePlane& plane) {
  return plane.data != nullptr && plane.width > 0 && plane.height > 0 &&
         plane.pitch >= plane.width && plane.type == SampleType::kU8 && plane.stride == 1 &&
         plane.row_repeat == 1;
}

Status submit(Device& device, Queue& queue, const TinyJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (!device.is_host()) return Status::error(StatusCode::kInvalidArgument, "not the host device");
  for (int c = 0; c < job.components; ++c) {
    const auto* from = static_cast<const uint8_t*>(job.from[c].data);
    auto* to = static_cast<uint8_t*>(job.to[c].data);
    for (int32_t y = 0; y < job.from[c].height; ++y)
      for (int32_t x = 0; x < job.from[c].width; ++x)
        to[y * job.to[c].pitch + x] =
            static_cast<uint8_t>(from[y * job.from[c].pitch + x] ^ job.mask);
  }
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

Status validate(const TinyJob& job) {
  if (job.components < 1 || job.components > kMaxComponents)
    return Status::error(StatusCode::kInvalidArgument, "as many components do not exist");
  for (int c = 0; c < job.components; ++c) {
    const SamplePlane &from = job.from[c], &to = job.to[c];
    if (!is_plane(from) || !is_plane(to) || from.width != to.width || from.height != to.height)
      return Status::error(StatusCode::kInvalidArgument,
                           "planes of component " + std::to_string(c) + " do not fit");
  }
  return {};
}

const TinyOps& host_tiny_ops() {
  static constexpr TinyOps kOps = {"host", submit};
  return kOps;
}

}  // namespace cudatransform::test
