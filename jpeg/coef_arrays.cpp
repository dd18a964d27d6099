// Quantized coefficients of JPEG files: whether a depth can hold them, and our memory in place of
// libjpeg's coefficient arrays, so that entropy coding needs no copy.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/coef_arrays.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "jpeg/errors.h"

namespace cudatransform {
namespace {

constexpr uint32_t kMaxSamp = 4;  // the largest sampling factor of JPEG, and so rows of one access

bool is_aligned(const JpegQcoefs& qcoefs) {
  // For the vector loads of libjpeg-turbo's Huffman coder.
  return reinterpret_cast<uintptr_t>(qcoefs.data) % 16 == 0 && qcoefs.stride % 16 == 0;
}

size_t round_up(size_t value, int step) {
  const auto s = static_cast<size_t>(step);
  return (value + s - 1) / s * s;
}

JBLOCKROW row_of(const JpegQcoefs& qcoefs, uint32_t row) {
  return reinterpret_cast<JBLOCKROW>(qcoefs.row(row));
}

}  // namespace

struct CoefArrays::Methods {
  static jvirt_barray_ptr request(j_common_ptr cinfo, int /*pool*/, boolean /*clear*/,
                                  JDIMENSION blocks_per_row, JDIMENSION rows,
                                  JDIMENSION /*rows_per_access*/) {
    CoefArrays& self = of(cinfo);
    if (self.requested_ >= self.count_) JpegErrors::fail(cinfo, "too many components");
    Array& array = self.arrays_[self.requested_];
    if (blocks_per_row < array.qcoefs.blocks_w || rows < array.qcoefs.blocks_h ||
        rows > array.qcoefs.blocks_h + kMaxSamp)
      JpegErrors::fail(cinfo, "picture size differs from frame header");
    bool laid_out = true;
    try {  // libjpeg is C: an exception must not reach it
      self.lay_out(&array, blocks_per_row, rows);
    } catch (const std::bad_alloc&) {
      laid_out = false;
    }
    if (!laid_out)
      JpegErrors::fail_for_memory(cinfo, "coefficients", sizeof(Block) * blocks_per_row * rows);
    return self.handles_[self.requested_++];
  }

