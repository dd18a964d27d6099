// Quantized coefficients and tables into a JPEG file: entropy coding by libjpeg, or by our own code
// for any depth.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/writer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <span>
#include <string>

#include "jpeg/bounds.h"
#include "jpeg/coef_arrays.h"
#include "jpeg/encode_bits.h"
#include "jpeg/huffman_steps.h"
#include "jpeg/huffman_tables.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "jpeg/stuffing.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {
namespace {

// libjpeg codes quantized coefficients of 8-bit samples alone, and of 12-bit samples only from
// libjpeg-turbo 3 on. These code the quantized coefficients of a picture that check_qcoefs() has
// passed, with `restart_interval` of JpegOptions: the same bytes.

uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// Calls `with(symbol)` for the symbols of a block (T.81, F.1.2), numbered as in JpegCodes. Null
// `qcoefs`: a block that only fills an MCU.
template <typename Function>
void for_symbols(const int16_t* qcoefs, int32_t dc_difference, uint32_t depth,
                 const Function& with) {
  with(jpeg_symbol(kJpegDcSymbols, dc_difference, jpeg_dc_bits(depth)));
  uint32_t last = 0;
  for (uint32_t k = 1; k < 64 && qcoefs != nullptr; ++k) {
    const int32_t qcoef = qcoefs[kNaturalOfZigzag[k]];
    if (qcoef == 0) continue;
    uint32_t run = k - last - 1;
    for (; run > 15; run -= 16) with(JpegSymbol{kJpegLongRun, 0});
    with(jpeg_symbol(run << 4, qcoef, jpeg_ac_bits(depth)));
    last = k;
  }
  if (last < 63) with(JpegSymbol{kJpegEndOfBlock, 0});
}

// The components `first` to `end` - 1: all, or one.
struct ScanComponents {
  int first, end;

  bool is_one() const { return end - first == 1; }
};

// Calls `with(pair, symbol)` for all symbols of the scan, with the number of their pair of tables,
// and `restart(number)` between segments.
template <typename Function, typename Restart>
void for_scan(const JpegPicture& picture, ScanComponents scan, uint32_t interval,
              const Function& with, const Restart& restart) {
  const JpegSampling& sampling = picture.sampling;
  // An MCU of one component is a block.
  const JpegQcoefs& first = picture.qcoefs[scan.first];
  const bool is_one = scan.is_one();
  const uint32_t mcus_w = is_one ? first.blocks_w : divide_up(picture.width, 8 * sampling.max_h());
  const uint32_t mcus_h = is_one ? first.blocks_h : divide_up(picture.height, 8 * sampling.max_v());
  int32_t dc[kJpegMaxComponents] = {};
  uint32_t mcus = 0, restarts = 0;
  const auto code_block = [&](int c, uint32_t x, uint32_t y) {
    const JpegQcoefs& qcoefs = picture.qcoefs[c];
    // Dummy blocks have the DC quantized coefficient of the block before them.
    const bool is_there = x < qcoefs.blocks_w && y < qcoefs.blocks_h;
    const int16_t* block = is_there ? qcoefs.row(y) + size_t{64} * x : nullptr;
    const int32_t before = dc[c];
    if (is_there) dc[c] = block[0];
    const uint32_t pair = is_chroma(picture.color, c) ? 1 : 0;
    for_symbols(block, dc[c] - before, picture.depth,
                [&](const JpegSymbol& symbol) { with(pair, symbol); });
  };
  for (uint32_t mcu_y = 0; mcu_y < mcus_h; ++mcu_y) {
    for (uint32_t mcu_x = 0; mcu_x < mcus_w; ++mcu_x) {
      if (interval != 0 && mcus == interval) {
        restart(restarts++ % 8);
        std::fill(std::begin(dc), std::end(dc), 0);
        mcus = 0;
      }
      ++mcus;
      for (int c = scan.first; c < scan.end; ++c) {
        const uint32_t own_h = is_one ? 1 : sampling.h[c], own_v = is_one ? 1 : sampling.v[c];
        for (uint32_t i = 0; i < own_h * own_v; ++i)
          code_block(c, mcu_x * own_h + i % own_h, mcu_y * own_v + i / own_h);
      }
    }
  }
}

struct Code {
  uint16_t bits = 0;
  uint8_t length = 0;
};

// `codes` have places for that many symbols.
bool make_scan_codes(const JpegHuffmanTable& table, uint32_t symbols, Code* codes) {
  return for_each_code_length(
      table, [&](uint32_t length, uint32_t code, uint32_t place, uint32_t count) {
        for (; count > 0; --count, ++code) {
          const uint32_t symbol = table.symbols[place++];
          if (symbol >= symbols) return false;
          codes[symbol] = {static_cast<uint16_t>(code), static_cast<uint8_t>(length)};
        }
        return true;
      });
}

// Bytes of a scan, stuffed.
class ScanBytes {
 public:
  explicit ScanBytes(JpegBytes* to) : to_(to) {}

