// Quantized coefficients and tables into a JPEG file: libjpeg's entropy coding in a reusable class.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "jpeg/coef_arrays.h"
#include "jpeg/errors.h"
#include "jpeg/huffman_tables.h"
#include "jpeg/tables.h"
#include "transform/device/status.h"

namespace cudatransform {

inline constexpr uint32_t kJpegMaxSize = JPEG_MAX_DIMENSION;  // width and height
inline constexpr uint32_t kJpegMaxRestartInterval = 65535;    // MCUs

// One picture. The pointers' targets belong to the caller and stay until write() returns.
struct JpegPicture {
  uint32_t width = 0, height = 0;  // samples, 1 to kJpegMaxSize
  uint32_t depth = 8;              // bits of a sample: 8 or 12
  JpegColor color = JpegColor::kYcbcr;
  JpegSampling sampling;
  // In the file's order (Y Cb Cr, R G B, C M Y K, Y Cb Cr K), of as many blocks as the sizes and
  // factors above give.
  JpegQcoefs qcoefs[kJpegMaxComponents];
  // For each component: 64 divisors in natural order, not all of them 0. A table is written once
  // for all components that have the same pointer; like libjpeg, two equal tables are written
  // twice.
  const uint16_t* tables[kJpegMaxComponents] = {};
  // CMYK alone: whether to write an Adobe marker. Some programs invert the values only with it.
  bool is_adobe = true;
  // Segments (jpeg/metadata.h); those that stay are written. They may be anything.
  std::span<const uint8_t> metadata;
  // Pictures that are to follow it, fewer than kMaxMpfPictures. With any, an index of them is
  // written, too: that of `metadata` or, where there is none, a new one (jpeg/mpf.h). The sizes and
  // offsets in it are for rewrite_mpf() to fill in. Only with JpegOptions::keep_metadata.
  uint32_t others = 0;

  int components() const { return components_of(color); }
  // The number of a component's table in the file, in the order of their first use.
  int table_number(int component) const;
};

struct JpegOptions {
  bool progressive = false;
  // Optimal Huffman tables; a progressive file has them anyway, and one of 12 bits, for which there
  // are no others.
  bool optimize = false;
  bool arithmetic = false;        // arithmetic coding instead of Huffman's
  uint32_t restart_interval = 0;  // MCUs from one restart marker to the next; 0: none
  bool keep_metadata = true;      // write the picture's

  bool operator==(const JpegOptions&) const = default;
};

// Bytes from malloc(), so that the caller of release() can free() them.
class JpegBytes {
 public:
  JpegBytes() = default;
  ~JpegBytes();
  JpegBytes(JpegBytes&& other) noexcept { swap(other); }
  JpegBytes& operator=(JpegBytes&& other) noexcept {
    swap(other);
    return *this;
  }

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  // The caller owns the memory, of capacity() bytes as it was before the call.
  uint8_t* release();
  bool append(const uint8_t* data, size_t size);  // false without memory

 private:
  friend class JpegWriter;
  void swap(JpegBytes& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  bool reserve(size_t capacity);  // false without memory; the content stays

  uint8_t* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

// Used by one thread at a time; keeps its libjpeg object and memory from picture to picture.
class JpegWriter {
 public:
  JpegWriter();
  ~JpegWriter();
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  // Replaces `*bytes` by a file. kInvalidArgument where the picture contradicts itself or has
  // quantized coefficients that check_qcoefs() refuses.
  Status write(const JpegPicture& picture, const JpegOptions& options, JpegBytes* bytes);

  // Replaces `*bytes` by the part of write()'s file in front of the scan, for a scan that an engine
  // codes: Huffman-coded in one scan, with `tables` or, where that is null, with
  // standard_jpeg_tables(). The quantized coefficients' memory is not read, but may not be null.
  Status write_header(const JpegPicture& picture, const JpegOptions& options,
                      const JpegHuffmanTables* tables, JpegBytes* bytes);

 private:
  struct Destination {
    jpeg_destination_mgr base;  // first: libjpeg hands back a pointer to it
    JpegBytes bytes;
    size_t guess;  // bytes that the next file will need
  };
  Status write_deep(const JpegPicture& picture, const JpegOptions& options, JpegBytes* bytes);
  Status reserve(size_t bytes);
  void create();
  void describe(const JpegPicture& picture, const JpegOptions& options);
  jpeg_scan_info all_components() const;
  std::span<const jpeg_scan_info> script(const jpeg_scan_info& all) const;
  void separate_scans();
  void set_tables(const JpegPicture& picture);
  void describe_metadata(const JpegPicture& picture);
  void write_metadata(const JpegPicture& picture);
  void restore_huffman_tables();
  void set_huffman_tables(const JpegHuffmanTables& tables);
  // Gives the memory of the picture back, and moves the file to `*bytes`.
  Status finish(const Status& status, JpegBytes* bytes);
  static boolean grow(j_compress_ptr cinfo);

  JpegErrors errors_;
  jpeg_compress_struct cinfo_ = {};
  Destination destination_ = {};
  CoefArrays arrays_;
  jpeg_scan_info scans_[64];
  JHUFF_TBL huffman_[4] = {};  // the standard ones: optimizing overwrites libjpeg's
  bool created_ = false;
};

}  // namespace cudatransform
