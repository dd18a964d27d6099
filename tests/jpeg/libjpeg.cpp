// libjpeg's two objects, with its errors as exceptions and files in memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/jpeg/libjpeg.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace cudatransform::test {
namespace {

[[noreturn]] void throw_error(j_common_ptr info) {
  char text[JMSG_LENGTH_MAX];
  info->err->format_message(info, text);
  throw std::runtime_error(std::string("libjpeg: ") + text);
}

void throw_warning(j_common_ptr info, int qcoef) {
  if (qcoef < 0) throw_error(info);
}

jpeg_error_mgr* throwing(jpeg_error_mgr* errors) {
  jpeg_std_error(errors);
  errors->error_exit = throw_error;
  return errors;
}

}  // namespace

Compressor::Compressor() {
  err = throwing(&errors_);
  jpeg_create_compress(this);
}

Compressor::~Compressor() { jpeg_destroy_compress(this); }

void Compressor::open() { jpeg_mem_dest(this, &buffer_, &size_); }

void Compressor::open_for_rgb(int width, int height, J_COLOR_SPACE file) {
  open();
  image_width = static_cast<JDIMENSION>(width);
  image_height = static_cast<JDIMENSION>(height);
  input_components = 3;
  in_color_space = JCS_RGB;
  jpeg_set_defaults(this);
  jpeg_set_colorspace(this, file);
}

std::vector<uint8_t> Compressor::finish() {
  jpeg_finish_compress(this);
  const std::vector<uint8_t> file(buffer_, buffer_ + size_);
  // Freed explicitly: libjpeg reallocates it.
  std::free(buffer_);
  return file;
}

Decompressor::Decompressor(const std::vector<uint8_t>& file, Warnings warnings) {
  err = throwing(&errors_);
  if (warnings == Warnings::kErrors)
    errors_.emit_message = throw_warning;
  else
    errors_.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(this);
  jpeg_mem_src(this, file.data(), file.size());
  jpeg_read_header(this, TRUE);
}

Decompressor::~Decompressor() { jpeg_destroy_decompress(this); }

std::vector<int16_t> component_qcoefs(Decompressor& info, jvirt_barray_ptr array, int component) {
  const jpeg_component_info& of = info.comp_info[component];
  std::vector<int16_t> qcoefs;
  qcoefs.reserve(size_t{64} * of.width_in_blocks * of.height_in_blocks);
  for (JDIMENSION y = 0; y < of.height_in_blocks; ++y) {
    JBLOCKARRAY rows =
        info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info), array, y, 1, FALSE);
    for (JDIMENSION x = 0; x < of.width_in_blocks; ++x)
      qcoefs.insert(qcoefs.end(), rows[0][x], rows[0][x] + 64);
  }
  return qcoefs;
}

}  // namespace cudatransform::test