  bool ok() const { return ok_; }
  void put(uint32_t bits, uint32_t count) {  // up to 31
    word_ = word_ << count | bits;
    for (count_ += count; count_ >= 8; count_ -= 8) {
      const auto byte = static_cast<uint8_t>(word_ >> (count_ - 8));
      add(byte);
      if (byte == 0xff) add(0);
    }
  }
  // With ones.
  void fill_byte() {
    if (count_ > 0) put(0xffu >> count_, 8 - count_);
  }
  void put_marker(uint8_t code) {
    fill_byte();
    add(0xff);
    add(code);
  }
  void flush() {
    ok_ = ok_ && to_->append(buffer_, used_);
    used_ = 0;
  }

 private:
  void add(uint8_t byte) {
    buffer_[used_++] = byte;
    if (used_ == sizeof buffer_) flush();
  }

  JpegBytes* to_;
  bool ok_ = true;
  uint64_t word_ = 0;  // its lowest count_ bits are to be written
  uint32_t count_ = 0;
  size_t used_ = 0;
  uint8_t buffer_[4096];
};

// The tables that make the shortest scan.
Status find_scan_tables(const JpegPicture& picture, ScanComponents scan, uint32_t restart_interval,
                        JpegHuffmanTables* tables) {
  JpegSymbolCounts counts = {};
  for_scan(
      picture, scan, restart_interval,
      [&](uint32_t pair, const JpegSymbol& symbol) {
        // Only pictures of tens of gigabytes have so many.
        uint32_t& count = counts.of[pair][symbol.index];
        if (count != UINT32_MAX) ++count;
      },
      [](uint32_t) {});
  return make_optimal_jpeg_tables(counts, has_chroma(picture.color) ? 2 : 1, tables);
}

Status no_memory_after(const JpegBytes& bytes) {
  return Status::error(StatusCode::kOutOfMemory, "no memory for a JPEG file of more than " +
                                                     std::to_string(bytes.size()) + " bytes");
}

// Appends the scan, coded with these tables, and after the last one EOI. kInvalidArgument for
// tables that lack a symbol; kOutOfMemory.
Status append_scan(const JpegPicture& picture, ScanComponents scan, uint32_t restart_interval,
                   const JpegHuffmanTables& tables, JpegBytes* bytes) {
  Code codes[kJpegTablePairs][kJpegSymbols];
  for (uint32_t pair = 0; pair < kJpegTablePairs; ++pair)
    if (!make_scan_codes(tables.ac[pair], kJpegDcSymbols, codes[pair]) ||
        !make_scan_codes(tables.dc[pair], kJpegSymbols - kJpegDcSymbols,
                         codes[pair] + kJpegDcSymbols))
      return Status::error(StatusCode::kInvalidArgument, "invalid Huffman table");
  ScanBytes to(bytes);
  bool has_codes = true;
  for_scan(
      picture, scan, restart_interval,
      [&](uint32_t pair, const JpegSymbol& symbol) {
        const Code& code = codes[pair][symbol.index];
        const uint32_t size = symbol.index % 16;
        has_codes = has_codes && code.length > 0;
        to.put(uint32_t{code.bits} << size | symbol.extra, code.length + size);
      },
      [&](uint32_t number) { to.put_marker(static_cast<uint8_t>(kRst0 + number)); });
  if (scan.end == picture.components())
    to.put_marker(kEoi);
  else
    to.fill_byte();
  to.flush();
  if (!has_codes)
    return Status::error(StatusCode::kInvalidArgument, "Missing Huffman code table entry");
  return to.ok() ? Status() : no_memory_after(*bytes);
}

// What libjpeg writes before a scan that has tables of its own: of the component of that scan.
Status append_scan_header(const jpeg_component_info& component, const JpegHuffmanTables& tables,
                          JpegBytes* bytes) {
  constexpr size_t kMaxTableBytes = 5 + 16 + 256;
  uint8_t header[2 * kMaxTableBytes + 10];
  uint8_t* to = header;
  const auto add = [&to](const auto& values, size_t count) {
    to = std::transform(std::begin(values), std::begin(values) + count, to,
                        [](int value) { return static_cast<uint8_t>(value); });
  };
  const auto add_table = [&add](const JpegHuffmanTable& table, int number) {
    const auto symbols = std::accumulate(std::begin(table.counts), std::end(table.counts), 0);
    const int length = 2 + 1 + 16 + symbols;
    add(std::array{0xff, int{kDht}, length >> 8, length & 0xff, number}, 5);
    add(std::span(table.counts).last(16), 16);
    add(table.symbols, static_cast<size_t>(symbols));
  };
  const int dc = component.dc_tbl_no, ac = component.ac_tbl_no;
  add_table(tables.dc[dc], dc);
  add_table(tables.ac[ac], 0x10 | ac);
  add(std::array{0xff, int{kSos}, 0, 8, 1, component.component_id, dc << 4 | ac, 0, DCTSIZE2 - 1,
                 0},
      10);
  return bytes->append(header, static_cast<size_t>(to - header)) ? Status()
                                                                 : no_memory_after(*bytes);
}

constexpr size_t kMinBytes = 4096;  // more than the headers need
constexpr int kTables = 2;          // standard Huffman tables of either kind

Status check(const JpegPicture& picture, const JpegOptions& options) {
  const auto invalid = [](const std::string& what) {
    return Status::error(StatusCode::kInvalidArgument, what);
  };
  if (picture.width < 1 || picture.height < 1 || picture.width > kJpegMaxSize ||
      picture.height > kJpegMaxSize)
    return invalid("picture size " + std::to_string(picture.width) + "x" +
                   std::to_string(picture.height) + ", expected 1x1 to " +
                   std::to_string(kJpegMaxSize) + "x" + std::to_string(kJpegMaxSize));
  if (!is_jpeg_depth(picture.depth))
    return invalid("precision of " + std::to_string(picture.depth) + " bits, expected 8 or 12");
  JpegSampling reduced = picture.sampling;
  const auto is_factor = [](uint32_t factor) { return factor >= 1 && factor <= 4; };
  if (!std::all_of(std::begin(reduced.h), std::end(reduced.h), is_factor) ||
      !std::all_of(std::begin(reduced.v), std::end(reduced.v), is_factor) ||
      (reduced.reduce(picture.components()), reduced != picture.sampling))
    return invalid("sampling factors " + picture.sampling.text(picture.components()) +
                   ", expected 1 to 4 without a common divisor");
  if (options.restart_interval > kJpegMaxRestartInterval)
    return invalid("restart interval of " + std::to_string(options.restart_interval) +
                   " MCUs, expected at most " + std::to_string(kJpegMaxRestartInterval));
  for (int c = 0; c < picture.components(); c++) {
    const JpegQcoefs& qcoefs = picture.qcoefs[c];
    const uint32_t blocks_w = picture.sampling.blocks_w(picture.width, c);
    const uint32_t blocks_h = picture.sampling.blocks_h(picture.height, c);
    if (qcoefs.blocks_w != blocks_w || qcoefs.blocks_h != blocks_h || !qcoefs.data)
      return invalid("component " + std::to_string(c) + " has " + std::to_string(qcoefs.blocks_w) +
                     "x" + std::to_string(qcoefs.blocks_h) + " blocks, expected " +
                     std::to_string(blocks_w) + "x" + std::to_string(blocks_h));
    if (!picture.tables[c])
      return invalid("component " + std::to_string(c) + " has no quantization table");
    if (std::count(picture.tables[c], picture.tables[c] + 64, 0) == 64)
      return invalid("all entries of the quantization table of component " + std::to_string(c) +
                     " are 0");
  }
  return {};
}

size_t qcoefs_bytes(const JpegPicture& picture) {
  size_t blocks = 0;
  for (int c = 0; c < picture.components(); c++)
    blocks += size_t(picture.qcoefs[c].blocks_w) * picture.qcoefs[c].blocks_h;
  return blocks * sizeof(JBLOCK);
}

J_COLOR_SPACE color_space_of(JpegColor color) {
  switch (color) {
    case JpegColor::kGray:
      return JCS_GRAYSCALE;
    case JpegColor::kRgb:
      return JCS_RGB;
    case JpegColor::kCmyk:
      return JCS_CMYK;
    case JpegColor::kYcck:
      return JCS_YCCK;
    case JpegColor::kTwo:
      return JCS_UNKNOWN;
    case JpegColor::kYcbcr:
      break;
  }
  return JCS_YCbCr;
}

static_assert(sizeof(JpegHuffmanTable::counts) == sizeof(JHUFF_TBL::bits) &&
              sizeof(JpegHuffmanTable::symbols) == sizeof(JHUFF_TBL::huffval));
void copy_table(const JpegHuffmanTable& from, JHUFF_TBL* to) {
  memcpy(to->bits, from.counts, sizeof from.counts);
  memcpy(to->huffval, from.symbols, sizeof from.symbols);
}

}  // namespace

