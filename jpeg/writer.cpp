// Quantized coefficients and tables into a JPEG file: entropy coding by libjpeg, or of 12 bits by
// our own code.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/writer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "jpeg/bounds.h"
#include "jpeg/coef_arrays.h"
#include "jpeg/huffman_steps.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "jpeg/scan_writer.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

constexpr size_t kMinBytes = 4096;  // more than the headers need
constexpr int kTables = 2;          // standard DC and AC Huffman tables

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
    if (quant_table_of(picture.tables[c]).is_blank())
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

// Called when the buffer is full; libjpeg continues at the end of the data.
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

jpeg_scan_info JpegWriter::all_components() const {
  return {cinfo_.num_components, {0, 1, 2, 3}, 0, DCTSIZE2 - 1, 0, 0};
}

// libjpeg's, or `all`.
std::span<const jpeg_scan_info> JpegWriter::script(const jpeg_scan_info& all) const {
  if (cinfo_.scan_info == nullptr) return {&all, 1};
  return {cinfo_.scan_info, static_cast<size_t>(cinfo_.num_scans)};
}

// An interleaved scan must not have so many blocks in an MCU: each component gets its own.
void JpegWriter::separate_scans() {
  const jpeg_scan_info all = all_components();
  int count = 0;
  for (const jpeg_scan_info& scan : script(all)) {
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

// The picture's own JFIF header takes the place of libjpeg's. A file with Exif data and no JFIF
// marker, as cameras write them, gets none.
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
  if (picture.depth != 8 && !options.arithmetic) return write_deep(picture, options, bytes);

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
    if (options.keep_metadata) describe_metadata(picture);
    jpeg_write_coefficients(&cinfo_, arrays);
    // Arithmetic coding does not depend on the precision, which older libraries have checked.
    cinfo_.data_precision = static_cast<int>(picture.depth);
    if (options.keep_metadata) write_metadata(picture);
    jpeg_finish_compress(&cinfo_);
  });
  if (status.ok()) destination_.guess = destination_.bytes.size_ + destination_.bytes.size_ / 8;
  return finish(status, bytes);
}

// Huffman-coded scans by our own code behind libjpeg's frame header.
Status JpegWriter::write_deep(const JpegPicture& picture, const JpegOptions& options,
                              JpegBytes* bytes) {
  JpegOptions sequential = options;
  sequential.progressive = false;
  CT_RETURN_IF_ERROR(write_header(picture, sequential, nullptr, bytes));
  uint8_t* frame = bytes->data_ + 2;
  const auto end_of = [](const uint8_t* marker) { return 2 + (marker[2] << 8 | marker[3]); };
  while (frame[1] != kSof1) frame += end_of(frame);
  if (options.progressive) frame[1] = kSof2;
  bytes->size_ = static_cast<size_t>(frame + end_of(frame) - bytes->data_);

  Status status = errors_.guard([&] {
    if (!options.progressive) return;
    jpeg_simple_progression(&cinfo_);
    if (picture.sampling.mcu_blocks(picture.components()) > kMaxMcuBlocks) separate_scans();
  });
  const jpeg_scan_info all = all_components();
  const std::span<const jpeg_scan_info> scans = script(all);
  JpegScanContext context = {cinfo_.comp_info, options.restart_interval};
  for (size_t i = 0; i < scans.size() && status.ok(); ++i) {
    context.is_first = i == 0;
    status = append_jpeg_scan(picture, scans[i], context, bytes);
  }
  if (status.ok()) status = append_jpeg_end(bytes);
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
  // Pictures of a stream are similar; excess memory is freed.
  if (written.capacity_ / 2 > written.size_) (void)written.reserve(written.size_);
  *bytes = std::move(written);
  return {};
}

}  // namespace cudatransform