  static JBLOCKARRAY access(j_common_ptr cinfo, jvirt_barray_ptr handle, JDIMENSION start,
                            JDIMENSION count, boolean writable) {
    auto* array = reinterpret_cast<Array*>(handle);
    if (array->is_header) JpegErrors::cancel(cinfo);
    if (start + count > array->rows.size()) JpegErrors::fail(cinfo, "row outside the picture");
    if (writable) array->check_rows_before(start, of(cinfo).depth_);
    // As late as possible, so that a row is in the cache when it is decoded.
    for (; writable && array->clean_rows < start + count; array->clean_rows++)
      memset(array->rows[array->clean_rows], 0, sizeof(JBLOCK) * array->blocks_per_row);
    return array->rows.data() + start;
  }
};

// Rows before `end` have been decoded; those from there on are about to be.
void CoefArrays::Array::check_rows_before(uint32_t end, uint32_t depth) {
  if (end < plain_rows) is_plain = false;  // another scan
  for (; is_plain && plain_rows < end; plain_rows++)
    is_plain = row_is_plain(rows[plain_rows][0], qcoefs.blocks_w, depth);
}

CoefArrays& CoefArrays::of(j_common_ptr cinfo) {
  return *static_cast<CoefArrays*>(cinfo->client_data);
}

void CoefArrays::install(j_common_ptr cinfo) {
  cinfo->client_data = this;
  cinfo->mem->request_virt_barray = Methods::request;
  cinfo->mem->access_virt_barray = Methods::access;
}

void CoefArrays::begin_reading(const JpegQcoefs* qcoefs, int components, uint32_t depth) {
  take_arrays(qcoefs, components);
  depth_ = depth;
}

void CoefArrays::take_arrays(const JpegQcoefs* qcoefs, int components) {
  count_ = components;
  requested_ = 0;
  for (int c = 0; c < components; c++) {
    arrays_[c].qcoefs = qcoefs[c];
    arrays_[c].rows.clear();
    arrays_[c].clean_rows = 0;
    arrays_[c].plain_rows = 0;
    arrays_[c].is_plain = true;
    arrays_[c].is_header = false;
    handles_[c] = reinterpret_cast<jvirt_barray_ptr>(&arrays_[c]);
  }
}

// Neither cleared, which access() does for the rows that are used, nor copied.
void CoefArrays::Array::make_room(size_t blocks) {
  if (own_blocks >= blocks) return;
  own.reset();
  own_blocks = 0;
  own.reset(new Block[blocks]);
  own_blocks = blocks;
}

// Rows of `blocks_per_row` blocks, in place where the caller's have that length; `rows` includes
// dummy ones.
void CoefArrays::lay_out(Array* array, uint32_t blocks_per_row, uint32_t rows) {
  const JpegQcoefs& qcoefs = array->qcoefs;
  array->in_place = blocks_per_row == qcoefs.blocks_w && is_aligned(qcoefs);
  array->blocks_per_row = blocks_per_row;
  array->clean_rows = 0;
  const uint32_t rows_in_place = array->in_place ? qcoefs.blocks_h : 0;
  array->make_room(size_t(blocks_per_row) * (rows - rows_in_place));
  array->rows.resize(rows);
  for (uint32_t r = 0; r < rows; r++)
    array->rows[r] = r < rows_in_place
                         ? row_of(qcoefs, r)
                         : &array->own[size_t(blocks_per_row) * (r - rows_in_place)].qcoefs;
}

void CoefArrays::finish_reading() {
  for (int c = 0; c < count_; c++) {
    Array& array = arrays_[c];
    const JpegQcoefs& qcoefs = array.qcoefs;
    const size_t row_bytes = sizeof(JBLOCK) * qcoefs.blocks_w;
    for (uint32_t r = 0; r < qcoefs.blocks_h; r++) {
      if (r >= array.clean_rows)
        memset(row_of(qcoefs, r), 0, row_bytes);
      else if (!array.in_place)
        memcpy(row_of(qcoefs, r), array.rows[r], row_bytes);
    }
    array.check_rows_before(std::min(qcoefs.blocks_h, array.clean_rows), depth_);
  }
}

// As libjpeg's coefficient controller requests it: whole MCUs.
size_t CoefArrays::own_bytes(const jpeg_component_info& component) {
  const size_t w = round_up(component.width_in_blocks, component.h_samp_factor);
  const size_t h = round_up(component.height_in_blocks, component.v_samp_factor);
  const size_t rows = w == component.width_in_blocks ? h - component.height_in_blocks : h;
  return w * rows * sizeof(Block) + h * sizeof(JBLOCKROW);
}

void CoefArrays::give_back() {
  size_t blocks = 0;
  for (const Array& array : arrays_) blocks += array.own_blocks;
  if (blocks * sizeof(Block) <= kMaxKept) return;
  for (Array& array : arrays_) {
    array.own.reset();
    array.own_blocks = 0;
  }
}

bool CoefArrays::are_plain() const {
  return std::all_of(arrays_, arrays_ + count_, [](const Array& array) { return array.is_plain; });
}

jvirt_barray_ptr* CoefArrays::begin_header(const JpegQcoefs* qcoefs, int components) {
  take_arrays(qcoefs, components);
  for (int c = 0; c < components; c++) arrays_[c].is_header = true;
  return handles_;
}

jvirt_barray_ptr* CoefArrays::begin_writing(const JpegQcoefs* qcoefs, int components) {
  take_arrays(qcoefs, components);
  for (int c = 0; c < components; c++) {
    Array& array = arrays_[c];
    // libjpeg fills in the dummy blocks itself. It requests whole MCUs of rows but reads real ones.
    lay_out(&array, qcoefs[c].blocks_w, qcoefs[c].blocks_h + kMaxSamp);
    if (array.in_place) continue;
    for (uint32_t r = 0; r < qcoefs[c].blocks_h; r++)
      memcpy(array.rows[r], row_of(qcoefs[c], r), sizeof(JBLOCK) * qcoefs[c].blocks_w);
  }
  return handles_;
}

namespace {

// All magnitudes of one row of blocks ORed together: a bit is set if some quantized coefficient is
// as large, and the limits are one less than powers of two. The compiler makes vectors of the loop
// over a block.
struct Magnitudes {
  uint16_t ac[64] = {};  // [0] is that of DC quantized coefficients, and not used
  uint16_t dc = 0;       // of ones' complements, so that -1024 counts as 1023

