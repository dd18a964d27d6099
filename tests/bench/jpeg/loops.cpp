// libjpeg-turbo without GStreamer, one picture after another: the yardstick for the JPEG elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <cstdio>
// jpeglib.h needs FILE and size_t declared.
#include <jpeglib.h>
#include <turbojpeg.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include "tests/bench/jpeg/contestants.h"
#include "tests/bench/turns.h"

namespace cudatransform::bench {

namespace {

constexpr int kWidth = JpegPicture::kWidth, kHeight = JpegPicture::kHeight;
constexpr int kRows = (kHeight + 15) / 16 * 16;  // whole MCUs

// Three planes with room for whole MCUs, and the pointers to 16 rows of luma, 8 of chroma.
struct Planes {
  std::vector<uint8_t> samples[3];
  JSAMPROW rows[3][16];
  JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};

  Planes() {
    samples[0].resize(size_t{kWidth} * kRows);
    samples[1].resize(size_t{kWidth} * kRows / 4);
    samples[2].resize(size_t{kWidth} * kRows / 4);
  }
  void point_at(int y) {
    for (int r = 0; r < 16; ++r) rows[0][r] = &samples[0][size_t(y + r) * kWidth];
    for (int c = 1; c < 3; ++c)
      for (int r = 0; r < 8; ++r) rows[c][r] = &samples[c][size_t(y / 2 + r) * (kWidth / 2)];
  }
};

class Reader {
 public:
  Reader() {
    info_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&info_);
  }
  ~Reader() { jpeg_destroy_decompress(&info_); }
  void read(const std::vector<uint8_t>& file, bool coefficients) {
    jpeg_mem_src(&info_, file.data(), file.size());
    jpeg_read_header(&info_, TRUE);
    if (coefficients) {
      jpeg_read_coefficients(&info_);
      jpeg_abort_decompress(&info_);
      return;
    }
    info_.raw_data_out = TRUE;
    info_.do_fancy_upsampling = FALSE;
    info_.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&info_);
    for (int y = 0; y < kHeight; y += 16) {
      planes_.point_at(y);
      jpeg_read_raw_data(&info_, planes_.arrays, 16);
    }
    jpeg_finish_decompress(&info_);
  }

 private:
  jpeg_decompress_struct info_;
  jpeg_error_mgr errors_;
  Planes planes_;
};

class Writer {
 public:
  Writer() {
    info_.err = jpeg_std_error(&errors_);
    jpeg_create_compress(&info_);
    buffer_ = static_cast<unsigned char*>(std::malloc(capacity_));
  }
  ~Writer() {
    jpeg_destroy_compress(&info_);
    std::free(buffer_);
  }
  void write(const std::vector<uint8_t>& i420) {
    unsigned char* out = buffer_;
    unsigned long size = capacity_;
    jpeg_mem_dest(&info_, &out, &size);
    info_.image_width = kWidth;
    info_.image_height = kHeight;
    info_.input_components = 3;
    info_.in_color_space = JCS_YCbCr;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, JpegPicture::kQuality, TRUE);
    info_.raw_data_in = TRUE;
    info_.dct_method = JDCT_ISLOW;
    jpeg_start_compress(&info_, TRUE);
    auto* const data = const_cast<uint8_t*>(i420.data());
    for (int y = 0; y < kHeight; y += 16) {
      for (int r = 0; r < 16; ++r)
        planes_.rows[0][r] = data + size_t(std::min(y + r, kHeight - 1)) * kWidth;
      for (int c = 1; c < 3; ++c) {
        uint8_t* plane = data + size_t{kWidth} * kHeight * size_t(3 + c) / 4;
        for (int r = 0; r < 8; ++r)
          planes_.rows[c][r] = plane + size_t(std::min(y / 2 + r, kHeight / 2 - 1)) * (kWidth / 2);
      }
      jpeg_write_raw_data(&info_, planes_.arrays, 16);
    }
    jpeg_finish_compress(&info_);
    if (out != buffer_) std::free(out);
  }

 private:
  static constexpr size_t capacity_ = size_t{1} << 22;
  jpeg_compress_struct info_;
  jpeg_error_mgr errors_;
  Planes planes_;
  unsigned char* buffer_;
};

}  // namespace

double time_jpeg_loop(JpegLoop loop, const std::vector<JpegPicture>& pictures, int count) {
  Reader reader;
  Writer writer;
  const auto code = [&](int i) {
    const JpegPicture& picture = pictures[static_cast<size_t>(i) % pictures.size()];
    if (loop == JpegLoop::kWriteRaw)
      writer.write(picture.i420);
    else
      reader.read(picture.file, loop == JpegLoop::kReadCoefficients);
  };
  code(0);  // for the caches and the memory
  return seconds_of([&] {
           for (int i = 1; i <= count; ++i) code(i);
         }) /
         count;
}

namespace {

// Its own object and buffer for each thread, as a careful program has them.
class Turner {
 public:
  ~Turner() { tjFree(data_); }
  bool turn(const std::vector<uint8_t>& file) {
    tjtransform by = {};
    by.op = TJXOP_ROT90;
    return tjTransform(handle_.get(), file.data(), file.size(), 1, &data_, &size_, &by, 0) == 0;
  }

 private:
  const std::unique_ptr<void, int (*)(tjhandle)> handle_{tjInitTransform(), tjDestroy};
  unsigned char* data_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

double time_jpegtran(const std::vector<JpegPicture>& pictures, int count, int threads) {
  std::atomic<int> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    Turner turner;
    for (int i = next++; i < count; i = next++)
      if (!turner.turn(pictures[static_cast<size_t>(i) % pictures.size()].file)) failed = true;
  };
  const double seconds = seconds_of([&] {
    std::vector<std::thread> all;
    for (int i = 1; i < threads; ++i) all.emplace_back(work);
    work();
    for (std::thread& thread : all) thread.join();
  });
  if (failed) throw std::runtime_error(std::string("tjTransform: ") + tjGetErrorStr());
  return seconds / count;
}

}  // namespace cudatransform::bench
