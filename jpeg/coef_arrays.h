// Quantized coefficients of JPEG files: whether a depth can hold them, and our memory in place of
// libjpeg's coefficient arrays, so that entropy coding needs no copy.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// libjpeg keeps the coefficients of a picture in "virtual arrays" of its memory manager, whose
// methods an application may replace (libjpeg.txt, "Memory management"). These arrays hand out rows
// of blocks of the caller instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "jpeg/bounds.h"
#include "jpeg/errors.h"
#include "transform/device/status.h"

namespace cudatransform {

// The quantized coefficients of one component: rows of blocks of 64 int16 in natural order,
// `stride` bytes from one row of blocks to the next. Without the dummy blocks that fill up a JPEG
// file's MCUs.
struct JpegQcoefs {
  int16_t* data = nullptr;
  ptrdiff_t stride = 0;
  uint32_t blocks_w = 0;
  uint32_t blocks_h = 0;

  int16_t* row(uint32_t r) const {
    return reinterpret_cast<int16_t*>(reinterpret_cast<uint8_t*>(data) + ptrdiff_t(r) * stride);
  }
};

// The coefficient arrays of one libjpeg object, one per component in the file's order. Rows of
// `qcoefs` are used in place where they can be: they start on 16 bytes, and, when decoding, fill
// whole MCUs. Others go through memory of this object's, of which kMaxKept bytes may be kept for
// the next picture.
class CoefArrays {
 public:
  static constexpr size_t kMaxKept = size_t{1} << 22;

  CoefArrays() = default;
  CoefArrays(const CoefArrays&) = delete;
  CoefArrays& operator=(const CoefArrays&) = delete;

  // Decoding: replaces the methods of `cinfo->mem`; once, after jpeg_create_decompress(). Requests
  // of jpeg_read_coefficients() are then answered with the quantized coefficients of
  // begin_reading().
  void install(j_common_ptr cinfo);
  // The targets of the next picture, of `depth` bits a sample; the memory need not be clear.
  void begin_reading(const JpegQcoefs* qcoefs, int components, uint32_t depth);
  // Copies rows that were not decoded in place, and clears rows that were never reached.
  void finish_reading();
  // After that: whether every row of every component was found plain (see row_is_plain()) as soon
  // as it was decoded, while it was in the cache. False also where rows were decoded in several
  // scans.
  bool are_plain() const;
  // The memory of this object's that reading a component takes whose quantized coefficients start
  // on 16 bytes.
  static size_t own_bytes(const jpeg_component_info& component);

  // Encoding, also after install(): arrays for jpeg_write_coefficients(), which reads `qcoefs`.
  jvirt_barray_ptr* begin_writing(const JpegQcoefs* qcoefs, int components);
  // The same for the part of a file in front of the quantized coefficients. When libjpeg reads
  // these, guard() of its JpegErrors returns kCancelled. `qcoefs` need not be there.
  jvirt_barray_ptr* begin_header(const JpegQcoefs* qcoefs, int components);

  // After a picture, finished or not: frees the memory beyond kMaxKept.
  void give_back();

 private:
  struct alignas(16) Block {
    JBLOCK qcoefs;
  };
  struct Array {
    JpegQcoefs qcoefs;
    std::vector<JBLOCKROW> rows;   // one pointer per row, dummy rows included
    std::unique_ptr<Block[]> own;  // rows that cannot be in place
    size_t own_blocks = 0;         // that it has room for
    uint32_t blocks_per_row = 0;   // dummy blocks included
    uint32_t clean_rows = 0;       // rows from the top that have been cleared
    uint32_t plain_rows = 0;       // rows from the top that are decoded and plain
    bool is_plain = true;          // nothing else has been found, and no row was decoded twice
    bool in_place = false;
    bool is_header = false;  // of begin_header()

    void check_rows_before(uint32_t end, uint32_t depth);
    void make_room(size_t blocks);  // throws std::bad_alloc
  };
  struct Methods;  // of the memory manager
  void take_arrays(const JpegQcoefs* qcoefs, int components);
  void lay_out(Array* array, uint32_t blocks_per_row, uint32_t rows);
  static CoefArrays& of(j_common_ptr cinfo);

  Array arrays_[kJpegMaxComponents];
  jvirt_barray_ptr handles_[kJpegMaxComponents] = {};
  int count_ = 0;       // of the picture
  uint32_t depth_ = 0;  // of the picture that is read
  int requested_ = 0;   // by libjpeg so far
};

// kInvalidArgument if quantized coefficients of `component` are more than JPEG of `depth` bits can
// hold, for any order of blocks and any restarts in the file: an AC quantized coefficient beyond
// jpeg_max_ac(), a DC quantized coefficient beyond jpeg_max_dc_step(), or two DC quantized
// coefficients further apart than that. Those of samples never are.
Status check_qcoefs(const JpegQcoefs& qcoefs, int component, uint32_t depth);

// Whether the quantized coefficients of `blocks` blocks in a row are beyond doubt: AC quantized
// coefficients to jpeg_max_ac(), DC quantized coefficients plain. A component whose rows all are
// passes check_qcoefs().
bool row_is_plain(const int16_t* row, uint32_t blocks, uint32_t depth);

// Moves quantized coefficients that are out of range into it, so that rows are plain.
void clamp_qcoefs(const JpegQcoefs& qcoefs, uint32_t depth);

}  // namespace cudatransform
