// Levels and tables into a JPEG file: libjpeg's entropy coding behind a class that is used again.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/writer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "jpeg/depth.h"
#include "jpeg/levels.h"
#include "jpeg/metadata.h"
#include "jpeg/mpf.h"
#include "jpeg/scan_coder.h"

namespace cudatransform {
namespace {

constexpr size_t kLeastBytes = 4096;  // more than the headers need
constexpr int kTables = 2;            // standard Huffman tables of either kind

uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

Status check(const JpegPicture& picture, const JpegOptions& options) {
  const auto invalid = [](const std::string& what) {
    return Status::error(StatusCode::kInvalidArgument, what);
  };
  if (picture.width < 1 || picture.height < 1 || picture.width > kJpegMaxSize ||
      picture.height > kJpegMaxSize)
    return invalid("a picture of " + std::to_string(picture.width) + "x" +
                   std::to_string(picture.height) + ", expected 1x1 to " +
                   std::to_string(kJpegMaxSize) + "x" + std::to_string(kJpegMaxSize));
  if (!is_jpeg_depth(picture.depth))
    return invalid("samples of " + std::to_string(picture.depth) + " bits, expected 8 or 12");
  const uint32_t h = picture.h_samp, v = picture.v_samp;
  const bool subsampled = has_chroma(picture.color);
  if (h < 1 || v < 1 || h > 4 || v > 4 || (!subsampled && (h > 1 || v > 1)))
    return invalid("sampling factors " + std::to_string(h) + "x" + std::to_string(v));
  if (options.restart_interval > kJpegMaxRestartInterval)
    return invalid("a restart interval of " + std::to_string(options.restart_interval) +
                   " MCUs, expected at most " + std::to_string(kJpegMaxRestartInterval));
  for (int c = 0; c < picture.components(); c++) {
    const JpegLevels& levels = picture.levels[c];
    const bool is_small = is_chroma(picture.color, c);
    const uint32_t blocks_w = divide_up(picture.width, 8 * (is_small ? h : 1));
    const uint32_t blocks_h = divide_up(picture.height, 8 * (is_small ? v : 1));
    if (levels.blocks_w != blocks_w || levels.blocks_h != blocks_h || !levels.data)
      return invalid("component " + std::to_string(c) + " has " + std::to_string(levels.blocks_w) +
                     "x" + std::to_string(levels.blocks_h) + " blocks, expected " +
                     std::to_string(blocks_w) + "x" + std::to_string(blocks_h));
    if (!picture.tables[c] || std::count(picture.tables[c], picture.tables[c] + 64, 0) > 0)
      return invalid("component " + std::to_string(c) + " has a quantisation table with a zero");
  }
  return {};
}

size_t levels_bytes(const JpegPicture& picture) {
  size_t blocks = 0;
  for (int c = 0; c < picture.components(); c++)
    blocks += size_t(picture.levels[c].blocks_w) * picture.levels[c].blocks_h;
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
    const bool is_small = is_chroma(picture.color, c);
    cinfo_.comp_info[c].h_samp_factor = is_small ? 1 : picture.h_samp;
    cinfo_.comp_info[c].v_samp_factor = is_small ? 1 : picture.v_samp;
  }
  set_tables(picture);
  restore_huffman_tables();
  cinfo_.arith_code = options.arithmetic;
  cinfo_.optimize_coding = options.optimize && !options.arithmetic;
  cinfo_.restart_interval = options.restart_interval;
  if (options.progressive) jpeg_simple_progression(&cinfo_);
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
    // JFIF means YCbCr or grey, even beside other segments.
    if (picture.color != JpegColor::kRgb || !segment.is_jfif())
      jpeg_write_marker(&cinfo_, segment.code, segment.data.data(),
                        static_cast<unsigned>(segment.data.size()));
  }
  if (picture.others == 0 || has_index) return;
  uint8_t index[new_mpf_size(kMostMpfPictures)];
  make_mpf(picture.others + 1, index);
  jpeg_write_marker(&cinfo_, JPEG_APP0 + 2, index,
                    static_cast<unsigned>(new_mpf_size(picture.others + 1)));
}

Status JpegWriter::write(const JpegPicture& picture, const JpegOptions& options, JpegBytes* bytes) {
  CT_RETURN_IF_ERROR(check(picture, options));
  for (int c = 0; c < picture.components(); c++)
    CT_RETURN_IF_ERROR(check_levels(picture.levels[c], c, picture.depth));
  if (picture.depth != 8 && !options.progressive && !options.arithmetic)
    return write_sequential(picture, options, bytes);

  jvirt_barray_ptr* arrays = nullptr;
  try {
    arrays = arrays_.begin_writing(picture.levels, picture.components());
  } catch (const std::bad_alloc&) {
    return Status::error(
        StatusCode::kOutOfMemory,
        "no memory for a picture's levels of " + std::to_string(levels_bytes(picture)) + " bytes");
  }
  CT_RETURN_IF_ERROR(reserve(std::max(destination_.guess, kLeastBytes)));
  Status status = errors_.guard([&] {
    if (!created_) create();
    describe(picture, options);
    cinfo_.data_precision = static_cast<int>(picture.depth);
    if (options.keep_metadata) describe_metadata(picture);
    jpeg_write_coefficients(&cinfo_, arrays);
    if (options.keep_metadata) write_metadata(picture);
    jpeg_finish_compress(&cinfo_);
  });
  if (errors_.code() == JERR_BAD_PRECISION && !status.ok())
    status.message =
        "this libjpeg writes no progressive or arithmetic files of 12 bits, which needs "
        "libjpeg-turbo 3; sequential Huffman files can be written";
  if (status.ok()) destination_.guess = destination_.bytes.size_ + destination_.bytes.size_ / 8;
  return finish(status, bytes);
}

Status JpegWriter::write_sequential(const JpegPicture& picture, const JpegOptions& options,
                                    JpegBytes* bytes) {
  JpegHuffmanTables tables;
  CT_RETURN_IF_ERROR(find_scan_tables(picture, options.restart_interval, &tables));
  CT_RETURN_IF_ERROR(write_header(picture, options, &tables, bytes));
  const Status status = append_scan(picture, options.restart_interval, tables, bytes);
  if (!status.ok()) *bytes = JpegBytes();
  return status;
}

Status JpegWriter::write_header(const JpegPicture& picture, const JpegOptions& options,
                                const JpegHuffmanTables* tables, JpegBytes* bytes) {
  CT_RETURN_IF_ERROR(check(picture, options));
  if (options.progressive || options.arithmetic)
    return Status::error(StatusCode::kInvalidArgument, "a header of several scans");
  jvirt_barray_ptr* arrays = arrays_.begin_header(picture.levels, picture.components());
  CT_RETURN_IF_ERROR(reserve(kLeastBytes));
  JpegOptions given = options;
  given.optimize = false;
  Status status = errors_.guard([&] {
    if (!created_) create();
    describe(picture, given);
    if (tables != nullptr) set_huffman_tables(*tables);
    if (options.keep_metadata) describe_metadata(picture);
    jpeg_write_coefficients(&cinfo_, arrays);
    // It has looked at its precision, and will write this one.
    cinfo_.data_precision = static_cast<int>(picture.depth);
    if (options.keep_metadata) write_metadata(picture);
    jpeg_finish_compress(&cinfo_);
  });
  // All has been written when libjpeg asks for levels.
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
