// Fuzz targets: JpegReader keeps its promises for any file and agrees with plain libjpeg
// (fuzz_jpeg_reader); the parallel decoder of scans is right wherever it reports nothing
// (fuzz_jpeg_scans).
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reader decodes every file twice, into tightly packed rows and into unaligned rows with gaps,
// over two different fillings: an unwritten quantized coefficient shows as a difference. The rows
// end at an inaccessible page, and so does the file.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <string>

#include "jpeg/coef_arrays.h"
#include "jpeg/reader.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/jpeg/scans_judge.h"
#include "transform/device/host_device.h"

namespace {

using namespace cudatransform;
using fuzzing::GuardedMemory;
using fuzzing::promise;

constexpr uint64_t kMaxPixels = uint64_t{1} << 20;
constexpr size_t kMaxQcoefBytes = size_t{1} << 23;
constexpr size_t kMaxFileBytes = size_t{1} << 22;

// Libraries of the distribution are not instrumented, so libFuzzer has no coverage of libjpeg. This
// section tells it libjpeg's messages: it looks at all of the section.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t outcomes[4096];

void report_to_fuzzer(const std::string& text, unsigned detail) {
  unsigned sum = detail;  // numbers in the text would make each file look new
  for (const char character : text)
    if (std::isalpha(static_cast<unsigned char>(character))) sum = sum * 31 + character;
  outcomes[sum % sizeof outcomes] = 1;
}

void check_header(const JpegHeader& header) {
  promise(header.width >= 1 && header.height >= 1, "a picture has samples");
  promise(header.width <= JPEG_MAX_DIMENSION && header.height <= JPEG_MAX_DIMENSION,
          "a picture is no larger than libjpeg's limit");
  promise(header.depth == 8 || header.depth == 12, "depth");
  promise(header.components == components_of(header.color),
          "the color space goes with the number of components");
  JpegSampling reduced = header.sampling;
  reduced.reduce(header.components);
  promise(reduced == header.sampling, "sampling factors have no common divisor");
  promise(header.sampling.max_h() <= 4 && header.sampling.max_v() <= 4, "sampling factors");
  for (int c = 0; c < header.components; c++) {
    promise(header.blocks_w[c] == header.sampling.blocks_w(header.width, c), "blocks_w");
    promise(header.blocks_h[c] == header.sampling.blocks_h(header.height, c), "blocks_h");
  }
}

void check_tables(const JpegTables& tables, int components) {
  promise(tables.count >= 1 && tables.count <= components, "there are tables");
  for (int t = 0; t < tables.count; t++) promise(!tables.tables[t].is_blank(), "no table is blank");
  for (int c = 0; c < components; c++)
    promise(tables.table_of[c] >= 0 && tables.table_of[c] < tables.count,
            "every component has a table");
}

// Quantized coefficients of a picture: rows of `gap` extra bytes each (an odd multiple of 2: not
// aligned); the last row ends at the guard.
class Target {
 public:
  Target(size_t gap, uint8_t fill) : gap_(gap), fill_(fill) {}

  void lay_out(const JpegHeader& header) {
    components_ = header.components;
    for (int c = 0; c < components_; c++) {
      qcoefs[c].blocks_w = header.blocks_w[c];
      qcoefs[c].blocks_h = header.blocks_h[c];
      qcoefs[c].stride = static_cast<ptrdiff_t>(row_bytes(c) + gap_);
      qcoefs[c].data = reinterpret_cast<int16_t*>(memory_[c].last(size_of(c), fill_));
    }
  }
  size_t row_bytes(int c) const { return sizeof(JBLOCK) * qcoefs[c].blocks_w; }
  const uint8_t* row(int c, uint32_t y) const {
    return reinterpret_cast<const uint8_t*>(qcoefs[c].data) + y * qcoefs[c].stride;
  }
  void check_gaps() const {
    for (int c = 0; c < components_; c++) {
      promise(memory_[c].margin_is(size_of(c), fill_),
              "nothing is written before the coefficients");
      for (uint32_t y = 0; y + 1 < qcoefs[c].blocks_h; y++) {
        const uint8_t* gap = row(c, y) + row_bytes(c);
        promise(std::all_of(gap, gap + gap_, [this](uint8_t byte) { return byte == fill_; }),
                "nothing is written between rows");
      }
    }
  }

  JpegQcoefs qcoefs[kJpegMaxComponents];

