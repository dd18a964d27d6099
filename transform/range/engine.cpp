// The CPU engine's range conversion: rows in portable C++, strips of rows over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/range/range.h"

#include <algorithm>
#include <cstring>

#include "transform/device/host_threads.h"
#include "transform/range/arithmetic.h"
#include "transform/samples.h"

namespace cudatransform {

namespace {

constexpr int32_t kStripRows = 32;  // that a thread takes

struct ByteTable {
  uint8_t of[256];
};
constexpr ByteTable table_of(const RangeScale& by) {
  ByteTable table = {};
  for (int32_t sample = 0; sample < 256; ++sample)
    table.of[sample] = static_cast<uint8_t>(to_full_range(sample, by));
  return table;
}
constexpr ByteTable kLumaTable = table_of(kByteLuma), kChromaTable = table_of(kByteChroma);

void convert(const ByteTable& table, const uint8_t* from, uint8_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = table.of[from[i]];
}
void convert_luma(const uint8_t* from, uint8_t* to, size_t count) {
  convert(kLumaTable, from, to, count);
}
void convert_chroma(const uint8_t* from, uint8_t* to, size_t count) {
  convert(kChromaTable, from, to, count);
}

void convert_words(const RangeScale& by, int shift, const uint8_t* from, uint8_t* to,
                   size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t word;
    std::memcpy(&word, from + 2 * i, sizeof word);
    const int32_t sample = to_full_range(unpack_sample16(word, shift, by.peak), by);
    word = static_cast<uint16_t>(static_cast<uint32_t>(sample) << shift);
    std::memcpy(to + 2 * i, &word, sizeof word);
  }
}

void convert_strip(const RangeJob& job, const RangePlane& plane, const RangeRows& rows,
                   int32_t first) {
  const RangeScale by = range_scale(job.depth, plane.is_chroma);
  const auto count = static_cast<size_t>(plane.samples);
  const int32_t last = std::min(first + kStripRows, plane.rows);
  for (int32_t y = first; y < last; ++y) {
    const auto* from = static_cast<const uint8_t*>(plane.from) + y * plane.from_pitch;
    auto* to = static_cast<uint8_t*>(plane.to) + y * plane.to_pitch;
    if (job.depth == 8)
      (plane.is_chroma ? rows.chroma : rows.luma)(from, to, count);
    else
      convert_words(by, job.shift, from, to, count);
  }
}

int32_t strips_of(const RangePlane& plane) { return (plane.rows + kStripRows - 1) / kStripRows; }

Status submit(const RangeRows& rows, Device& device, Queue& queue, const RangeJob& job,
              FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  int32_t strips = 0;
  for (int p = 0; p < job.planes; ++p) strips += strips_of(job.plane[p]);
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for a range conversion",
                                 [&](HostThreads& threads) -> Status {
                                   threads.for_each(strips, [&](int32_t strip) {
                                     const RangePlane* plane = job.plane;
                                     for (; strip >= strips_of(*plane); ++plane)
                                       strip -= strips_of(*plane);
                                     convert_strip(job, *plane, rows, strip * kStripRows);
                                   });
                                   return {};
                                 }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

Status submit_portable(Device& device, Queue& queue, const RangeJob& job, FencePtr* fence) {
  return submit(portable_range_rows(), device, queue, job, fence);
}

Status submit_host(Device& device, Queue& queue, const RangeJob& job, FencePtr* fence) {
  const RangeRows* rows = vector_range_rows();
  return submit(rows != nullptr ? *rows : portable_range_rows(), device, queue, job, fence);
}

}  // namespace

const RangeRows& portable_range_rows() {
  static constexpr RangeRows kRows = {convert_luma, convert_chroma};
  return kRows;
}

const RangeOps& host_range_ops() {
  static constexpr RangeOps kOps = {"cpu", submit_host};
  return kOps;
}

const RangeOps& portable_range_ops() {
  static constexpr RangeOps kOps = {"portable", submit_portable};
  return kOps;
}

}  // namespace cudatransform
