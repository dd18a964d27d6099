// NVIDIA's nvJPEG without GStreamer, opened at run time: the yardstick for the JPEG elements on a
// GPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/jpeg/pictures.h"

namespace cudatransform::bench {

// A function that returns seconds a picture, over at least as many pictures as it was made for,
// after an uncounted one of each batch or thread. It throws std::runtime_error with nvJPEG's
// status. Null where there is no driver, no libnvjpeg, or no such unit; `*why` names it.
using NvjpegLoop = std::function<double()>;

enum class NvjpegBackend {  // nvjpegBackend_t
  kGpuHybrid = 2,           // entropy decoding by kernels
  kHardware = 3,            // by the JPEG units of data-centre GPUs
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