 private:
  size_t size_of(int c) const {
    return qcoefs[c].blocks_h * static_cast<size_t>(qcoefs[c].stride) - gap_;
  }
  size_t gap_;
  uint8_t fill_;
  int components_ = 0;
  GuardedMemory memory_[kJpegMaxComponents] = {
      GuardedMemory(kMaxQcoefBytes), GuardedMemory(kMaxQcoefBytes), GuardedMemory(kMaxQcoefBytes),
      GuardedMemory(kMaxQcoefBytes)};
};

struct Outcome {
  Status status;
  JpegHeader header;
  bool decoded = false;
  JpegTables tables;
  JpegFindings found;
};

Outcome decode(JpegReader* reader, const uint8_t* data, size_t size, Target* target) {
  Outcome outcome;
  outcome.status = reader->read_header({data, size}, &outcome.header);
  if (!outcome.status.ok()) {
    promise(!outcome.status.message.empty(), "a failure says what it is");
    return outcome;
  }
  check_header(outcome.header);
  if (uint64_t{outcome.header.width} * outcome.header.height > kMaxPixels) return outcome;
  target->lay_out(outcome.header);
  outcome.status = reader->read_coefficients(target->qcoefs, &outcome.tables, &outcome.found);
  outcome.decoded = true;
  target->check_gaps();
  check_tables(outcome.tables, outcome.header.components);
  for (int c = 0; c < outcome.header.components; c++)
    promise(check_qcoefs(target->qcoefs[c], c, outcome.header.depth).ok(),
            "all coefficients are such as JPEG of that depth has");
  promise(outcome.status.ok() || !outcome.found.damage.empty(),
          "a decoder that gave up names a damage");
  if (outcome.found.damage.empty())
    promise(size >= outcome.header.min_bytes, "no complete file is smaller than min_bytes");
  return outcome;
}

void compare(const Outcome& a, const Target& qcoefs_a, const Outcome& b, const Target& qcoefs_b) {
  promise(a.status.code == b.status.code && a.status.message == b.status.message,
          "a file is decoded with the same result again");
  promise(a.decoded == b.decoded && a.found.damage == b.found.damage,
          "a file has the same damage again");
  promise(a.found.irregular == b.found.irregular, "a file is as irregular again");
  promise(a.found.damage.empty() || a.found.irregular == 0, "no damaged file is irregular");
  if (!a.decoded) return;
  promise(a.tables.count == b.tables.count, "a file has as many tables again");
  for (int c = 0; c < a.header.components; c++) {
    promise(memcmp(&a.tables.tables[a.tables.table_of[c]], &b.tables.tables[b.tables.table_of[c]],
                   sizeof(QuantTable)) == 0,
            "a file has the same tables again");
    for (uint32_t y = 0; y < a.header.blocks_h[c]; y++)
      promise(memcmp(qcoefs_a.row(c, y), qcoefs_b.row(c, y), qcoefs_a.row_bytes(c)) == 0,
              "all coefficients are written, and the same wherever they lie");
  }
}

// libjpeg with separate memory.
void compare_with_libjpeg(const uint8_t* data, size_t size, const Outcome& outcome,
                          const Target& target) {
  JpegErrors errors;
  jpeg_decompress_struct cinfo = {};
  cinfo.err = errors.manager();
  const Status status = errors.guard([&] {
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, data, size);
    jpeg_read_header(&cinfo, TRUE);
    jvirt_barray_ptr* arrays = jpeg_read_coefficients(&cinfo);
    for (int c = 0; c < outcome.header.components; c++)
      for (uint32_t y = 0; y < outcome.header.blocks_h[c]; y++) {
        JBLOCKARRAY row = cinfo.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&cinfo),
                                                        arrays[c], y, 1, FALSE);
        // Ours to change: the array is not read again.
        const uint32_t blocks = outcome.header.blocks_w[c];
        if (!outcome.found.damage.empty())
          clamp_qcoefs({row[0][0], static_cast<ptrdiff_t>(sizeof(JBLOCK) * blocks), blocks, 1},
                       outcome.header.depth);
        promise(memcmp(row[0], target.row(c, y), target.row_bytes(c)) == 0,
                "the coefficients are libjpeg's, and those of damaged files clamped");
      }
  });
  promise(status.ok(), "libjpeg decodes what we decode");
  jpeg_destroy_decompress(&cinfo);
}

void run_reader(const uint8_t* data, size_t size) {
  static GuardedMemory file(kMaxFileBytes);
  static Target packed(0, 0x11), spread(10, 0xee);
  if (size > kMaxFileBytes) return;
  const uint8_t* copy = file.copy(data, size);
  JpegReader reader;  // reused: nothing of the first run may be left
  const Outcome first = decode(&reader, copy, size, &packed);
  const Outcome second = decode(&reader, copy, size, &spread);
  compare(first, packed, second, spread);
  report_to_fuzzer(first.status.message, first.header.components);
  report_to_fuzzer(first.found.damage, first.tables.count);
  report_to_fuzzer("irregular", first.found.irregular);
  if (first.decoded && first.status.ok()) compare_with_libjpeg(copy, size, first, packed);
}

// The portable engine takes the CUDA engine's steps, one after another; libjpeg judges.
constexpr size_t kMaxQcoefs = size_t{1} << 21;
constexpr size_t kMaxInputBytes = size_t{1} << 20;

void run_scans(const uint8_t* data, size_t size) {
  static const std::unique_ptr<Device> device = make_host_device(1);
  static fuzzing::GuardedMemory file(kMaxInputBytes);
  if (size > kMaxInputBytes) return;
  test::ScansDecoder decoder(*device, portable_jpeg_decode_ops());
  const test::ScansOutcome outcome =
      test::judge_scans(file.copy(data, size), size, decoder, kMaxQcoefs);
  fuzzing::promise(outcome.wrong.empty(), outcome.wrong.c_str());
}

const fuzzing::Targets targets({{"fuzz_jpeg_reader", run_reader}, {"fuzz_jpeg_scans", run_scans}});

}  // namespace
