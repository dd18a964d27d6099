// libjpeg's two objects, with its errors as exceptions and files in memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>
// jpeglib.h needs FILE and size_t declared.
#include <jpeglib.h>

namespace cudatransform::test {

// Calls with these throw std::runtime_error with libjpeg's message on an error.

struct Compressor : jpeg_compress_struct {
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Before jpeg_start_compress() or jpeg_write_coefficients().
  void open();
  // The same, for scanlines in RGB and a file in this color space, with libjpeg's defaults.
  void open_for_rgb(int width, int height, J_COLOR_SPACE file);
  // Instead of jpeg_finish_compress(); returns the file.
  std::vector<uint8_t> finish();

 private:
  jpeg_error_mgr errors_;
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
};

// Has read the header; reads `file` as long as this lives.
struct Decompressor : jpeg_decompress_struct {
  enum class Warnings { kIgnored, kErrors };
  explicit Decompressor(const std::vector<uint8_t>& file, Warnings warnings = Warnings::kIgnored);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

 private:
  jpeg_error_mgr errors_;
};

// The quantized coefficients of a component, block after block in natural order, without the
// padding blocks of MCUs. `array`: of jpeg_read_coefficients().
std::vector<int16_t> component_qcoefs(Decompressor& info, jvirt_barray_ptr array, int component);

}  // namespace cudatransform::test