JpegBytes::~JpegBytes() { std::free(data_); }

uint8_t* JpegBytes::release() {
  size_ = capacity_ = 0;
  return std::exchange(data_, nullptr);
}

bool JpegBytes::reserve(size_t capacity) {
  auto* data = static_cast<uint8_t*>(std::realloc(data_, capacity));
  if (!data) return false;
  data_ = data;
  capacity_ = capacity;
  return true;
}

bool JpegBytes::append(const uint8_t* data, size_t size) {
  if (size > capacity_ - size_ && !reserve(std::max(2 * capacity_, size_ + size))) return false;
  memcpy(data_ + size_, data, size);
  size_ += size;
  return true;
}

JpegWriter::JpegWriter() {
  cinfo_.err = errors_.manager();
  destination_.base.init_destination = [](j_compress_ptr) {};
  destination_.base.empty_output_buffer = grow;
  destination_.base.term_destination = [](j_compress_ptr cinfo) {
    auto* self = reinterpret_cast<Destination*>(cinfo->dest);
    self->bytes.size_ = self->bytes.capacity_ - self->base.free_in_buffer;
  };
}

JpegWriter::~JpegWriter() {
  jpeg_destroy_compress(&cinfo_);  // nothing where it was never created
}

// Called when the buffer is full; libjpeg goes on at the end of what is there.
boolean JpegWriter::grow(j_compress_ptr cinfo) {
  auto* self = reinterpret_cast<Destination*>(cinfo->dest);
  const size_t used = self->bytes.capacity_;
  if (!self->bytes.reserve(2 * used))
    JpegErrors::fail_for_memory(reinterpret_cast<j_common_ptr>(cinfo), "a JPEG file", 2 * used);
  self->base.next_output_byte = self->bytes.data_ + used;
  self->base.free_in_buffer = used;
  return TRUE;
}

