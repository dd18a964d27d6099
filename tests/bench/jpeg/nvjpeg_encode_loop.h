// NVIDIA's encoder of nvJPEG without GStreamer, opened at run time: what jpegcoefenc on a GPU is
// measured by.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cudatransform::bench {

// Planes of 4:2:0 in device memory to files in host memory (nvjpegEncodeYUV), with Annex K's
// Huffman tables. Threads have a stream and an encoder each.
class NvjpegEncodeLoop {
 public:
  // `i420` is uploaded once. Null where there is no driver or no libnvjpeg; `*why` says what.
  static std::unique_ptr<NvjpegEncodeLoop> make(const std::vector<uint8_t>& i420, int width,
                                                int height, int quality, int threads,
                                                std::string* why);
  ~NvjpegEncodeLoop();

  // Seconds a picture, over at least `count` pictures, after one of each thread that is not
  // counted. Throws std::runtime_error with nvJPEG's status.
  double time(int count);
  // Of the latest file.
  size_t bytes() const;

 private:
  struct State;
  explicit NvjpegEncodeLoop(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cudatransform::bench