  bool has_plain_ac(uint32_t depth) const {
    int all = 0;
    for (int k = 1; k < 64; k++) all |= ac[k];
    return all <= jpeg_max_ac(depth);
  }
  bool has_plain_dc(uint32_t depth) const { return dc <= jpeg_max_ac(depth); }
};

void add_row(const int16_t* block, uint32_t blocks, Magnitudes* all) {
  for (const int16_t* end = block + size_t(blocks) * 64; block < end; block += 64) {
    for (int k = 0; k < 64; k++) {
      const int sign = block[k] >> 15;
      all->ac[k] |= uint16_t((block[k] + sign) ^ sign);
    }
    all->dc |= uint16_t(block[0] ^ (block[0] >> 15));
  }
}

Status out_of_range(const std::string& what, int component, const std::string& expected) {
  return Status::error(
      StatusCode::kInvalidArgument,
      what + " of component " + std::to_string(component) + " out of range, expected " + expected);
}

// The error about the first AC quantized coefficient of the row that is out of range. Rows come
// before columns, as in the indices of an array (blocks_h, blocks_w, 8, 8).
Status describe_ac(const int16_t* row, uint32_t blocks, int component, uint32_t block_row,
                   uint32_t depth) {
  const int most = jpeg_max_ac(depth);
  for (size_t i = 0; i < 64 * size_t(blocks); i++) {
    if (i % 64 == 0 || (row[i] >= -most && row[i] <= most)) continue;
    return out_of_range("coefficient " + std::to_string(row[i]) + " at (" +
                            std::to_string(i / 8 % 8) + ", " + std::to_string(i % 8) +
                            ") of block (" + std::to_string(block_row) + ", " +
                            std::to_string(i / 64) + ")",
                        component, std::to_string(-most) + " to " + std::to_string(most));
  }
  return {};
}

Status check_dc(const JpegQcoefs& qcoefs, int component, uint32_t depth) {
  int least = 0, most = 0;  // a file's first difference is to 0
  for (uint32_t r = 0; r < qcoefs.blocks_h; r++)
    for (uint32_t b = 0; b < qcoefs.blocks_w; b++) {
      const int dc = qcoefs.row(r)[size_t(b) * 64];
      least = std::min(least, dc);
      most = std::max(most, dc);
    }
  if (most - least <= jpeg_max_dc_step(depth)) return {};
  return out_of_range(
      "DC coefficients " + std::to_string(least) + " to " + std::to_string(most), component,
      "at most " + std::to_string(jpeg_max_dc_step(depth)) + " between any two and from 0");
}

}  // namespace

bool row_is_plain(const int16_t* row, uint32_t blocks, uint32_t depth) {
  Magnitudes all;
  add_row(row, blocks, &all);
  return all.has_plain_ac(depth) && all.has_plain_dc(depth);
}

Status check_qcoefs(const JpegQcoefs& qcoefs, int component, uint32_t depth) {
  bool plain_dc = true;
  for (uint32_t r = 0; r < qcoefs.blocks_h; r++) {
    const int16_t* row = qcoefs.row(r);
    Magnitudes all;
    add_row(row, qcoefs.blocks_w, &all);
    if (!all.has_plain_ac(depth)) return describe_ac(row, qcoefs.blocks_w, component, r, depth);
    plain_dc = plain_dc && all.has_plain_dc(depth);
  }
  return plain_dc ? Status() : check_dc(qcoefs, component, depth);
}

void clamp_qcoefs(const JpegQcoefs& qcoefs, uint32_t depth) {
  const auto most = static_cast<int16_t>(jpeg_max_ac(depth));
  const auto min_ac = static_cast<int16_t>(-most), min_dc = static_cast<int16_t>(-most - 1);
  for (uint32_t r = 0; r < qcoefs.blocks_h; r++) {
    int16_t* row = qcoefs.row(r);
    for (size_t i = 0; i < 64 * size_t(qcoefs.blocks_w); i++)
      row[i] = std::clamp(row[i], i % 64 == 0 ? min_dc : min_ac, most);
  }
}

}  // namespace cudatransform