void JpegWriter::create() {
  jpeg_create_compress(&cinfo_);
  cinfo_.dest = &destination_.base;
  arrays_.install(reinterpret_cast<j_common_ptr>(&cinfo_));
  cinfo_.in_color_space = JCS_YCbCr;
  cinfo_.input_components = components_of(JpegColor::kYcbcr);
  jpeg_set_defaults(&cinfo_);
  for (int t = 0; t < kTables; t++) {
    huffman_[t] = *cinfo_.dc_huff_tbl_ptrs[t];
    huffman_[kTables + t] = *cinfo_.ac_huff_tbl_ptrs[t];
  }
  created_ = true;
}

void JpegWriter::restore_huffman_tables() {
  for (int t = 0; t < kTables; t++) {
    *cinfo_.dc_huff_tbl_ptrs[t] = huffman_[t];
    *cinfo_.ac_huff_tbl_ptrs[t] = huffman_[kTables + t];
  }
}

void JpegWriter::set_huffman_tables(const JpegHuffmanTables& tables) {
  for (int t = 0; t < kTables; t++) {
    copy_table(tables.dc[t], cinfo_.dc_huff_tbl_ptrs[t]);
    copy_table(tables.ac[t], cinfo_.ac_huff_tbl_ptrs[t]);
  }
}

int JpegPicture::table_number(int component) const {
  int number = 0;
  for (int c = 0; c < component; c++) {
    if (tables[c] == tables[component]) return table_number(c);
    number += std::find(tables, tables + c, tables[c]) == tables + c;
  }
  return number;
}

