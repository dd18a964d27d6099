// Fuzz target: JpegWriter refuses quantized coefficients and settings that JPEG cannot hold, other
// quantized coefficients are read back unchanged, and the GPUs' code writes the same.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: eight bytes of settings (see Picture), a byte for each of eight divisors of the
// tables, then quantized coefficients, two bytes each; missing bytes are 0. Quantized coefficients
// end at an inaccessible page.
#include <algorithm>
#include <cstring>
#include <vector>

#include "jpeg/bounds.h"
#include "jpeg/encode_file.h"
#include "jpeg/huffman_steps.h"
#include "jpeg/reader.h"
#include "jpeg/writer.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace cudatransform;
using fuzzing::GuardedMemory;
using fuzzing::Input;
using fuzzing::promise;

constexpr uint32_t kMaxSamples = 72;  // width and height
constexpr size_t kMaxQcoefBytes = size_t{1} << 18;
constexpr uint8_t kFill = 0x33;

// The picture to write, with quantized coefficients that its pointers do not show yet.
struct Picture {
  JpegPicture picture;
  JpegOptions options;
  bool lies = false;  // about the picture's size
  bool is_ordinary =
      true;  // quantized coefficients of samples, sound tables, no lies: must be written
  uint16_t tables[kJpegMaxComponents][64];
  std::vector<int16_t> qcoefs[kJpegMaxComponents];

  explicit Picture(Input* input) {
    const uint8_t flags = input->byte(), kind = input->byte(), range = input->byte();
    options.progressive = flags & 1;
    options.optimize = flags & 2;
    options.arithmetic = flags & 4;
    lies = (flags & 0x38) == 0x38;
    picture.color = static_cast<JpegColor>(kind % 6);
    const uint32_t h = 1 + (kind >> 2) % 4, v = 1 + (kind >> 4) % 4;
    if (has_chroma(picture.color)) {
      picture.sampling = JpegSampling::of_luma(picture.color, h, v);
    } else if (picture.components() > 1 && (range & 4) != 0) {
      picture.sampling.h[0] = picture.sampling.h[1] = h;
      picture.sampling.v[1] = v;
      picture.sampling.reduce(picture.components());
    }
    if (flags & 0x40) options.restart_interval = range >> 2;
    if (kind >= 0xc8) picture.depth = 12;
    picture.width = 1 + input->byte() % kMaxSamples;
    picture.height = 1 + input->byte() % kMaxSamples;
    fill_tables(input, input->byte());
    fill_qcoefs(input, range % 4);
    if (lies) lie(flags);
  }

 private:
  void fill_tables(Input* input, uint8_t shift) {
    uint16_t divisors[8];
    for (uint16_t& divisor : divisors) {
      divisor = static_cast<uint16_t>(input->byte() << shift % 9);
      if (divisor == 0) is_ordinary = false;
    }
    for (int c = 0; c < picture.components(); c++)
      for (int i = 0; i < 64; i++) tables[c][i] = divisors[(i + (shift & 0x10 ? c : 0)) % 8];
  }

  // Ranges: any number, those of samples, and twice small ones.
  void fill_qcoefs(Input* input, int range) {
    for (int c = 0; c < picture.components(); c++) {
      JpegQcoefs& of = picture.qcoefs[c];
      of.blocks_w = picture.sampling.blocks_w(picture.width, c);
      of.blocks_h = picture.sampling.blocks_h(picture.height, c);
      qcoefs[c].resize(size_t{64} * of.blocks_w * of.blocks_h);
      for (size_t i = 0; i < qcoefs[c].size() && input->size() > 0; i++) {
        const auto any = static_cast<int16_t>(input->word());
        const int most = jpeg_max_ac(picture.depth), small = range == 3 ? 15 : most;
        qcoefs[c][i] = static_cast<int16_t>(range == 0 ? any : any % (small + 1));
        if (qcoefs[c][i] > most || qcoefs[c][i] < -most) is_ordinary = false;
      }
    }
  }

  void lie(uint8_t flags) {
    is_ordinary = false;
    if (flags & 0x40) picture.width += 8;
    if (flags & 0x80) picture.qcoefs[0].blocks_h++;
    if (!(flags & 0xc0)) picture.height = 0;
  }
};

// The quantized coefficients in guarded memory, with `gap` bytes between rows.
void lay_out(Picture* from, GuardedMemory* memory, size_t gap) {
  for (int c = 0; c < from->picture.components(); c++) {
    JpegQcoefs& to = from->picture.qcoefs[c];
    const size_t row_bytes = sizeof(JBLOCK) * to.blocks_w;
    const size_t rows = from->qcoefs[c].size() * sizeof(int16_t) / row_bytes;
    to.stride = static_cast<ptrdiff_t>(row_bytes + gap);
    uint8_t* data = memory[c].last(rows * (row_bytes + gap) - gap, kFill);
    for (size_t y = 0; y < rows; y++)
      memcpy(data + y * to.stride, from->qcoefs[c].data() + y * row_bytes / sizeof(int16_t),
             row_bytes);
    to.data = reinterpret_cast<int16_t*>(data);
    from->picture.tables[c] = from->tables[c];
  }
}

