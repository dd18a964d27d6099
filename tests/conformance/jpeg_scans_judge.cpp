// What the parallel decoder makes of a JPEG file, judged by libjpeg-turbo.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/jpeg_scans_judge.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace cudatransform::test {
namespace {

constexpr int16_t kUntouched = 0x5a5a;

bool same_tables(const JpegTables& a, const JpegTables& b, int components) {
  for (int c = 0; c < components; ++c)
    if (a.table_of[c] != b.table_of[c] || a.tables[a.table_of[c]] != b.tables[b.table_of[c]])
      return false;
  return a.count == b.count;
}

// Whether the first frame header is one of sequential Huffman coding.
bool is_sequential(const uint8_t* data, size_t size) {
  for (size_t at = 2; at + 4 <= size && data[at] == 0xff;) {
    const uint8_t code = data[at + 1];
    if (code == 0xff) {
      ++at;
      continue;
    }
    if (code == 0xc0 || code == 0xc1) return true;
    at += 2 + (size_t{data[at + 2]} << 8 | data[at + 3]);
  }
  return false;
}

// What JpegReader makes of a file.
struct Reading {
  LevelsMemory levels;
  JpegTables tables;
  std::string damage;
  Status status;
  bool was_fast = false;

  Reading(const uint8_t* data, size_t size, const JpegReading& how, JpegHeader header)
      : levels(header) {
    JpegReader reader;
    (void)reader.read_header(data, size, &header);
    status = reader.read_coefficients(levels.levels(), &tables, &damage, how);
    was_fast = reader.was_fast();
  }
};

// What is wrong with JpegScanDecoder; empty if nothing is.
std::string judge_fast(const uint8_t* data, size_t size, const JpegHeader& header, bool* was_fast) {
  const Reading slow(data, size, {true, nullptr, false}, header);
  const Reading fast(data, size, {true, nullptr, true}, header);
  *was_fast = fast.was_fast;
  if (slow.was_fast) return "libjpeg was not asked";
  if (fast.was_fast && (!slow.status.ok() || !slow.damage.empty()))
    return "libjpeg finds damage that JpegScanDecoder does not: " + slow.damage;
  if (slow.status.code != fast.status.code || slow.status.message != fast.status.message ||
      slow.damage != fast.damage)
    return "another verdict with JpegScanDecoder";
  if (!same_tables(slow.tables, fast.tables, header.components))
    return "other quantisation tables with JpegScanDecoder";
  if (!fast.levels.margins_are_whole()) return "JpegScanDecoder writes outside of the picture";
  const std::string difference = fast.levels.difference(slow.levels);
  return difference.empty() ? difference : "with JpegScanDecoder, " + difference;
}

struct Freed {
  void operator()(uint8_t* block) const { std::free(block); }
};

}  // namespace

LevelsMemory::LevelsMemory(const JpegHeader& header) : components_(header.components) {
  for (int c = 0; c < components_; ++c) {
    const size_t row = size_t{64} * header.blocks_w[c];
    memory_[c].assign(2 * kMargin + row * header.blocks_h[c], kUntouched);
    levels_[c] = {memory_[c].data() + kMargin, static_cast<ptrdiff_t>(row * sizeof(int16_t)),
                  header.blocks_w[c], header.blocks_h[c]};
  }
}

bool LevelsMemory::margins_are_whole() const {
  const auto is_whole = [](int16_t level) { return level == kUntouched; };
  for (int c = 0; c < components_; ++c) {
    const auto& memory = memory_[c];
    if (!std::all_of(memory.begin(), memory.begin() + kMargin, is_whole) ||
        !std::all_of(memory.end() - kMargin, memory.end(), is_whole))
      return false;
  }
  return true;
}

std::string LevelsMemory::difference(const LevelsMemory& other) const {
  for (int c = 0; c < components_; ++c) {
    if (memory_[c] == other.memory_[c]) continue;
    size_t at = 0;
    while (memory_[c][at] == other.memory_[c][at]) ++at;
    const size_t level = at - kMargin, block = level / 64;
    return "component " + std::to_string(c) + ", block " +
           std::to_string(block % levels_[c].blocks_w) + ", " +
           std::to_string(block / levels_[c].blocks_w) + ", level " + std::to_string(level % 64) +
           ": " + std::to_string(memory_[c][at]) + ", expected " +
           std::to_string(other.memory_[c][at]);
  }
  return {};
}