void JpegWriter::set_tables(const JpegPicture& picture) {
  for (int c = 0; c < picture.components(); c++) {
    const int number = picture.table_number(c);
    cinfo_.comp_info[c].quant_tbl_no = number;
    JQUANT_TBL*& table = cinfo_.quant_tbl_ptrs[number];
    if (!table) table = jpeg_alloc_quant_table(reinterpret_cast<j_common_ptr>(&cinfo_));
    std::copy_n(picture.tables[c], 64, table->quantval);
  }
}

void JpegWriter::describe(const JpegPicture& picture, const JpegOptions& options) {
  cinfo_.image_width = picture.width;
  cinfo_.image_height = picture.height;
  cinfo_.input_components = picture.components();
  cinfo_.in_color_space = color_space_of(picture.color);
  jpeg_set_defaults(&cinfo_);
  cinfo_.data_precision = 8;
  jpeg_set_colorspace(&cinfo_, cinfo_.in_color_space);
  if (picture.color == JpegColor::kCmyk && !picture.is_adobe) cinfo_.write_Adobe_marker = FALSE;
  for (int c = 0; c < picture.components(); c++) {
    cinfo_.comp_info[c].h_samp_factor = static_cast<int>(picture.sampling.h[c]);
    cinfo_.comp_info[c].v_samp_factor = static_cast<int>(picture.sampling.v[c]);
    if (picture.color == JpegColor::kTwo) cinfo_.comp_info[c].component_id = c + 1;
  }
  set_tables(picture);
  restore_huffman_tables();
  cinfo_.arith_code = options.arithmetic;
  cinfo_.optimize_coding = options.optimize && !options.arithmetic;
  cinfo_.restart_interval = options.restart_interval;
  if (options.progressive) jpeg_simple_progression(&cinfo_);
  if (picture.sampling.mcu_blocks(picture.components()) > kMaxMcuBlocks) separate_scans();
}

// An interleaved scan must not have so many blocks in an MCU: each component gets its own.
void JpegWriter::separate_scans() {
  jpeg_scan_info all = {cinfo_.num_components, {0, 1, 2, 3}, 0, DCTSIZE2 - 1, 0, 0};
  const std::span<const jpeg_scan_info> given =
      cinfo_.scan_info != nullptr
          ? std::span(cinfo_.scan_info, static_cast<size_t>(cinfo_.num_scans))
          : std::span<const jpeg_scan_info>(&all, 1);
  int count = 0;
  for (const jpeg_scan_info& scan : given) {
    for (int c = 0; c < scan.comps_in_scan; c++) {
      jpeg_scan_info& one = scans_[count++];
      one = scan;
      one.comps_in_scan = 1;
      one.component_index[0] = scan.component_index[c];
    }
  }
  cinfo_.scan_info = scans_;
  cinfo_.num_scans = count;
}

// The picture's own JFIF header takes the place of libjpeg's. A file with Exif data and none, as
// cameras write them, gets none.
void JpegWriter::describe_metadata(const JpegPicture& picture) {
  JpegSegments segments(picture.metadata);
  for (JpegSegment segment; segments.next(&segment);)
    if (segment.is_jfif() || segment.is_exif()) cinfo_.write_JFIF_header = FALSE;
}

void JpegWriter::write_metadata(const JpegPicture& picture) {
  KeptJpegSegments segments(picture.metadata, {.index = picture.others > 0});
  bool has_index = false;
  for (JpegSegment segment; segments.next(&segment);) {
    has_index |= segment.is_mpf();
    // JFIF means YCbCr or gray, even with other segments.
    if (picture.color != JpegColor::kRgb || !segment.is_jfif())
      jpeg_write_marker(&cinfo_, segment.code, segment.data.data(),
                        static_cast<unsigned>(segment.data.size()));
  }
  if (picture.others == 0 || has_index) return;
  uint8_t index[new_mpf_size(kMaxMpfPictures)];
  make_mpf(picture.others + 1, index);
  jpeg_write_marker(&cinfo_, JPEG_APP0 + 2, index,
                    static_cast<unsigned>(new_mpf_size(picture.others + 1)));
}

