// The contestants of bench_jpeg: pipelines of JPEG elements, loops of libjpeg-turbo, and NVIDIA's
// nvJPEG, opened at run time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/jpeg/pictures.h"

namespace cudatransform::bench {

enum class JpegJob { kDecode, kEncode, kTurn };

// Pictures of one size.
struct JpegSet {
  std::string name;  // of the size
  int width = 0, height = 0;
  std::vector<JpegPicture> pictures;
  double file_bytes() const;  // the mean
};

// Kept from turn to turn. Throws std::runtime_error when an element fails.
class JpegPipeline {
 public:
  // `set` must outlive the pipeline. The elements take files, or frames in I420.
  JpegPipeline(JpegJob job, const JpegSet& set, const std::string& elements);
  ~JpegPipeline();
  JpegPipeline(const JpegPipeline&) = delete;
  JpegPipeline& operator=(const JpegPipeline&) = delete;

  // Seconds a picture, over `frames` of them at the sink, after `skipped` at the start.
  double turn(int frames, int skipped);

 private:
  using Clock = std::chrono::steady_clock;
  void push(int number);
  void wait_for_end();

  JpegJob job_;
  const JpegSet& set_;
  GstElement* pipeline_ = nullptr;
  GstElement* source_ = nullptr;
  std::vector<Clock::time_point> arrivals_;
};

enum class JpegLoop {
  kReadRaw,           // jpeg_read_raw_data, JDCT_ISLOW: file to planes
  kReadCoefficients,  // jpeg_read_coefficients: the entropy decoding alone
  kWriteRaw,          // jpeg_write_raw_data, JDCT_ISLOW: planes to file
};

// Seconds a picture, over `count` pictures in turns. Reuses objects and buffers, as a careful
// program would.
double time_jpeg_loop(JpegLoop loop, const std::vector<JpegPicture>& pictures, int count);

// Seconds a file of `count`, rotated by 90 degrees clockwise, from memory to memory; each thread
// takes the next one. Throws.
double time_jpegtran(const std::vector<JpegPicture>& pictures, int count, int threads);

// A function that returns seconds a picture, over at least as many pictures as it was made for,
// after an uncounted one of each batch or thread. It throws std::runtime_error with nvJPEG's
// status. Null where there is no driver, no libnvjpeg, or no such unit; `*why` names it.
using NvjpegLoop = std::function<double()>;

enum class NvjpegBackend {  // nvjpegBackend_t
  kGpuHybrid = 2,           // entropy decoding by kernels
  kHardware = 3,            // by the JPEG units of data-center GPUs
};
enum class NvjpegPixels { kPlanes, kRgb };  // planes of 4:2:0, or three bytes a pixel

// Files in host memory to pixels in device memory, a batch at a time (nvjpegDecodeBatched). The
// pictures outlive the function.
NvjpegLoop nvjpeg_decoder(NvjpegBackend backend, NvjpegPixels pixels, int batch,
                          const std::vector<JpegPicture>& pictures, int count, std::string* why);

// Pixels in device memory, uploaded once, to files of 4:2:0 in host memory (nvjpegEncodeYUV,
// nvjpegEncodeImage), with Annex K's Huffman tables. Threads have a stream and an encoder each.
NvjpegLoop nvjpeg_encoder(const std::vector<uint8_t>& picture, NvjpegPixels pixels, int width,
                          int height, int threads, int count, std::string* why);

}  // namespace cudatransform::bench
