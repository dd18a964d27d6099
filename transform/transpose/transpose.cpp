// The checks that keep a transposition inside its buffers, and the CPU engine's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/transpose/transpose.h"

#include <algorithm>
#include <cstring>

#include "transform/device/host_threads.h"
#include "transform/picture_check.h"

namespace cudatransform {

namespace {

// Output rows that a thread takes, and the columns that it writes of each before the next row: the
// input's lines stay in the cache where its columns are read.
constexpr int32_t kStripRows = 32, kColumns = 32;

struct Extent {
  uintptr_t begin, end;
};
Extent extent_of(const void* data, ptrdiff_t pitch, int64_t row_bytes, int32_t rows) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + static_cast<uintptr_t>(pitch) * static_cast<uintptr_t>(rows - 1) +
                     static_cast<uintptr_t>(row_bytes)};
}

template <int kChannels>
void transpose_strip(const TransposeJob& job, int32_t first) {
  const Orientation& by = job.orientation;
  // The input's bytes from an output pixel to its right neighbor, and to the one below it.
  ptrdiff_t right = by.transposes ? job.from_pitch : kChannels;
  ptrdiff_t down = by.transposes ? kChannels : job.from_pitch;
  const auto* from = static_cast<const uint8_t*>(job.from);
  if (by.mirrors_x) {
    from += right * (job.width - 1);
    right = -right;
  }
  if (by.mirrors_y) {
    from += down * (job.height - 1);
    down = -down;
  }
  const int32_t last = std::min(first + kStripRows, job.height);
  for (int32_t x = 0; x < job.width; x += kColumns) {
    const int32_t count = std::min(kColumns, job.width - x);
    for (int32_t y = first; y < last; ++y) {
      const uint8_t* in = from + x * right + y * down;
      uint8_t* out = static_cast<uint8_t*>(job.to) + y * job.to_pitch + ptrdiff_t{x} * kChannels;
      for (int32_t i = 0; i < count; ++i, in += right, out += kChannels)
        std::memcpy(out, in, kChannels);
    }
  }
}

void transpose(HostThreads& threads, const TransposeJob& job) {
  const int32_t strips = (job.height + kStripRows - 1) / kStripRows;
  threads.for_each(strips, [&](int32_t strip) {
    (job.channels == 1 ? transpose_strip<1> : transpose_strip<3>)(job, strip * kStripRows);
  });
}

Status submit(Device& device, Queue& queue, std::span<const TransposeJob> jobs, FencePtr* fence) {
  for (const TransposeJob& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for a transposition",
                                 [&](HostThreads& threads) -> Status {
                                   for (const TransposeJob& job : jobs) transpose(threads, job);
                                   return {};
                                 }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

Status validate(const TransposeJob& job) {
  if (job.channels != 1 && job.channels != 3)
    return job_error(text(job.channels) + " channels, expected 1 or 3");
  if (job.width < 1 || job.height < 1 || job.width > kMaxTransposeSide ||
      job.height > kMaxTransposeSide) {
    return job_error("a picture of " + text(job.width) + " x " + text(job.height) +
                     " pixels, expected 1 to " + text(kMaxTransposeSide) + " on a side");
  }
  const int64_t from_bytes = int64_t{job.from_width()} * job.channels;
  const int64_t to_bytes = int64_t{job.width} * job.channels;
  CT_RETURN_IF_ERROR(
      check_pitch({"input", 0}, job.from, job.from_pitch, from_bytes, job.from_height(), 1));
  CT_RETURN_IF_ERROR(check_pitch({"output", 0}, job.to, job.to_pitch, to_bytes, job.height, 1));
  const Extent from = extent_of(job.from, job.from_pitch, from_bytes, job.from_height());
  const Extent to = extent_of(job.to, job.to_pitch, to_bytes, job.height);
  if (from.begin < to.end && to.begin < from.end) return job_error("the output overlaps the input");
  return {};
}

const TransposeOps& host_transpose_ops() {
  static constexpr TransposeOps kOps = {"cpu", submit};
  return kOps;
}

}  // namespace cudatransform