void read_back(const Picture& written, const JpegBytes& file) {
  JpegReader reader;
  JpegHeader header;
  const Status status = reader.read_header({file.data(), file.size()}, &header);
  promise(status.ok() && header.sampling == written.picture.sampling,
          "what was written has a sound header");
  promise(header.width == written.picture.width && header.height == written.picture.height &&
              header.color == written.picture.color && header.depth == written.picture.depth,
          "what was written is the same kind of picture");
  JpegQcoefs qcoefs[kJpegMaxComponents];
  std::vector<int16_t> read[kJpegMaxComponents];
  for (int c = 0; c < header.components; c++) {
    read[c].resize(written.qcoefs[c].size());
    qcoefs[c] = {read[c].data(), static_cast<ptrdiff_t>(sizeof(JBLOCK) * header.blocks_w[c]),
                 header.blocks_w[c], header.blocks_h[c]};
    promise(qcoefs[c].blocks_w == written.picture.qcoefs[c].blocks_w &&
                qcoefs[c].blocks_h == written.picture.qcoefs[c].blocks_h,
            "what was written has as many blocks");
  }
  JpegTables tables;
  JpegFindings found;
  promise(reader.read_coefficients(qcoefs, &tables, &found).ok() && found.damage.empty() &&
              found.irregular == 0,
          "what was written is sound");
  for (int c = 0; c < header.components; c++) {
    promise(read[c] == written.qcoefs[c], "coefficients are read back");
    promise(memcmp(tables.tables[tables.table_of[c]].q, written.tables[c],
                   sizeof written.tables[c]) == 0,
            "tables are read back");
  }
}

// The same file by the GPUs' code, unless it has quantized coefficients that this code leaves to
// libjpeg.
void write_in_parallel(const Picture& written, const JpegBytes& file) {
  if (!is_parallel(written.options, written.picture.depth) ||
      written.picture.sampling.mcu_blocks(written.picture.components()) > kMaxMcuBlocks)
    return;
  static JpegHeaders headers;
  JpegEncodeJob job;
  promise(make_jpeg_scan_layout(written.picture, written.options, &job.layout).ok(),
          "what was written has a layout");
  for (int c = 0; c < written.picture.components(); c++)
    job.qcoefs[c] = {written.picture.qcoefs[c].data, written.picture.qcoefs[c].stride};
  JpegHuffmanTables tables;
  JpegCodes codes;
  JpegSymbolCounts counts;
  job.counts = &counts;
  promise(headers.standard_tables(&tables).ok() && validate(job, true).ok(), "a job is valid");
  if (written.options.optimize) {
    count_jpeg_symbols(job);
    promise(
        make_optimal_jpeg_tables(counts, has_chroma(written.picture.color) ? 2 : 1, &tables).ok(),
        "there are optimal tables");
  }
  promise(make_jpeg_codes(tables, &codes).ok(), "tables are tables");
  const JpegBytes* header = nullptr;
  promise(headers
              .find(written.picture, written.options, written.options.optimize ? &tables : nullptr,
                    &header)
              .ok(),
          "what was written has a header");
  std::vector<uint8_t> scan(file.size() - std::min(file.size(), header->size()) + 1);
  JpegEncodeResult result;
  job.codes = &codes;
  job.output = scan.data();
  job.capacity = scan.size();
  job.result = &result;
  promise(validate(job, false).ok() && encode_jpeg_scan(job).ok(), "a scan is coded");
  if (written.is_ordinary) promise(result.faults == 0, "ordinary pictures are coded");
  if (result.faults == kJpegQcoefsNotPlain) return;
  promise(result.faults == 0 && header->size() + result.size == file.size() &&
              memcmp(header->data(), file.data(), header->size()) == 0 &&
              memcmp(scan.data(), file.data() + header->size(), result.size) == 0,
          "the file is libjpeg's");
}

bool same(const JpegBytes& a, const JpegBytes& b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size()) == 0;
}

void run_writer(const uint8_t* data, size_t size) {
  static GuardedMemory memory[kJpegMaxComponents] = {
      GuardedMemory(kMaxQcoefBytes), GuardedMemory(kMaxQcoefBytes), GuardedMemory(kMaxQcoefBytes),
      GuardedMemory(kMaxQcoefBytes)};
  // The writer has written all earlier pictures, and refused some.
  static JpegWriter old_writer;
  Input input(data, size);
  Picture picture(&input);

  JpegWriter writer;
  JpegBytes packed, spread, again;
  lay_out(&picture, memory, 0);
  const Status status = writer.write(picture.picture, picture.options, &packed);
  const Status old_status = old_writer.write(picture.picture, picture.options, &again);
  lay_out(&picture, memory, 10);
  const Status spread_status = writer.write(picture.picture, picture.options, &spread);

  promise(status.ok() || !status.message.empty(), "a failure says what it is");
  // Not every libjpeg writes progressive files of 12 bits.
  const bool may_lack = picture.picture.depth == 12 && picture.options.progressive;
  if (may_lack && status.code == StatusCode::kUnsupported) return;
  promise(status.ok() || status.code == StatusCode::kInvalidArgument, "a failure is the caller's");
  promise(status.message == spread_status.message && status.message == old_status.message,
          "the same picture has the same result");
  promise(status.ok() || !picture.is_ordinary, "ordinary pictures are written");
  promise(!status.ok() || !picture.lies, "pictures that contradict themselves are refused");
  if (!status.ok()) return;
  promise(same(packed, spread), "the file does not depend on where coefficients lie");
  promise(same(packed, again), "the file does not depend on what was written before");
  read_back(picture, packed);
  write_in_parallel(picture, packed);
}

const fuzzing::Targets targets({{"fuzz_jpeg_writer", run_writer}});

}  // namespace
