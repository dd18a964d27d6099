// Fuzz targets of streams of APV: headers and entropy decoding hold for any bytes, tiles give the
// same coefficients in every order, and work follows from the bytes (fuzz_apv); splitting takes
// time linear in the bytes, for any claims and any cuts (fuzz_apv_splitter).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: for the splitter the sizes of pieces, then a stream.
#include <algorithm>
#include <vector>

#include "apv/access_unit.h"
#include "apv/frame.h"
#include "apv/frame_writer.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace cudatransform;
using fuzzing::promise;

constexpr uint64_t kMaxUnitBytes = 1 << 16;

void check_frame(ApvFrame& frame) {
  const int tiles = static_cast<int>(frame.tiles().size());
  promise(tiles == frame.header().tiles(), "all tiles have been read");
  promise(frame.coef_count() * ApvFrame::kMinBlockBits <=
              64 * 8 * ApvFrame::kMaxOverclaim * frame.payload().size(),
          "work is linear in the bytes");
  std::vector<int16_t> coefs(frame.coef_count(), 1), backwards(frame.coef_count(), 2);
  const size_t chains = frame.chain_count();
  for (size_t i = 0; i < chains; ++i) frame.decode_chain(i, coefs.data());
  const int damaged = frame.damaged_chains();
  promise((damaged > 0) == (frame.damage() != nullptr), "damage has a name");
  for (size_t i = chains; i-- > 0;) frame.decode_chain(i, backwards.data());
  promise(frame.damaged_chains() == 2 * damaged, "damage is the same in every order");
  promise(coefs == backwards, "chains may be decoded in any order, and write all coefficients");
  const ApvInverseJob job = frame.inverse_job();
  for (int c = 0; c < job.components; ++c) {
    for (int i = 0; i < tiles; ++i)
      promise(job.plane[c].qp[i] <= max_apv_qp(job.depth), "parameters are in their range");
  }
}

// Payloads are in the unit, and are written unchanged.
void check_metadata(const ApvMetadata& metadata, std::span<const uint8_t> bytes) {
  for (const ApvPayload& payload : metadata.payloads()) {
    promise(payload.bytes.empty() ||
                (payload.bytes.data() >= bytes.data() &&
                 payload.bytes.data() + payload.bytes.size() <= bytes.data() + bytes.size()),
            "payloads lie in the unit");
  }
  constexpr size_t kHeader = 8;  // pbu_size, and the header of the PBU
  const ApvBytes unit = make_apv_metadata(metadata, {});
  if (unit.empty()) return;
  ApvMetadata again;
  read_apv_metadata({unit.data() + kHeader, unit.size() - kHeader}, &again);
  promise(!again.is_damaged, "written metadata are sound");
  promise(again.mastering == metadata.mastering && again.light == metadata.light,
          "light is written as it was");
  promise(std::equal(again.payloads().begin(), again.payloads().end(), metadata.payloads().begin(),
                     metadata.payloads().end(),
                     [](const ApvPayload& a, const ApvPayload& b) {
                       return a.type == b.type && std::equal(a.bytes.begin(), a.bytes.end(),
                                                             b.bytes.begin(), b.bytes.end());
                     }),
          "payloads are written as they were");
}

void run_apv(const uint8_t* data, size_t size) {
  ApvSplitter splitter;
  for (size_t at = 0; at < size;) {
    const ApvSpan span = splitter.next({data + at, size - at}, true, kMaxUnitBytes);
    promise(span.skipped + span.size > 0 && span.skipped + span.size <= size - at,
            "there is progress, inside of the bytes");
    // Separate memory, so that a read outside of the unit is seen.
    const std::vector<uint8_t> bytes(data + at + span.skipped,
                                     data + at + span.skipped + span.size);
    at += span.skipped + span.size;
    if (span.size == 0) continue;
    ApvAccessUnit unit;
    Status status = read_apv_access_unit(bytes, &unit);
    check_metadata(unit.metadata, bytes);
    ApvFrame frame;
    if (status.ok()) status = frame.begin(unit.frame, nullptr, {});
    promise(status.ok() || !status.message.empty(), "a failure says what was wrong");
    if (status.ok()) check_frame(frame);
  }
}

void run_splitter(const uint8_t* data, size_t size) {
  fuzzing::Input input(data, size);
  const std::vector<size_t> pieces = fuzzing::sizes_of_pieces(&input);
  const size_t end = input.size();
  ApvSplitter splitter;
  uint64_t calls = 0;
  for (size_t at = 0, come = 0, piece = 0; at < end; ++calls) {
    const ApvSpan span = splitter.next({input.data() + at, come - at}, come == end, kMaxUnitBytes);
    promise(span.skipped + span.size <= come - at, "spans lie in the bytes");
    promise(span.size <= kMaxUnitBytes, "a unit is no larger than it may be");
    promise(splitter.wanted() <= kMaxUnitBytes, "no more is awaited than may be");
    at += span.skipped + span.size;
    if (span.skipped + span.size > 0) continue;
    promise(come < end, "there is progress at the end");
    come = std::min(end, come + pieces[piece++ % pieces.size()]);
  }
  promise(splitter.examined() <= ApvSplitter::max_examined(end, calls), "time is linear");
  promise(calls <= 4 * uint64_t{end} + 4, "there is progress");
}

const fuzzing::Targets targets({{"fuzz_apv", run_apv}, {"fuzz_apv_splitter", run_splitter}});

}  // namespace