Status ScansDecoder::run(const JpegScans& scans, const uint8_t* block, LevelsMemory* levels,
                         JpegDecodeResult* result) {
  Queue& queue = device_.queue(QueueKind::kCompute);
  std::unique_ptr<Memory> planes[kJpegMaxComponents], pinned, told;
  JpegDecodeJob job;
  job.scans = &scans;
  CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kPinned, scans.bytes, &pinned));
  std::memcpy(pinned->data(), block, scans.bytes);
  job.block = static_cast<const uint8_t*>(pinned->data());
  CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kPinned, sizeof *result, &told));
  std::memset(told->data(), 0xff, sizeof *result);
  job.result = static_cast<JpegDecodeResult*>(told->data());
  const auto all = [&](int c) {
    Copy2D copy;
    copy.row_bytes = levels->memory(c).size() * sizeof(int16_t);
    copy.rows = 1;
    copy.dst_pitch = copy.src_pitch = static_cast<ptrdiff_t>(copy.row_bytes);
    return copy;
  };
  for (int c = 0; c < levels->components(); ++c) {
    Copy2D copy = all(c);
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, copy.row_bytes, &planes[c]));
    copy.dst = planes[c]->data();
    copy.src = levels->memory(c).data();
    CT_RETURN_IF_ERROR(device_.upload(queue, copy));
    job.levels[c] = levels->levels()[c];
    job.levels[c].data = static_cast<int16_t*>(planes[c]->data()) + LevelsMemory::kMargin;
  }
  FencePtr done;
  CT_RETURN_IF_ERROR(ops_.submit(device_, queue, job, &done));
  CT_RETURN_IF_ERROR(done->wait());
  for (int c = 0; c < levels->components(); ++c) {
    Copy2D copy = all(c);
    copy.src = planes[c]->data();
    copy.dst = levels->memory(c).data();
    CT_RETURN_IF_ERROR(device_.download(queue, copy));
  }
  FencePtr fetched;
  CT_RETURN_IF_ERROR(queue.record(&fetched));
  CT_RETURN_IF_ERROR(fetched->wait());
  *result = *job.result;
  return {};
}

JpegDecodeResult ScansDecoder::operator()(const JpegScans& scans, const uint8_t* block,
                                          LevelsMemory* levels) {
  JpegDecodeResult result;
  const Status status = run(scans, block, levels, &result);
  failure_ = status.ok() ? std::string() : status.message;
  return result;
}

ScansOutcome judge_scans(const uint8_t* data, size_t size, ScansDecoder& decoder,
                         size_t most_levels) {
  ScansOutcome outcome;
  JpegReader reader;
  JpegHeader header;
  if (!reader.read_header(data, size, &header).ok()) return outcome;
  size_t levels = 0;
  for (int c = 0; c < header.components; ++c)
    levels += size_t{64} * header.blocks_w[c] * header.blocks_h[c];
  if (levels > most_levels || size < header.least_bytes) return outcome;
  outcome.for_us = is_sequential(data, size);
  LevelsMemory judged(header);
  JpegTables judged_tables;
  std::string damage;
  const Status status =
      reader.read_coefficients(judged.levels(), &judged_tables, &damage, {false, nullptr, false});
  outcome.judged_sound = status.ok() && damage.empty();

  outcome.wrong = judge_fast(data, size, header, &outcome.was_fast);
  if (!outcome.wrong.empty()) return outcome;

  outcome.verdict = ScansVerdict::kNo;
  JpegScanReader scan_reader;
  const size_t bytes = scan_reader.measure(data, size);
  if (bytes == 0) return outcome;
  // To the byte, so that sanitisers see what reads beyond.
  const size_t rounded = (bytes + 15) / 16 * 16;
  const std::unique_ptr<uint8_t, Freed> block(
      static_cast<uint8_t*>(std::aligned_alloc(16, rounded)));
  JpegScans scans;
  if (!scan_reader.read(block.get(), &scans)) return outcome;
  if (scans.bytes > bytes) outcome.wrong = "more bytes than measured";
  for (int c = 0; c < header.components; ++c) {
    if (scans.components != header.components || scans.blocks_w[c] != header.blocks_w[c] ||
        scans.blocks_h[c] != header.blocks_h[c])
      outcome.wrong = "other sizes than libjpeg has";
  }
  if (!outcome.wrong.empty()) return outcome;
  outcome.subsequences = scans.subsequences;

  LevelsMemory decoded(header);
  const JpegDecodeResult result = decoder(scans, block.get(), &decoded);
  outcome.reported = result.damage;
  outcome.is_whole = result.segments == scans.segments;
  outcome.wrong = decoder.failure();
  if (!decoded.margins_are_whole()) outcome.wrong = "levels were written outside of the picture";
  const bool is_sound = is_decoded(scans, result);
  outcome.verdict = is_sound ? ScansVerdict::kSound : ScansVerdict::kDamaged;
  if (!is_sound || !outcome.wrong.empty()) return outcome;
  if (!outcome.judged_sound)
    outcome.wrong = "libjpeg finds damage: " + (status.ok() ? damage : status.message);
  else if (!same_tables(scans.tables, judged_tables, header.components))
    outcome.wrong = "other quantisation tables";
  else
    outcome.wrong = decoded.difference(judged);
  return outcome;
}

}  // namespace cudatransform::test