Status JpegWriter::write(const JpegPicture& picture, const JpegOptions& options, JpegBytes* bytes) {
  CT_RETURN_IF_ERROR(check(picture, options));
  for (int c = 0; c < picture.components(); c++)
    CT_RETURN_IF_ERROR(check_qcoefs(picture.qcoefs[c], c, picture.depth));
  if (picture.depth != 8 && !options.progressive && !options.arithmetic)
    return write_sequential(picture, options, bytes);

  jvirt_barray_ptr* arrays = nullptr;
  try {
    arrays = arrays_.begin_writing(picture.qcoefs, picture.components());
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for a picture's coefficients of " +
                                                       std::to_string(qcoefs_bytes(picture)) +
                                                       " bytes");
  }
  CT_RETURN_IF_ERROR(reserve(std::max(destination_.guess, kMinBytes)));
  Status status = errors_.guard([&] {
    if (!created_) create();
    describe(picture, options);
    // Arithmetic coding does not depend on the precision, which older libraries check first.
    if (!options.arithmetic) cinfo_.data_precision = static_cast<int>(picture.depth);
    if (options.keep_metadata) describe_metadata(picture);
    jpeg_write_coefficients(&cinfo_, arrays);
    cinfo_.data_precision = static_cast<int>(picture.depth);
    if (options.keep_metadata) write_metadata(picture);
    jpeg_finish_compress(&cinfo_);
  });
  if (errors_.code() == JERR_BAD_PRECISION && !status.ok())
    status.message = "12-bit progressive Huffman-coded JPEG requires libjpeg-turbo 3";
  if (status.ok()) destination_.guess = destination_.bytes.size_ + destination_.bytes.size_ / 8;
  return finish(status, bytes);
}

Status JpegWriter::write_sequential(const JpegPicture& picture, const JpegOptions& options,
                                    JpegBytes* bytes) {
  const int components = picture.components();
  const int step = picture.sampling.mcu_blocks(components) > kMaxMcuBlocks ? 1 : components;
  Status status;
  for (int c = 0; c < components && status.ok(); c += step) {
    const ScanComponents scan = {c, c + step};
    JpegHuffmanTables tables;
    status = find_scan_tables(picture, scan, options.restart_interval, &tables);
    if (!status.ok()) break;
    status = c == 0 ? write_header(picture, options, &tables, bytes)
                    : append_scan_header(cinfo_.comp_info[c], tables, bytes);
    if (status.ok()) status = append_scan(picture, scan, options.restart_interval, tables, bytes);
  }
  if (!status.ok()) *bytes = JpegBytes();
  return status;
}

Status JpegWriter::write_header(const JpegPicture& picture, const JpegOptions& options,
                                const JpegHuffmanTables* tables, JpegBytes* bytes) {
  CT_RETURN_IF_ERROR(check(picture, options));
  if (options.progressive || options.arithmetic)
    return Status::error(StatusCode::kInvalidArgument, "several scans in a header");
  jvirt_barray_ptr* arrays = arrays_.begin_header(picture.qcoefs, picture.components());
  CT_RETURN_IF_ERROR(reserve(kMinBytes));
  JpegOptions given = options;
  given.optimize = false;
  Status status = errors_.guard([&] {
    if (!created_) create();
    describe(picture, given);
    if (tables != nullptr) set_huffman_tables(*tables);
    if (options.keep_metadata) describe_metadata(picture);
    jpeg_write_coefficients(&cinfo_, arrays);
    // It has checked its precision, and will write this one.
    cinfo_.data_precision = static_cast<int>(picture.depth);
    if (options.keep_metadata) write_metadata(picture);
    jpeg_finish_compress(&cinfo_);
  });
  // All has been written when libjpeg requests coefficients.
  if (status.code == StatusCode::kCancelled) {
    destination_.base.term_destination(&cinfo_);
    jpeg_abort_compress(&cinfo_);
    status = {};
  }
  return finish(status, bytes);
}

Status JpegWriter::reserve(size_t bytes) {
  Destination& to = destination_;
  if (!to.bytes.reserve(bytes))
    return Status::error(StatusCode::kOutOfMemory,
                         "no memory for a JPEG file of " + std::to_string(bytes) + " bytes");
  to.base.next_output_byte = to.bytes.data_;
  to.base.free_in_buffer = to.bytes.capacity_;
  return {};
}

Status JpegWriter::finish(const Status& status, JpegBytes* bytes) {
  arrays_.give_back();
  JpegBytes& written = destination_.bytes;
  if (!status.ok()) {
    if (created_)
      jpeg_abort_compress(&cinfo_);
    else
      jpeg_destroy_compress(&cinfo_);
    written = JpegBytes();
    return status;
  }
  // Pictures of a stream are much alike; excess memory is given back.
  if (written.capacity_ / 2 > written.size_) (void)written.reserve(written.size_);
  *bytes = std::move(written);
  return {};
}

}  // namespace cudatransform
